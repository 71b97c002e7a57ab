"""The metrics of a finished run, summed up over its jobs and users."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import nan

from gridtune.model.grid import Grid
from gridtune.model.job import DONE, RUNNING
from gridtune.model.metrics.custom import FinishedRun, measure
from gridtune.model.metrics.fairness import unfairness
from gridtune.model.metrics.registry import ALWAYS, CLASS_METRICS, METRICS, Metric
from gridtune.model.metrics.users import Allocated, ClassOutcome, Deserved, UserOutcome, outcomes


def summarise(
    grid: Grid,
    *,
    allocated: Allocated = "completed",
    deserved: Deserved = "capped",
    finished: bool = True,
) -> tuple[dict[str, Metric], dict[str, UserOutcome]]:
    """The metrics of a finished run and the outcomes of its users.

    Args:
        grid: after `run`, or in the middle of it: then as if it ended now.
        allocated, deserved: see `model.metrics.users.outcomes`.
        finished: whether the run has ended; metrics of users' own, functions of a finished run, are left out
            in the middle of it.

    Raises:
        MetricError: a metric of a user's own fails.
    """
    record = grid.record
    users = outcomes(
        record.jobs,
        record.stays,
        grid.slots,
        grid.capacity,
        grid.now,
        allocated=allocated,
        deserved=deserved,
    )
    unhappy = sum(user.unhappy for user in users.values())
    values = _totals(grid)
    values["unhappy_users"] = unhappy
    values["unhappy_fraction"] = unhappy / len(users) if users else 0.0
    values["unfairness"] = unfairness(user.satisfaction for user in users.values())
    values.update(record.counters)
    values.update((name, measure()) for name, measure in record.measures.items())
    metrics = {name: Metric(float(values[name]), METRICS[name].unit) for name in METRICS if name in values}
    metrics |= by_class(record.classes, users.values())
    if not finished:
        return metrics, users
    own = {name: metric.value for name, metric in metrics.items()}
    run = FinishedRun(record, users, own, grid.now, grid.slots, grid.capacity)
    return metrics | measure(record.custom, run), users


def by_class(classes: Iterable[str], users: Collection[UserOutcome]) -> dict[str, Metric]:
    """The metrics of each class by `NAME.CLASS`; a class in which nothing happened has no means."""
    made = {}
    for kind in classes:
        parts = {user.user: part for user in users if (part := user.classes.get(kind)) is not None}
        content = [user.satisfaction for user in users if user.user in parts and user.deserved > 0]
        values = _class_totals(list(parts.values()))
        values["satisfaction_mean"] = sum(content) / len(content) if content else nan
        for name, definition in CLASS_METRICS.items():
            made[f"{name}.{kind}"] = Metric(float(values[name]), definition.unit)
    return made


def _class_totals(parts: Collection[ClassOutcome]) -> dict[str, float]:
    completed = sum(part.completed for part in parts)
    return {
        "users": len(parts),
        "jobs": sum(part.jobs for part in parts),
        "completed": completed,
        "mandatory_failed": sum(part.mandatory_failed for part in parts),
        "unhappy_users": sum(part.unhappy for part in parts),
        "response_mean": sum(part.response for part in parts) / completed if completed else nan,
        "slowdown_mean": sum(part.slowdown for part in parts) / completed if completed else nan,
    }


def measured(grid: Grid) -> list[str]:
    """Names of the metrics that a run of a grid will give, known as soon as it is built."""
    known = {*ALWAYS, *grid.record.counters, *grid.record.measures, *grid.record.custom}
    known.update(f"{name}.{kind}" for kind in grid.record.classes for name in CLASS_METRICS)
    return [name for name in METRICS if name in known]


def _totals(grid: Grid) -> dict[str, float]:
    """Sums and means over jobs, in one pass."""
    completed = kills = 0
    work = waiting = execution = response = wasted = busy = 0.0
    first = float("inf")
    last = quiet = float("-inf")  # last completion; last moment at which any slot was held
    for job in grid.record.jobs:
        if job.submit < first:
            first = job.submit
        kills += job.kills
        wasted += job.wasted
        if job.state is DONE:
            completed += 1
            work += job.runtime * job.processors
            waiting += job.start - job.submit
            execution += job.end - job.start
            response += job.end - job.submit
            busy += (job.end - job.start) * job.processors
            last = max(last, job.end)
        elif job.state is RUNNING:
            busy += (grid.now - job.start) * job.processors
            quiet = grid.now
        elif job.wasted:
            quiet = max(quiet, job.end if job.end == job.end else grid.now)
    makespan = last - first if completed else 0.0
    area = grid.slots * max(makespan, quiet - first) if grid.slots else 0.0
    return {
        "completed": completed,
        "completed_work": work,
        "makespan": makespan,
        "waiting_mean": waiting / completed if completed else nan,
        "execution_mean": execution / completed if completed else nan,
        "response_mean": response / completed if completed else nan,
        "utilisation": (busy + wasted) / area if area else 0.0,
        "killed": kills,
        "wasted_work": wasted,
        "events": grid.agenda.fired,
    }
