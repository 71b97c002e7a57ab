"""Recommendations: the fewest changes to the baseline that keep the gains, confirmed by runs."""
