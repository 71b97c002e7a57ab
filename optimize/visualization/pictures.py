"""The kinds of pictures of a front, and their way into a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from gridtune.optimize.front.front import Front
from gridtune.optimize.visualization.hypervolume import draw_history
from gridtune.optimize.visualization.pairs import draw_pairs
from gridtune.optimize.visualization.parallel import draw_parallel
from gridtune.optimize.visualization.parameters import draw_parameters
from gridtune.scenarios.plots import style
from gridtune.scenarios.plots.style import PlotError
from gridtune.scenarios.results.files import writable_folder
from gridtune.scenarios.whole_files import replace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLOTS: dict[str, tuple[Callable[[Front], Figure], str]] = {
    "pairs": (draw_pairs, "every pair of objectives: the front with its errors, on all searched points"),
    "parallel": (draw_parallel, "parameters and objectives of the front as parallel coordinates"),
    "parameters": (draw_parameters, "every objective against every parameter"),
    "history": (draw_history, "hypervolume over the evaluations of the search"),
}


def draw(front: Front, kind: str = "pairs") -> Figure:
    """Draw a front.

    Args:
        front: what to draw.
        kind: one of `PLOTS`.

    Raises:
        PlotError: no such kind, or the front is empty.
    """
    if kind not in PLOTS:
        raise PlotError(f"{kind}: no such picture of a front; there are {', '.join(PLOTS)}")
    if not front.members:
        raise PlotError(f"{front.archive.study}: no point has finite objectives, so there is nothing to draw")
    with style.style():
        return PLOTS[kind][0](front)


def save(front: Front, path: Path | str, kind: str = "pairs") -> None:
    """Draw a front into a file: png, svg, pdf, or a self-contained html page.

    Args:
        front: what to draw.
        path: of the file; its suffix decides.
        kind: one of `PLOTS`; an html page holds all of them and needs none.

    Raises:
        PlotError: see `draw`, or another suffix; found before anything is drawn.
        ScenarioError: the file cannot be written.
    """
    path = Path(path)
    if style.picture_format(path, also=("html",)) != "html":
        style.save(draw(front, kind), path)
        return
    from gridtune.optimize.visualization.page import page

    text = page(front)
    writable_folder(path.parent)
    replace(path, lambda part: part.write_text(text, encoding="utf-8"))
