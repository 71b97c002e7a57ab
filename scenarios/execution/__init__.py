"""Running scenarios: one run, replications, sweeps, worker processes and clusters.

`simulate.simulate` is one run from a scenario to its results.
"""
