"""Figures of Responsive Grids, drawn from simulated runs and, where they show usage, from logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gridtune.scenarios.reproduction.figures import published, save

if TYPE_CHECKING:
    from gridtune.scenarios.results.run import Run


SHORT = 2  # classes of execution time below 5 minutes, the first ones


def draw_usage(path: Path, rows: Mapping[str, Mapping[str, int]], title: str) -> None:
    """Jobs of each month, stacked by class of execution time, with the share of short ones (figure 1)."""
    import matplotlib.pyplot as plt
    import numpy as np
    import seaborn as sns

    figure, axis = plt.subplots(figsize=(8, 3.8), layout="constrained")
    classes = list(next(iter(rows.values())))
    long = len(classes) - SHORT
    colours = sns.color_palette("Oranges_r", SHORT + 2)[:SHORT] + sns.color_palette("Blues", long + 1)[1:]
    bottom = np.zeros(len(rows))
    for colour, name in zip(colours, classes, strict=True):
        heights = np.array([row[name] / 1000 for row in rows.values()])
        axis.bar(list(rows), heights, bottom=bottom, width=0.7, color=colour, label=name)
        bottom += heights
    for place, (row, top) in enumerate(zip(rows.values(), bottom, strict=True)):
        share = sum(row[name] for name in classes[:SHORT]) / sum(row.values())
        axis.text(place, top, f"{share:.0%}", ha="center", va="bottom", fontsize="small")
    axis.tick_params(axis="x", labelsize="small")
    axis.margins(y=0.1)
    axis.set(ylabel="Jobs (thousands)")
    axis.set_title(title, loc="left", fontsize="medium")
    axis.legend(
        frameon=False, title="Execution time", loc="center left", bbox_to_anchor=(1, 0.5), reverse=True
    )
    sns.despine(ax=axis)
    save(figure, path)


def draw_distribution(
    path: Path, curves: Mapping[str, Sequence[float]], label: str, title: str, lines: Sequence[float] = ()
) -> None:
    """Cumulative share of jobs up to a value, on a logarithmic axis (figures 2, 4 and 9).

    The axis starts at the smallest value, at most a ten thousandth of the jobs aside.
    """
    import matplotlib.pyplot as plt
    import numpy as np
    import seaborn as sns

    figure, axis = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    for colour, (name, values) in zip(sns.color_palette("colorblind"), curves.items(), strict=False):
        axis.ecdf(np.asarray(values), color=colour, label=name)
    for line in lines:
        axis.axvline(line, color="grey", linewidth=0.8, linestyle=":")
    low = min(float(np.quantile(values, 1e-4)) for values in curves.values())
    high = max(max(values) for values in curves.values())
    axis.set(
        xscale="log", xlabel=label, ylabel="Up to that value (%)", ylim=(0, 1.02), xlim=(low, high * 1.2)
    )
    axis.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1], ["0", "20", "40", "60", "80", "100"])
    axis.set_title(title, loc="left", fontsize="medium")
    if len(curves) > 1:
        axis.legend(frameon=False, loc="upper left")
    sns.despine(ax=axis)
    save(figure, path)


def draw_ratio(
    path: Path, runtimes: Sequence[float], ratios: Sequence[float], label: str, title: str
) -> None:
    """A ratio over execution time, both logarithmic, with the line at which it is 1 (figure 3)."""
    import matplotlib.pyplot as plt
    import seaborn as sns

    figure, axis = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    axis.plot(runtimes, ratios, ".", markersize=2, alpha=0.25, rasterized=True)
    axis.axhline(1.0, color="grey", linewidth=0.8)
    axis.set(xscale="log", yscale="log", xlabel="Execution time (s)", ylabel=label)
    axis.set_title(title, loc="left", fontsize="medium")
    sns.despine(ax=axis)
    save(figure, path)


def draw_queueing(path: Path, panels: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> None:
    """Queueing over execution time (figure 5), with the share of jobs that queued at all below.

    A job that did not queue has no point on a logarithmic axis; the lower panels count those that have.

    Args:
        path: of the figure.
        panels: execution and queueing times (s) by the title of the panel.
    """
    import matplotlib.pyplot as plt
    import numpy as np
    import seaborn as sns

    figure, axes = plt.subplots(
        2, len(panels), figsize=(1.2 + 4.2 * len(panels), 5), layout="constrained",
        sharex="col", sharey="row", height_ratios=(3, 1), squeeze=False,
    )  # fmt: skip
    for column, (title, (runtimes, queueing)) in zip(axes.T, panels.items(), strict=True):
        t, q = np.asarray(runtimes), np.asarray(queueing)
        waited = q > 0
        column[0].plot(t[waited], q[waited] / t[waited], ".", markersize=2, alpha=0.25, rasterized=True)
        column[0].axhline(1.0, color="grey", linewidth=0.8)
        column[0].set(xscale="log", yscale="log")
        column[0].set_title(
            f"{title}\n{np.mean(~waited):.1%} of {len(t):,} jobs did not queue: no point",
            loc="left", fontsize="medium",
        )  # fmt: skip
        edges = np.logspace(np.floor(np.log10(t.min())), np.ceil(np.log10(t.max())), 25)
        jobs, _ = np.histogram(t, edges)
        with np.errstate(invalid="ignore"):
            share = np.where(jobs >= 20, 100 * np.histogram(t[waited], edges)[0] / jobs, np.nan)
        column[1].stairs(share, edges, baseline=None, linewidth=1.2)
        column[1].set(xlabel="Execution time (s)", ylim=(0, 105))
    axes[0, 0].set_ylabel("Queueing ratio q / t")
    axes[1, 0].set_ylabel("Queued (%)")
    for axis in axes.flat:
        sns.despine(ax=axis)
    save(figure, path)


def draw_slots(path: Path, dealt: Mapping[str, Sequence[int]], shares: Mapping[str, str]) -> None:
    """Virtual slots of each class on each processor (figure 6).

    Args:
        path: of the figure.
        dealt: slots on each processor, by class.
        shares: phi in words, by class.
    """
    import matplotlib.pyplot as plt
    import seaborn as sns

    processors = len(next(iter(dealt.values())))
    figure, axis = plt.subplots(figsize=(7, 3.2), layout="constrained")
    filled = [0] * processors
    for colour, (name, row) in zip(sns.color_palette("colorblind"), dealt.items(), strict=False):
        label: str | None = f"class {name}: $\\phi$ = {shares[name]}, {sum(row)} slots"
        for processor, count in enumerate(row):
            for _ in range(count):
                axis.barh(filled[processor], 0.9, 0.9, left=processor + 0.05, color=colour, label=label)
                axis.text(processor + 0.5, filled[processor], name, ha="center", va="center", color="white")
                filled[processor] += 1
                label = None
    axis.set_xticks([k + 0.5 for k in range(processors)], [f"P{k + 1}" for k in range(processors)])
    axis.set_yticks(range(max(filled)), [str(k + 1) for k in range(max(filled))])
    axis.set(xlabel="Physical processor", ylabel="Virtual processor")
    slots = sum(filled)
    axis.set_title(
        f"{slots} slots: {max(filled)} on each of {processors} processors, dealt in turn",
        loc="left", fontsize="medium",
    )  # fmt: skip
    axis.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    axis.tick_params(length=0)
    sns.despine(ax=axis, left=True, bottom=True)
    save(figure, path)


def draw_lanes(path: Path, run: Run, names: Mapping[str, str], title: str) -> None:
    """Concurrent jobs of each class over time, one lane above the other (figures 7 and 8)."""
    import matplotlib.pyplot as plt
    import seaborn as sns
    from matplotlib.ticker import MaxNLocator

    figure, axes = plt.subplots(
        len(names), figsize=(8, 1.5 * len(names) + 0.8), layout="constrained", sharex=True
    )
    for axis, colour, (name, label) in zip(
        axes, sns.color_palette("colorblind"), names.items(), strict=False
    ):
        times, values = _series(run, name, 3600.0)
        axis.fill_between(times, values, step="post", color=colour, alpha=0.35, linewidth=0)
        axis.step(times, values, where="post", color=colour, linewidth=0.8)
        axis.set(ylabel=label, ylim=(0, max(values) * 1.1), xlim=(0, max(times)))
        axis.yaxis.set_major_locator(MaxNLocator(nbins=4, integer=True))
        sns.despine(ax=axis)
    axes[0].set_title(title, loc="left", fontsize="medium")
    axes[-1].set_xlabel("Time (h)")
    figure.supylabel("Concurrent jobs", fontsize="medium")
    save(figure, path)


def draw_signals(path: Path, run: Run, names: Mapping[str, str], label: str, title: str) -> None:
    """Sampled counts over time (figure 10)."""
    import matplotlib.pyplot as plt
    import seaborn as sns

    figure, axis = plt.subplots(figsize=(8, 3.6), layout="constrained")
    published(axis, "paper: about 200 workers", y=200)
    published(axis, "paper: about 4000 s", x=4000)
    for colour, (name, shown) in zip(sns.color_palette("colorblind"), names.items(), strict=False):
        times, values = _series(run, name, 1.0)
        axis.step(times, values, where="post", color=colour, label=shown, linewidth=1)
    axis.set(xlabel="Time (s)", ylabel=label, ylim=0)
    axis.set_xlim(left=0)
    axis.set_title(title, loc="left", fontsize="medium")
    axis.legend(frameon=False, loc="center")
    sns.despine(ax=axis)
    save(figure, path)


def _series(run: Run, signal: str, unit: float) -> tuple[list[float], list[float]]:
    """Times, in units of so many s, and values of a sampled signal."""
    series = [(time / unit, value) for time, known, value in run.record.signals if known == signal]
    return [time for time, _ in series], [value for _, value in series]


def draw_completion(path: Path, curves: Mapping[str, Sequence[float]], tasks: int, title: str) -> None:
    """Completed tasks over time (figure 11); logarithmic, as the last tasks of a plain grid take so long."""
    import matplotlib.pyplot as plt
    import seaborn as sns
    from matplotlib.ticker import NullFormatter, ScalarFormatter

    figure, axis = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    for colour, (name, ends) in zip(sns.color_palette("colorblind"), curves.items(), strict=False):
        axis.step(
            sorted(ends), range(1, len(ends) + 1), where="post", label=name, color=colour, linewidth=1.2
        )
        axis.plot(max(ends), len(ends), "o", markersize=4, color=colour)
    axis.axhline(tasks, color="grey", linewidth=0.8, linestyle=":")
    axis.set(xlabel="Time (s)", ylabel="Completed tasks", ylim=(0, tasks * 1.06), xscale="log")
    axis.set_xticks([300, 1000, 3000, 10000])
    axis.xaxis.set_major_formatter(ScalarFormatter())
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.set_title(title, loc="left", fontsize="medium")
    axis.legend(frameon=False, loc="lower right")
    sns.despine(ax=axis)
    save(figure, path)


def draw_speedup(path: Path, rows: Mapping[str, Mapping[int, float]], title: str) -> None:
    """Speed-up over workers for each size of reconstruction (figure 12)."""
    import matplotlib.pyplot as plt
    import seaborn as sns

    figure, axis = plt.subplots(figsize=(5, 3.6), layout="constrained")
    for colour, (name, curve) in zip(sns.color_palette("colorblind"), rows.items(), strict=False):
        axis.plot(list(curve), list(curve.values()), marker="o", markersize=4, label=name, color=colour)
    axis.axline((0, 0), slope=1, color="grey", linewidth=0.8, linestyle=":")
    axis.set(xlabel="Workers", ylabel="Speed-up over one after the other", xlim=(0, 15), ylim=(0, 15))
    axis.set_title(title, loc="left", fontsize="medium")
    axis.legend(frameon=False, loc="upper left")
    sns.despine(ax=axis)
    save(figure, path)
