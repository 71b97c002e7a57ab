"""The systems that can stand in a grid, each with `check(spec)` and `build(grid, spec)`.

`order.SYSTEMS` lists them.
"""
