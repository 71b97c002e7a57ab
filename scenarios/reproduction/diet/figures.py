"""Figures 4 to 9 of RR-7959, redrawn from simulated runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gridtune.scenarios.reproduction.figures import published, save
from gridtune.scenarios.reproduction.workbench import Values

if TYPE_CHECKING:
    from gridtune.scenarios.results.run import Run

PANELS = (
    ("unhappy_users", "Unhappy users"),
    ("unfairness", "Unfairness"),
    ("completed", "Completed requests"),
)


# Figure 5 is ideal at 100 requests; figure 6 at 190, with 1890 completed, and 1842 under DIET-ethic.
PUBLISHED: dict[str, dict[str, tuple[tuple[str, float | None, float | None], ...]]] = {
    "figure-5": {"completed": (("RR-7959: ideal number", 100.0, None),)},
    "figure-6": {
        "completed": (
            ("RR-7959: legacy at its best", 190.0, 1890.0),
            ("RR-7959: DIET-ethic", None, 1842.0),
        )
    },
}


def draw_comparison(path: Path, title: str, legacy: Mapping[int, Values], ethic: Values) -> None:
    """Three metrics over n_submit: legacy (median and range) against DIET-ethic's line."""
    import matplotlib.pyplot as plt
    import seaborn as sns

    blue, orange = sns.color_palette("colorblind")[:2]
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    x = sorted(legacy)
    for axis, (metric, label) in zip(axes, PANELS, strict=True):
        values = np.array([legacy[n][metric] for n in x])
        axis.fill_between(x, values.min(axis=1), values.max(axis=1), color=blue, alpha=0.2, linewidth=0)
        axis.plot(x, np.median(values, axis=1), marker="o", markersize=3, color=blue, label="legacy")
        axis.axhspan(min(ethic[metric]), max(ethic[metric]), color=orange, alpha=0.2, linewidth=0)
        axis.axhline(float(np.median(ethic[metric])), color=orange, label="DIET-ethic")
        axis.set(xlabel="Requests submitted per client", ylabel=label, xscale="log")
        axis.set_ylim(bottom=0, top=None if axis.get_ylim()[1] > 0.2 else 1)
        axis.xaxis.set_major_formatter("{x:g}")
        known = PUBLISHED.get(path.stem, {}).get(metric, ())
        for text, x_known, y_known in known:
            published(axis, text, x_known, y_known)
        if known:
            axis.legend(frameon=False, fontsize="small")
        sns.despine(ax=axis)
    axes[0].legend(frameon=False)
    figure.suptitle(f"{title} (median and range of {len(ethic['completed'])} runs)")
    save(figure, path)


def group_load(run: Run) -> dict[str, NDArray[np.float64]]:
    """Share of one CPU that messages took in each second, by group of machines."""
    groups = {"clients": "client node", "master-agent": "master agent", "busiest-sed": "busiest SeD"}
    made: dict[str, list[float]] = {name: [] for name in groups.values()}
    for _, name, value in run.record.signals:
        if name.startswith("cpu."):
            made[groups[name.removeprefix("cpu.")]].append(value)
    # The first sample is taken at once, and says nothing.
    return {name: np.array(values[1:]) for name, values in made.items()}


def phases(run: Run) -> dict[str, float]:
    """What figure 9 says in numbers: length of the set-up (s), rates and shares of CPU in each phase."""
    load_of = group_load(run)
    setup = max(stay.setup_end for stay in run.record.stays)
    start, end = 20, 100  # what waited during the set-up is handled until then
    submitted = sum(
        count
        for (agent, kind, second), count in run.record.messages.items()
        if agent == "client-node" and kind == "submit" and start <= second < end
    )
    return {
        "setup": setup,
        "submitted": submitted / (end - start),
        "master": float(load_of["master agent"][start:end].max()),
        "server": float(load_of["busiest SeD"].max()),
        "clean_up": float(load_of["client node"][end : end + 3].min()),
        "monitoring": float(load_of["client node"][start:end].max()),
    }


def draw_overhead(path: Path, load_of: Mapping[str, NDArray[np.float64]]) -> None:
    """CPU use of the machines over time, one panel each."""
    import matplotlib.pyplot as plt
    import seaborn as sns

    palette = sns.color_palette("colorblind")
    figure, axes = plt.subplots(len(load_of), 1, figsize=(8, 6), sharex=True, layout="constrained")
    for axis, colour, (name, load) in zip(axes, palette, load_of.items(), strict=False):
        axis.stairs(100 * load, np.arange(len(load) + 1), fill=True, color=colour)
        axis.set(ylabel=f"{name}\nCPU use (%)", xlim=(0, 110))
        for end, label in ((13, "set-up"), (100, "monitoring"), (110, "clean-up")):
            published(axis, f"RR-7959: end of {label}", x=end)
            if axis is axes[0]:
                start = {13: 0, 100: 13, 110: 100}[end]
                axis.text((start + end) / 2, 103, label, ha="center", va="bottom", fontsize="small")
        axis.set_ylim(0, 100 if axis is axes[0] else None)
        sns.despine(ax=axis)
    axes[-1].set_xlabel("Time (s)")
    save(figure, path)
