"""Pictures of a search."""

from optimize.plots.pictures import PLOTS, draw, save

__all__ = ["PLOTS", "draw", "save"]
