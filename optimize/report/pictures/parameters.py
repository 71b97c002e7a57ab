"""Every objective against the six parameters that matter most."""

from __future__ import annotations

from itertools import product

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator

from gridtune.optimize.front.front import Front
from gridtune.optimize.report.numbers import folded
from gridtune.optimize.report.pictures.axes import (
    Axis,
    configurations,
    handles,
    marked,
    note,
    objective_axis,
    order_axis,
    parameter_axis,
    scatter,
    varied,
)
from gridtune.scenarios.plots import style

MOST = 6
WIDE = 18  # letters in a line of a label beside a panel


def draw_parameters(front: Front) -> Figure:
    """A panel per objective and parameter: all configurations in which the parameter exists."""
    table = configurations(front)
    every = varied(table, front)
    paths = every[:MOST]
    rows = [objective_axis(table, one) for one in front.objectives]
    columns = [parameter_axis(table, path, every) for path in paths] or [order_axis(table)]
    drawing = style.figure(max(6.8, 1.9 * len(columns) + 0.9), 1.75 * len(rows) + 1.7)
    grid = drawing.subplots(len(rows), len(columns), sharex="col", sharey="row", squeeze=False)
    numbers = table.index.to_numpy(dtype=float)
    for axes, (up, across) in zip(grid.flat, product(rows, columns), strict=True):
        scatter(axes, table, across.apart(numbers, 0.5), up.at)
    for axes, up in zip(grid[:, 0], rows, strict=True):
        axes.set_ylim(up.view(marked(table)))
        axes.set_ylabel(folded(up.label, WIDE))
    for axes, across in zip(grid[-1], columns, strict=True):
        _scale(axes, across)
        axes.set_xlabel(across.label)
    drawing.legend(handles=handles(front, table), loc="outside lower center", ncols=4)
    left = f"; the {len(paths)} of {len(every)} parameters that matter most" if len(every) > MOST else ""
    style.title(drawing, f"{front.archive.heading}: objectives by parameter", note(front) + left)
    return drawing


def _scale(axes: Axes, axis: Axis) -> None:
    if axis.categories:
        axes.set_xticks(range(len(axis.categories)), axis.categories)
        axes.set_xlim(-0.5, max(len(axis.categories) - 0.5, 0.5))
        if max(map(len, axis.categories)) * len(axis.categories) > 16:
            axes.tick_params(axis="x", labelrotation=40)
            for text in axes.get_xticklabels():
                text.set(ha="right", rotation_mode="anchor")
    elif axis.log:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(numticks=4))
        style.plain_numbers(axes)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(3))
