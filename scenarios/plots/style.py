"""How every picture looks, and how it is written to a file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal
from warnings import catch_warnings, filterwarnings

from gridtune.model.metrics.labels import label
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.results.amounts import scale_of
from gridtune.scenarios.results.files import writable_folder
from gridtune.scenarios.whole_files import replace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# What a picture says of itself, by format; without dates equal pictures are equal files.
METADATA: dict[str, dict[str, str | None]] = {
    "png": {"Software": "gridtune"},
    "svg": {"Creator": "gridtune", "Date": None},
    "pdf": {"Creator": "gridtune", "CreationDate": None},
}
MARKS = {  # how that stands in the file, at its start or its end
    "png": b"Software\0gridtune",
    "svg": b"<dc:title>gridtune</dc:title>",
    "pdf": b"/Creator (gridtune)",
    "html": b"gridtune",
}
LOOK = 1 << 16  # bytes at start and end
LETTERS = 14.5  # of a note, in an inch
FORMATS = tuple(METADATA)

# Okabe and Ito's colours, distinct with every common form of colour blindness.
BLUE, ORANGE, GREEN, RED, PURPLE, SKY, YELLOW = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442",
)  # fmt: skip
COLOURS = (BLUE, ORANGE, GREEN, PURPLE, SKY, RED, YELLOW)
GREY, DARK = "#9A9A9A", "#333333"


class PlotError(ScenarioError):
    """A picture that cannot be drawn or written as asked."""


def picture_format(path: Path | str, also: Sequence[str] = ()) -> str:
    """The format of a picture by the suffix of its file: `png`, `svg`, `pdf` or one of `also`.

    Raises:
        PlotError: another suffix.
    """
    known = (*FORMATS, *also)
    suffix = Path(path).suffix
    if suffix.lower()[1:] not in known:
        names = f"{', '.join(known[:-1])} or {known[-1]}"
        raise PlotError(f"{path}: a picture ends in {names}, not in {suffix or 'nothing'}")
    return suffix.lower()[1:]


def check_free(path: Path | str) -> None:
    """Let there be nothing under the name of a picture, or a picture that gridtune has drawn.

    Raises:
        PlotError: there is something else, or it cannot be read.
    """
    path = Path(path)
    if not os.path.lexists(path):
        return
    try:
        if path.is_file():
            with path.open("rb") as file:
                start = file.read(LOOK)
                file.seek(max(0, path.stat().st_size - LOOK))
                if MARKS[picture_format(path, also=("html",))] in start + file.read():
                    return
    except OSError as error:
        raise PlotError(f"{path}: cannot be read: {error.strerror or error}") from error
    raise PlotError(f"{path}: exists, and gridtune has not drawn it; remove it or give another name")


def save(figure: Figure, path: Path | str) -> None:
    """Write a picture, whole or not at all.

    Args:
        figure: the picture.
        path: of a png, svg or pdf file; its folder is made if need be.

    Raises:
        PlotError: another suffix.
        ScenarioError: the file cannot be written.
    """
    from matplotlib.style import context

    path = Path(path)
    kind = picture_format(path)
    writable_folder(path.parent)
    with context(["default", {"svg.hashsalt": "gridtune", "svg.fonttype": "none"}]), _boxes_for_glyphs():
        replace(path, lambda part: figure.savefig(part, format=kind, dpi=200, metadata=METADATA[kind]))


@contextmanager
def style() -> Iterator[None]:
    """The look of all pictures: seaborn's paper context, light grid, colours safe for the colour-blind.

    Settings of the user's own, such as a `matplotlibrc`, make no difference.
    """
    import seaborn as sns
    from cycler import cycler
    from matplotlib.style import context

    look: Any = {
        **sns.axes_style("ticks"),
        **sns.plotting_context("paper", font_scale=1.05),
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": "#666666",
        "axes.titlesize": 10.0,
        "axes.titlelocation": "left",
        "figure.titlesize": 11.0,
        "grid.color": "#E4E4E4",
        "grid.linewidth": 0.6,
        "legend.frameon": False,
        "font.family": ["sans-serif"],
        "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib: the same picture everywhere
        "axes.prop_cycle": cycler(color=COLOURS),
        "hatch.linewidth": 0.6,
        "text.parse_math": False,  # names may have dollars in them
    }
    with context(["default", look]), _boxes_for_glyphs():
        yield


@contextmanager
def _boxes_for_glyphs() -> Iterator[None]:
    """What the font does not have is drawn as a box, which says enough."""
    with catch_warnings():
        filterwarnings("ignore", message="Glyph .* missing from")
        yield


def figure(width: float, height: float) -> Figure:
    """An empty figure without any window or global state.

    Args:
        width, height: inches.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    made = _figure_class()(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(made)
    return made


@cache
def _figure_class() -> type[Figure]:
    """Figures that a notebook shows as they are, whether pyplot is there or not."""
    from matplotlib.figure import Figure
    from matplotlib.style import context

    class ShownFigure(Figure):
        def _repr_png_(self) -> bytes:
            made = BytesIO()
            with context("default"):
                self.savefig(made, format="png", dpi=100)
            return made.getvalue()

    return ShownFigure


def title(drawing: Figure, text: str, note: str = "") -> None:
    """A title at the left, with a note in smaller print below it."""
    width, height = drawing.get_size_inches()
    lines = wrap(note, int(LETTERS * width))
    drawing.suptitle(text + "\n" * len(lines), x=0.01, ha="left", weight="bold", linespacing=1.6)
    if lines:
        drawing.canvas.draw()  # the note goes where the layout has put the title
        told = "\n".join(lines)
        drawing.text(0.01, 1 - 0.34 / height, told, ha="left", va="top", size=8, color="#555555")


def words(name: str) -> str:
    """A metric's or signal's name in words."""
    return name.replace("_", " ")


def labelled(name: str, unit: str = "") -> str:
    """An axis label: the metric as people write it, and the unit unless the metric says it."""
    known = label(name)
    details = [known.detail, unit if unit not in known.name.split() else ""]
    return str(known._replace(detail=", ".join(filter(None, details))))


def scaled(name: str, largest: float, unit: str) -> tuple[float, str]:
    """What to divide the values of a metric by for people, by the largest of them, and their unit then."""
    if label(name).percent:
        return 0.01, "%"
    size, tail = scale_of(largest, unit, name)
    return size, tail.strip() if unit == "s" else f"{tail} {unit}".strip()


def time_unit(span: float) -> tuple[float, str]:
    """Seconds per unit and its name, so that a span (s) has readable numbers."""
    for least, seconds, name in ((4 * 86400, 86400.0, "days"), (5 * 3600, 3600.0, "h"), (900, 60.0, "min")):
        if span >= least:
            return seconds, name
    return 1.0, "s"


def time_axis(axes: Axes, low: float, high: float, label: str = "time") -> None:
    """Show an x axis in seconds from `low` to `high` in a readable unit."""
    from matplotlib.ticker import FuncFormatter, MultipleLocator

    scale, unit = time_unit(high - low)
    axes.set_xlim(low, high if high > low else low + 1)
    axes.set_xlabel(f"{label} ({unit})")
    step = _step((high - low) / scale) * scale
    if step > 0:
        axes.xaxis.set_major_locator(MultipleLocator(step))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x / scale:g}"))


def log_axis(axes: Axes, values: Sequence[float]) -> None:
    """A logarithmic x axis for positive values, with as many ticks as have room."""
    from matplotlib.ticker import LogLocator

    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if max(values) < 100 * min(values) else (1,)))
    plain_numbers(axes)


def plain_numbers(axes: Axes, which: Literal["x", "y"] = "x") -> None:
    """Numbers at the major ticks of an axis as they are, not as powers of ten."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def _step(span: float) -> float:
    """A round distance between ticks that gives about eight of them."""
    from math import floor, log10

    if span <= 0:
        return 0.0
    raw = span / 8
    power = 10.0 ** floor(log10(raw))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= raw)


def thinned(labels: Sequence[str], most: int = 40) -> list[str]:
    """At most about `most` of the labels, evenly spaced; the others empty."""
    every = -(-len(labels) // most)
    return [label if k % every == 0 else "" for k, label in enumerate(labels)]
