"""Pictures of a search: matplotlib's, and the page."""

from gridtune.optimize.report.pictures.draw import OVERVIEW, PAGE, PLOTS, draw, save

__all__ = ["OVERVIEW", "PAGE", "PLOTS", "draw", "save"]
