"""Figures 5 to 9 of RR-5576, redrawn from simulated runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gridtune.scenarios.plots.style import (
    BLUE,
    COLOURS,
    DARK,
    GREEN,
    ORANGE,
    PURPLE,
    plain_numbers,
    time_axis,
)
from gridtune.scenarios.reproduction.dirac.runs import (
    BIN,
    DEDICATED,
    SERVICES,
    SHARED,
    deviations,
    queries,
)
from gridtune.scenarios.reproduction.figures import picture, published
from gridtune.scenarios.reproduction.workbench import Values

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    means = np.array([np.mean(values) for values in runs])
    rmse = np.array(
        [np.sqrt(np.mean((np.array(v) - exact) ** 2)) for v, exact in zip(runs, theory, strict=True)]
    )
    note = f"{len(runs[0])} runs of 1000 tasks at each rate; mean service time 4"
    with picture(path, 6.4, 4.2, "A queue with four servers against theory", note) as drawing:
        axes = drawing.subplots()
        axes.plot(rates, theory, color=ORANGE, label="M/M/4 theory")
        axes.errorbar(
            rates, means, rmse, fmt="o", markersize=4, capsize=3, color=BLUE, label="simulated, mean ± RMSE"
        )
        axes.set(xlabel="arrival rate (tasks per unit of time)", ylabel="response time (units of time)")
        axes.set_ylim(bottom=0)
        axes.legend(loc="upper left")


def draw_services(path: Path, runs: Mapping[str, list[Run]]) -> None:
    """Figure 6: deviation of response times, and makespan over the number of tasks."""
    labels = {"none": "no service times", "constant": "constant service times"}
    with picture(path, 10, 4.6, "A batch system with and without its service times") as drawing:
        left, right = drawing.subplots(1, 2)
        for colour, name in zip((BLUE, ORANGE), SERVICES, strict=True):
            values = 100 * np.array([value for run in deviations(dict(runs), name) for value in run])
            left.hist(
                np.minimum(values, 100), bins=np.arange(0, 105, 5), density=False, histtype="stepfilled",
                alpha=0.5, color=colour, weights=np.full(len(values), 100 / len(values)),
                label=f"{labels[name]}: mean {values.mean():.1f} %",
            )  # fmt: skip
        for name, value, dashes in (("none", 80.0, "-."), ("constant", 10.5, ":")):
            published(left, f"RR-5576, {labels[name]}: mean {value:g} %", x=value, dashes=dashes)
        left.set(
            xlabel="deviation of a task's response time (%; 100 and more last)", ylabel="share of tasks (%)"
        )
        left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), fontsize="small")
        for colour, name in ((BLUE, "none"), (ORANGE, "constant"), (DARK, "real")):
            jobs = runs[name][0].record.jobs
            ends = np.maximum.accumulate([job.end for job in jobs]) - jobs[0].submit
            real = name == "real"
            right.plot(
                np.arange(1, len(ends) + 1), ends, color=colour, linewidth=0.9 if real else 1.5,
                linestyle="--" if real else "-",
                label=labels.get(name, "random service times, in place of the real ones"),
            )  # fmt: skip
        right.set(xlabel="number of tasks", ylabel="makespan (s)")
        right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), fontsize="small")


def draw_evolution(path: Path, counts: Mapping[str, Counts]) -> None:
    """Figure 7: tasks in each state over time, one panel for each approach."""
    end = max(float(count.time[-1]) for count in counts.values())
    with picture(path, 10, 4.4, "Tasks over time on dedicated sites") as drawing:
        panels = drawing.subplots(1, len(counts), sharey=True)
        lines: dict[str, Any] = {}
        for axes, (name, count) in zip(panels, counts.items(), strict=True):
            axes.plot(count.time, count.running, color=BLUE, label="running")
            axes.plot(count.time, count.queued, color=ORANGE, label="queued at sites")
            if count.unmatched.any():
                axes.plot(count.time, count.unmatched, color=PURPLE, label="waiting for a site", alpha=0.8)
            published(axes, "RR-5576: 60 running", y=60)
            axes.set(title=name, ylim=(0, 75))
            right = axes.twinx()
            right.plot(count.time, count.done, color=GREEN, label="done (right axis)")
            right.set_ylim(0, 520)
            right.grid(False)
            right.spines["right"].set_visible(True)
            if axes is panels[-1]:
                right.set_ylabel("tasks done")
            time_axis(axes, 0.0, end)
            drawn = [*axes.get_lines(), *right.get_lines()]
            lines.update(
                (str(line.get_label()), line) for line in drawn if not str(line.get_label()).startswith("_")
            )
        panels[0].set_ylabel("tasks")
        drawing.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=len(lines))


CROSSING = {DEDICATED: 95.0, SHARED: 60.0}  # s; update period from which push is no better than pull


def draw_periods(
    path: Path,
    periods: Sequence[float],
    push: Mapping[str, Sequence[Values]],
    pull: Mapping[str, Mapping[str, Values]],
) -> None:
    """Figure 8: waiting time of push over the update period, all of it and beside DIRAC's levels."""
    finite = [k for k, period in enumerate(periods) if 0 < period < np.inf]
    x = [periods[k] for k in finite]
    metric = "meta_waiting_mean"
    with picture(path, 11, 4.4, "Waiting times over the update period of push", "mean and range") as drawing:
        whole, *beside = drawing.subplots(1, 3)
        for colour, name, axes in zip((BLUE, ORANGE), (DEDICATED, SHARED), beside, strict=True):
            values = np.array([push[name][k][metric] for k in finite])
            sites = name.removeprefix("dirac/")
            for panel, label in ((whole, f"push, {sites} sites"), (axes, "push")):
                panel.fill_between(
                    x, values.min(axis=1), values.max(axis=1), color=colour, alpha=0.2, linewidth=0
                )
                panel.plot(x, values.mean(axis=1), marker="o", markersize=3, color=colour, label=label)
            levels = {strategy: float(np.mean(made[metric])) for strategy, made in pull[name].items()}
            for k, (strategy, level) in enumerate(levels.items()):
                # Levels that lie on each other: dashes of different lengths show both.
                axes.axhline(
                    level, color=COLOURS[k + 2], linestyle=(4 * k, (6, 6)), label=strategy, linewidth=1.6
                )
            published(axes, "RR-5576: push as good as pull", x=CROSSING[name])
            near = [value for period, value in zip(x, values.max(axis=1), strict=True) if period <= 310]
            axes.set(
                xlim=(0, 310),
                ylim=(0, 1.15 * max([*near, *levels.values()])),
                title=f"{sites} sites, short periods",
            )
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, fontsize="small")
        whole.set(xscale="log", yscale="log", title="all periods")
        plain_numbers(whole)
        plain_numbers(whole, "y")
        whole.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), fontsize="small")
        for axes in (whole, *beside):
            axes.set_xlabel("update period (s)")
        whole.set_ylabel("mean wait of meta-tasks (s)")


