"""How the classes of jobs fared: their users, what was done and what failed, and how long it took."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gridtune.scenarios.plots import style
from gridtune.scenarios.plots.style import BLUE, DARK, RED, SKY, PlotError
from gridtune.scenarios.plots.tables import RunTables

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BAR = 0.36  # height of a bar, of the distance between two classes


def draw_classes(run: RunTables, window: tuple[float, float] | None = None) -> Figure:
    """By class of jobs: happy and unhappy users, completed and failed jobs, and response times.

    A user is unhappy in every class in which mandatory work failed. A mandatory job that was done too late
    counts as completed and as failed. Of the response times of completed jobs the boxes span the quartiles
    around the median, the lines the 5th to 95th percentile.

    Args:
        run: to draw.
        window: of no effect: users and their work are of a whole run.

    Raises:
        PlotError: the run has no classes.
    """
    if run.classes is None or not len(run.classes):
        raise PlotError(f"{run.name}: all jobs are of one class; `users` and `waits` show them")
    table = run.classes
    names = list(dict.fromkeys(table["class"]))
    drawing = style.figure(8.6, 0.55 * len(names) + 2.2)
    users, jobs, responses = drawing.subplots(1, 3, sharey=True)
    _draw_users(users, table, names)
    _draw_jobs(jobs, table, names)
    _draw_responses(responses, run.jobs, names)
    users.set_yticks(range(len(names)), names)
    users.set_ylim(len(names) - 0.4, -0.6)
    for axes in (users, jobs, responses):
        axes.grid(False, axis="y")
    unhappy = table.loc[table["unhappy"], "user"].nunique()
    note = f"{table['user'].nunique()} users, {unhappy} unhappy in at least one class"
    style.title(drawing, f"{run.title}: classes of jobs", note)
    return drawing


def _draw_users(axes: Axes, table: pd.DataFrame, names: list[str]) -> None:
    from matplotlib.ticker import MaxNLocator

    counts = table.groupby("class")["unhappy"].agg(["size", "sum"]).reindex(names)
    happy = counts["size"] - counts["sum"]
    axes.barh(range(len(names)), happy, color=BLUE, height=2 * BAR, label="happy")
    axes.barh(range(len(names)), counts["sum"], left=happy, color=RED, height=2 * BAR, label="unhappy")
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.set_xlabel("users")
    _legend(axes)


def _draw_jobs(axes: Axes, table: pd.DataFrame, names: list[str]) -> None:
    counts = table.groupby("class")[["jobs", "completed", "mandatory_failed"]].sum().reindex(names)
    for column, label, colour, shift in (
        ("completed", "completed", SKY, -BAR / 2),
        ("mandatory_failed", "failed", RED, BAR / 2),
    ):
        places = [row + shift for row in range(len(names))]
        shares = counts[column] / counts["jobs"]
        axes.barh(places, shares, height=BAR, color=colour, label=label)
        for place, share, count in zip(places, shares, counts[column], strict=True):
            axes.annotate(
                f"{count:,}", (share, place), (3, 0), textcoords="offset points", va="center", size=7
            )
    axes.set_xlim(0, 1.3)
    axes.set_xticks([0, 0.5, 1])
    axes.set_xlabel("share of jobs (number)")
    _legend(axes)


def _draw_responses(axes: Axes, jobs: pd.DataFrame, names: list[str]) -> None:
    import numpy as np

    done = jobs[jobs["state"] == "done"]
    spent = (done["end"] - done["submit"]).groupby(done["kind"])
    points = spent.quantile(np.array([0.05, 0.25, 0.5, 0.75, 0.95])).unstack().reindex(names)
    places = range(len(names))
    axes.hlines(places, points[0.05], points[0.95], color=DARK, linewidth=1.0)
    axes.barh(places, points[0.75] - points[0.25], left=points[0.25], height=2 * BAR, color=SKY)
    low, high = ([place + shift for place in places] for shift in (-BAR, BAR))
    axes.vlines(points[0.5], low, high, color=DARK, linewidth=1.4)
    axes.use_sticky_edges = False
    known = [float(value) for value in points[[0.05, 0.95]].to_numpy().flat if value == value]
    if known and min(known) > 0:
        style.log_axis(axes, known)
    axes.set_xlabel("response time (s)")


def _legend(axes: Axes) -> None:
    axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=2, borderpad=0.2, columnspacing=1.0)
