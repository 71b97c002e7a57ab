"""The pictures of a front, and their way into a file."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, cycle, product
from math import ceil
from pathlib import Path
from typing import Any

import moocore
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator

from gridtune.optimize.front.front import Front, hypervolume
from gridtune.optimize.records.recommendation import Recommendation
from gridtune.optimize.replication.compare import signs
from gridtune.optimize.report.export import page
from gridtune.optimize.report.frame import BASELINE, DOMINATED, INFEASIBLE, ON_FRONT
from gridtune.optimize.report.numbers import folded
from gridtune.optimize.report.pictures.axes import Array, Axis, configurations, marked, shown_states, varied
from gridtune.optimize.report.tables import reference_text
from gridtune.plain_text import counted
from gridtune.scenarios.plots import style
from gridtune.scenarios.plots.style import BLUE, DARK, GREEN, GREY, ORANGE, PlotError
from gridtune.scenarios.results.files import writable_folder
from gridtune.scenarios.whole_files import replace_text

LOOKS: dict[str, dict[str, Any]] = {
    DOMINATED: {
        "label": "not on the front", "s": 12, "color": GREY, "alpha": 0.35, "linewidths": 0, "zorder": 2
    },
    ON_FRONT: {"label": "Pareto front", "s": 30, "color": BLUE, "linewidths": 0.5, "zorder": 4},
    BASELINE: {"label": "baseline", "s": 90, "color": DARK, "marker": "X", "linewidths": 0.8, "zorder": 6},
}  # fmt: skip
LETTERED: dict[str, Any] = {"s": 120, "color": ORANGE, "edgecolors": DARK, "linewidths": 0.8, "zorder": 7}
WORDS = 4  # of an entry of a legend
PAIR_LABEL, PANEL_LABEL, SCALE_LABEL = 30, 18, 14  # letters in a line of a label
LINES = 60  # of parallel coordinates, that an eye can follow
SCALES = 9  # of parameters, that fit a page beside the objectives
PANELS = 6  # of parameters, side by side
SPREAD = 0.1  # of the distance of two categories, over which lines of one lie apart
DASHES = ("-", "--", ":", "-.")


def draw_pairs(front: Front) -> Figure:
    """Every pair of objectives as a scatter plot; with one objective, its values in the order of the search.

    What is better than the baseline in both objectives is shaded. The worst configurations may lie outside.
    """
    table = configurations(front)
    axes_of = [Axis.of_objective(table, one) for one in front.objectives]
    if len(axes_of) == 1:
        axes_of = [Axis.of_order(table), *axes_of]
    count = len(axes_of) - 1
    side = 3.2 if count <= 2 else 2.5
    drawing = style.figure(max(6.8, side * count + 0.6), max(4.4, side * count + 0.5))
    grid = drawing.add_gridspec(count, count)
    for column, row in combinations(range(len(axes_of)), 2):
        axes = drawing.add_subplot(grid[row - 1, column])
        _draw_pair(axes, front, table, axes_of[column], axes_of[row])
        axes.label_outer()
        axes.set_xlabel(folded(axes_of[column].label, PAIR_LABEL) if row == count else "")
        axes.set_ylabel(folded(axes_of[row].label, PAIR_LABEL) if column == 0 else "")
    first = drawing.axes[0]
    if count == 1:
        first.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), scatteryoffsets=[0.5])
    else:
        corner = drawing.add_subplot(grid[0, -1])
        corner.set_axis_off()
        shown = first.get_legend_handles_labels()
        corner.legend(*shown, loc="upper right", borderaxespad=0, scatteryoffsets=[0.5]).set_in_layout(False)
    style.title(drawing, f"{front.archive.heading}: Pareto front", _note(front))
    return drawing


def _draw_pair(axes: Axes, front: Front, table: pd.DataFrame, across: Axis, up: Axis) -> None:
    limits = [one.view(marked(table)) for one in (across, up)]
    axes.set(xlim=limits[0], ylim=limits[1])
    _scatter(axes, front, table, across.at, up.at)
    standing = np.flatnonzero(table["state"] == BASELINE)
    if len(standing):
        place = across.at[standing[0]], up.at[standing[0]]
        for value, line in zip(place, (axes.axvline, axes.axhline), strict=True):
            line(value, color=DARK, linewidth=0.7, linestyle=(0, (4, 3)), zorder=1)
        box = [
            (low, at) if one.falling else (at, high)
            for one, at, (low, high) in zip((across, up), place, limits, strict=True)
        ]
        label = "better than baseline"
        axes.fill_between(box[0], *box[1], label=label, color=GREEN, alpha=0.1, linewidth=0, zorder=0)
    if len(front.objectives) == 2:
        on_front = table["on_front"].to_numpy(dtype=bool)
        order = np.argsort(across.at[on_front])
        x, y = across.at[on_front][order], up.at[on_front][order]
        axes.step(x, y, where="post" if across.falling else "pre", color=BLUE, linewidth=1.2, zorder=3)


def draw_parameters(front: Front) -> Figure:
    """A panel per objective and parameter: all configurations in which the parameter exists."""
    table = configurations(front)
    every = varied(table, front)
    rows = [Axis.of_objective(table, one) for one in front.objectives]
    columns = [Axis.of_parameter(table, path, every) for path in every[:PANELS]] or [Axis.of_order(table)]
    drawing = style.figure(max(6.8, 1.9 * len(columns) + 0.9), 1.75 * len(rows) + 1.7)
    grid = drawing.subplots(len(rows), len(columns), sharex="col", sharey="row", squeeze=False)
    numbers = table.index.to_numpy(dtype=float)
    for axes, (up, across) in zip(grid.flat, product(rows, columns), strict=True):
        _scatter(axes, front, table, across.apart(numbers, 0.5), up.at)
    for axes, up in zip(grid[:, 0], rows, strict=True):
        axes.set_ylim(up.view(marked(table)))
        axes.set_ylabel(folded(up.label, PANEL_LABEL))
    for axes, across in zip(grid[-1], columns, strict=True):
        _scale(axes, across)
        axes.set_xlabel(across.label)
    shown = grid[0, 0].get_legend_handles_labels()
    drawing.legend(*shown, loc="outside lower center", ncols=4, scatteryoffsets=[0.5])
    left = f"; the {PANELS} of {len(every)} parameters that matter most" if len(every) > PANELS else ""
    style.title(drawing, f"{front.archive.heading}: objectives by parameter", _note(front) + left)
    return drawing


def _scale(axes: Axes, axis: Axis) -> None:
    if count := len(axis.categories):
        turned = max(map(len, axis.categories)) * count > 16
        look: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if turned else {}
        axes.set_xticks(range(count), axis.categories, **look)
        axes.set_xlim(-0.5, count - 0.5)
    elif axis.log:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(numticks=4))
        style.plain_numbers(axes)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(3))


def _scatter(axes: Axes, front: Front, table: pd.DataFrame, x: Array, y: Array) -> None:
    state = shown_states(table)
    for kind, look in LOOKS.items():
        of = (state == kind).to_numpy()
        if of.any():
            axes.scatter(x[of], y[of], edgecolors="white", rasterized=bool(of.sum() > 2000), **look)
    entries = {one.letter: _named(one) for one in front.archive.recommendations}
    for at, name in enumerate(table["name"]):
        if name in entries:
            _letter(axes, name, x[at], y[at], label=entries[name])


def _named(one: Recommendation) -> str:
    return f"{one.letter}: {one.title}" if len(one.title.split()) < WORDS else f"recommendation {one.letter}"


def _letter(axes: Axes, name: str, x: float, y: float, **legend: Any) -> None:
    axes.scatter([x], [y], **LETTERED, **legend)
    if x == x:
        axes.annotate(name, (x, y), ha="center", va="center_baseline", size=7.5, weight="bold", zorder=8)


def draw_parallel(front: Front) -> Figure:
    """A line per configuration across the parameters that differ, the most important last, and objectives.

    On the axes of objectives up is better. A parameter that does not exist is a gap. Of the front at most 60
    configurations are drawn, evenly spaced along the first objective; baseline and recommendations always.
    """
    whole = configurations(front)
    special = whole["name"].str.isalpha()
    members = whole[whole["on_front"] & ~special].sort_values(front.objectives[0].name)
    step = ceil(len(members) / LINES) or 1
    table = whole.loc[[*members.index[::step], *whole.index[special]]]
    every = [path for path in varied(whole, front) if table[path].nunique() > 1]
    columns = [Axis.of_parameter(table, path, every) for path in reversed(every[:SCALES])]
    columns += [Axis.of_objective(table, one) for one in front.objectives]
    drawing = style.figure(min(max(6.5, 1.1 * len(columns) + 1.0), 11.0), 4.8)
    axes = drawing.add_subplot()
    axes.axvspan(len(columns) - len(front.objectives) - 0.5, len(columns) - 0.6, color="#F1F4F8", zorder=0)
    looks: dict[str, dict[str, Any]] = {BASELINE: {"linewidth": 2.2, "color": DARK}}
    axes.plot([], [], color=BLUE, linewidth=1, label="Pareto front")
    axes.plot([], [], label="baseline", **looks[BASELINE])
    for one, dashes in zip(front.archive.recommendations, cycle(DASHES), strict=False):
        looks[one.letter] = {"linewidth": 2.2, "color": ORANGE, "linestyle": dashes}
        axes.plot([], [], label=_named(one), **looks[one.letter])
    usual: dict[str, Any] = {"linewidth": 0.9, "color": BLUE, "alpha": 0.45, "zorder": 3}
    numbers = table.index.to_numpy(dtype=float)
    lines = np.column_stack([one.shares(one.apart(numbers, SPREAD)) for one in columns])
    for name, heights in zip(table["name"], lines, strict=True):
        look = {"zorder": 5, **looks[name]} if name in looks else usual
        axes.plot(range(len(columns)), heights, marker="o", markersize=3, **look)
        if name in looks and name != BASELINE:
            _letter(axes, name, len(columns) - 1, heights[-1])
    _scales(axes, columns, len(front.objectives))
    drawing.legend(loc="outside lower center", ncols=3)
    left = f"; {SCALES} of {len(every)} parameters that differ" if len(every) > SCALES else ""
    style.title(drawing, f"{front.archive.heading}: parameters and objectives", _note(front) + left)
    return drawing


def _scales(axes: Axes, columns: list[Axis], objectives: int) -> None:
    last = len(columns) - 1
    for k, axis in enumerate(columns):
        axes.plot([k, k], [-0.05, 1.05], color="#777777", linewidth=1.0, zorder=2)
        for height, text in axis.ticks:
            box = {"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.8}
            beside = 0.13 if k == last else 0.06  # a letter stands at the last axis
            axes.text(k + beside, height, text, size=7.5, va="center", ha="left", bbox=box, zorder=6)
    names = [_broken(one.label) + "\n(log)" * one.log for one in columns[:-objectives]]
    names += [folded(one.label, SCALE_LABEL) for one in columns[-objectives:]]
    axes.set_xticks(range(len(columns)), names, size=7.5)
    axes.text(last + 0.38, 1.1, "objectives: up is better", ha="right", size=8, color="#555555")
    axes.set(xlim=(-0.3, last + 0.6), ylim=(-0.09, 1.16), yticks=[])
    axes.grid(False)
    axes.tick_params(axis="x", length=0)
    axes.spines[["left", "bottom"]].set_visible(False)


def _broken(path: str) -> str:
    lines = path.split("\n")
    return "\n".join(one.replace("_", "_\n") if len(one) > SCALE_LABEL else one for one in lines)


def growth(front: Front) -> list[tuple[int, float]]:
    """(Configurations so far, hypervolume of what is expected of these), at each growth and at the end."""
    table = configurations(front).sort_index()
    values = table[[one.name for one in front.objectives]].to_numpy(dtype=float) * signs(front.objectives)
    best, steps = np.empty((0, len(front.objectives))), [(0, 0.0)]
    for count, (row, state) in enumerate(zip(values, table["state"], strict=True), start=1):
        grown = np.vstack([best, row])
        if state != INFEASIBLE and moocore.is_nondominated(grown)[-1]:
            best = moocore.filter_dominated(grown)
            steps.append((count, hypervolume(best, front.objectives, front.reference)))
    return [*steps, (len(table), steps[-1][1])]


def draw_history(front: Front) -> Figure:
    """Hypervolume of what is expected of the configurations so far, as a share of the final one."""
    counts, volumes = zip(*growth(front), strict=True)
    drawing = style.figure(6.8, 3.9)
    axes = drawing.add_subplot()
    shares = 100 * np.array(volumes) / (volumes[-1] or 1.0)
    axes.step(counts, shares, where="post", color=BLUE, linewidth=1.8)
    axes.set(xlim=(0, max(counts[-1], 1)), ylim=(0, 102))
    axes.set(xlabel="configurations", ylabel="hypervolume (% of the final one)")
    below = f"Reference point: {reference_text(front)}"
    style.title(drawing, f"{front.archive.heading}: progress of the search", below)
    return drawing


def _note(front: Front) -> str:
    tried = counted(len(front.archive.evaluations), "configuration")
    return f"{tried}, {len(front.on_front)} on the Pareto front; estimated means"


PLOTS: dict[str, tuple[Callable[[Front], Figure], str]] = {
    "pairs": (draw_pairs, "every pair of objectives: the front, the baseline and what is recommended"),
    "parallel": (draw_parallel, "parameters and objectives of the front, a line for each configuration"),
    "parameters": (draw_parameters, "every objective against the parameters that matter most"),
    "history": (draw_history, "how the hypervolume grew over the search"),
}


def draw(front: Front, kind: str = "pairs") -> Figure:
    """Draw a front; a `PlotError` if there is no such kind, or the front is empty."""
    if kind not in PLOTS:
        raise PlotError(f"{kind}: no such picture of a front; there are {', '.join(PLOTS)}")
    if not front.members:
        raise PlotError(f"{front.archive.study}: its front is empty, so there is nothing to draw")
    with style.style():
        return PLOTS[kind][0](front)


def save(front: Front, path: Path | str) -> None:
    """Draw a front into a file: png, svg, pdf, or the page (html), which needs nothing else.

    The suffix says the format, and the kind of `PLOTS` with which the name begins (else `pairs`) the picture.

    Raises:
        PlotError: see `draw`, or another suffix; found before anything is drawn.
        ScenarioError: the file cannot be written.
    """
    path = Path(path)
    if style.picture_format(path, also=("html",)) == "html":
        writable_folder(path.parent)
        replace_text(path, page(front))
    else:
        style.save(draw(front, next(filter(path.stem.startswith, PLOTS), "pairs")), path)
