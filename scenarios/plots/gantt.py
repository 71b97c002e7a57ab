"""Gantt chart: which job held which place, when."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from gridtune.model.batch.nodes import hosts_in
from gridtune.scenarios.plots import style
from gridtune.scenarios.plots.style import BLUE, COLOURS, GREY, SKY, PlotError
from gridtune.scenarios.plots.tables import LOST, RunTables

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 3000  # executions in one picture before a window is chosen
SHOWN = 1500  # executions in a window that was chosen, at most
EACH = 60  # of them for each that runs at a time
OUT = "#D8D8D8"  # where a node was out
ROWS = 40  # labels of places at most


@dataclass(frozen=True)
class Box:
    """A rectangle of the chart.

    Attributes:
        place: node, or site where nodes have no names.
        lane, lanes: first of its lanes at the place, and how many it has.
        row: index of the execution.
    """

    place: str
    lane: int
    lanes: int
    row: int


def draw_gantt(run: RunTables, window: tuple[float, float] | None = None) -> Figure:
    """Every execution as a box from its start to its end, on the node that it held.

    Intervals are half-open: an execution that starts when another ends shares its lane. Where nodes have no
    names, or hold several jobs at once, jobs are packed into lanes. Boxes have the colour of the kind of job,
    or of the user where all are of one kind; executions that ended without
    a result are hatched (without events, those of jobs that were killed before as well). Where events were
    kept, times in which a node was lost or drained are grey.

    Args:
        run: to draw.
        window: times to show, s; left out, everything, or of more than 3000 executions up to 1500
            in the middle of the run.

    Raises:
        PlotError: nothing ran in that time.
    """
    chosen, note = _window(run, run.executions, window)
    seen = _seen(run, chosen)
    boxes, offsets, lanes = _placed(seen)
    drawing = style.figure(10.5, _height(lanes))
    extra = _draw_schedule(drawing.add_subplot(), run, seen, boxes, offsets, lanes, chosen)
    style.title(drawing, f"{run.title}: who ran where", f"{note}; {extra}" if extra else note)
    return drawing


def draw_schedules(runs: Mapping[str, RunTables], window: tuple[float, float] | None = None) -> Figure:
    """The charts of several runs, one above the other, over the same time.

    Args:
        runs: by what distinguishes them.
        window: times to show, s; left out, what is shown of the first run alone.

    Raises:
        PlotError: nothing ran in that time.
    """
    first = next(iter(runs.values()))
    chosen, _ = _window(first, first.executions, window)
    if window is None and all(len(run.executions) <= MOST for run in runs.values()):
        chosen = min(run.span[0] for run in runs.values()), max(run.span[1] for run in runs.values())
    seen = {name: _seen(run, chosen) for name, run in runs.items()}
    placed = {name: _placed(some) for name, some in seen.items()}
    heights = [_height(lanes) for _, _, lanes in placed.values()]
    drawing = style.figure(10.5, min(sum(heights), 14.0))
    panels = drawing.subplots(len(runs), 1, sharex=True, height_ratios=heights)
    for axes, (name, run) in zip(panels, runs.items(), strict=True):
        extra = _draw_schedule(axes, run, seen[name], *placed[name], chosen)
        axes.set_title(f"{name}: {len(seen[name])} executions")
        if axes is not panels[-1]:
            axes.set_xlabel("")
    legends = [axes.get_legend() for axes in panels]
    names = [[text.get_text() for text in legend.get_texts()] if legend else [] for legend in legends]
    for legend, known in zip(legends[1:], names[1:], strict=True):
        if legend and known == names[0]:
            legend.remove()
    titles = list(dict.fromkeys(run.title for run in runs.values()))
    what = titles[0] if len(titles) == 1 else f"{len(runs)} runs"
    style.title(drawing, f"{what}: who ran where", extra)
    return drawing


def _seen(run: RunTables, window: tuple[float, float]) -> pd.DataFrame:
    """The executions of a window.

    Raises:
        PlotError: there are none.
    """
    low, high = window
    executions = run.executions
    seen = executions[(executions["end"] > low) & (executions["start"] < high)].reset_index(drop=True)
    if not len(seen):
        raise PlotError(f"{run.name}: no job ran from {low:g} to {high:g} s")
    return seen


def _placed(seen: pd.DataFrame) -> tuple[list[Box], dict[str, int], int]:
    """Boxes of executions, the first lane of each place, and how many lanes there are."""
    boxes = list(pack(seen))
    return boxes, *_offsets(boxes)


def _height(lanes: int) -> float:
    """Inches of a chart."""
    return min(max(2.8, 0.14 * lanes + 1.7), 11.5)


def _draw_schedule(
    axes: Axes,
    run: RunTables,
    seen: pd.DataFrame,
    boxes: list[Box],
    offsets: Mapping[str, int],
    lanes: int,
    window: tuple[float, float],
) -> str:
    """The boxes of a run; what to say of their colours."""
    import numpy as np
    from matplotlib.collections import PolyCollection

    colours, names, extra = _colours(seen)
    corners = _corners(boxes, offsets, seen)
    lost = _lost(seen, run.events is not None)
    rows = np.array([box.row for box in boxes])
    edge = 0.4 if len(boxes) < 2000 else 0.0
    for hatched in (False, True):
        some = lost[rows] == hatched
        axes.add_collection(
            PolyCollection(
                corners[some],
                facecolors=[colours[row] for row in rows[some]],
                edgecolors="black" if hatched else "white",
                linewidths=0.3 if hatched else edge,
                hatch="/////" if hatched else None,
                alpha=0.75 if hatched else 1.0,
            )
        )
    out = _shade(axes, run, offsets, boxes)
    _scales(axes, offsets, lanes, window)
    what = "lost" if run.events is not None else "lost, or killed before"
    _legend(axes, names, what if lost.any() else "", out)
    return extra


def _window(
    run: RunTables, executions: pd.DataFrame, window: tuple[float, float] | None
) -> tuple[tuple[float, float], str]:
    """The times to show, and what to say about them."""
    first, last = run.span
    if window is None:
        if len(executions) <= MOST:
            return (first, last), f"{len(executions)} executions"
        together = float((executions["end"] - executions["start"]).sum()) / ((last - first) or 1.0)
        half = int(min(max(EACH * together, 3 * EACH), SHOWN)) // 2
        middle = len(executions) // 2
        low, high = (float(executions["start"].iloc[middle + k]) for k in (-half, half))
        window = (low, high if high > low else last)
    low, high = window
    shown = f"from {low:.6g} to {high:.6g} s of {first:.6g} to {last:.6g} s"
    return window, f"window {shown}, out of {len(executions)} executions"


def pack(executions: pd.DataFrame) -> Iterator[Box]:
    """Lanes for executions, each the first that are free when it starts.

    Args:
        executions: in the order of their starts, with `site`, `node`, `processors`, `start` and `end`.
    """
    busy: dict[str, list[float]] = defaultdict(list)  # for each lane of a place when it becomes free
    columns = zip(*(executions[name] for name in ("site", "node", "processors", "start", "end")), strict=True)
    for row, (site, node, processors, start, end) in enumerate(columns):
        hosts = [host for name in str(node or "").split() for host in hosts_in(name)] or [str(site or "")]
        for k, host in enumerate(hosts):
            share = processors // len(hosts) + (k < processors % len(hosts))
            lanes = busy[host]
            free = [lane for lane, until in enumerate(lanes) if until <= start][: max(share, 1)]
            missing = max(share, 1) - len(free)
            free += range(len(lanes), len(lanes) + missing)
            lanes.extend([end] * missing)
            for lane in free:
                lanes[lane] = end
            for lane, count in _runs(free):
                yield Box(host, lane, count, row)


def _runs(lanes: list[int]) -> Iterator[tuple[int, int]]:
    """Neighbouring lanes together: (first, how many)."""
    start = 0
    for k in range(1, len(lanes) + 1):
        if k == len(lanes) or lanes[k] != lanes[k - 1] + 1:
            yield lanes[start], k - start
            start = k


def _offsets(boxes: list[Box]) -> tuple[dict[str, int], int]:
    """The first row of every place, in natural order, and the number of rows."""
    height: dict[str, int] = defaultdict(int)
    for box in boxes:
        height[box.place] = max(height[box.place], box.lane + box.lanes)
    offsets, total = {}, 0
    for place in sorted(height, key=_natural):
        offsets[place] = total
        total += height[place]
    return offsets, total


def _natural(name: str) -> list[tuple[int, int, str]]:
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", name)]


def _corners(
    boxes: list[Box], offsets: Mapping[str, int], executions: pd.DataFrame
) -> np.ndarray[Any, np.dtype[np.float64]]:
    import numpy as np

    rows = [box.row for box in boxes]
    left = executions["start"].to_numpy(dtype=float)[rows]
    right = executions["end"].to_numpy(dtype=float)[rows]
    bottom = np.array([offsets[box.place] + box.lane for box in boxes], dtype=float)
    top = bottom + [box.lanes for box in boxes]
    gap = 0.06
    x, y = (left, left, right, right), (bottom + gap, top - gap, top - gap, bottom + gap)
    return np.stack([np.stack(x, axis=1), np.stack(y, axis=1)], axis=2)


def _colours(executions: pd.DataFrame) -> tuple[list[str], dict[str, str], str]:
    """A colour for every execution, the legend, and what to say if the colours repeat."""
    column = next((name for name in ("kind", "user") if executions[name].nunique() > 1), "")
    if not column:
        return [(BLUE, SKY)[job % 2] for job in executions["job"]], {}, "two tints keep jobs apart"
    names = sorted(executions[column].unique(), key=lambda name: _natural(str(name)))
    few = len(names) <= len(COLOURS)
    of = {name: COLOURS[k % len(COLOURS)] for k, name in enumerate(names)}
    note = "" if few else f"colours repeat over {len(names)} {column}s"
    return [of[name] for name in executions[column]], of if few else {}, note


def _lost(executions: pd.DataFrame, exact: bool) -> np.ndarray[Any, np.dtype[np.bool_]]:
    lost = executions["outcome"].isin(LOST)
    return (lost if exact else lost | (executions["kills"] > 0)).to_numpy(dtype=bool)


def _scales(axes: Axes, offsets: Mapping[str, int], rows: int, window: tuple[float, float]) -> None:
    starts = [*offsets.values(), rows]
    middles = [(a + b) / 2 for a, b in pairwise(starts)]
    axes.set_yticks(middles, style.thinned(list(offsets), ROWS))
    axes.tick_params(axis="y", length=0, labelsize=7.5)
    axes.set_ylim(rows, 0)
    axes.grid(False, axis="y")
    if 1 < len(offsets) < rows:  # places of several lanes
        axes.hlines(starts[1:-1], *window, color="#BBBBBB", linewidth=0.6, zorder=0)
    style.time_axis(axes, *window)


def _shade(axes: Axes, run: RunTables, offsets: Mapping[str, int], boxes: list[Box]) -> bool:
    """Grey where nodes were out; whether any was."""
    height: dict[str, int] = defaultdict(int)
    for box in boxes:
        height[box.place] = max(height[box.place], box.lane + box.lanes)
    shown = [outage for outage in run.outages if outage[0] in offsets]
    for node, start, end in shown:
        axes.broken_barh([(start, end - start)], (offsets[node], height[node]), facecolor=OUT, zorder=0.5)
    return bool(shown)


def _legend(axes: Axes, names: Mapping[str, str], lost: str, out: bool) -> None:
    from matplotlib.patches import Patch

    handles = [Patch(color=colour, label=name) for name, colour in names.items()]
    if out:
        handles.append(Patch(color=OUT, label="node out"))
    if lost:
        handles.append(Patch(facecolor=GREY, edgecolor="black", hatch="/////", label=lost))
    if handles:
        axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.0, 1.0))
