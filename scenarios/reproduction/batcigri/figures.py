"""Figures 3 to 5 of BatCiGri redrawn from simulated runs, and the errors of controllers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gridtune.model.batch.nodes import hosts_in
from gridtune.scenarios.plots.style import (
    BLUE,
    DARK,
    GREY,
    ORANGE,
    RED,
    SKY,
    time_axis,
)
from gridtune.scenarios.reproduction.batcigri.log import Log
from gridtune.scenarios.reproduction.batcigri.measured import Execution, Series
from gridtune.scenarios.reproduction.figures import picture, published

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANELS = (
    ("used", "used resources"),
    ("waiting", "waiting jobs"),
    ("measured", "waiting + used"),
    ("input", "jobs submitted"),
)


def draw_overhead(path: Path, overheads: Sequence[float], mu: float, sigma: float) -> None:
    """Figure 3: the overheads of a run as a histogram, and their distribution against the log-normal law."""
    from scipy.stats import lognorm

    values = np.sort(np.asarray(overheads))
    law = lognorm(sigma, scale=np.exp(mu))
    grid = np.linspace(0.0, max(8.0, float(values[-1])), 300)
    with picture(path, 7.2, 2.9, "Commission and decommission of resources") as drawing:
        left, right = drawing.subplots(1, 2)
        left.hist(
            values, bins=np.arange(0.0, grid[-1] + 0.5, 0.5), color=SKY, edgecolor="white", linewidth=0.5
        )
        left.set(xlabel="overhead (s)", ylabel="jobs", title="a. histogram")
        right.step(
            values,
            np.arange(1, len(values) + 1) / len(values),
            where="post",
            color=BLUE,
            label="simulated jobs",
        )
        right.plot(grid, law.cdf(grid), "--", color=ORANGE, label=f"log-normal ({mu}, {sigma})")
        right.set(xlabel="overhead (s)", ylabel="share of jobs", title="b. distribution")
        right.legend(loc="lower right")


def draw_signals(path: Path, runs: Mapping[str, Mapping[str, Series]], priority: tuple[float, float]) -> None:
    """Figure 4: the signals of several runs of one scenario, with the priority job's time shaded."""
    note = "one value per cycle; shaded: the priority job"
    with picture(path, 8.6, 5.6, "Signals of the harvester", note) as drawing:
        panels = drawing.subplots(2, 2, sharex=True)
        for axes, (name, label) in zip(panels.flat, PANELS, strict=True):
            for (run, made), colour in zip(runs.items(), (BLUE, ORANGE), strict=False):
                axes.step(made["time"], made[name], where="post", color=colour, linewidth=1.1, label=run)
            axes.axvspan(*priority, color=GREY, alpha=0.15, linewidth=0)
            if name == "measured":
                reference = next(iter(runs.values()))["reference"]
                axes.axhline(float(np.nanmax(reference)), color=DARK, linestyle=":", linewidth=1.2)
                published(axes, "BatCiGri: reference", y=64)
            axes.set_ylabel(label)
            axes.set_ylim(bottom=0)
            time_axis(axes, 0.0, 1.02 * max(float(made["time"][-1]) for made in runs.values()))
        for axes in panels[0]:
            axes.set_xlabel("")
        handles, labels = panels[1, 0].get_legend_handles_labels()  # with the published reference
        drawing.legend(handles, labels, loc="outside lower center", ncols=len(labels))


def draw_gantt(path: Path, runs: Mapping[str, Sequence[Execution]]) -> None:
    """Figure 5: who held which resource when, one panel for each run.

    An execution is drawn over [start, end): one that begins when another ends touches it.
    """
    from matplotlib.legend_handler import HandlerTuple
    from matplotlib.patches import Patch

    end = max(execution.end for made in runs.values() for execution in made)
    with picture(path, 9.0, 3.1 * len(runs) + 0.9, "Executions on the 32 resources") as drawing:
        panels = np.atleast_1d(drawing.subplots(len(runs), 1, sharex=True))
        for axes, (name, made) in zip(panels, runs.items(), strict=True):
            _bars(axes, made)
            axes.set(title=name, ylabel="resource")
            axes.grid(False)
            time_axis(axes, 0.0, 1.01 * end)
        for axes in panels[:-1]:
            axes.set_xlabel("")
        handles: list[Any] = [
            (Patch(facecolor=BLUE), Patch(facecolor=SKY)),
            Patch(facecolor="white", edgecolor=RED, hatch="//////"),
            Patch(facecolor=ORANGE),
        ]
        labels = ["best-effort (two tints distinguish jobs)", "best-effort, killed (x)", "priority"]
        drawing.legend(
            handles, labels, handler_map={tuple: HandlerTuple(None)}, loc="outside lower center", ncols=3
        )


