"""Every objective against every parameter: which settings matter."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from gridtune.optimize.front.export import parameters
from gridtune.optimize.front.front import Front
from gridtune.optimize.records.evaluations import Evaluation, Objective
from gridtune.optimize.visualization.pairs import handles
from gridtune.optimize.visualization.points import (
    ParameterAxis,
    bars,
    draw_cloud,
    draw_mark,
    draw_members,
    marked,
    note,
    objective_label,
    parameter_axes,
    searched,
    short_path,
    view,
    worths,
)
from gridtune.scenarios.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gridtune.optimize.visualization.points import Array

ACROSS = 5  # panels side by side
WIDTH = 16  # letters of a label beside a panel


def draw_parameters(front: Front) -> Figure:
    """A panel per objective and parameter: all points of the search, the front on top.

    A point is in a panel if its parameter was active. Parameters with a single value are left out.

    Args:
        front: with at least one member.
    """
    cloud = searched(front)
    axes_of = parameter_axes(cloud)
    blocks = [axes_of[k : k + ACROSS] for k in range(0, len(axes_of), ACROSS)]
    rows = len(blocks) * len(front.objectives)
    width = max(len(block) for block in blocks)
    drawing = style.figure(max(6.8, 2.0 * width + 0.9), 1.75 * rows + 1.6)
    grid = drawing.add_gridspec(rows, width)
    for b, block in enumerate(blocks):
        for k, objective in enumerate(front.objectives):
            for column, axis in enumerate(block):
                axes = drawing.add_subplot(grid[b * len(front.objectives) + k, column])
                _draw_panel(axes, front, cloud, objective, axis)
                axes.set_ylabel(fill(objective_label(objective), WIDTH) if column == 0 else "")
                axes.tick_params(labelleft=column == 0)
                last = k == len(front.objectives) - 1
                axes.tick_params(labelbottom=last)
                axes.set_xlabel(short_path(axis.path, parameters(front)) if last else "")
    drawing.legend(handles=handles(front), loc="outside lower center", ncols=3)
    style.title(drawing, f"{front.archive.heading}: objectives by parameter", note(front))
    return drawing


def _draw_panel(
    axes: Axes, front: Front, cloud: list[Evaluation], objective: Objective, axis: ParameterAxis
) -> None:
    active = [evaluation for evaluation in cloud if axis.path in evaluation.values]
    found = worths(front, active, objective)
    draw_cloud(axes, _positions(axis, active), found)
    members = [member for member in front.members if axis.path in member.evaluation.values]
    points = [member.evaluation for member in members]
    reach = bars(front, members, objective)
    at = _positions(axis, [member.evaluation for member in members])
    draw_members(
        axes,
        at,
        worths(front, points, objective),
        [member.non_dominated for member in members],
        (None, reach),
    )
    place = {id(member): x for member, x in zip(members, at, strict=True)}
    for rank, (member, _) in enumerate(marked(front)):
        if id(member) in place:
            draw_mark(axes, place[id(member)], front.value(member.evaluation.number, objective), rank)
    axes.set_ylim(_limits(front, objective))
    _scale(axes, axis)


def _positions(axis: ParameterAxis, evaluations: list[Evaluation]) -> Array:
    """Where the points lie; those of one category are spread by their numbers, always in the same way."""
    import numpy as np

    at = np.array([axis.position(evaluation.values[axis.path]) for evaluation in evaluations], dtype=float)
    if axis.categories:
        golden = 0.6180339887
        at += [0.5 * ((evaluation.number * golden) % 1 - 0.5) for evaluation in evaluations]
    return at


def _limits(front: Front, objective: Objective) -> tuple[float, float]:
    cloud = worths(front, searched(front), objective)
    values = worths(front, [member.evaluation for member in front.members], objective)
    return view(cloud, values, bars(front, front.members, objective))


def _scale(axes: Axes, axis: ParameterAxis) -> None:
    from matplotlib.ticker import LogLocator, MaxNLocator

    if axis.categories:
        axes.set_xticks(range(len(axis.categories)), axis.categories)
        axes.set_xlim(-0.5, max(len(axis.categories) - 0.5, 0.5))
        if max(len(name) for name in axis.categories) * len(axis.categories) > 20:
            axes.tick_params(axis="x", rotation=30)
    elif axis.log:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(numticks=4))
        style.plain_numbers(axes)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(4))
