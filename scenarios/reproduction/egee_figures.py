"""Figures of Responsive Grids, drawn from simulated runs and, where they show usage, from logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from scenarios.reproduction.diet_figures import save

if TYPE_CHECKING:
    from scenarios.simulate import Run


def draw_distribution(
    path: Path, curves: Mapping[str, Sequence[float]], label: str, lines: Sequence[float] = ()
) -> None:
    """Cumulative share of jobs below a value, on a logarithmic axis (figures 2 and 4)."""
    import matplotlib.pyplot as plt
    import seaborn as sns

    figure, axis = plt.subplots(figsize=(6, 3.6), layout="constrained")
    for colour, (name, values) in zip(sns.color_palette("colorblind"), curves.items(), strict=False):
        found = np.sort(np.maximum(values, 0.1))
        axis.step(found, 100 * np.arange(1, len(found) + 1) / len(found), color=colour, label=name)
    for line in lines:
        axis.axvline(line, color="grey", linewidth=0.8, linestyle=":")
    axis.set(xscale="log", xlabel=label, ylabel="Jobs (%)", ylim=(0, 100))
    axis.legend(frameon=False)
    sns.despine(ax=axis)
    save(figure, path)


def draw_ratio(path: Path, runtimes: Sequence[float], ratios: Sequence[float], label: str) -> None:
    """A ratio over execution time, both logarithmic, with the line at which it is 1 (figures 3 and 5)."""
    import matplotlib.pyplot as plt
    import seaborn as sns

    figure, axis = plt.subplots(figsize=(6, 3.6), layout="constrained")
    axis.plot(runtimes, ratios, ".", markersize=2, alpha=0.25, rasterized=True)
    axis.axhline(1.0, color="grey", linewidth=0.8)
    axis.set(xscale="log", yscale="log", xlabel="Execution time (s)", ylabel=label)
    sns.despine(ax=axis)
    save(figure, path)


def draw_signals(path: Path, run: Run, names: Mapping[str, str], label: str, unit: float = 3600.0) -> None:
    """Sampled counts over time (figures 7, 8 and 10)."""
    import matplotlib.pyplot as plt
    import seaborn as sns

    figure, axis = plt.subplots(figsize=(8, 3.4), layout="constrained")
    for colour, (name, title) in zip(sns.color_palette("colorblind"), names.items(), strict=False):
        series = [(time / unit, value) for time, known, value in run.record.signals if known == name]
        times, values = zip(*series, strict=True)
        axis.step(times, values, where="post", color=colour, label=title, linewidth=1)
    axis.set(xlabel="Time (h)" if unit == 3600.0 else "Time (s)", ylabel=label, ylim=0)
    axis.set_xlim(left=0)
    figure.legend(frameon=False, ncols=3, loc="outside upper center")
    sns.despine(ax=axis)
    save(figure, path)


def draw_completion(path: Path, curves: Mapping[str, Sequence[float]], tasks: int) -> None:
    """Completed tasks over time (figure 11)."""
    import matplotlib.pyplot as plt
    import seaborn as sns

    figure, axis = plt.subplots(figsize=(6, 3.6), layout="constrained")
    for colour, (name, ends) in zip(sns.color_palette("colorblind"), curves.items(), strict=False):
        axis.step(sorted(ends), range(1, len(ends) + 1), where="post", label=name, color=colour)
    axis.axhline(tasks, color="grey", linewidth=0.8, linestyle=":")
    axis.set(xlabel="Time (s)", ylabel="Completed tasks", ylim=0, xlim=0)
    axis.legend(frameon=False, loc="lower right")
    sns.despine(ax=axis)
    save(figure, path)


def draw_speedup(path: Path, rows: Mapping[str, Mapping[int, float]]) -> None:
    """Speed-up over workers for each size of reconstruction (figure 12)."""
    import matplotlib.pyplot as plt
    import seaborn as sns

    figure, axis = plt.subplots(figsize=(5, 3.6), layout="constrained")
    for colour, (name, curve) in zip(sns.color_palette("colorblind"), rows.items(), strict=False):
        axis.plot(list(curve), list(curve.values()), marker="o", markersize=4, label=name, color=colour)
    axis.axline((0, 0), slope=1, color="grey", linewidth=0.8, linestyle=":")
    axis.set(xlabel="Workers", ylabel="Speed-up over one after the other", xlim=(0, 15), ylim=(0, 15))
    axis.legend(frameon=False, loc="upper left")
    sns.despine(ax=axis)
    save(figure, path)
