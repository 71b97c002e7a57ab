"""Every pair of objectives: the front against the baseline, on top of all configurations."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from gridtune.optimize.front.front import Front
from gridtune.optimize.report.frame import BASELINE
from gridtune.optimize.report.numbers import folded
from gridtune.optimize.report.pictures.axes import (
    Axis,
    configurations,
    handles,
    marked,
    note,
    objective_axis,
    order_axis,
    scatter,
)
from gridtune.scenarios.plots import style
from gridtune.scenarios.plots.style import BLUE, DARK, GREEN

SHADE = 0.1
WIDE = 30  # letters in a line of an axis's label


def draw_pairs(front: Front) -> Figure:
    """Every pair of objectives as a scatter plot; with one objective, its values in the order of the search.

    What is better than the baseline in both objectives is shaded. The axes show the front, the baseline and
    what lies near: configurations far from both may lie outside.
    """
    table = configurations(front)
    axes_of = [objective_axis(table, one) for one in front.objectives]
    if len(axes_of) == 1:
        axes_of = [order_axis(table), *axes_of]
    count = len(axes_of) - 1
    side = 3.2 if count <= 2 else 2.5
    drawing = style.figure(max(6.8, side * count + 0.6), max(4.4, side * count + 0.5))
    grid = drawing.add_gridspec(count, count)
    cells = {}
    for column, row in combinations(range(len(axes_of)), 2):
        cells[row - 1, column] = axes = drawing.add_subplot(grid[row - 1, column])
        draw_pair(axes, table, axes_of[column], axes_of[row], len(front.objectives) == 2)
        axes.label_outer()
        axes.set_xlabel(folded(axes_of[column].label, WIDE) if row == count else "")
        axes.set_ylabel(folded(axes_of[row].label, WIDE) if column == 0 else "")
    shown = [*handles(front, table), *_better(table)]
    if count == 1:
        cells[0, 0].legend(handles=shown, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    else:
        corner = drawing.add_subplot(grid[0, count - 1])
        corner.set_axis_off()
        corner.legend(handles=shown, loc="upper right", borderaxespad=0).set_in_layout(False)
    style.title(drawing, f"{front.archive.heading}: Pareto front", note(front))
    return drawing


def _better(table: pd.DataFrame) -> list[Artist]:
    """The legend of the shaded quadrant."""
    standing = (table["state"] == BASELINE).any()
    return [Patch(color=GREEN, alpha=SHADE, linewidth=0, label="better than baseline")] if standing else []


def draw_pair(axes: Axes, table: pd.DataFrame, across: Axis, up: Axis, connected: bool) -> None:
    """One pair: the better quadrant shaded, of two objectives the front connected."""
    on_front = table["on_front"].to_numpy(dtype=bool)
    standing = (table["state"] == BASELINE).to_numpy()
    limits = [one.view(marked(table)) for one in (across, up)]
    axes.set_xlim(limits[0])
    axes.set_ylim(limits[1])
    if standing.any():
        place = across.at[standing][0], up.at[standing][0]
        for value, line in zip(place, (axes.axvline, axes.axhline), strict=True):
            line(value, color=DARK, linewidth=0.7, linestyle=(0, (4, 3)), zorder=1)
        box = [
            (limits[k][0], place[k]) if one.falling else (place[k], limits[k][1])
            for k, one in enumerate((across, up))
        ]
        axes.fill_between(box[0], *box[1], color=GREEN, alpha=SHADE, linewidth=0, zorder=0)
    if connected:
        order = np.argsort(across.at[on_front])
        x, y = across.at[on_front][order], up.at[on_front][order]
        axes.step(x, y, where="post" if across.falling else "pre", color=BLUE, linewidth=1.2, zorder=3)
    scatter(axes, table, across.at, up.at)
