"""How the search progressed: the hypervolume over its evaluations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gridtune.optimize.front.front import Front, history
from gridtune.scenarios.plots import style
from gridtune.scenarios.plots.style import BLUE, DARK, RED

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_history(front: Front) -> Figure:
    """Hypervolume as searched over the evaluations, as a share of its final value.

    A line shows what the front is worth on fresh seeds: what lies above it is luck.

    Args:
        front: with at least one member.
    """
    steps = history(front.archive, front.reference)
    final = steps[-1][1] or 1.0
    counts = [0, *(count for count, _ in steps)]
    shares = [0.0, *(volume / final for _, volume in steps)]
    drawing = style.figure(6.8, 3.9)
    axes = drawing.add_subplot()
    axes.step(counts, shares, where="post", color=BLUE, linewidth=1.8, label="as searched, all points")
    if front.validated:
        seen, true = front.hypervolume_searched / final, front.hypervolume / final
        axes.axhline(seen, color=DARK, linewidth=1.0, linestyle=":", label="validated points, as searched")
        axes.axhline(true, color=RED, linewidth=1.5, linestyle="--", label="validated points, on fresh seeds")
    axes.set_xlim(0, max(counts[-1], 1))
    floor = min(shares[min(2, len(shares) - 1)], front.hypervolume / final)
    axes.set_ylim(max(0.0, floor - 0.15 * (1 - floor)), max(1.0, front.hypervolume / final) * 1.02)
    axes.set_xlabel("evaluations")
    axes.set_ylabel("hypervolume (share of the final one)")
    axes.legend(loc="lower right")
    where = ", ".join(
        f"{style.words(o.name)} {value:.4g}"
        for o, value in zip(front.objectives, front.reference, strict=True)
    )
    style.title(drawing, f"{front.archive.heading}: progress of the search", f"reference point: {where}")
    return drawing
