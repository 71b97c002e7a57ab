"""Pictures that hold several runs against each other: backlog, utilisation, waits, schedules, users."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from gridtune.scenarios.plots import style
from gridtune.scenarios.plots.gantt import draw_schedules
from gridtune.scenarios.plots.style import COLOURS, DARK, GREY, PlotError
from gridtune.scenarios.plots.tables import RunTables
from gridtune.scenarios.plots.time_series import BINS, draw_count, running_changes, waiting_changes
from gridtune.scenarios.plots.waiting_times import draw_distributions, started_jobs

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Window = tuple[float, float] | None
Runs = Mapping[str, RunTables]  # by what distinguishes them

SIZES = (1, 8, 32, 128)  # processors up to which a class goes
HOUR = 3600.0  # s
BAND = 0.8  # of the distance between two classes that boxes take
BOUND = 10.0  # s, least run time of a slow-down


def draw_utilisation(runs: Runs, window: Window = None) -> Figure:
    """Slots held and jobs waiting over time, a line for each run.

    Raises:
        PlotError: a run has no jobs.
    """
    return _over_time(runs, window, {"slots held": running_changes, "jobs waiting": waiting_changes})


def draw_backlogs(runs: Runs, window: Window = None) -> Figure:
    """Jobs waiting over time, and slots that they wait for; a line for each run.

    Raises:
        PlotError: a run has no jobs.
    """
    return _over_time(runs, window, {"jobs waiting": waiting_changes, "slots waited for": _slots_waited_for})


def _slots_waited_for(run: RunTables) -> pd.DataFrame:
    """When the number of slots that waiting jobs want changed: `time` (s), `change`."""
    import pandas as pd

    jobs = run.jobs[run.jobs["queued"].notna()]
    left = jobs["start"].fillna(jobs["end"])
    enter = pd.DataFrame({"time": jobs["submit"], "change": jobs["processors"]})
    leave = pd.DataFrame({"time": left, "change": -jobs["processors"]})[left.notna()]
    return pd.concat([enter, leave]).sort_values("time", kind="stable")


def _over_time(runs: Runs, window: Window, rows: Mapping[str, Callable[[RunTables], pd.DataFrame]]) -> Figure:
    for run in runs.values():
        if not len(run.jobs):
            raise PlotError(f"{run.name}: the run has no jobs")
    low, high = window or _span(runs)
    drawing = style.figure(7.4, 4.4)
    panels = drawing.subplots(len(rows), 1, sharex=True)
    averaged = False
    for axes, (label, changes) in zip(panels, rows.items(), strict=True):
        for (name, run), colour in zip(runs.items(), _colours(runs), strict=True):
            averaged |= draw_count(axes, changes(run), low, high, colour, name)
        axes.set_ylabel(label)
        axes.set_ylim(bottom=0)
        axes.margins(y=0.08)
    if len(runs) > 1:
        _legend(panels[0])
    style.time_axis(panels[-1], low, high)
    note = f"means over {(high - low) / BINS:.3g} s" if averaged else ""
    style.title(drawing, f"{_title(runs)}: {' and '.join(rows)}", note)
    return drawing


def draw_waits_of_runs(runs: Runs, window: Window = None) -> Figure:
    """Distribution of the waiting times of the jobs that started, a line for each run.

    Raises:
        PlotError: no job of a run started.
    """
    waits = {}
    for name, run in runs.items():
        jobs = started_jobs(run, window)
        some = (jobs["start"] - jobs["submit"]).clip(lower=0.0)
        waits[f"{name} (mean {some.mean():,.0f} s)"] = some
    drawing = draw_distributions(waits, "run")
    style.title(drawing, f"{_title(runs)}: waiting times")
    return drawing


def draw_sizes(runs: Runs, window: Window = None) -> Figure:
    """Waiting times by processors and run time, a box for each run.

    The boxes span the quartiles around the median, the lines the 5th to 95th percentile, dots are means.

    Raises:
        PlotError: no job of a run started.
    """
    tables = {name: _sized(started_jobs(run, window)) for name, run in runs.items()}
    classes = sorted({(length, size) for table in tables.values() for length, size in table.groups})
    names = [f"{_size(size)}, {('up to', 'more than')[length]} 1 h" for length, size in classes]
    drawing = style.figure(7.6, 0.42 * len(classes) * max(1.0, 0.45 * len(runs)) + 1.7)
    axes = drawing.add_subplot()
    height = BAND / len(runs)
    for k, ((name, table), colour) in enumerate(zip(tables.items(), _colours(runs), strict=True)):
        places = [row - BAND / 2 + (k + 0.5) * height for row in range(len(classes))]
        points = table.quantile([0.05, 0.25, 0.5, 0.75, 0.95]).unstack().reindex(classes)
        axes.hlines(places, points[0.05], points[0.95], color=DARK, linewidth=0.8)
        widths = points[0.75] - points[0.25]
        axes.barh(places, widths, left=points[0.25], height=0.8 * height, color=colour, label=name)
        low, high = ([place + side * 0.4 * height for place in places] for side in (-1, 1))
        axes.vlines(points[0.5], low, high, color=DARK, linewidth=1.4)
        axes.plot(
            table.mean().reindex(classes), places, "o", color="white", mec=DARK, ms=3.5, linestyle="none"
        )
    counts = next(iter(tables.values())).size().reindex(classes, fill_value=0)
    axes.set_yticks(range(len(classes)), [f"{name} ({n:,})" for name, n in zip(names, counts, strict=True)])
    axes.set_ylim(len(classes) - 0.4, -0.6)
    axes.grid(False, axis="y")
    if max(float(table.max().max()) for table in tables.values()) > 600:
        axes.set_xscale("symlog", linthresh=60.0)
        style.plain_numbers(axes)
    axes.set_xlim(left=0)
    axes.set_xlabel("waiting time (s)")
    if len(runs) > 1:
        _legend(axes)
    note = "processors, run time (jobs); boxes: quartiles and median, lines: 5 to 95 %, dots: means"
    style.title(drawing, f"{_title(runs)}: waiting times by size of job", note)
    return drawing


def _sized(jobs: pd.DataFrame) -> Any:
    """Waits in s, grouped by whether a job runs for more than an hour and by the class of its processors."""
    import numpy as np

    size = np.searchsorted(SIZES, jobs["processors"].to_numpy())
    length = ((jobs["end"] - jobs["start"]) > HOUR).astype(int).to_numpy()
    return (jobs["start"] - jobs["submit"]).groupby([length, size])


def _size(place: int) -> str:
    """The class of processors in words."""
    if place == 0:
        return "1"
    if place == len(SIZES):
        return f"over {SIZES[-1]}"
    return f"{SIZES[place - 1] + 1} to {SIZES[place]}"


def draw_users_of_runs(runs: Runs, window: Window = None) -> Figure:
    """Mean slow-down of every user in the first run against that in the others, a dot for each user.

    The larger the dot, the more jobs. Below the diagonal a user fares better than in the first run.

    Raises:
        PlotError: there is one run only, or no user finished jobs in two of them.
    """
    (first, before), *others = ((name, _slowdowns(started_jobs(run, window))) for name, run in runs.items())
    drawing = style.figure(5.6, 5.0)
    axes = drawing.add_subplot()
    notes, most = [], 1.0
    for (name, after), colour in zip(others, COLOURS[1:] if len(others) > 1 else COLOURS, strict=False):
        both = before.add_suffix("_before").join(after, how="inner")
        if not len(both):
            raise PlotError(f"{first} and {name}: no user has jobs in both")
        size = 6 + 90 * both["jobs"] / both["jobs"].max()
        look: dict[str, Any] = {"color": colour, "alpha": 0.6, "linewidth": 0.4, "edgecolor": "white"}
        axes.scatter(both["mean_before"], both["mean"], s=size, label=name, **look)
        most = max(most, float(both[["mean", "mean_before"]].max().max()))
        better = int((both["mean"] < both["mean_before"]).sum())
        worse = int((both["mean"] > both["mean_before"]).sum())
        same = len(both) - better - worse
        notes.append(f"users in {name}: {better} better, {worse} worse, {same} as before")
    limits = (0.9, 1.3 * most)
    axes.plot(limits, limits, color=GREY, linewidth=1.0, linestyle="--")
    axes.set(xscale="log", yscale="log", xlim=limits, ylim=limits)
    axes.set_box_aspect(1.0)
    style.plain_numbers(axes)
    style.plain_numbers(axes, "y")
    axes.set_xlabel(f"mean slow-down of a user in {first}")
    axes.set_ylabel(
        f"mean slow-down in {others[0][0]}" if len(others) == 1 else "mean slow-down in the others"
    )
    if len(others) > 1:
        _legend(axes)
    style.title(drawing, f"{_title(runs)}: users before and after", "; ".join(notes))
    return drawing


def _slowdowns(jobs: pd.DataFrame) -> pd.DataFrame:
    """By user the mean bounded slow-down, and how many jobs."""
    import pandas as pd

    done = jobs[jobs["end"].notna()]
    runtime = (done["end"] - done["start"]).clip(lower=BOUND)
    slowdown = ((done["end"] - done["submit"]) / runtime).clip(lower=1.0)
    by_user = slowdown.groupby(done["user"])
    return pd.DataFrame({"mean": by_user.mean(), "jobs": by_user.size()})


def _span(runs: Runs) -> tuple[float, float]:
    """First and last time at which anything happened in any of them, s."""
    spans = [run.span for run in runs.values()]
    return min(low for low, _ in spans), max(high for _, high in spans)


def _colours(runs: Runs) -> list[str]:
    return [COLOURS[k % len(COLOURS)] for k in range(len(runs))]


def _legend(axes: Axes) -> None:
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.05), title="run")


def _title(runs: Runs) -> str:
    """The scenario, if all are runs of one."""
    titles = list(dict.fromkeys(run.title for run in runs.values()))
    return titles[0] if len(titles) == 1 else f"{len(runs)} runs"


# For more than one run; those of one run are drawn by `KINDS` where it has them.
OVERLAYS: dict[str, tuple[Callable[[Runs, Window], Figure], str]] = {
    "waits": (draw_waits_of_runs, "distribution of waiting times, a line for each run"),
    "sizes": (draw_sizes, "waiting times by processors and run time of the jobs"),
    "utilisation": (draw_utilisation, "slots held and jobs waiting over time"),
    "queues": (draw_backlogs, "jobs waiting and slots that they wait for over time, a line for each run"),
    "gantt": (draw_schedules, "the schedules, one above the other"),
    "users": (draw_users_of_runs, "slow-down of every user in the first run against the others"),
}
