"""The metrics of a finished run, summed up over its jobs and users."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import exp, inf, log, log10, nan

from gridtune.model.grid import Grid
from gridtune.model.job import CREATED, DONE, RUNNING, Job
from gridtune.model.metrics.custom import FinishedRun, measure
from gridtune.model.metrics.fairness import jain, shortfall, spread, unfairness
from gridtune.model.metrics.harm import harm
from gridtune.model.metrics.lost import (
    SHORTEST,
    is_cut_off,
    left_over,
    lost,
    missing,
    progress,
    quantile,
)
from gridtune.model.metrics.registry import (
    ALWAYS,
    CLASS_METRICS,
    HARM_METRICS,
    METRICS,
    NARROW,
    SHORT,
    SIZE_METRICS,
    SIZES,
    Metric,
)
from gridtune.model.metrics.users import Allocated, ClassOutcome, Deserved, UserOutcome, apart, mean, outcomes


def summarise(
    grid: Grid,
    *,
    allocated: Allocated = "completed",
    deserved: Deserved = "capped",
    finished: bool = True,
    shortest: float = SHORTEST,
) -> tuple[dict[str, Metric], dict[str, UserOutcome]]:
    """The metrics of a finished run and the outcomes of its users.

    Args:
        grid: after `run`, or in the middle of it: then as if it ended now.
        allocated, deserved: see `model.metrics.users.outcomes`.
        finished: whether the run has ended; metrics of users' own, functions of a finished run, are left out
            in the middle of it.
        shortest: s that run times count at least in slow-downs.

    Raises:
        MetricError: a metric of a user's own fails.
    """
    record = grid.record
    for note in record.noting:
        note()
    if finished:  # what would have come later is not part of the run
        record.jobs[:] = [job for job in record.jobs if job.state is not CREATED or job.submit <= grid.now]
    unsent = missing(record, grid.now)
    users = outcomes(
        record.jobs,
        record.stays,
        grid.slots,
        grid.capacity,
        grid.now,
        allocated=allocated,
        deserved=deserved,
        shortest=shortest,
        unsent=unsent,
        judged=grid.judged,
    )
    owed = [job for job in record.jobs if job.mandatory]
    values = _totals(grid, unfinished=bool(unsent))
    values |= _times(owed, [times for user in users.values() for times in user.times])
    values |= _of_users(users.values())
    for name in ("slowdown_mean", "slowdown_worst"):
        values[f"{name}_log"] = log10(values[name])
    values["never_submitted"] = sum(one.jobs for one in unsent)
    work = sum([job.runtime * job.processors for job in owed]) + sum(one.work for one in unsent)
    values["lost_fraction"] = values["lost_work"] / work if work else 0.0
    cut_off = sum([job.work for job in owed if is_cut_off(job)]) if values["lost_jobs"] else 0.0
    values["cut_off_fraction"] = cut_off / work if work else 0.0
    values.update(record.counters)
    record.reckonings = {}
    values.update((name, measure()) for name, measure in record.measures.items())
    record.reckonings = None
    metrics = {name: Metric(float(values[name]), METRICS[name].unit) for name in METRICS if name in values}
    metrics |= by_class(record.classes, users.values())
    if record.sites:
        served = {name: iter(user.times) for name, user in users.items()}
        times = [next(served[job.user]) for job in owed]  # worked out user by user, in the same order
        slow = [slowdown for _, _, slowdown in times]
        metrics |= harm(owed, slow, record.sites, grid.now, grid.mean_speed, record.queues)
        metrics |= by_size(owed, times, grid.mean_speed)
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
        values["satisfaction_mean"] = mean(content)
        for name, definition in CLASS_METRICS.items():
            made[f"{name}.{kind}"] = Metric(float(values[name]), definition.unit)
    return made


def by_size(
    jobs: Iterable[Job], times: Iterable[tuple[float, float, float]], pace: float
) -> dict[str, Metric]:
    """The metrics of each size of jobs by `NAME.SIZE`; a size that no job has, has no means.

    Args:
        jobs: to sort.
        times: of each.
        pace: work that a slot does in a second.

    Source: S. Srinivasan et al., Characterization of backfilling strategies, 2002 (the four sizes).
    """
    sorts: dict[str, list[tuple[float, float, float]]] = {size: [] for size in SIZES}
    narrow = sorts["narrow-short"], sorts["narrow-long"]
    wide = sorts["wide-short"], sorts["wide-long"]
    for job, one in zip(jobs, times, strict=True):
        short, long = narrow if job.processors <= NARROW else wide
        (short if job.runtime / pace <= SHORT else long).append(one)
    made = {}
    for size, those in sorts.items():
        values = {
            "jobs": len(those),
            "waiting_mean": mean([waiting for waiting, _, _ in those]),
            "slowdown_mean": mean([slowdown for _, _, slowdown in those]),
        }
        for name, definition in SIZE_METRICS.items():
            made[f"{name}.{size}"] = Metric(float(values[name]), definition.unit)
    return made


def _class_totals(parts: Collection[ClassOutcome]) -> dict[str, float]:
    waitings = sorted(value for part in parts for value in part.waitings)
    responses = sorted(value for part in parts for value in part.responses)
    lost_work, work = sum(part.lost_work for part in parts), sum(part.work for part in parts)
    return {
        "users": len(parts),
        "jobs": sum(part.jobs for part in parts),
        "completed": sum(part.completed for part in parts),
        "lost_jobs": sum(part.lost_jobs for part in parts),
        "lost_work": lost_work,
        "lost_fraction": lost_work / work if work else 0.0,
        "owed_lost_fraction": sum(part.owed_lost for part in parts) / work if work else 0.0,
        "mandatory_failed": sum(part.mandatory_failed for part in parts),
        "unhappy_users": sum(part.unhappy for part in parts),
        "waiting_mean": mean(waitings),
        "waiting_p95": quantile(waitings, 0.95),
        "waiting_max": waitings[-1] if waitings else nan,
        "response_mean": mean(responses),
        "response_p95": quantile(responses, 0.95),
        "slowdown_mean": mean([value for part in parts for value in part.slowdowns]),
    }


def measured(grid: Grid) -> list[str]:
    """Names of the metrics that a run of a grid will give, known as soon as it is built."""
    known = {*ALWAYS, *grid.record.counters, *grid.record.measures, *grid.record.custom}
    known.update(f"{name}.{kind}" for kind in grid.record.classes for name in CLASS_METRICS)
    if grid.record.sites:
        known.update(HARM_METRICS)
        known.update(f"{name}.{size}" for size in SIZES for name in SIZE_METRICS)
    return [name for name in METRICS if name in known]


def _of_users(users: Collection[UserOutcome]) -> dict[str, float]:
    """What is counted by user."""
    unhappy = sum(user.unhappy for user in users)
    content = [user.satisfaction for user in users]
    slow = [user.slowdown_mean for user in users if user.slowdown_mean == user.slowdown_mean]
    owed = sum(user.mandatory for user in users)
    return {
        "failed_fraction": sum(user.mandatory_failed for user in users) / owed if owed else 0.0,
        "unhappy_users": unhappy,
        "unhappy_fraction": unhappy / len(users) if users else 0.0,
        "unfairness": unfairness(content),
        "unfairness_jain": jain(content),
        "unfairness_spread": spread(content),
        "shortfall_mean": shortfall(content),
        "shortfall_worst": max((shortfall([one]) for one in content), default=0.0),
        "lost_jobs": sum(user.lost_jobs for user in users),
        "lost_work": sum(user.lost_work for user in users),
        "slowdown_unfairness": unfairness(slow),
        "slowdown_jain": jain(slow),
        "slowdown_spread": spread(slow),
        "slowdown_excess": mean(slow) - 1.0,
        "slowdown_worst": max(slow, default=nan),
    }


def _times(jobs: Iterable[Job], times: Collection[tuple[float, float, float]]) -> dict[str, float]:
    """Means and quantiles over mandatory jobs and their times, lost ones included."""
    waitings, responses, slowdowns = map(sorted, apart(times))
    return {
        **{f"waiting_{name}": value for name, value in _summed(waitings).items()},
        **{f"response_{name}": value for name, value in _summed(responses).items()},
        **{f"slowdown_{name}": value for name, value in _summed(slowdowns).items()},
        "slowdown_geometric": exp(mean([log(value) for value in slowdowns])),
        "execution_mean": mean([job.execution_time for job in jobs if job.state is DONE]),
    }


def _summed(ordered: list[float]) -> dict[str, float]:
    return {
        "mean": mean(ordered),
        "p50": quantile(ordered, 0.5),
        "p95": quantile(ordered, 0.95),
        "p99": quantile(ordered, 0.99),
        "max": ordered[-1] if ordered else nan,
    }


def _totals(grid: Grid, unfinished: bool) -> dict[str, float]:
    """Sums over jobs, in one pass.

    Args:
        grid: after its run.
        unfinished: whether anything is missing beside the jobs that are not done.
    """
    completed = kills = 0
    work = wasted = busy = kept = 0.0
    now, pace = grid.now, grid.mean_speed
    first = inf
    last = quiet = -inf  # last completion; last moment at which any slot was held
    for job in grid.record.jobs:
        if job.submit < first:
            first = job.submit
        kills += job.kills
        wasted += job.wasted
        busy += job.kept
        if job.state is DONE:
            completed += 1
            done = job.runtime * job.processors
            work += done
            kept += done
            end = job.end
            busy += (end - job.start) * job.processors
            if end > last:
                last = end
            continue
        kept += progress(job, now, pace)
        unfinished = unfinished or lost(job) or left_over(job)
        if job.state is RUNNING:
            busy += (now - job.start) * job.processors
            quiet = now
        elif job.wasted:
            quiet = max(quiet, job.end if job.end == job.end else now)
    span = last - first if completed else 0.0
    area = grid.slots * max(span, quiet - first) if grid.slots else 0.0
    return {
        "completed": completed,
        "completed_work": work,
        "makespan": inf if unfinished else span,
        "utilisation": (busy + wasted) / area if area else 0.0,
        "goodput": kept / (area * pace) if area else 0.0,
        "killed": kills,
        "wasted_work": wasted,
        "events": grid.agenda.fired,
    }
