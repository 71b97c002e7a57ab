"""Who is served worst: waits and slow-downs of mandatory jobs by size, run time, queue, QOS and user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, inf

import numpy as np
from numpy.typing import NDArray

from gridtune.model.job import CANCELLED, DONE, RUNNING, Job
from gridtune.model.metrics.lost import overran
from gridtune.model.metrics.registry import (
    DAY,
    LENGTH_CLASSES,
    LOGGED,
    LOGGED_METRICS,
    METRICS,
    SIZE_CLASSES,
    WEEK,
    Metric,
)
from gridtune.model.metrics.users import mean

TENTH = 0.1  # of the users, those who wait longest
LATE = 0.95  # the quantile that is told of a class
ENOUGH = 10  # jobs of a queue or QOS of which it is told

Floats = NDArray[np.float64]


def harm(
    jobs: Sequence[Job],
    slowdowns: Sequence[float],
    sites: Mapping[str, int],
    now: float,
    pace: float,
    queues: Mapping[int, str],
) -> dict[str, Metric]:
    """How those are served who are served worst: metrics by name.

    A job that did not start has waited until the end of the run, or until its owner withdrew it. So never
    starting a job is no good wait, whichever job it is.

    Args:
        jobs: mandatory ones.
        slowdowns: bounded slow-down of each.
        sites: processors of each batch site; a job that reached none is compared with the largest.
        now: end of the run, s.
        pace: work that a slot does in a second.
        queues: of the log, by the number of the job; jobs of no log have none.
    """
    each = [waited(job, now) for job in jobs]
    waits = np.array(each, dtype=float)
    largest = max(sites.values())
    slow = np.array(slowdowns, dtype=float)
    shares = np.array([job.processors / sites.get(job.site, largest) for job in jobs], dtype=float)
    lengths = np.array([job.runtime for job in jobs], dtype=float) / pace
    values = {
        "waited_max": waits.max() if jobs else np.nan,
        "waited_day": np.count_nonzero(waits > DAY),
        "waited_week": np.count_nonzero(waits > WEEK),
        "waited_mean.worst-users": _of_longest(list(waits_of_users(jobs, each).values())),
    }
    for dimension, classes, places in (("size", SIZE_CLASSES, shares), ("length", LENGTH_CLASSES, lengths)):
        values |= _of_classes(dimension, classes, places, waits, slow)
    found = {name: Metric(float(value), METRICS[name].unit) for name, value in values.items()}
    qos = {job.id: job.qos for job in jobs if job.qos}
    for kind, names in zip(LOGGED, (queues, qos), strict=True):
        found |= _of_logged(kind, names, jobs, waits, slow)
    return found


def waited(job: Job, now: float) -> float:
    """How long a job had waited, up to its last start, when the run ended `now`, s."""
    state = job.state
    cancelled = state is CANCELLED
    if state is DONE or state is RUNNING or overran(job) or (cancelled and job.start == job.start):
        return job.waiting_time
    return (job.end if cancelled else now) - job.submit - job.ran_before


def waits_of_users(jobs: Sequence[Job], waits: Sequence[float]) -> dict[str, float]:
    """The mean wait (s) of each user's jobs, by name, from that of each job; see `waited`."""
    each: dict[str, list[float]] = {}
    for job, wait in zip(jobs, waits, strict=True):
        each.setdefault(job.user, []).append(wait)
    return {user: mean(theirs) for user, theirs in each.items()}


def _of_classes(
    dimension: str, classes: Mapping[str, float], places: Floats, waits: Floats, slowdowns: Floats
) -> dict[str, float]:
    """Jobs, late waits and slow-downs of each class, and the latest wait; a class without jobs has none."""
    edges = [most for most in classes.values() if most < inf]
    # Shares are quotients of whole numbers: one that is exactly a limit may come out a little above it.
    member = np.searchsorted(edges, places * (1 - 1e-12), side="left")
    values: dict[str, float] = {}
    latest = np.nan
    for at, name in enumerate(classes):
        mine = member == at
        theirs, slow = waits[mine], slowdowns[mine]
        late = float(np.quantile(theirs, LATE)) if len(theirs) else np.nan
        values[f"jobs.{dimension}-{name}"] = len(theirs)
        values[f"waited_p95.{dimension}-{name}"] = late
        values[f"slowdown_mean.{dimension}-{name}"] = float(slow.mean()) if len(slow) else np.nan
        latest = float(np.fmax(latest, late))
    return values | {f"waited_p95.worst-{dimension}": latest}


def _of_logged(
    kind: str, names: Mapping[int, str], jobs: Sequence[Job], waits: Floats, slowdowns: Floats
) -> dict[str, Metric]:
    """Late waits and slow-downs of each queue (or QOS) that has enough jobs, where there are several."""
    theirs: dict[str, list[int]] = {}
    for at, job in enumerate(jobs) if names else ():
        theirs.setdefault(names.get(job.id, ""), []).append(at)
    found = {}
    for name, places in sorted(theirs.items()):
        if name and len(theirs) > 1 and len(places) >= ENOUGH:
            late, mean = float(np.quantile(waits[places], LATE)), float(slowdowns[places].mean())
            for stem, value in (("waited_p95", late), ("slowdown_mean", mean)):
                found[f"{stem}.{kind}{name}"] = Metric(value, LOGGED_METRICS[stem].unit)
    return found


def _of_longest(waits: Sequence[float]) -> float:
    """The mean of the longest tenth of waits, one at least."""
    return mean(sorted(waits)[-ceil(TENTH * len(waits)) :])
