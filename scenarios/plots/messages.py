"""Messages that agents handled over time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gridtune.scenarios.plots import style
from gridtune.scenarios.plots.style import COLOURS, PlotError
from gridtune.scenarios.plots.tables import RunTables

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 5_000_000  # intervals of time in one picture


def draw_messages(run: RunTables, window: tuple[float, float] | None = None) -> Figure:
    """Messages per second that each group of agents handled: a panel per group.

    Agents whose names differ in their number alone (`sed-000`, `sed-001`) are a group. A group of several
    shows the mean and the largest of its agents.

    Args:
        run: to draw.
        window: times to show, s.

    Raises:
        PlotError: no messages were counted in that time, or in more intervals of it than can be drawn.

    Source: the phases are those of RR-7959, figure 9, where the load is measured in CPU time.
    """
    low, high = window or run.span
    seen = run.messages[run.messages["time"].between(low, high)]
    if not len(seen):
        raise PlotError(f"{run.name}: no messages from {low:g} to {high:g} s; only GridRPC agents count them")
    width = bin_width(run.messages)
    if (high - low) / width > MOST:
        raise PlotError(
            f"{run.name}: {(high - low) / width:.3g} intervals of {width:g} s from {low:g} to {high:g} s are "
            "too many to be drawn; --window FROM:TO shows some of them"
        )
    groups = run.messages["agent"].astype(str).map(group_of)
    sizes = run.messages.groupby(groups)["agent"].nunique()
    order = sorted(sizes.index, key=lambda group: (sizes[group], group))
    drawing = style.figure(7.4, 1.6 * len(order) + 1.2)
    panels = drawing.subplots(len(order), 1, sharex=True, squeeze=False)[:, 0]
    for axes, group in zip(panels, order, strict=True):
        members = seen[groups[seen.index] == group]
        _draw_group(axes, members, int(sizes[group]), width, (low, high))
        axes.set_title(style.words(group) if sizes[group] == 1 else f"{group} ({sizes[group]} agents)")
        style.time_axis(axes, low, high)
        if axes is not panels[-1]:
            axes.set_xlabel("")
    drawing.supylabel("messages per second", size=9)
    style.title(drawing, f"{run.title}: messages", f"counted in intervals of {width:g} s")
    return drawing


def group_of(agent: str) -> str:
    """The name of an agent without its number."""
    return re.sub(r"[-_]?\d+$", "", agent) or agent


def bin_width(messages: pd.DataFrame) -> float:
    """Width of the intervals in which messages were counted, s."""
    import numpy as np

    times = np.unique(messages["time"].to_numpy(dtype=float))
    return float(np.diff(times).min()) if len(times) > 1 else 1.0


def _draw_group(
    axes: Axes, members: pd.DataFrame, size: int, width: float, window: tuple[float, float]
) -> None:
    import numpy as np

    low, high = window
    bins = np.arange(np.floor(low / width), np.floor(high / width) + 1).astype(int)
    each = members.groupby([(members["time"] / width).round().astype(int), "agent"])["count"].sum()
    total = each.groupby(level=0).sum().reindex(bins, fill_value=0) / width
    edges = np.append(bins, bins[-1] + 1) * width
    mean = "all kinds" if size == 1 else "mean"
    axes.stairs(total / size, edges, color=COLOURS[0], linewidth=1.4, label=mean, baseline=None)
    if size > 1:
        most = each.groupby(level=0).max().reindex(bins, fill_value=0) / width
        axes.stairs(most, edges, color=COLOURS[1], linewidth=1.0, label="largest", baseline=None)
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.05))
    axes.set_ylim(bottom=0)
    axes.margins(y=0.1)
