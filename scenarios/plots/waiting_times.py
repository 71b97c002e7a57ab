"""How long jobs waited."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gridtune.scenarios.plots import style
from gridtune.scenarios.plots.style import COLOURS, PlotError
from gridtune.scenarios.plots.tables import RunTables

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STEPS = 2000  # of a distribution


def draw_waits(run: RunTables, window: tuple[float, float] | None = None) -> Figure:
    """Distribution of the waiting times (last start minus submission) of the jobs that started, by kind.

    Args:
        run: to draw.
        window: only jobs submitted in that time, s.

    Raises:
        PlotError: no job started.
    """
    jobs = started_jobs(run, window)
    waits = (jobs["start"] - jobs["submit"]).clip(lower=0.0)
    kinds = sorted(jobs["kind"].unique())
    some = {kind: waits[jobs["kind"] == kind] for kind in kinds}
    drawing = draw_distributions({f"{kind} ({len(some[kind])})": some[kind] for kind in kinds}, "kind (jobs)")
    never = int(run.jobs["start"].isna().sum())
    seconds, unit = style.time_unit(float(waits.mean()))
    note = f"mean {waits.mean() / seconds:.3g} {unit}, median {waits.median() / seconds:.3g} {unit}"
    if never:
        note += f"; {never} {'jobs' if never > 1 else 'job'} never started"
    style.title(drawing, f"{run.title}: waiting times", note)
    return drawing


def started_jobs(run: RunTables, window: tuple[float, float] | None = None) -> pd.DataFrame:
    """The jobs that started, of those submitted in a window (s).

    Raises:
        PlotError: there are none.
    """
    jobs = run.jobs[run.jobs["start"].notna()]
    if window is not None:
        jobs = jobs[jobs["submit"].between(*window)]
    if not len(jobs):
        raise PlotError(f"{run.name}: no job started{' in that window' if window else ''}")
    return jobs


def draw_distributions(waits: Mapping[str, pd.Series[float]], title: str) -> Figure:
    """Which share of some waits (s) is no longer than a time, a line for each name."""
    import pandas as pd

    drawing = style.figure(7.0, 4.0)
    axes = drawing.add_subplot()
    for k, (name, some) in enumerate(waits.items()):
        _draw_ecdf(axes, some, name, COLOURS[k % len(COLOURS)])
    every = pd.concat(list(waits.values()))
    positive = every[every > 0]
    if len(positive) and every.max() > 50 * positive.quantile(0.1):
        # Many jobs do not wait at all: a logarithm alone would lose them.
        axes.set_xscale("symlog", linthresh=10.0 ** _power(float(positive.quantile(0.1))))
        style.plain_numbers(axes)
    axes.set_xlim(left=0)
    axes.set_ylim(0, 1.01)
    axes.set_xlabel("waiting time (s)")
    axes.set_ylabel("share of jobs that waited no longer")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), title=title)
    return drawing


def _power(value: float) -> int:
    from math import floor, log10

    return floor(log10(value))


def _draw_ecdf(axes: Axes, waits: pd.Series[float], label: str, colour: str) -> None:
    import numpy as np

    ordered = np.sort(waits.to_numpy(dtype=float))
    shares = np.arange(1, len(ordered) + 1) / len(ordered)
    if len(ordered) > STEPS:
        kept = np.unique(np.linspace(0, len(ordered) - 1, STEPS).astype(int))
        ordered, shares = ordered[kept], shares[kept]
    x = np.concatenate([[0.0], ordered])
    axes.step(x, np.concatenate([[0.0], shares]), where="post", color=colour, linewidth=1.6, label=label)
