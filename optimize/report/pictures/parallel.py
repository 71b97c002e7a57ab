"""Parallel coordinates: what the configurations on a front set, and what they get for it."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from gridtune.optimize.front.front import Front
from gridtune.optimize.report.frame import BASELINE
from gridtune.optimize.report.numbers import folded
from gridtune.optimize.report.pictures.axes import (
    LEGEND,
    Axis,
    configurations,
    letter,
    named,
    note,
    objective_axis,
    parameter_axis,
    varied,
)
from gridtune.scenarios.plots import style
from gridtune.scenarios.plots.style import BLUE, DARK, ORANGE

LINES = 60  # that an eye can follow
PARAMETERS = 9  # that fit a page beside the objectives
LETTER = 0.13  # axes that a letter at the last axis takes
SPREAD = 0.1  # of the distance of two categories, over which lines of one lie apart
WIDE = 14  # letters in a line of a label
DASHES = ("-", "--", ":", "-.")
PALE = "#F1F4F8"


def draw_parallel(front: Front) -> Figure:
    """A line per configuration across the parameters that differ, the most important last, and objectives.

    On the axes of objectives up is better. A parameter that does not exist is a gap. Of the front at most 60
    configurations are drawn, evenly spaced along the first objective; baseline and recommendations always.
    """
    whole = configurations(front)
    special = whole["name"].str.isalpha()
    kept = whole[whole["on_front"] & ~special].sort_values(front.objectives[0].name)
    step = max(1, -(-len(kept) // LINES))
    table = whole.loc[[*kept.index[::step], *whole.index[special]]]
    every = [path for path in varied(whole, front) if table[path].nunique(dropna=True) > 1]
    columns = [parameter_axis(table, path, every) for path in reversed(every[:PARAMETERS])]
    columns += [objective_axis(table, one) for one in front.objectives]
    drawing = style.figure(min(max(6.5, 1.1 * len(columns) + 1.0), 11.0), 4.8)
    axes = drawing.add_subplot()
    axes.axvspan(len(columns) - len(front.objectives) - 0.5, len(columns) - 0.6, color=PALE, zorder=0)
    numbers = table.index.to_numpy(dtype=float)
    lines = np.column_stack([one.shares(one.apart(numbers, SPREAD)) for one in columns])
    for name, heights in zip(table["name"], lines, strict=True):
        look: dict[str, Any] = {"color": BLUE, "linewidth": 0.9, "alpha": 0.45, "markersize": 3, "zorder": 3}
        if name.isalpha():
            colour = DARK if name == BASELINE else ORANGE
            look |= {"color": colour, "linewidth": 2.2, "alpha": 1.0, "zorder": 5}
            look["linestyle"] = "-" if name == BASELINE else _dashes(name)
        axes.plot(range(len(columns)), heights, marker="o", **look)
        if name.isalpha() and name != BASELINE:
            letter(axes, name, len(columns) - 1, heights[-1])
    _scales(axes, columns, len(front.objectives))
    _legend(axes, front)
    left = f"; {PARAMETERS} of {len(every)} parameters that differ" if len(every) > PARAMETERS else ""
    style.title(drawing, f"{front.archive.heading}: parameters and objectives", note(front) + left)
    return drawing


def _dashes(letter: str) -> Any:
    """Dashes that distinguish the lines of recommendations."""
    return DASHES[(ord(letter[0]) - ord("A")) % len(DASHES)]


def _scales(axes: Axes, columns: list[Axis], objectives: int) -> None:
    """An upright scale for every column, its values beside it."""
    for k, axis in enumerate(columns):
        axes.plot([k, k], [-0.05, 1.05], color="#777777", linewidth=1.0, zorder=2)
        for height, text in axis.ticks:
            box = {"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.8}
            beside = LETTER if k == len(columns) - 1 else 0.06
            axes.text(k + beside, height, text, size=7.5, va="center", ha="left", bbox=box, zorder=6)
    names = [folded(one.label, WIDE) for one in columns[-objectives:]]
    names = [_broken(one.label) + "\n(log)" * one.log for one in columns[:-objectives]] + names
    axes.set_xticks(range(len(columns)), names, size=7.5)
    axes.set_yticks([])
    axes.text(len(columns) - 0.62, 1.1, "objectives: up is better", ha="right", size=8, color="#555555")
    axes.set_xlim(-0.3, len(columns) - 0.4)
    axes.set_ylim(-0.09, 1.16)
    axes.grid(False)
    axes.tick_params(axis="x", length=0)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)


def _broken(path: str) -> str:
    """A path whose longest names go on in a further line."""
    return "\n".join(name.replace("_", "_\n") if len(name) > WIDE else name for name in path.split("\n"))


def _legend(axes: Axes, front: Front) -> None:
    lines = [Line2D([], [], color=BLUE, linewidth=1, label="Pareto front")]
    lines.append(Line2D([], [], color=DARK, linewidth=2.2, label=LEGEND[BASELINE]))
    lines += [
        Line2D([], [], color=ORANGE, linewidth=2.2, linestyle=_dashes(one.letter), label=named(one))
        for one in front.archive.recommendations
    ]
    axes.figure.legend(handles=lines, loc="outside lower center", ncols=3)
