"""What a study keeps: every evaluation, further runs, and the settings of the search.

One Optuna study, whatever the sampler.
"""
