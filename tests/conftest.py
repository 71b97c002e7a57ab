"""Property tests draw the same examples in every run; fresh ones with `--hypothesis-profile=default`."""

from hypothesis import settings

settings.register_profile("suite", derandomize=True)
settings.load_profile("suite")
