"""Pictures of runs and sweeps."""

from gridtune.scenarios.plots.pictures import KINDS, draw_run, draw_run_picture
from gridtune.scenarios.plots.style import PlotError, picture_format, save
from gridtune.scenarios.plots.sweeps import draw_sweep
from gridtune.scenarios.plots.tables import RunTables, read_run, run_tables

__all__ = [
    "KINDS",
    "PlotError",
    "RunTables",
    "draw_run",
    "draw_run_picture",
    "draw_sweep",
    "picture_format",
    "read_run",
    "run_tables",
    "save",
]
