"""The way in from Python, on which the command line stands: search, open a study, explain a configuration.

`gridtune` offers its public names.
"""

from gridtune.optimize.api.search import open_study, search
