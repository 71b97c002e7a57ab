"""How the hypervolume grew over a search."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from gridtune.optimize.front.front import Front
from gridtune.optimize.front.hypervolume import hypervolume
from gridtune.optimize.replication.compare import signs
from gridtune.optimize.report.frame import INFEASIBLE
from gridtune.optimize.report.pictures.axes import configurations
from gridtune.optimize.report.tables import reference_text
from gridtune.scenarios.plots import style
from gridtune.scenarios.plots.style import BLUE


def growth(front: Front) -> list[tuple[int, float]]:
    """(Configurations so far, hypervolume of what is expected of these), at each growth and at the end."""
    import moocore

    table = configurations(front).sort_index()
    values = table[[one.name for one in front.objectives]].to_numpy(dtype=float) * signs(front.objectives)
    allowed = (table["state"] != INFEASIBLE).to_numpy()
    best = np.empty((0, len(front.objectives)))
    steps = [(0, 0.0)]
    for count, (row, may) in enumerate(zip(values, allowed, strict=True), start=1):
        grown = np.vstack([best, row])
        if may and moocore.is_nondominated(grown)[-1]:
            best = moocore.filter_dominated(grown)
            steps.append((count, hypervolume(best, front.objectives, front.reference)))
    return [*steps, (len(table), steps[-1][1])]


def draw_history(front: Front) -> Figure:
    """Hypervolume of what is expected of the configurations so far, as a share of the final one."""
    steps = growth(front)
    final = steps[-1][1] or 1.0
    drawing = style.figure(6.8, 3.9)
    axes = drawing.add_subplot()
    counts, volumes = zip(*steps, strict=True)
    axes.step(counts, [100 * volume / final for volume in volumes], where="post", color=BLUE, linewidth=1.8)
    axes.set_xlim(0, max(counts[-1], 1))
    axes.set_ylim(0, 102)
    axes.set_xlabel("configurations")
    axes.set_ylabel("hypervolume (% of the final one)")
    style.title(
        drawing,
        f"{front.archive.heading}: progress of the search",
        f"Reference point: {reference_text(front)}",
    )
    return drawing
