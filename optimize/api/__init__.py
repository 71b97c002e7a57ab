"""The way in from Python, on which the command line stands; `gridtune` offers its public names."""

from gridtune.optimize.api.search import open_study, search
