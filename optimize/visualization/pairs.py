"""Every pair of objectives: the front with its errors on top of all points of the search."""

from __future__ import annotations

from itertools import combinations
from textwrap import fill
from typing import TYPE_CHECKING

from gridtune.optimize.front.against_today import todays
from gridtune.optimize.front.front import Front
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.visualization.points import (
    MARKS,
    bars,
    draw_cloud,
    draw_mark,
    draw_members,
    marked,
    note,
    objective_label,
    searched,
    standing,
    view,
    worths,
)
from gridtune.scenarios.plots import style
from gridtune.scenarios.plots.style import BLUE, GREY

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE = 30  # letters of a line of the legend, which stands in a panel


def draw_pairs(front: Front) -> Figure:
    """Every pair of objectives as a scatter plot; with one objective, its values in the order of the search.

    The axes show the front and its surroundings: points far from it may lie outside.

    Args:
        front: with at least one member.
    """
    objectives = front.objectives
    if len(objectives) == 1:
        return _draw_one(front)
    count = len(objectives) - 1
    side = 3.1 if count <= 2 else 2.4
    drawing = style.figure(max(6.4, side * count + 0.6), max(4.2, side * count + 0.5))
    grid = drawing.add_gridspec(count, count)
    cells: dict[tuple[int, int], Axes] = {}
    for column, row in combinations(range(len(objectives)), 2):
        axes = drawing.add_subplot(grid[row - 1, column])
        cells[row - 1, column] = axes
        _draw_pair(axes, front, objectives[column], objectives[row])
        axes.label_outer()
        axes.set_xlabel(objective_label(objectives[column]) if row == count else "")
        axes.set_ylabel(objective_label(objectives[row]) if column == 0 else "")
    _legend(drawing, cells, front, count)
    style.title(drawing, f"{front.archive.heading}: front", note(front))
    return drawing


def _draw_pair(axes: Axes, front: Front, across: Objective, up: Objective) -> None:
    cloud, members = searched(front), [member.evaluation for member in front.members]
    others = [worths(front, cloud, objective) for objective in (across, up)]
    x, y = (worths(front, members, objective) for objective in (across, up))
    reach = bars(front, front.members, across), bars(front, front.members, up)
    draw_cloud(axes, *others)
    draw_members(axes, x, y, [member.non_dominated for member in front.members], reach)
    for rank, (member, _) in enumerate(marked(front)):
        number = member.evaluation.number
        draw_mark(axes, front.value(number, across), front.value(number, up), rank)
    axes.set_xlim(view(others[0], x, reach[0]))
    axes.set_ylim(view(others[1], y, reach[1]))


def _draw_one(front: Front) -> Figure:
    """The values of a single objective in the order of the search."""
    import numpy as np

    (objective,) = front.objectives
    cloud = searched(front)
    drawing = style.figure(7, 4)
    axes = drawing.add_subplot()
    found = worths(front, cloud, objective)
    draw_cloud(axes, np.array([evaluation.number for evaluation in cloud], dtype=float), found)
    values = worths(front, [member.evaluation for member in front.members], objective)
    reach = bars(front, front.members, objective)
    numbers = np.array([member.evaluation.number for member in front.members], dtype=float)
    kept = [member.non_dominated for member in front.members]
    draw_members(axes, numbers, values, kept, (None, reach))
    for rank, (member, _) in enumerate(marked(front)):
        number = member.evaluation.number
        draw_mark(axes, number, front.value(number, objective), rank)
    axes.set_ylim(view(found, values, reach))
    axes.set_xlabel("number of the evaluation")
    axes.set_ylabel(objective_label(objective))
    axes.legend(handles=handles(front), loc="upper left", bbox_to_anchor=(1.0, 1.0))
    style.title(drawing, f"{front.archive.heading}: best points", note(front))
    return drawing


def _legend(drawing: Figure, cells: dict[tuple[int, int], Axes], front: Front, count: int) -> None:
    """The legend in the empty upper right, or beside a lone panel."""
    if count == 1:
        cells[0, 0].legend(handles=handles(front), loc="upper left", bbox_to_anchor=(1.0, 1.0))
        return
    corner = drawing.add_subplot(drawing.axes[0].get_gridspec()[0, count - 1])  # type: ignore[index]
    corner.set_axis_off()
    legend = corner.legend(handles=handles(front), loc="upper right", borderaxespad=0)
    legend.set_in_layout(False)


def handles(front: Front) -> list[Artist]:
    """Legend of a picture of a front."""
    from matplotlib.lines import Line2D

    def dot(label: str, **look: object) -> Artist:
        return Line2D([], [], linestyle="none", label=label, **look)  # type: ignore[arg-type]

    made = [dot("searched", marker="o", markersize=4, color=GREY, alpha=0.6)]
    kept = "kept on fresh seeds" if front.validated else "non-dominated as searched"
    what = "± s.e." if todays(front) is None else "bars: 95 % of the difference to today"
    made.append(dot(f"{kept}\n{fill(f'({what})', WIDE)}", marker="o", markersize=5.5, color=BLUE))
    dropped = sorted({standing(member) for member in front.members if not member.non_dominated})
    if dropped:
        made.append(dot(fill(" or ".join(dropped), WIDE), marker="o", markersize=5, mfc="white", mec=BLUE))
    for rank, (member, name) in enumerate(marked(front)):
        marker, colour, size = MARKS[rank % len(MARKS)]
        label = fill(f"{name} (no. {member.evaluation.number})", WIDE)
        made.append(dot(label, marker=marker, markersize=size**0.5, color=colour, mec="black", mew=0.8))
    return made
