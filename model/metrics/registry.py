"""The registry of metrics: names, units and directions that results and searches rely on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

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


def directions(names: Iterable[str]) -> list[Direction]:
    """Which way each named metric is better.

    Raises:
        KeyError: an unknown metric.
    """
    return [METRICS[name].direction for name in names]
