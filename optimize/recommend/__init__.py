"""Recommendations: the fewest changes to the baseline that keep a configuration's gains, confirmed by runs."""