def _bars(axes: Axes, made: Sequence[Execution]) -> None:
    """The executions of one run; neighbours on a resource alternate between two tints."""
    rows = {
        host: row
        for row, host in enumerate(sorted({host for execution in made for host in hosts_in(execution.nodes)}))
    }
    turn = dict.fromkeys(rows, 0)
    for execution in made:
        tints = (BLUE, SKY) if execution.kind == "best-effort" else (ORANGE, ORANGE)
        for host in hosts_in(execution.nodes):
            turn[host] += 1
            axes.broken_barh(
                [(execution.start, execution.end - execution.start)],
                (rows[host] + 0.06, 0.88),
                facecolor="white" if execution.killed else tints[turn[host] % 2],
                edgecolor=RED,
                hatch="//////" if execution.killed else "",
                linewidth=0.8 if execution.killed else 0.0,
            )
    # An execution killed soon after its start is too narrow to be seen as a bar.
    lost = [execution for execution in made if execution.killed]
    axes.plot(
        [execution.end for execution in lost for _ in hosts_in(execution.nodes)],
        [rows[host] + 0.5 for execution in lost for host in hosts_in(execution.nodes)],
        "x",
        color=RED,
        markersize=4,
        markeredgewidth=1.2,
    )
    axes.set_ylim(len(rows), 0)
    axes.set_yticks([k + 0.5 for k in range(0, len(rows), 8)], [str(k) for k in range(0, len(rows), 8)])


def draw_errors(path: Path, errors: Mapping[str, Series], reference: float) -> None:
    """Histograms of reference minus measured value over the cycles, one panel for each controller."""
    columns = 4
    rows = -(-len(errors) // columns)
    with picture(
        path,
        9.0,
        1.9 * rows + 0.8,
        "Control errors",
        f"{reference:g} minus waiting and used resources, 600 to 3500 s; dashed: mean",
    ) as drawing:
        panels = np.atleast_2d(drawing.subplots(rows, columns, sharex=True, sharey=True))
        low = min(float(values.min()) for values in errors.values())
        high = max(float(values.max()) for values in errors.values())
        bins = np.arange(4 * np.floor(low / 4), high + 4, 4.0)
        for axes, (name, values) in zip(panels.flat, errors.items(), strict=False):
            weights = np.full(len(values), 100.0 / len(values))
            axes.hist(values, bins=bins, weights=weights, color=SKY, edgecolor="white", linewidth=0.4)
            axes.axvline(0.0, color=DARK, linewidth=0.8)
            axes.axvline(float(values.mean()), color=RED, linewidth=1.2, linestyle="--")
            axes.set_title(name, fontsize=8.5)
        for axes in panels.flat[len(errors) :]:
            axes.set_visible(False)
        for axes in panels[:, 0]:
            axes.set_ylabel("cycles (%)")
        for axes in panels[-1]:
            axes.set_xlabel("error (jobs)")


def draw_log(path: Path, log: Log, wanted: Series, first: int, simulated: Mapping[str, Series]) -> None:
    """Load and actuator of a real CiGri, those of our plant, and what our controller does with that load.

    Args:
        path: of the picture.
        log: of the real CiGri.
        wanted: by our controller after each cycle of the second half, fed with the logged load.
        first: cycles in the first half.
        simulated: signals of our file server under our controller, as `measured.signals` gives them.
    """
    with picture(path, 8.6, 4.4, "A real CiGri under control, and ours", "a value every 30 s") as drawing:
        above, below = drawing.subplots(2, 1, sharex=True)
        for axes, real, name in ((above, log.load, "load"), (below, log.input, "input")):
            axes.step(log.time, real, where="post", color=BLUE, linewidth=1.4, label="real CiGri")
            axes.step(
                simulated["time"], simulated[name], where="post", color=GREY, linewidth=1.1,
                label="our file server under our controller",
            )  # fmt: skip
        above.set_ylabel("load of the file server")
        below.step(
            log.time[first + 1 :], wanted[:-1], where="post", color=ORANGE, linewidth=1.0, linestyle="--",
            label="our controller, fed with the real load, gains from the first half",
        )  # fmt: skip
        below.set_ylabel("actuator")
        below.legend(loc="lower right")
        for axes in (above, below):
            axes.set_ylim(bottom=0)
            time_axis(axes, 0.0, float(log.time[-1]))
        above.set_xlabel("")
