"""Property tests draw the same examples in every run; fresh ones with `--hypothesis-profile=default`.

Those of whole grids are 20 times as many with `--hypothesis-profile=many`.
"""

from hypothesis import settings

settings.register_profile("suite", derandomize=True)
settings.register_profile("many", max_examples=2000)
settings.load_profile("suite")
