"""How users and jobs fared: satisfaction, and waiting times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios.plots import style
from scenarios.plots.style import BLUE, COLOURS, DARK, RED, PlotError
from scenarios.plots.tables import RunTables

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BARS = 60  # users with a bar each
STEPS = 2000  # of a distribution


def draw_users(run: RunTables, window: tuple[float, float] | None = None) -> Figure:
    """The satisfaction of every user, the least satisfied first; of more than 60 users its distribution.

    Unhappy users, some of whose mandatory work was late or lost, have a colour of their own.

    Args:
        run: to draw.
        window: of no effect: satisfaction is of a whole run.

    Raises:
        PlotError: no user deserved anything.

    Source: RR-7959, section 3.3.
    """
    users = run.users[run.users["satisfaction"].notna()] if len(run.users) else run.users
    if not len(users):
        raise PlotError(f"{run.name}: no user has a satisfaction")
    drawing = style.figure(7.4, 3.9)
    axes = drawing.add_subplot()
    if len(users) <= BARS:
        _draw_bars(axes, users.sort_values(["satisfaction", "user"]))
    else:
        _draw_distribution(axes, users)
    unhappy = int(users["unhappy"].sum())
    gap = users["satisfaction"].max() - users["satisfaction"].min()
    note = f"{len(users)} users, {unhappy} unhappy; unfairness {gap:.3g} (largest minus least)"
    style.title(drawing, f"{run.title}: satisfaction of users", note)
    return drawing


def _draw_bars(axes: Axes, users: pd.DataFrame) -> None:
    colours = [RED if unhappy else BLUE for unhappy in users["unhappy"]]
    axes.bar(range(len(users)), users["satisfaction"], color=colours, width=0.8)
    axes.axhline(1.0, color=DARK, linewidth=1.0, linestyle="--")
    names = [str(user) for user in users["user"]]
    few = len(names) <= 12 and max(map(len, names)) <= 8
    axes.set_xticks(range(len(names)), names, rotation=0 if few else 90, size=8 if len(names) <= 30 else 6)
    axes.grid(False, axis="x")
    axes.set_ylabel("satisfaction (allocated / deserved)")
    _legend(axes, bool(users["unhappy"].any()))


def _draw_distribution(axes: Axes, users: pd.DataFrame) -> None:
    import numpy as np

    edges = np.histogram_bin_edges(users["satisfaction"], bins=min(40, max(10, len(users) // 10)))
    parts = [users.loc[~users["unhappy"], "satisfaction"], users.loc[users["unhappy"], "satisfaction"]]
    axes.hist(parts, bins=list(edges), stacked=True, color=[BLUE, RED], edgecolor="white", linewidth=0.4)
    axes.axvline(1.0, color=DARK, linewidth=1.0, linestyle="--")
    axes.set_xlabel("satisfaction (allocated / deserved)")
    axes.set_ylabel("users")
    _legend(axes, bool(users["unhappy"].any()))


def _legend(axes: Axes, unhappy: bool) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles = [Patch(color=BLUE, label="happy")]
    handles += [Patch(color=RED, label="unhappy")] if unhappy else []
    ideal = Line2D([], [], color=DARK, linestyle="--", linewidth=1.0, label="ideal")
    axes.legend(handles=[*handles, ideal], loc="upper left", bbox_to_anchor=(1.0, 1.0))


def draw_waits(run: RunTables, window: tuple[float, float] | None = None) -> Figure:
    """Distribution of the waiting times (last start minus submission) of the jobs that started, by kind.

    Args:
        run: to draw.
        window: only jobs submitted in that time, s.

    Raises:
        PlotError: no job started.
    """
    jobs = run.jobs[run.jobs["start"].notna()]
    if window is not None:
        jobs = jobs[jobs["submit"].between(*window)]
    if not len(jobs):
        raise PlotError(f"{run.name}: no job started{' in that window' if window else ''}")
    waits = (jobs["start"] - jobs["submit"]).clip(lower=0.0)
    drawing = style.figure(7.0, 4.0)
    axes = drawing.add_subplot()
    kinds = sorted(jobs["kind"].unique())
    for k, kind in enumerate(kinds):
        some = waits[jobs["kind"] == kind]
        _draw_ecdf(axes, some, f"{kind} ({len(some)})", COLOURS[k % len(COLOURS)])
    positive = waits[waits > 0]
    if len(positive) and waits.max() > 50 * positive.quantile(0.1):
        # Many jobs do not wait at all: a logarithm alone would lose them.
        axes.set_xscale("symlog", linthresh=10.0 ** _power(float(positive.quantile(0.1))))
    axes.set_xlim(left=0)
    axes.set_ylim(0, 1.01)
    axes.set_xlabel("waiting time (s)")
    axes.set_ylabel("share of jobs that waited no longer")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), title="kind (jobs)")
    never = int(run.jobs["start"].isna().sum())
    note = f"mean {waits.mean():.4g} s, median {waits.median():.4g} s"
    if never:
        note += f"; {never} {'jobs' if never > 1 else 'job'} never started"
    style.title(drawing, f"{run.title}: waiting times", note)
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
