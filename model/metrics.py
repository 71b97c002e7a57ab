"""Metrics of a run: the names, units and directions that results and searches rely on."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from math import nan
from typing import Literal, NamedTuple

from model.fairness import unfairness
from model.grid import Grid
from model.job import DONE, RUNNING
from model.users import Allocated, ClassOutcome, Deserved, UserOutcome, outcomes

Direction = Literal["minimize", "maximize"]


class Metric(NamedTuple):
    """A measured value and its unit."""

    value: float
    unit: str


@dataclass(frozen=True)
class Definition:
    """What a metric means.

    Attributes:
        unit: of its values.
        direction: which way is better.
        meaning: one line.
    """

    unit: str
    direction: Direction
    meaning: str


METRICS: dict[str, Definition] = {
    "unhappy_users": Definition("users", "minimize", "users some of whose mandatory work failed"),
    "unhappy_fraction": Definition("", "minimize", "unhappy users over all users"),
    "unfairness": Definition("", "minimize", "largest minus least satisfaction (allocated / deserved)"),
    "completed": Definition("jobs", "maximize", "completed jobs"),
    "completed_work": Definition("s", "maximize", "work of completed jobs, slot-seconds at speed 1"),
    "makespan": Definition("s", "minimize", "last completion minus first submission"),
    "waiting_mean": Definition("s", "minimize", "mean of start minus submission over completed jobs"),
    "execution_mean": Definition("s", "minimize", "mean of end minus start over completed jobs"),
    "response_mean": Definition("s", "minimize", "mean of end minus submission over completed jobs"),
    "utilisation": Definition(
        "", "maximize", "busy slot-seconds, lost ones included, over slots times the time in use"
    ),
    "killed": Definition("kills", "minimize", "executions lost to other jobs and put back into a queue"),
    "wasted_work": Definition("s", "minimize", "slot-seconds of executions that were lost"),
    "events": Definition("events", "minimize", "fired events"),
}

ALWAYS = tuple(METRICS)  # measured in every run; what `define` adds is measured where there is such a thing

# What is measured of each class of jobs, where there are several: `unhappy_users.sdj`, ...
CLASS_METRICS: dict[str, Definition] = {
    "users": Definition("users", "maximize", "users with jobs of the class"),
    "jobs": Definition("jobs", "maximize", "jobs of the class"),
    "completed": Definition("jobs", "maximize", "completed jobs of the class"),
    "mandatory_failed": Definition(
        "jobs", "minimize", "mandatory jobs of the class that were refused, late, or killed at a limit"
    ),
    "unhappy_users": Definition(
        "users", "minimize", "users some of whose mandatory work of the class failed"
    ),
    "satisfaction_mean": Definition("", "maximize", "mean satisfaction of the users with jobs of the class"),
    "response_mean": Definition(
        "s", "minimize", "mean of end minus submission over completed jobs of the class"
    ),
    "slowdown_mean": Definition(
        "",
        "minimize",
        "mean of response over run time, at least 10 s, and at least 1, over completed jobs of the class",
    ),
}


def define(name: str, unit: str, direction: Direction, meaning: str) -> None:
    """Enter a further metric that some actors count or measure.

    Raises:
        ValueError: the name means something else already: in a grid of many parts they would be confused.
    """
    made = Definition(unit, direction, meaning)
    if METRICS.setdefault(name, made) != made:
        raise ValueError(f"metric {name}: defined already, as {METRICS[name].meaning!r}")


def define_classes(classes: Iterable[str]) -> None:
    """Enter the metrics of classes of jobs."""
    for kind in classes:
        for name, definition in CLASS_METRICS.items():
            METRICS[f"{name}.{kind}"] = definition


def summarise(
    grid: Grid, *, allocated: Allocated = "completed", deserved: Deserved = "capped"
) -> tuple[dict[str, Metric], dict[str, UserOutcome]]:
    """The metrics of a finished run and the outcomes of its users.

    Args:
        grid: after `run`.
        allocated, deserved: see `model.users.outcomes`.
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
    return metrics | by_class(record.classes, users.values()), users


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
    known = {*ALWAYS, *grid.record.counters, *grid.record.measures}
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


def directions(names: Iterable[str]) -> list[Direction]:
    """Which way each named metric is better.

    Raises:
        KeyError: an unknown metric.
    """
    return [METRICS[name].direction for name in names]
