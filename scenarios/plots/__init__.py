"""Pictures of runs and sweeps."""

from gridtune.scenarios.plots.overlays import OVERLAYS
from gridtune.scenarios.plots.pictures import KINDS, draw_run, draw_run_picture, draw_runs
from gridtune.scenarios.plots.style import PlotError, picture_format, save
from gridtune.scenarios.plots.sweeps import draw_sweep
from gridtune.scenarios.plots.tables import RunTables, read_run, run_tables

__all__ = [
    "KINDS",
    "OVERLAYS",
    "PlotError",
    "RunTables",
    "draw_run",
    "draw_run_picture",
    "draw_runs",
    "draw_sweep",
    "picture_format",
    "read_run",
    "run_tables",
    "save",
]
