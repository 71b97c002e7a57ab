"""One run: from a scenario to a grid with its actors, and from the finished grid to its results.

`simulate.simulate` does it; `grid_model.GridModel` is the same to step through.
"""
