"""What changed over time: sampled signals, and jobs waiting and running."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gridtune.scenarios.plots import style
from gridtune.scenarios.plots.style import BLUE, COLOURS, GREY, PlotError
from gridtune.scenarios.plots.tables import RunTables

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Array = np.ndarray[Any, np.dtype[np.float64]]

LINES = 7  # in one panel, each with its own colour
POINTS = 4000  # of a line before it is averaged
BINS = 1000  # of an averaged line


def draw_signals(run: RunTables, window: tuple[float, float] | None = None) -> Figure:
    """Every signal over time, those that end in the same word (`lal.waiting`, `ral.waiting`) in one panel.

    Of more than seven in a panel all are grey and their mean stands out.

    Args:
        run: to draw.
        window: times to show, s.

    Raises:
        PlotError: the run has no signals in that time.
    """
    low, high = window or run.span
    seen = run.signals[run.signals["time"].between(low, high)]
    if not len(seen):
        raise PlotError(
            f"{run.name}: no signals from {low:g} to {high:g} s; record.sample_period makes a run sample them"
        )
    groups: dict[str, list[str]] = {}
    for name in sorted(seen["name"].unique()):
        groups.setdefault(str(name).rpartition(".")[2], []).append(str(name))
    columns = 1 if len(groups) <= 6 else 2 if len(groups) <= 16 else 3
    rows = -(-len(groups) // columns)
    drawing = style.figure(7.4 if columns == 1 else 4.6 * columns, 1.55 * rows + 1.3)
    panels = drawing.subplots(rows, columns, sharex=True, squeeze=False)
    tables = {str(name): table for name, table in seen.groupby("name", sort=False)}
    for k, (group, names) in enumerate(groups.items()):
        _draw_group(panels.flat[k], group, [(name, tables[name]) for name in names])
    for k, axes in enumerate(panels.flat):
        axes.set_visible(k < len(groups))
        style.time_axis(axes, low, high)
        lowest = k + columns >= len(groups)
        axes.tick_params(labelbottom=lowest)
        if not lowest:
            axes.set_xlabel("")
    style.title(drawing, f"{run.title}: signals")
    return drawing


def _draw_group(axes: Axes, group: str, members: list[tuple[str, pd.DataFrame]]) -> None:
    many = len(members) > LINES
    for k, (name, table) in enumerate(members):
        colour = GREY if many else COLOURS[k % len(COLOURS)]
        label = None if many or len(members) == 1 else style.words(name.removesuffix(f".{group}"))
        axes.step(
            table["time"], table["value"], where="post", color=colour, label=label,
            linewidth=0.7 if many else 1.4, alpha=0.5 if many else 1.0,
        )  # fmt: skip
    if many:
        import pandas as pd

        mean = pd.concat([table for _, table in members]).groupby("time")["value"].mean()
        axes.step(mean.index, mean, where="post", color=BLUE, linewidth=1.8, label=f"mean of {len(members)}")
    if many or len(members) > 1:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.05))
    axes.set_ylabel(style.words(group))
    axes.margins(y=0.08)


def draw_queues(run: RunTables, window: tuple[float, float] | None = None) -> Figure:
    """Jobs waiting and slots held over time, by kind of job.

    From the events where they were kept. Otherwise from the jobs: each waits from its submission to its last
    start, so an execution that was lost counts as waiting.

    Args:
        run: to draw.
        window: times to show, s.

    Raises:
        PlotError: the run has no jobs.
    """
    if not len(run.jobs):
        raise PlotError(f"{run.name}: the run has no jobs")
    low, high = window or run.span
    drawing = style.figure(7.4, 4.4)
    upper, lower = drawing.subplots(2, 1, sharex=True)
    notes = []
    for axes, changes, label in (
        (upper, waiting_changes(run), "jobs waiting"),
        (lower, running_changes(run), "slots held"),
    ):
        averaged = _draw_counts(axes, changes, low, high)
        axes.set_ylabel(label)
        if averaged:
            notes = [f"means over {(high - low) / BINS:.3g} s"]
    if lower.get_legend_handles_labels()[0] and run.jobs["kind"].nunique() > 1:
        upper.legend(loc="upper left", bbox_to_anchor=(1.0, 1.05))
    if run.events is None and (run.jobs["kills"] > 0).any():
        notes.append("lost executions count as waiting (`gridtune run --events` keeps them apart)")
    style.time_axis(lower, low, high)
    style.title(drawing, f"{run.title}: queues", "; ".join(notes))
    return drawing


def waiting_changes(run: RunTables) -> pd.DataFrame:
    """When the number of waiting jobs changed: `time` (s), `kind`, `change`."""
    import pandas as pd

    jobs = run.jobs
    if run.events is not None:
        moves = run.events[run.events["job"] > 0].sort_values("job", kind="stable")
        enters = moves["event"].isin(("queued", "killed", "suspended"))
        leaves = moves["event"].isin(("started", "cancelled", "rejected", "expired"))
        waits = enters.astype(int).where(enters | leaves)  # 1 while waiting, 0 while not
        waits = waits.groupby(moves["job"]).ffill().fillna(0)
        before = waits.groupby(moves["job"]).shift(fill_value=0)
        kinds = jobs.set_index("id")["kind"]
        change = (waits - before).astype(int)
        made = pd.DataFrame({"time": moves["time"], "kind": moves["job"].map(kinds), "change": change})
        return made[made["change"] != 0].sort_values("time", kind="stable")
    entered = jobs[jobs["queued"].notna()]
    left = entered["start"].fillna(entered["end"])
    return _changes(entered["kind"], entered["submit"], left, 1)


def running_changes(run: RunTables) -> pd.DataFrame:
    """When the number of held slots changed: `time` (s), `kind`, `change`."""
    ran = run.executions
    ended = ran["end"].where(ran["outcome"] != "running")
    return _changes(ran["kind"], ran["start"], ended, ran["processors"])


def _changes(kind: Any, start: Any, end: Any, size: Any) -> pd.DataFrame:
    """Entries and exits as changes; an exit that is missing never comes."""
    import pandas as pd

    enter = pd.DataFrame({"time": start, "kind": kind, "change": size})
    leave = pd.DataFrame({"time": end, "kind": kind, "change": -size})
    both = pd.concat([enter, leave[leave["time"].notna()]])
    return both.sort_values("time", kind="stable")


def _draw_counts(axes: Axes, changes: pd.DataFrame, low: float, high: float) -> bool:
    """A line per kind of job; whether any had to be averaged."""
    averaged = False
    kinds = sorted(changes["kind"].unique())
    for k, kind in enumerate(kinds):
        some = changes[changes["kind"] == kind]
        averaged |= draw_count(axes, some, low, high, COLOURS[k % len(COLOURS)], str(kind))
    axes.set_ylim(bottom=0)
    axes.margins(y=0.08)
    return averaged


def draw_count(axes: Axes, changes: pd.DataFrame, low: float, high: float, colour: str, label: str) -> bool:
    """A line of what changes (`time` in s, `change`) add up to; whether it had to be averaged."""
    steps = changes.groupby("time")["change"].sum()
    times, counts = steps.index.to_numpy(dtype=float), steps.to_numpy(dtype=float).cumsum()
    averaged = bool(((times >= low) & (times <= high)).sum() > POINTS)
    times, counts = (_averaged if averaged else _padded)(times, counts, low, high)
    axes.step(times, counts, where="post", color=colour, linewidth=1.2, label=label)
    return averaged


def _padded(times: Array, counts: Array, low: float, high: float) -> tuple[Array, Array]:
    """The line from 0 at the start of the window to its end."""
    import numpy as np

    last = counts[-1] if len(counts) else 0.0
    return np.concatenate([[min(low, *times[:1])], times, [high]]), np.concatenate([[0.0], counts, [last]])


def _averaged(times: Array, counts: Array, low: float, high: float) -> tuple[Array, Array]:
    """Means over equal intervals, weighted by time."""
    import numpy as np

    edges = np.linspace(low, high, BINS + 1)
    area = np.concatenate([[0.0], np.cumsum(counts[:-1] * np.diff(times))])
    at = np.searchsorted(times, edges, side="right") - 1
    inside = at >= 0
    filled = np.where(inside, area[at] + counts[at] * (edges - times[at]), 0.0)
    means = np.diff(filled) / np.diff(edges)
    return edges, np.append(means, means[-1])
