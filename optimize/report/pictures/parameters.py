"""Every objective against the six parameters that matter most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator

from gridtune.optimize.front.front import Front
from gridtune.optimize.report.numbers import folded
from gridtune.optimize.report.pictures.axes import (
    Axis,
    configurations,
    handles,
    note,
    objective_axis,
    order_axis,
    parameter_axis,
    scatter,
    varied,
)
from gridtune.optimize.report.pictures.pairs import view
from gridtune.scenarios.plots import style

if TYPE_CHECKING:
    from gridtune.optimize.report.pictures.axes import Array

MOST = 6
WIDE = 18  # letters in a line of a label beside a panel
GOLDEN = 0.6180339887


def draw_parameters(front: Front) -> Figure:
    """A panel per objective and parameter: all configurations in which the parameter exists."""
    table = configurations(front)
    every = varied(table, front)
    paths = every[:MOST]
    rows = [objective_axis(table, one) for one in front.objectives]
    columns = [parameter_axis(table, path, every) for path in paths] or [order_axis(table)]
    drawing = style.figure(max(6.8, 1.9 * len(columns) + 0.9), 1.75 * len(rows) + 1.7)
    grid = drawing.add_gridspec(len(rows), len(columns))
    shown = table["on_front"].to_numpy(dtype=bool) | table["name"].str.isalpha().to_numpy(dtype=bool)
    for k, up in enumerate(rows):
        for column, across in enumerate(columns):
            axes = drawing.add_subplot(grid[k, column])
            scatter(axes, table, _spread(across, table.index.to_numpy(dtype=float)), up.at)
            axes.set_ylim(view(up.at, up.at[shown]))
            axes.set_ylabel(folded(up.label, WIDE) if column == 0 else "")
            _scale(axes, across)
            axes.tick_params(labelleft=column == 0, labelbottom=k == len(rows) - 1)
            axes.set_xlabel(across.label if k == len(rows) - 1 else "")
    drawing.legend(handles=handles(front, table), loc="outside lower center", ncols=4)
    left = f"; the {len(paths)} of {len(every)} parameters that matter most" if len(every) > MOST else ""
    style.title(drawing, f"{front.archive.heading}: objectives by parameter", note(front) + left)
    return drawing


def _spread(axis: Axis, numbers: Array) -> Array:
    """Positions; those of one category are spread by their numbers, always in the same way."""
    return axis.at + 0.5 * ((numbers * GOLDEN) % 1 - 0.5) if axis.categories else axis.at


def _scale(axes: Axes, axis: Axis) -> None:
    if axis.categories:
        axes.set_xticks(range(len(axis.categories)), axis.categories)
        axes.set_xlim(-0.5, max(len(axis.categories) - 0.5, 0.5))
        if max(map(len, axis.categories)) * len(axis.categories) > 16:
            axes.tick_params(axis="x", rotation=40)
    elif axis.log:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(numticks=4))
        style.plain_numbers(axes)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(3))
