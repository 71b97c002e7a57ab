"""Pictures of a search."""

from __future__ import annotations

from optimize.plots.pictures import PLOTS, draw, save
