"""Running scenarios: one run, replications, sweeps, worker processes, clusters; from Python and as commands."""

`simulate.simulate` is one run from a scenario to its results.
"""
