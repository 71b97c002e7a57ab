"""Figures 5 to 9 of RR-5576, redrawn from simulated runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gridtune.scenarios.reproduction.dirac.runs import (
    BIN,
    DEDICATED,
    SERVICES,
    SHARED,
    deviations,
    queries,
)
from gridtune.scenarios.reproduction.figures import published, save
from gridtune.scenarios.reproduction.workbench import Values

if TYPE_CHECKING:
    from gridtune.scenarios.results.run import Run

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Counts:
    """Tasks in each state over time: at the sites, and (`unmatched`) not yet brought to one."""

    time: Floats
    queued: Floats
    running: Floats
    done: Floats
    unmatched: Floats


def counts_over_time(run: Run) -> Counts:
    """What the signals of a run say."""
    by_name: dict[str, list[float]] = {}
    times: list[float] = []
    for time, name, value in run.record.signals:
        by_name.setdefault(name, []).append(value)
        if name == "meta.done":
            times.append(time)

    def total(suffix: str) -> Floats:
        rows = [v for name, v in by_name.items() if name.startswith("site-") and name.endswith(suffix)]
        made: Floats = np.array(rows).sum(axis=0)
        return made

    return Counts(
        np.array(times),
        total(".waiting"),
        total(".running"),
        np.array(by_name["meta.done"]),
        np.array(by_name["meta.unmatched"]),
    )


def draw_queue(
    path: Path, rates: Sequence[float], runs: Sequence[Sequence[float]], theory: Sequence[float]
) -> None:
    """Figure 5: response time over arrival rate, simulated and in theory."""
    plt, sns = _pictures()
    colours = sns.color_palette("colorblind")
    means = np.array([np.mean(values) for values in runs])
    rmse = np.array(
        [np.sqrt(np.mean((np.array(v) - exact) ** 2)) for v, exact in zip(runs, theory, strict=True)]
    )
    figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
    axis.plot(rates, theory, color=colours[1], label="M/M/4 theory")
    axis.errorbar(
        rates, means, rmse, fmt="o", markersize=4, capsize=3, color=colours[0], label="simulated, mean ± RMSE"
    )
    axis.set(xlabel="Arrival rate (tasks per unit of time)", ylabel="Response time (units of time)")
    axis.set_ylim(bottom=0)
    axis.legend(frameon=False)
    axis.set_title("16 runs of 1000 tasks, mean service time 4, 4 servers", fontsize="medium")
    sns.despine(ax=axis)
    save(figure, path)


def draw_services(path: Path, runs: Mapping[str, list[Run]]) -> None:
    """Figure 6: deviation of response times, and makespan over the number of tasks."""
    plt, sns = _pictures()
    colours = sns.color_palette("colorblind")
    labels = {"none": "no service times", "constant": "constant service times"}
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    for colour, name in zip(colours, SERVICES, strict=False):
        values = 100 * np.array([value for run in deviations(dict(runs), name) for value in run])
        left.hist(
            np.minimum(values, 100), bins=np.arange(0, 105, 5), density=False, histtype="stepfilled",
            alpha=0.5, color=colour, weights=np.full(len(values), 100 / len(values)),
            label=f"{labels[name]} (mean {values.mean():.1f} %)",
        )  # fmt: skip
    for text, value in (("no service times", 80.0), ("constant service times", 10.5)):
        published(left, f"RR-5576: mean, {text}", x=value)
    left.set(xlabel="Deviation of a task's response time (%; 100 and more last)", ylabel="Share of tasks (%)")
    left.legend(frameon=False)
    for colour, (name, made) in zip(
        (*colours[:2], "black"), ((n, runs[n]) for n in (*SERVICES, "real")), strict=True
    ):
        ends = np.maximum.accumulate([job.end for job in made[0].record.jobs]) - made[0].record.jobs[0].submit
        right.plot(
            np.arange(1, len(ends) + 1), ends, color=colour, linewidth=1.5 if name != "real" else 0.9,
            linestyle="--" if name == "real" else "-",
            label=labels.get(name, "random service times, in place of the real ones"),
        )  # fmt: skip
    right.set(xlabel="Number of tasks", ylabel="Makespan (s)")
    right.legend(frameon=False, fontsize="small")
    for axis in (left, right):
        sns.despine(ax=axis)
    save(figure, path)


def draw_evolution(path: Path, counts: Mapping[str, Counts]) -> None:
    """Figure 7: tasks in each state over time, one panel for each approach."""
    plt, sns = _pictures()
    colours = sns.color_palette("colorblind")
    figure, axes = plt.subplots(1, len(counts), figsize=(11, 4), sharey=True, layout="constrained")
    lines: dict[str, Any] = {}
    for axis, (name, count) in zip(axes, counts.items(), strict=True):
        axis.plot(count.time, count.running, color=colours[0], label="running")
        axis.plot(count.time, count.queued, color=colours[1], label="queued at sites")
        if count.unmatched.any():
            axis.plot(count.time, count.unmatched, color=colours[4], label="waiting for a site", alpha=0.8)
        published(axis, "RR-5576: 60 running", y=60)
        axis.set(title=name, xlabel="Time (s)", ylim=(0, 75))
        right = axis.twinx()
        right.plot(count.time, count.done, color=colours[2], label="done (right axis)")
        right.set_ylim(0, 520)
        if axis is axes[-1]:
            right.set_ylabel("Tasks done")
        drawn = [*axis.get_lines(), *right.get_lines()]
        lines.update(
            (str(line.get_label()), line) for line in drawn if not str(line.get_label()).startswith("_")
        )
        sns.despine(ax=axis, right=False)
        sns.despine(ax=right, right=False)
    axes[0].set_ylabel("Tasks")
    figure.legend(lines.values(), lines.keys(), frameon=False, loc="outside upper center", ncols=len(lines))
    save(figure, path)


CROSSING = {DEDICATED: 95.0, SHARED: 60.0}  # s; update period from which push is no better than pull


def draw_periods(
    path: Path,
    periods: Sequence[float],
    push: Mapping[str, Sequence[Values]],
    pull: Mapping[str, Mapping[str, Values]],
) -> None:
    """Figure 8: waiting time of push over the update period, all of it and beside DIRAC's levels."""
    plt, sns = _pictures()
    colours = sns.color_palette("colorblind")
    figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
    finite = [k for k, period in enumerate(periods) if 0 < period < np.inf]
    x = [periods[k] for k in finite]
    metric = "meta_waiting_mean"
    for colour, name in zip(colours, (DEDICATED, SHARED), strict=False):
        values = np.array([push[name][k][metric] for k in finite])
        label = name.removeprefix("dirac/")
        for axis in (axes[0], axes[1 if name == DEDICATED else 2]):
            axis.fill_between(x, values.min(axis=1), values.max(axis=1), color=colour, alpha=0.2, linewidth=0)
            axis.plot(x, values.mean(axis=1), marker="o", markersize=3, color=colour, label=f"push, {label}")
    axes[0].set(xscale="log", yscale="log", title="all periods")
    for axis, name, top in ((axes[1], DEDICATED, 200), (axes[2], SHARED, 5000)):
        for colour, (strategy, made) in zip(colours[2:], pull[name].items(), strict=False):
            axis.axhline(float(np.mean(made[metric])), color=colour, linestyle="--", label=strategy)
        published(axis, "RR-5576: as good as pull", x=CROSSING[name])
        axis.set(xlim=(0, 310), ylim=(0, top), title=f"beside DIRAC, {name.removeprefix('dirac/')} sites")
    for axis in axes:
        axis.set(xlabel="Update period (s)", ylabel="Mean waiting time of meta-tasks (s)")
        axis.legend(frameon=False, fontsize="small")
        sns.despine(ax=axis)
    save(figure, path)


