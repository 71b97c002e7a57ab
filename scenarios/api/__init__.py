"""The way in from Python, on which the command line stands: load a scenario, run it, sweep it.

`gridtune` offers its public names.
"""