PUBLISHED_QUERIES = {"pull": 872, "run-once": 699}  # section 8, on dedicated sites


def draw_strategies(
    path: Path, made: Mapping[str, Mapping[str, Values]], runs: Mapping[str, Mapping[str, Run]]
) -> None:
    """Figure 9: waits, response and makespan of the strategies; DIRAC's queries over time."""
    note = "bars: mean and standard deviation over runs; right: one run, queries of site agents pale"
    with picture(path, 12, 6.4, "Push, pull and pilots", note) as drawing:
        halves: Any = drawing.subfigures(1, 2, width_ratios=(1.1, 1))
        left, right = halves
        panels = left.subplots(2, 1)
        for axes, (context, values) in zip(panels, made.items(), strict=True):
            _draw_bars(axes, context.removeprefix("dirac/"), values)
        left.legend(
            *panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(made[DEDICATED])
        )
        rows = right.subplots(len(next(iter(runs.values()))), len(runs), sharex="col", sharey=True)
        for column, (context, by_name) in enumerate(runs.items()):
            end = 0.0
            for row, (name, run) in enumerate(by_name.items()):
                axes = rows[row][column]
                counts = _draw_queries(axes, run, COLOURS[row + 1])
                end = max(end, BIN * len(counts))
                known = PUBLISHED_QUERIES.get(name) if context == DEDICATED else None
                axes.set_title(
                    f"{name}, {context.removeprefix('dirac/')}: {counts.sum():.0f} queries"
                    + (f"\n(RR-5576: about {known})" if known else ""),
                    fontsize="medium",
                )
            time_axis(rows[-1][column], 0.0, end)
        right.supylabel(f"queries to the match-maker in {BIN:.0f} s", fontsize="medium")


def _draw_queries(axes: Axes, run: Run, colour: str) -> Floats:
    """Queries of site agents, and above them those of pilots, over time; both together in each bin."""
    parts = [queries(run, kind) for kind in ("query", "request")]
    total = np.zeros(max(map(len, parts)))
    for part, alpha in zip(parts, (0.45, 1.0), strict=True):
        base = total.copy()
        total[: len(part)] += part
        if part.any():
            edges = BIN * np.arange(len(total) + 1)
            axes.stairs(total, edges, baseline=base, fill=True, color=colour, alpha=alpha)
    return total


def _draw_bars(axes: Axes, sites: str, values: Mapping[str, Values]) -> None:
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
        axes.bar(
            places, heights, width, yerr=spread, capsize=2, color=COLOURS[k], label=strategy,
            error_kw={"linewidth": 0.9},
        )  # fmt: skip
    axes.set_xticks(range(len(metrics)), [label for label, _ in metrics.values()])
    axes.set(ylabel="seconds", title=f"{sites} sites")
    axes.grid(False, axis="x")
