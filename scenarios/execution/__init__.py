"""Running scenarios: one run, replications, sweeps, worker processes and clusters, and the commands for it.

`simulate.simulate` is one run from a scenario to its results.
"""
