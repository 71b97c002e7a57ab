"""Figures of Responsive Grids, drawn from simulated runs and, where they show usage, from logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gridtune.scenarios.plots.style import COLOURS, DARK, GREY, RED, plain_numbers
from gridtune.scenarios.reproduction.figures import picture, published

if TYPE_CHECKING:
    from gridtune.scenarios.results.run import Run


SHORT = 2  # classes of execution time below 5 minutes, the first ones
SHORT_TINTS = ("#B34700", RED)
LONG_TINTS = ("#BBDDF2", "#56B4E9", "#0072B2")

Point = tuple[str, float | None, float | None]  # what a paper says: in words, x, y


def draw_usage(path: Path, rows: Mapping[str, Mapping[str, int]], title: str) -> None:
    """Jobs of each month, stacked by class of execution time, with the share of short ones (figure 1)."""
    with picture(path, 8, 4.2, "Jobs by execution time", title) as drawing:
        axes = drawing.subplots()
        classes = list(next(iter(rows.values())))
        bottom = np.zeros(len(rows))
        for colour, name in zip(chain(SHORT_TINTS, LONG_TINTS), classes, strict=True):
            heights = np.array([row[name] / 1000 for row in rows.values()])
            axes.bar(list(rows), heights, bottom=bottom, width=0.7, color=colour, label=name)
            bottom += heights
        for place, (row, top) in enumerate(zip(rows.values(), bottom, strict=True)):
            share = sum(row[name] for name in classes[:SHORT]) / sum(row.values())
            axes.text(place, top, f"{share:.0%}", ha="center", va="bottom", fontsize="small")
        axes.margins(y=0.1)
        if len(rows) == 1:
            axes.set_xlim(-1.5, 1.5)
        axes.set_ylabel("jobs (thousands)")
        axes.grid(False, axis="x")
        axes.legend(title="execution time", loc="center left", bbox_to_anchor=(1, 0.5), reverse=True)


def draw_distribution(
    path: Path,
    curves: Mapping[str, Sequence[float]],
    label: str,
    title: str,
    note: str = "",
    known: Sequence[Point] = (),
) -> None:
    """Cumulative share of jobs up to a value, on a logarithmic axis (figures 2, 4 and 9).

    The axis starts at the smallest value, at most a ten thousandth of the jobs aside.
    """
    with picture(path, 6.6, 4.2, title, note) as drawing:
        axes = drawing.subplots()
        for colour, (name, values) in zip(COLOURS, curves.items(), strict=False):
            axes.ecdf(np.asarray(values), color=colour, label=name or "simulated")
        for (text, x, y), dashes in zip(known, ("-.", ":", "--"), strict=False):
            published(axes, text, x, y, dashes)
        low = min(float(np.quantile(values, 1e-4)) for values in curves.values())
        high = max([*map(max, curves.values()), *(x for _, x, _ in known if x is not None)])
        axes.set(xscale="log", xlabel=label, ylabel="share up to that value (%)")
        axes.set(ylim=(0, 1.02), xlim=(low, high * 1.2))
        plain_numbers(axes)
        axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1], ["0", "20", "40", "60", "80", "100"])
        if len(curves) > 1 or known:
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=2)


def draw_ratio(
    path: Path, runtimes: Sequence[float], ratios: Sequence[float], label: str, title: str, note: str
) -> None:
    """A ratio over execution time, both logarithmic, with the line at which it is 1 (figure 3)."""
    with picture(path, 6.6, 4.2, title, note) as drawing:
        axes = drawing.subplots()
        axes.plot(runtimes, ratios, ".", markersize=2, alpha=0.25, rasterized=True)
        axes.axhline(1.0, color=DARK, linewidth=0.8)
        axes.set(xscale="log", yscale="log", xlabel="execution time (s)", ylabel=label)
        plain_numbers(axes)
        plain_numbers(axes, "y")


def draw_queueing(path: Path, panels: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> None:
    """Queueing over execution time (figure 5), with the share of jobs that queued at all below.

    A job that did not queue has no point on a logarithmic axis; the lower panels count those that have.

    Args:
        path: of the figure.
        panels: execution and queueing times (s) by the title of the panel.
    """
    note = "below: share of jobs that queued at all; the others have no point above"
    with picture(path, 1.6 + 4.2 * len(panels), 5.6, "Queueing ratio", note) as drawing:
        rows = drawing.subplots(
            2, len(panels), sharex="col", sharey="row", height_ratios=(3, 1), squeeze=False
        )
        for (above, below), (title, (runtimes, queueing)) in zip(rows.T, panels.items(), strict=True):
            t, q = np.asarray(runtimes), np.asarray(queueing)
            waited = q > 0
            above.plot(t[waited], q[waited] / t[waited], ".", markersize=2, alpha=0.25, rasterized=True)
            above.axhline(1.0, color=DARK, linewidth=0.8)
            above.set(xscale="log", yscale="log")
            plain_numbers(above, "y")
            above.set_title(f"{title}\n{np.mean(waited):.1%} of {len(t):,} jobs queued", fontsize="medium")
            edges = np.logspace(np.floor(np.log10(t.min())), np.ceil(np.log10(t.max())), 25)
            jobs, _ = np.histogram(t, edges)
            with np.errstate(invalid="ignore"):
                share = np.where(jobs >= 20, 100 * np.histogram(t[waited], edges)[0] / jobs, np.nan)
            below.stairs(share, edges, baseline=None, linewidth=1.2)
            below.set(xlabel="execution time (s)", ylim=(0, 105))
            plain_numbers(below)
        rows[0, 0].set_ylabel("queueing ratio q / t")
        rows[1, 0].set_ylabel("queued (%)")


def draw_slots(path: Path, dealt: Mapping[str, Sequence[int]], shares: Mapping[str, str]) -> None:
    """Virtual slots of each class on each processor (figure 6).

    Args:
        path: of the figure.
        dealt: slots on each processor, by class.
        shares: phi in words, by class.
    """
    processors = len(next(iter(dealt.values())))
    slots = sum(map(sum, dealt.values()))
    note = f"{slots} slots, {slots // processors} on each of {processors} processors, dealt in turn"
    with picture(path, 7, 3.8, "Slots of three classes", note) as drawing:
        axes = drawing.subplots()
        filled = [0] * processors
        for colour, (name, row) in zip(COLOURS, dealt.items(), strict=False):
            label: str | None = f"class {name}: φ = {shares[name]}, {sum(row)} slots"
            for processor, count in enumerate(row):
                for _ in range(count):
                    axes.barh(filled[processor], 0.9, 0.9, left=processor + 0.05, color=colour, label=label)
                    axes.text(
                        processor + 0.5, filled[processor], name, ha="center", va="center", color="white"
                    )
                    filled[processor] += 1
                    label = None
        axes.set_xticks([k + 0.5 for k in range(processors)], [f"P{k + 1}" for k in range(processors)])
        axes.set_yticks(range(max(filled)), [str(k + 1) for k in range(max(filled))])
        axes.set(xlabel="physical processor", ylabel="virtual processor")
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        axes.tick_params(length=0)
        axes.grid(False)
        axes.spines[["left", "bottom"]].set_visible(False)


def draw_lanes(
    path: Path, run: Run, names: Mapping[str, str], known: Mapping[str, float], title: str, note: str
) -> None:
    """Concurrent jobs of each class over time, one lane above the other (figures 7 and 8).

    Args:
        path: of the figure.
        run: with sampled signals.
        names: of the classes, by signal.
        known: the most that run at once by the paper, by class.
        title, note: above the figure.
    """
    from matplotlib.ticker import MaxNLocator

    with picture(path, 8, 1.6 * len(names) + 1.3, title, note) as drawing:
        lanes = drawing.subplots(len(names), sharex=True)
        for axes, colour, (name, label) in zip(lanes, COLOURS, names.items(), strict=False):
            times, values = _series(run, name, 3600.0)
            axes.fill_between(times, values, step="post", color=colour, alpha=0.35, linewidth=0)
            axes.step(times, values, where="post", color=colour, linewidth=0.8)
            most = max([*values, known.get(label, 0)])
            axes.set(ylabel=label, ylim=(0, most * 1.15), xlim=(0, max(times)))
            axes.yaxis.set_major_locator(MaxNLocator(nbins=4, integer=True))
            if label in known:
                published(axes, "Responsive Grids: the most at once", y=known[label])
        lanes[-1].set_xlabel("time (h)")
        drawing.supylabel("concurrent jobs", fontsize="medium")
        stated = next(axes for axes, name in zip(lanes, names.values(), strict=True) if name in known)
        drawing.legend(*stated.get_legend_handles_labels(), loc="outside lower center")


def draw_signals(path: Path, run: Run, names: Mapping[str, str], label: str, title: str, note: str) -> None:
    """Sampled counts over time (figure 10)."""
    with picture(path, 8, 4.2, title, note) as drawing:
        axes = drawing.subplots()
        for colour, (name, shown) in zip(COLOURS, names.items(), strict=False):
            times, values = _series(run, name, 1.0)
            axes.step(times, values, where="post", color=colour, label=shown, linewidth=1)
        published(axes, "Responsive Grids: about 200 workers", y=200)
        published(axes, "Responsive Grids: about 4000 s", x=4000, dashes=":")
        axes.set(xlabel="time (s)", ylabel=label, ylim=(0, 220))
        axes.set_xlim(left=0)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=4, fontsize="small")


def _series(run: Run, signal: str, unit: float) -> tuple[list[float], list[float]]:
    """Times, in units of so many s, and values of a sampled signal."""
    series = [(time / unit, value) for time, known, value in run.record.signals if known == signal]
    return [time for time, _ in series], [value for _, value in series]


def draw_completion(
    path: Path, curves: Mapping[str, Sequence[float]], tasks: int, title: str, note: str
) -> None:
    """Completed tasks over time (figure 11); logarithmic, as the last tasks of a plain grid take so long."""
    with picture(path, 6.6, 4.2, title, note) as drawing:
        axes = drawing.subplots()
        for colour, (name, ends) in zip(COLOURS, curves.items(), strict=False):
            axes.step(
                sorted(ends), range(1, len(ends) + 1), where="post", label=name, color=colour, linewidth=1.2
            )
            axes.plot(max(ends), len(ends), "o", markersize=4, color=colour)
        published(axes, f"Responsive Grids: {tasks} tasks", y=tasks)
        axes.set(xlabel="time (s)", ylabel="completed tasks", ylim=(0, tasks * 1.06), xscale="log")
        axes.set_xticks([300, 1000, 3000, 10000])
        plain_numbers(axes)
        axes.legend(loc="lower right")


def draw_speedup(path: Path, rows: Mapping[str, Mapping[int, float]], title: str, note: str) -> None:
    """Speed-up over workers for each size of reconstruction (figure 12)."""
    with picture(path, 6, 4.2, title, note) as drawing:
        axes = drawing.subplots()
        for colour, (name, curve) in zip(COLOURS, rows.items(), strict=False):
            axes.plot(list(curve), list(curve.values()), marker="o", markersize=4, label=name, color=colour)
        axes.axline((0, 0), slope=1, color=GREY, linewidth=0.8, linestyle=":")
        published(axes, "Responsive Grids, large: 20 min in 2 min", 14, 10)
        axes.set(xlabel="workers", ylabel="speed-up over one after the other", xlim=(0, 15), ylim=(0, 15))
        axes.legend(loc="upper left")
