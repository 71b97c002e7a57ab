"""Parallel coordinates: what the points of a front set, and what they get for it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from gridtune.optimize.front.export import parameters
from gridtune.optimize.front.front import Front, Member
from gridtune.optimize.front.number_format import plain, spoken
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.visualization.points import (
    ParameterAxis,
    draw_mark,
    marked,
    note,
    parameter_axes,
    short_path,
    worths,
)
from gridtune.scenarios.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 60  # lines that an eye can follow


def draw_parallel(front: Front) -> Figure:
    """A line per point of the front across its parameters and objectives.

    An inactive parameter is a gap in the line, bridged by dots. On the axes of the objectives up is better,
    so that crossing lines show a trade-off. Parameters that are the same for all points are left out. At
    most 60 points are drawn, evenly spaced along the first objective; the recommended ones always.

    Args:
        front: with at least one member.
    """
    from matplotlib import colormaps

    members = _chosen(front)
    axes_of = parameter_axes([member.evaluation for member in members])
    total = len(axes_of) + len(front.objectives)
    drawing = style.figure(max(6.5, 1.15 * total + 1.0), 4.6)
    axes = drawing.add_subplot()
    columns = [_shares(axis, members) for axis in axes_of] + [
        _goodness(front, o, members) for o in front.objectives
    ]
    colours = colormaps["cividis"]
    tinting = _varying(front, members)
    tint = columns[tinting + len(axes_of)]
    named = {id(member): rank for rank, (member, _) in enumerate(marked(front))}
    for k, member in enumerate(members):
        special = named.get(id(member))
        line: dict[str, Any] = {"color": colours(0.85 * tint[k]), "linewidth": 0.9, "alpha": 0.8, "zorder": 3}
        if special is not None:
            line |= {"linewidth": 2.0, "alpha": 1.0, "zorder": 5}
        heights = [column[k] for column in columns]
        _bridge(axes, heights, line)
        axes.plot(range(total), heights, marker="o", markersize=3, **line)
        if special is not None:
            draw_mark(axes, total - 1, heights[-1], special)
    _scales(axes, front, axes_of, members)
    _key(axes, front)
    said = f"{_said(front, members)}; darker is worse in {spoken(front.objectives[tinting])}"
    style.title(drawing, f"{front.archive.heading}: settings of the front", said)
    return drawing


def _chosen(front: Front) -> list[Member]:
    """The members to draw, recommended ones among them."""
    kept = list(front.kept)
    if len(kept) <= MOST:
        return kept
    must = {id(member) for member, _ in marked(front)}
    step = len(kept) / (MOST - len(must))
    spaced = {id(kept[int(k * step)]) for k in range(MOST - len(must))}
    return [member for member in kept if id(member) in must | spaced]


def _said(front: Front, members: list[Member]) -> str:
    drawn = f"{len(members)} of {len(front.kept)} non-dominated points"
    return f"{drawn}; {note(front).split('; ')[1]}; dots bridge inactive parameters"


def _bridge(axes: Axes, heights: list[float], line: dict[str, Any]) -> None:
    """A dotted line across the gaps."""
    active = [column for column, height in enumerate(heights) if height == height]
    for left, right in pairwise(active):
        if right - left > 1:
            look = line | {"linewidth": 0.7, "alpha": 0.5, "linestyle": (0, (1, 3))}
            axes.plot([left, right], [heights[left], heights[right]], **look)


def _shares(axis: ParameterAxis, members: list[Member]) -> list[float]:
    """Heights in [0, 1]; points of one category lie a little apart, in the order of the front."""
    shares = [axis.share(member.evaluation.values.get(axis.path)) for member in members]
    if not axis.categories:
        return shares
    spread = 0.12 / max(len(axis.categories), 2)
    count = max(len(members) - 1, 1)
    return [share + spread * (2 * k / count - 1) for k, share in enumerate(shares)]


def _goodness(front: Front, objective: Objective, members: list[Member]) -> list[float]:
    """Heights in [0, 1], 1 for the best member."""
    values = worths(front, [member.evaluation for member in members], objective)
    low, high = float(values.min()), float(values.max())
    if low == high:
        return [0.5] * len(members)
    shares = (values - low) / (high - low)
    return [float(share) for share in (1 - shares if objective.direction == "minimize" else shares)]


def _varying(front: Front, members: list[Member]) -> int:
    """Index of the objective with the most distinct values: the lines are coloured by it."""
    points = [member.evaluation for member in members]
    distinct = [len(set(worths(front, points, objective).tolist())) for objective in front.objectives]
    return distinct.index(max(distinct))


def _scales(axes: Axes, front: Front, axes_of: list[ParameterAxis], members: list[Member]) -> None:
    """An upright scale for every column, its values written beside it."""
    paths = parameters(front)
    names = [short_path(axis.path, paths) + ("\n(log)" if axis.log else "") for axis in axes_of]
    ticks = [axis.ticks for axis in axes_of]
    for objective in front.objectives:
        values = worths(front, [member.evaluation for member in members], objective)
        ends = [plain(float(f"{value:.4g}")) for value in (values.min(), values.max())]
        if objective.direction == "minimize":
            ends.reverse()
        level = values.min() == values.max()
        ticks.append([(0.5, ends[0])] if level else [(0.0, ends[0]), (1.0, ends[1])])
        unit = f"\n({objective.unit})" if objective.unit and objective.unit not in spoken(objective) else ""
        names.append(spoken(objective).replace(" ", "\n", 1) + unit)
    for k, scale in enumerate(ticks):
        objective_axis = k >= len(axes_of)
        colour = style.DARK if objective_axis else "#777777"
        axes.plot([k, k], [-0.05, 1.05], color=colour, linewidth=1.1, zorder=2)
        for height, text in scale:
            axes.plot([k - 0.03, k + 0.03], [height, height], color="#555555", linewidth=1, zorder=2)
            box = {"boxstyle": "round,pad=0.12", "fc": "white", "ec": "none", "alpha": 0.85}
            axes.text(k + 0.05, height, text, size=7.5, va="center", ha="left", bbox=box, zorder=6)
    axes.axvspan(len(axes_of) - 0.5, len(names) - 0.4, color="#F1F4F8", zorder=0)
    axes.text(len(names) - 0.45, 1.1, "objectives, up is better", ha="right", size=8, color="#555555")
    axes.set_xticks(range(len(names)), names)
    axes.set_yticks([])
    axes.set_xlim(-0.3, len(names) - 0.4)
    axes.set_ylim(-0.09, 1.16)
    axes.grid(False)
    axes.tick_params(axis="x", length=0)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)


def _key(axes: Axes, front: Front) -> None:
    """The names of the recommended points below the picture."""
    from gridtune.optimize.visualization.pairs import handles

    chosen = handles(front)[-len(marked(front)) :]
    axes.legend(handles=chosen, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=min(len(chosen), 3))
