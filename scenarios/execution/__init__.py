"""Running scenarios: one run, replications, sweeps, worker processes and clusters, from Python and as commands do.

`simulate.simulate` is one run from a scenario to its results.
"""
