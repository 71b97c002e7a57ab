"""How often a configuration is run, and what its own runs say: estimates, comparisons, races, chances.

Runs themselves are `scenarios/execution`.
"""
