"""Pictures of a sweep: metrics over a varied value."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from math import isfinite, log
from textwrap import fill
from typing import TYPE_CHECKING, Any

from gridtune.plain_text import written
from gridtune.scenarios.plots import style
from gridtune.scenarios.plots.style import COLOURS, PlotError
from gridtune.scenarios.results.intervals import half_width, paired_half_widths

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Point = Mapping[str, Any]

OBJECTIVES = ("unhappy_users", "unfairness", "completed")
LABEL = 28  # letters in a line of an axis' label


def draw_sweep(
    points: Sequence[Point], metrics: Sequence[str] = OBJECTIVES, logarithmic: Collection[str] = ()
) -> Figure:
    """Metrics over a varied value, with bands of 95 % confidence.

    The light band is the interval of each mean. The dark one leaves out what the points share because
    replication k has the same workload in all of them: it shows whether they differ significantly.

    The axis shows the varied numbers with the most values, on a logarithmic scale where they are spaced so;
    every combination of the other varied values is a line. Where nothing but names was varied, they stand
    along the axis.

    Args:
        points: as in the JSON output of `gridtune sweep`: `values` by path, `metrics` by name with `mean`,
            `standard_error`, `values` and `unit`. Points without metrics (failed ones) are left out.
        metrics: names, a panel each.
        logarithmic: paths to draw on a logarithmic scale, however their values are spaced.

    Raises:
        PlotError: no point has such a metric.
    """
    done = [point for point in points if point["metrics"]]
    if not done:
        raise PlotError("the sweep has no results to draw")
    known = done[0]["metrics"]
    unknown = [name for name in metrics if name not in known]
    if unknown:
        raise PlotError(f"{unknown[0]}: no such metric in the sweep, which has {', '.join(known)}")
    path = axis_path(done)
    others = [other for other in done[0]["values"] if other != path and _count(done, other) > 1]
    lines: dict[str, list[Point]] = {}
    for point in done:
        lines.setdefault(", ".join(_named(other, point["values"].get(other)) for other in others), []).append(
            point
        )
    with style.style():
        columns = 2 if len(metrics) in (2, 4) else min(len(metrics), 3)
        rows = -(-len(metrics) // columns)
        drawing = style.figure(3.3 * columns + 0.7, 2.7 * rows + 1.1)
        panels = drawing.subplots(rows, columns, squeeze=False)
        for axes, name in zip(panels.flat, metrics, strict=False):
            means = [abs(_number(point["metrics"][name]["mean"])) for point in done]
            size, unit = style.scaled(
                name, max(filter(isfinite, means), default=0.0), str(known[name].get("unit") or "")
            )
            _draw_metric(axes, name, path, lines, size)
            at = [point["values"].get(path) for point in done]
            if path in logarithmic or (all(map(_is_number, at)) and is_log_spaced(at)):
                style.log_axis(axes, at)
            axes.set_ylabel(fill(style.labelled(name, unit), LABEL))
        for axes in panels.flat[len(metrics) :]:
            axes.set_visible(False)
        if len(lines) > 1:
            handles, labels = panels.flat[0].get_legend_handles_labels()
            drawing.legend(handles, labels, loc="outside lower center", ncols=min(len(lines), 4))
        style.title(drawing, f"Effect of {path}", _note(done))
    return drawing


def axis_path(points: Sequence[Point]) -> str:
    """The path to draw along the axis: of those with numbers the one with the most values, else the first."""
    paths: list[str] = list(points[0]["values"])
    if not paths:
        raise PlotError("nothing was varied, so there is nothing to draw along an axis")

    def rank(path: str) -> tuple[bool, int]:
        values = [point["values"].get(path) for point in points]
        return all(map(_is_number, values)), _count(points, path)

    return max(paths, key=rank)


def _count(points: Sequence[Point], path: str) -> int:
    """How many values of a path there are."""
    return len({str(point["values"].get(path)) for point in points})


def is_log_spaced(values: Sequence[float]) -> bool:
    """Whether at least three positive values over a decade or more are spaced by ratio, not by difference."""
    ordered = sorted(set(values))
    if len(ordered) < 3 or ordered[0] <= 0 or ordered[-1] / ordered[0] < 10:
        return False
    ratios = [log(b / a) for a, b in pairwise(ordered)]
    steps = [b - a for a, b in pairwise(ordered)]
    return _unevenness(ratios) < _unevenness(steps)


def _unevenness(gaps: Sequence[float]) -> float:
    """Standard deviation over mean."""
    mean = sum(gaps) / len(gaps)
    return float((sum((gap - mean) ** 2 for gap in gaps) / len(gaps)) ** 0.5 / mean)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _named(path: str, value: object) -> str:
    return f"{path.rpartition('.')[2]} = {_text(value)}"


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else written(value)


def _draw_metric(axes: Axes, name: str, path: str, lines: Mapping[str, Sequence[Point]], size: float) -> None:
    import numpy as np
    from matplotlib import colormaps

    everything = [point for members in lines.values() for point in members]
    numeric = all(_is_number(point["values"].get(path)) for point in everything)
    names = list(dict.fromkeys(_text(point["values"].get(path)) for point in everything))
    paired = _paired(everything, name)
    for k, (line, members) in enumerate(lines.items()):
        many = len(lines) > len(COLOURS)
        colour = colormaps["cividis"](0.9 * k / (len(lines) - 1)) if many else COLOURS[k]
        if numeric:
            members = sorted(members, key=lambda point: float(point["values"][path]))
        mean = np.array([_number(point["metrics"][name]["mean"]) for point in members]) / size
        wide = np.nan_to_num([half_width(_values(point, name)) for point in members]) / size
        narrow = np.array([paired.get(id(point), 0.0) for point in members]) / size
        if numeric:
            x = np.array([point["values"][path] for point in members], dtype=float)
            axes.plot(x, mean, marker="o", markersize=3.5, color=colour, linewidth=1.5, label=line)
            axes.fill_between(x, mean - wide, mean + wide, color=colour, alpha=0.15, linewidth=0)
            if paired:
                axes.fill_between(x, mean - narrow, mean + narrow, color=colour, alpha=0.35, linewidth=0)
            continue
        x = np.array([names.index(_text(point["values"].get(path))) for point in members], dtype=float)
        x += 0.0 if len(lines) == 1 else 0.5 * (k / (len(lines) - 1) - 0.5)
        axes.errorbar(x, mean, yerr=wide, fmt="o", color=colour, capsize=3, label=line)
        if paired:
            axes.errorbar(x, mean, yerr=narrow, fmt="none", ecolor=colour, elinewidth=4, alpha=0.5)
    if not numeric:
        axes.set_xticks(range(len(names)), names, rotation=0 if sum(map(len, names)) < 25 else 30)
        axes.set_xlim(-0.5, len(names) - 0.5)
    axes.set_xlabel(path)


def _values(point: Point, name: str) -> list[float]:
    return [_number(value) for value in point["metrics"][name]["values"]]


def _paired(points: Sequence[Point], name: str) -> dict[int, float]:
    """Half-widths by identity of the point; empty where points do not share their replications."""
    rows = [_values(point, name) for point in points]
    if len(rows) < 2 or len(rows[0]) < 2 or len({len(row) for row in rows}) > 1:
        return {}
    if not all(isfinite(value) for row in rows for value in row):
        return {}
    return dict(zip(map(id, points), paired_half_widths(rows), strict=True))


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and isfinite(value) else float("nan")


def _note(points: Sequence[Point]) -> str:
    counts = {len(metric["values"]) for point in points for metric in point["metrics"].values()}
    runs = max(counts, default=1)
    return (
        f"{runs} replications; 95 % intervals, dark: of differences"
        if runs > 1
        else "one replication per point"
    )
