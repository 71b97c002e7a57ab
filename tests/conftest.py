"""Property tests draw the same examples in every run; new ones with `--hypothesis-profile=default`.

Those of whole grids are 20 times as many with `--hypothesis-profile=many`. Linear algebra takes one thread in
each worker of the tests, as in commands.
"""

from hypothesis import settings

from gridtune.threads import single_threaded

single_threaded()
settings.register_profile("suite", derandomize=True)
settings.register_profile("many", max_examples=2000)
settings.load_profile("suite")
