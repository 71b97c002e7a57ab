"""The registry of metrics: names, units and directions that results and searches rely on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf
from typing import Literal, NamedTuple

Direction = Literal["minimize", "maximize"]


class Metric(NamedTuple):
    """A measured value and its unit."""

    value: float
    unit: str


FINE = 1e-4  # resolution of shares and ratios
COUNT = 0.01  # of counts: means over replications are no whole numbers
# s, resolution of times: nothing that is modelled happens faster than a message, some milliseconds.
TIME = 1e-3
WORK = 1.0  # slot-seconds, of sums of work
# The values that a metric may have, the least and the greatest.
Bounds = tuple[float, float]
POSITIVE: Bounds = (0.0, inf)
SHARE: Bounds = (0.0, 1.0)
FROM_ONE: Bounds = (1.0, inf)


@dataclass(frozen=True)
class Definition:
    """What a metric means.

    Attributes:
        unit: of its values.
        direction: which way is better.
        meaning: one line.
        resolution: least difference between two values that means anything, in the unit.
        within: the least and the greatest value that it may have, in the unit.
    """

    unit: str
    direction: Direction
    meaning: str
    resolution: float
    within: Bounds = (-inf, inf)

    @classmethod
    def of(
        cls,
        unit: str,
        direction: Direction,
        meaning: str,
        resolution: float | None = None,
        within: Bounds = POSITIVE,
    ) -> Definition:
        """A definition; where no resolution is given, that of its unit."""
        if resolution is None:
            resolution = TIME if unit == "s" else COUNT if unit else FINE
        return cls(unit, direction, meaning, resolution, within)


_of = Definition.of
METRICS: dict[str, Definition] = {
    "unhappy_users": _of("users", "minimize", "users some of whose mandatory work failed"),
    "unhappy_fraction": _of("", "minimize", "unhappy users over all users", within=SHARE),
    "failed_fraction": _of(
        "", "minimize", "mandatory jobs that failed over all mandatory jobs", within=SHARE
    ),
    "unfairness": _of("", "minimize", "largest minus least satisfaction (allocated / deserved)"),
    "unfairness_jain": _of("", "minimize", "1 minus Jain's index of the users' satisfactions", within=SHARE),
    "unfairness_spread": _of("", "minimize", "90th minus 10th percentile of the users' satisfactions"),
    "shortfall_mean": _of(
        "", "minimize", "mean over users of what is missing to satisfaction 1", within=SHARE
    ),
    "shortfall_worst": _of(
        "", "minimize", "what the least satisfied user misses to satisfaction 1", within=SHARE
    ),
    "lost_jobs": _of("jobs", "minimize", "mandatory jobs that were not completed, for whatever reason"),
    "lost_work": _of("s", "minimize", "work of lost jobs, slot-seconds at speed 1", WORK),
    "lost_fraction": _of("", "minimize", "lost work over all mandatory work", within=SHARE),
    "cut_off_fraction": _of(
        "",
        "minimize",
        "work of mandatory jobs that ran when the run ended, over all mandatory work",
        within=SHARE,
    ),
    "never_submitted": _of("jobs", "minimize", "mandatory requests and jobs that should have been submitted"),
    "completed": _of("jobs", "maximize", "completed jobs"),
    "completed_work": _of("s", "maximize", "work of completed jobs, slot-seconds at speed 1", WORK),
    "makespan": _of("s", "minimize", "last completion minus first submission; infinite if work was left"),
    "waiting_mean": _of(
        "s",
        "minimize",
        "mean of start minus submission over mandatory jobs, less what suspended ones had run",
    ),
    "waiting_p50": _of("s", "minimize", "median of the waits of mandatory jobs"),
    "waiting_p95": _of("s", "minimize", "95th percentile of the waits of mandatory jobs"),
    "waiting_p99": _of("s", "minimize", "99th percentile of the waits of mandatory jobs"),
    "waiting_max": _of(
        "s", "minimize", "longest wait of mandatory jobs; those that never started do so after the run"
    ),
    "execution_mean": _of(
        "s", "minimize", "mean run time of completed mandatory jobs, without executions that were lost"
    ),
    "response_mean": _of("s", "minimize", "mean of end minus submission over mandatory jobs"),
    "response_p50": _of("s", "minimize", "median of the response times of mandatory jobs"),
    "response_p95": _of("s", "minimize", "95th percentile of the response times of mandatory jobs"),
    "response_p99": _of("s", "minimize", "99th percentile of the response times of mandatory jobs"),
    "response_max": _of("s", "minimize", "longest response time of mandatory jobs"),
    "slowdown_mean": _of("", "minimize", "mean bounded slow-down of mandatory jobs", within=FROM_ONE),
    "slowdown_geometric": _of("", "minimize", "geometric mean of the bounded slow-downs", within=FROM_ONE),
    "slowdown_p50": _of(
        "", "minimize", "median of the bounded slow-downs of mandatory jobs", within=FROM_ONE
    ),
    "slowdown_p95": _of(
        "", "minimize", "95th percentile of the bounded slow-downs of mandatory jobs", within=FROM_ONE
    ),
    "slowdown_p99": _of(
        "", "minimize", "99th percentile of the bounded slow-downs of mandatory jobs", within=FROM_ONE
    ),
    "slowdown_max": _of(
        "", "minimize", "largest of the bounded slow-downs of mandatory jobs", within=FROM_ONE
    ),
    "slowdown_unfairness": _of("", "minimize", "largest minus least mean bounded slow-down of a user"),
    "slowdown_jain": _of(
        "", "minimize", "1 minus Jain's index of the users' mean bounded slow-downs", within=SHARE
    ),
    "slowdown_spread": _of("", "minimize", "90th minus 10th percentile of the users' mean slow-downs"),
    "slowdown_excess": _of("", "minimize", "mean over users of mean bounded slow-down minus 1"),
    "slowdown_worst": _of("", "minimize", "largest mean bounded slow-down of a user", within=FROM_ONE),
    "slowdown_mean_log": _of("", "minimize", "decimal logarithm of slowdown_mean"),
    "slowdown_worst_log": _of("", "minimize", "decimal logarithm of slowdown_worst"),
    "utilisation": _of(
        "", "maximize", "busy slot-seconds, lost ones too, over slots times the time in use", within=SHARE
    ),
    "goodput": _of(
        "",
        "maximize",
        "work of completed jobs and progress of running ones, over what could be",
        within=SHARE,
    ),
    "killed": _of(
        "kills", "minimize", "executions lost, to other jobs or with their node, and put back into a queue"
    ),
    "wasted_work": _of("s", "minimize", "slot-seconds of executions that were lost", WORK),
    "events": _of("events", "minimize", "fired events"),
}

ALWAYS = tuple(METRICS)  # measured in every run; what `define` adds is measured where there is such a thing

# What is measured of each class of jobs, where there are several: `unhappy_users.sdj`, ...
CLASS_METRICS: dict[str, Definition] = {
    "users": _of("users", "maximize", "users with jobs of the class"),
    "jobs": _of("jobs", "maximize", "jobs of the class"),
    "completed": _of("jobs", "maximize", "completed jobs of the class"),
    "lost_jobs": _of("jobs", "minimize", "jobs of the class that were not completed; optional ones are none"),
    "lost_work": _of("s", "minimize", "work of lost jobs of the class, slot-seconds at speed 1", WORK),
    "lost_fraction": _of("", "minimize", "lost work of the class over all work of the class", within=SHARE),
    "owed_lost_fraction": _of(
        "", "minimize", "lost mandatory work of the class over all work of the class", within=SHARE
    ),
    "mandatory_failed": _of("jobs", "minimize", "mandatory jobs of the class that were late or lost"),
    "unhappy_users": _of("users", "minimize", "users some of whose mandatory work of the class failed"),
    "satisfaction_mean": _of("", "maximize", "mean satisfaction of the users with jobs of the class"),
    "waiting_mean": _of("s", "minimize", "mean wait of the jobs of the class"),
    "waiting_p95": _of("s", "minimize", "95th percentile of the waits of the class"),
    "waiting_max": _of("s", "minimize", "longest wait in the class"),
    "response_mean": _of("s", "minimize", "mean of end minus submission over the jobs of the class"),
    "response_p95": _of("s", "minimize", "95th percentile of the response times of the class"),
    "slowdown_mean": _of("", "minimize", "mean bounded slow-down of the jobs of the class", within=FROM_ONE),
}

# What is measured of each size of mandatory jobs at batch sites: `waiting_mean.wide-long`, ...
NARROW, SHORT = 8, 3600.0  # processors and s, at most (S. Srinivasan et al. 2002)
SIZES = ("narrow-short", "narrow-long", "wide-short", "wide-long")
SIZE_METRICS: dict[str, Definition] = {
    "jobs": _of("jobs", "maximize", "mandatory jobs of the size"),
    "waiting_mean": _of("s", "minimize", "mean wait of mandatory jobs of the size"),
    "slowdown_mean": _of(
        "", "minimize", "mean bounded slow-down of mandatory jobs of the size", within=FROM_ONE
    ),
}

# What is measured of those who wait longest, at batch sites: `waited_p95.size-huge`, ... Each class with the
# most that belongs to it: of the site's processors (share), and of run time at the grid's mean speed (s).
HOUR, DAY, WEEK = 3600.0, 86400.0, 7 * 86400.0
SIZE_CLASSES = {"small": 0.01, "medium": 0.1, "large": 0.25, "huge": inf}
LENGTH_CLASSES = {"brief": HOUR / 6, "short": HOUR, "long": 8 * HOUR, "very-long": inf}
HARM_METRICS: dict[str, Definition] = {
    "waited_max": _of("s", "minimize", "longest wait of a mandatory job, until the end if it did not start"),
    "waited_day": _of("jobs", "minimize", "mandatory jobs that waited longer than a day"),
    "waited_week": _of("jobs", "minimize", "mandatory jobs that waited longer than a week"),
    "waited_p95.worst-size": _of(
        "s", "minimize", "95th percentile of waits in the worst class by processors"
    ),
    "waited_p95.worst-length": _of(
        "s", "minimize", "95th percentile of waits in the worst class by run time"
    ),
    "waited_mean.worst-users": _of("s", "minimize", "mean wait of the tenth of the users who wait longest"),
}
for _name in (*(f"size-{name}" for name in SIZE_CLASSES), *(f"length-{name}" for name in LENGTH_CLASSES)):
    HARM_METRICS[f"waited_p95.{_name}"] = _of("s", "minimize", "95th percentile of waits in the class")
    HARM_METRICS[f"slowdown_mean.{_name}"] = _of(
        "", "minimize", "mean bounded slow-down in the class", within=FROM_ONE
    )
    HARM_METRICS[f"jobs.{_name}"] = _of("jobs", "maximize", "mandatory jobs of the class")
LOGGED = ("queue-", "qos-")  # before the name of a log's queue or QOS, of which there may be any number
LOGGED_METRICS: dict[str, Definition] = {
    "waited_p95": _of("s", "minimize", "95th percentile of waits in a queue or QOS of the log"),
    "slowdown_mean": _of(
        "", "minimize", "mean bounded slow-down in a queue or QOS of the log", within=FROM_ONE
    ),
}
METRICS |= HARM_METRICS  # known everywhere, measured where there are batch sites


def define(
    name: str,
    unit: str,
    direction: Direction,
    meaning: str,
    resolution: float | None = None,
    within: Bounds = POSITIVE,
) -> None:
    """Enter a further metric that some actors count or measure.

    Args:
        name: by which results and searches know it.
        unit: of its values, "" for shares and ratios.
        direction: which way is better.
        meaning: one line.
        resolution: least difference that means anything, in the unit; if left out 0.001 for seconds, 0.01 for
            counts and 0.0001 where there is no unit.
        within: the least and the greatest value that it may have, in the unit.

    Raises:
        ValueError: the name means something else already: in a grid of many parts they would be confused.
    """
    made = Definition.of(unit, direction, meaning, resolution, within)
    if METRICS.setdefault(name, made) != made:
        raise ValueError(f"metric {name}: defined already, as {METRICS[name].meaning!r}")


def define_classes(classes: Iterable[str]) -> None:
    """Enter the metrics of classes of jobs."""
    for kind in classes:
        for name, definition in CLASS_METRICS.items():
            METRICS[f"{name}.{kind}"] = definition


def define_sizes() -> None:
    """Enter the metrics of sizes of jobs."""
    for size in SIZES:
        for name, definition in SIZE_METRICS.items():
            METRICS[f"{name}.{size}"] = definition


def directions(names: Iterable[str]) -> list[Direction]:
    """Which way each named metric is better.

    Raises:
        KeyError: an unknown metric.
    """
    return [METRICS[name].direction for name in names]


def definition(name: str) -> Definition | None:
    """What a metric means, be it of all jobs or of a class (`waiting_mean.local`); None if unknown."""
    stem, _, kind = name.partition(".")
    if kind.startswith(LOGGED) and stem in LOGGED_METRICS:
        return LOGGED_METRICS[stem]
    return METRICS.get(name) or CLASS_METRICS.get(stem) or SIZE_METRICS.get(stem)
