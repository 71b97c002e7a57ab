"""Figures 4 to 9 of RR-7959, redrawn from simulated runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gridtune.scenarios.plots.style import BLUE, COLOURS, ORANGE, log_axis
from gridtune.scenarios.reproduction.figures import picture, published
from gridtune.scenarios.reproduction.workbench import Values

if TYPE_CHECKING:
    from gridtune.scenarios.results.run import Run

PANELS = (
    ("unhappy_users", "unhappy users"),
    ("unfairness", "unfairness"),
    ("completed", "completed requests"),
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
    note = f"median and range of {len(ethic['completed'])} runs"
    with picture(path, 10, 3.9, title, note) as drawing:
        panels = drawing.subplots(1, 3)
        x = sorted(legacy)
        entries: dict[str, Any] = {}
        for axes, (metric, label) in zip(panels, PANELS, strict=True):
            values = np.array([legacy[n][metric] for n in x])
            axes.fill_between(x, values.min(axis=1), values.max(axis=1), color=BLUE, alpha=0.2, linewidth=0)
            axes.plot(x, np.median(values, axis=1), marker="o", markersize=3, color=BLUE, label="legacy")
            axes.axhspan(min(ethic[metric]), max(ethic[metric]), color=ORANGE, alpha=0.2, linewidth=0)
            axes.axhline(float(np.median(ethic[metric])), color=ORANGE, label="DIET-ethic")
            axes.set(xlabel="requests submitted per client", ylabel=label)
            axes.set_ylim(bottom=0, top=None if axes.get_ylim()[1] > 0.2 else 1)
            log_axis(axes, x)
            for text, x_known, y_known in PUBLISHED.get(path.stem, {}).get(metric, ()):
                published(axes, text, x_known, y_known)
            handles, labels = axes.get_legend_handles_labels()
            entries.update(zip(labels, handles, strict=True))
        drawing.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=len(entries))


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


PHASES = {"set-up": (0, 13), "monitoring": (13, 100), "clean-up": (100, 110)}  # s; by RR-7959, section 5.2


def draw_overhead(path: Path, load_of: Mapping[str, NDArray[np.float64]]) -> None:
    """CPU use of the machines over time, one panel each."""
    with picture(path, 8, 6.4, "Use of processors", "of 100 clients on one node and 138 servers") as drawing:
        panels = drawing.subplots(len(load_of), 1, sharex=True)
        for axes, colour, (name, load) in zip(panels, COLOURS, load_of.items(), strict=False):
            axes.stairs(100 * load, np.arange(len(load) + 1), fill=True, color=colour)
            axes.set(ylabel=f"{name}\nuse (%)", xlim=(0, 112))
            for _, end in PHASES.values():
                published(axes, "RR-7959: end of a phase", x=end)
        for name, (start, end) in PHASES.items():
            panels[0].text((start + end) / 2, 103, name, ha="center", va="bottom", fontsize="small")
        panels[0].set_ylim(0, 100)
        panels[-1].set_xlabel("time (s)")
        handles, labels = panels[0].get_legend_handles_labels()
        drawing.legend(handles[:1], labels[:1], loc="outside lower center")
