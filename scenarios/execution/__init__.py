"""Many runs: replications, the configurations of a sweep, and what comes before them.

`replicate.replicate` has one scenario run several times by a pool of workers.
"""
