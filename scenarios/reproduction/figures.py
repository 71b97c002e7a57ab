"""Figures of experiments, with what they show as CSV beside them, and with published values in them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gridtune.scenarios.plots import style
from gridtune.scenarios.whole_files import replace_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = ("panel", "series", "drawn_as", "x", "y")
PUBLISHED = "#b3005e"  # of values that stand in a paper


@contextmanager
def picture(path: Path, width: float, height: float, title: str, note: str = "") -> Iterator[Figure]:
    """A figure that looks like all pictures; it is written, with its data, once it is drawn.

    Args:
        path: of the picture.
        width, height: inches.
        title, note: above it.
    """
    with style.style():
        made = style.figure(width, height)
        yield made
        style.title(made, title, note)
        save(made, path)


def save(figure: Figure, path: Path) -> None:
    """Write a figure and its data as CSV beside it, each whole or not at all."""
    style.save(figure, path)
    rows = [
        (f"{number}: {_named(axes)}", *row)
        for number, axes in enumerate(figure.axes, 1)
        for row in _drawn(axes)
    ]

    text = io.StringIO(newline="")
    csv.writer(text).writerows([COLUMNS, *([*map(_cell, row)] for row in rows)])
    replace_text(path.with_suffix(".csv"), text.getvalue())


def published(
    axes: Axes, label: str, x: float | None = None, y: float | None = None, dashes: str = "-."
) -> None:
    """Show a value that stands in a paper: a star, or a line where only x or y is known.

    Args:
        axes: where.
        label: which source it stands in, and what it is.
        x, y: in the units of the axes; at least one.
        dashes: of the line, to distinguish two of them.
    """
    if x is None:
        axes.axhline(y or 0.0, color=PUBLISHED, linestyle=dashes, linewidth=1.2, label=label)
    elif y is None:
        axes.axvline(x, color=PUBLISHED, linestyle=dashes, linewidth=1.2, label=label)
    else:
        axes.plot([x], [y], "*", color=PUBLISHED, markersize=12, linestyle="none", label=label, zorder=5)


def _cell(value: Any) -> Any:
    """A number with six digits, anything else as it is."""
    try:
        return f"{float(value):.6g}" if not isinstance(value, str) else value
    except (TypeError, ValueError):
        return str(value)


def _named(axes: Axes) -> str:
    """What a panel is called, as far as it is."""
    return axes.get_title() or axes.get_ylabel() or axes.get_xlabel()


def _drawn(axes: Axes) -> Iterator[tuple[Any, ...]]:
    """Series, kind and co-ordinates of everything that axes show."""
    inside = {id(artist): _series(group) for group in axes.containers for artist in _members(group)}
    upright, level = axes.get_xaxis_transform(), axes.get_yaxis_transform()
    for line in axes.lines:
        points = _pairs(line.get_xydata())
        if line.get_transform() == upright:  # at one x, from the bottom to the top
            yield _series(line), "line", points[0][0], ""
        elif line.get_transform() == level:
            yield _series(line), "line", "", points[0][1]
        else:
            yield from ((_series(line) or inside.get(id(line), ""), "points", x, y) for x, y in points)
    for patch in axes.patches:
        yield from _patch(patch, _series(patch) or inside.get(id(patch), ""))
    for collection in axes.collections:
        yield from _collection(collection, axes)


def _patch(patch: Any, name: str) -> Iterator[tuple[Any, ...]]:
    """Bars, histograms and steps."""
    from matplotlib.patches import Polygon, Rectangle, StepPatch

    if isinstance(patch, StepPatch):
        values, edges, _ = patch.get_data()
        yield from ((name, "steps", x, y) for x, y in _pairs(zip(edges[:-1], values, strict=True)))
    elif isinstance(patch, Rectangle):
        yield name, "bar from", patch.get_x(), patch.get_y()
        yield name, "bar to", patch.get_x() + patch.get_width(), patch.get_y() + patch.get_height()
    elif isinstance(patch, Polygon):
        yield from ((name, "outline", x, y) for x, y in _pairs(patch.get_xy()))


def _collection(collection: Any, axes: Axes) -> Iterator[tuple[Any, ...]]:
    """Scattered points, bands between curves, and cells of tables."""
    from matplotlib.collections import PathCollection, PolyCollection, QuadMesh

    if isinstance(collection, PathCollection):
        yield from ((_series(collection), "points", x, y) for x, y in _pairs(collection.get_offsets()))
    elif isinstance(collection, PolyCollection):
        for outline in collection.get_paths():
            yield from ((_series(collection), "outline", x, y) for x, y in _pairs(outline.vertices))
    elif isinstance(collection, QuadMesh):
        columns = [text.get_text() for text in axes.get_xticklabels()]
        rows = [text.get_text() for text in axes.get_yticklabels()]
        cells: Any = collection.get_array()
        for k, value in enumerate(cells.ravel()):
            row, column = divmod(k, len(columns))
            yield rows[row] if row < len(rows) else "", "cell", columns[column], value


def _series(artist: Any) -> str:
    """The label of an artist; empty if it has none of its own."""
    label = str(artist.get_label() or "")
    return "" if label.startswith("_") else label


def _pairs(points: Any) -> list[tuple[Any, Any]]:
    return [(point[0], point[1]) for point in points]


def _members(group: Any) -> Iterator[Any]:
    """The artists of a group of bars or of points with errors."""
    for artist in group:
        if isinstance(artist, tuple):
            yield from artist
        elif artist is not None:
            yield artist
