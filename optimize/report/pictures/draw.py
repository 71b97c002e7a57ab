"""The kinds of pictures of a front, and their way into a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from gridtune.optimize.front.front import Front
from gridtune.optimize.report.pictures.history import draw_history
from gridtune.optimize.report.pictures.pairs import draw_pairs
from gridtune.optimize.report.pictures.parallel import draw_parallel
from gridtune.optimize.report.pictures.parameters import draw_parameters
from gridtune.scenarios.plots import style
from gridtune.scenarios.plots.style import PlotError
from gridtune.scenarios.results.files import writable_folder
from gridtune.scenarios.whole_files import replace_text

PLOTS: dict[str, tuple[Callable[[Front], Figure], str]] = {
    "pairs": (draw_pairs, "every pair of objectives: the front, the baseline and what is recommended"),
    "parallel": (draw_parallel, "parameters and objectives of the front, a line for each configuration"),
    "parameters": (draw_parameters, "every objective against the parameters that matter most"),
    "history": (draw_history, "how the hypervolume grew over the search"),
}


def draw(front: Front, kind: str = "pairs") -> Figure:
    """Draw a front.

    Raises:
        PlotError: no such kind, or the front is empty.
    """
    if kind not in PLOTS:
        raise PlotError(f"{kind}: no such picture of a front; there are {', '.join(PLOTS)}")
    if not front.members:
        raise PlotError(f"{front.archive.study}: its front is empty, so there is nothing to draw")
    with style.style():
        return PLOTS[kind][0](front)


def save(front: Front, path: Path | str) -> None:
    """Draw a front into a file: png, svg, pdf, or the page (html), which needs nothing else.

    Args:
        path: of the file. Its suffix says the format; the kind is that of `PLOTS` with which its name begins,
            `pairs` for other names.

    Raises:
        PlotError: see `draw`, or another suffix; found before anything is drawn.
        ScenarioError: the file cannot be written.
    """
    path = Path(path)
    if style.picture_format(path, also=("html",)) != "html":
        kind = next((kind for kind in PLOTS if path.stem.startswith(kind)), "pairs")
        style.save(draw(front, kind), path)
        return
    from gridtune.optimize.report.page import page

    text = page(front)
    writable_folder(path.parent)
    replace_text(path, text)
