"""Pictures of a search."""

from gridtune.optimize.visualization.pictures import PLOTS, draw, save

__all__ = ["PLOTS", "draw", "save"]
