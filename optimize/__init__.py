"""Search: spaces, samplers, evaluation, fronts."""