def draw_strategies(
    path: Path, made: Mapping[str, Mapping[str, Values]], runs: Mapping[str, Mapping[str, Run]]
) -> None:
    """Figure 9: waits, response and makespan of the strategies; DIRAC's queries over time."""
    plt, sns = _pictures()
    colours = sns.color_palette("colorblind")
    figure = plt.figure(figsize=(14, 6), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1.1, 1))
    for axis, (context, values) in zip(left.subplots(2, 1), made.items(), strict=True):
        _draw_bars(axis, context.removeprefix("dirac/"), values, colours)
        sns.despine(ax=axis)
    rows = right.subplots(len(next(iter(runs.values()))), len(runs), sharex="col", sharey=True)
    for column, (context, by_name) in enumerate(runs.items()):
        for row, (name, run) in enumerate(by_name.items()):
            axis, colour = rows[row][column], colours[row + 1]
            parts = [queries(run, kind) for kind in ("query", "request")]
            total = np.zeros(max(map(len, parts)))
            for part, alpha in zip(parts, (0.45, 1.0), strict=True):
                base = total.copy()
                total[: len(part)] += part
                if part.any():
                    edges = BIN * np.arange(len(total) + 1)
                    axis.stairs(total, edges, baseline=base, fill=True, color=colour, alpha=alpha)
            axis.set_title(
                f"{name}, {context.removeprefix('dirac/')}: {total.sum():.0f} queries", fontsize="medium"
            )
            sns.despine(ax=axis)
        rows[-1][column].set_xlabel("Time (s)")
    right.supylabel(f"Queries to the match-maker in {BIN:.0f} s (pale: of site agents)", fontsize="medium")
    save(figure, path)


def _draw_bars(axis: Any, title: str, values: Mapping[str, Values], colours: Any) -> None:
    """Groups of bars: a group for each time, a bar for each strategy; makespan in tens of seconds."""
    metrics = {
        "global_wait_mean": ("wait for a site", 1.0),
        "local_wait_mean": ("wait at the site", 1.0),
        "meta_execution_mean": ("execution", 1.0),
        "meta_response_mean": ("response", 1.0),
        "meta_makespan": ("makespan / 10", 0.1),
    }
    width = 0.8 / len(values)
    for k, (strategy, metric) in enumerate(values.items()):
        heights = [scale * float(np.mean(metric[name])) for name, (_, scale) in metrics.items()]
        spread = [scale * float(np.std(metric[name])) for name, (_, scale) in metrics.items()]
        places = np.arange(len(metrics)) + (k - (len(values) - 1) / 2) * width
        axis.bar(places, heights, width, yerr=spread, capsize=2, color=colours[k], label=strategy)
    axis.set_xticks(range(len(metrics)), [label for label, _ in metrics.values()])
    axis.set(ylabel="Seconds", title=f"{title} sites (mean and standard deviation over runs)")
    axis.legend(frameon=False, fontsize="small")


def _pictures() -> tuple[Any, Any]:
    """The libraries that draw, imported only where something is drawn."""
    import matplotlib.pyplot as plt
    import seaborn as sns

    return plt, sns
