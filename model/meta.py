"""Metrics of meta-tasks: tasks that a grid's middleware, not their owner, brings to a site."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import nan

from model.job import DONE, Job
from model.metrics import define

for _name, _unit, _meaning in (
    ("meta_waiting_mean", "s", "meta-tasks: mean of start minus global submission (RR-5576, equation 1)"),
    ("meta_execution_mean", "s", "meta-tasks: mean of end minus start (RR-5576, equation 2)"),
    ("meta_response_mean", "s", "meta-tasks: mean of end minus global submission (RR-5576, equation 3)"),
    ("meta_makespan", "s", "meta-tasks: last end minus first global submission (RR-5576, equation 4)"),
    ("local_wait_mean", "s", "meta-tasks: mean of start minus local submission, the wait in a site's queue"),
    ("global_wait_mean", "s", "meta-tasks: mean of local minus global submission, the wait for a site"),
    ("background_waiting_mean", "s", "local users: mean of start minus submission"),
    ("background_response_mean", "s", "local users: mean of end minus submission"),
):
    define(_name, _unit, "minimize", _meaning)
define("meta_completed", "tasks", "maximize", "completed meta-tasks")
define("background_completed", "jobs", "maximize", "completed jobs of local users")


def summary(tasks: Iterable[Job], jobs: Iterable[Job]) -> Mapping[str, float]:
    """The metrics of meta-tasks, and of all other jobs as those of local users.

    Args:
        tasks: meta-tasks.
        jobs: all jobs.
    """
    done = [task for task in tasks if task.state is DONE]
    meta = {task.id for task in done}
    local = [job for job in jobs if job.state is DONE and job.id not in meta]
    values = {
        "meta_completed": float(len(done)),
        "meta_waiting_mean": _mean(task.start - task.submit for task in done),
        "meta_execution_mean": _mean(task.end - task.start for task in done),
        "meta_response_mean": _mean(task.end - task.submit for task in done),
        "meta_makespan": max((task.end for task in done), default=nan)
        - min((task.submit for task in done), default=nan),
        "local_wait_mean": _mean(task.start - task.queued for task in done),
        "global_wait_mean": _mean(task.queued - task.submit for task in done),
    }
    if local:
        values["background_completed"] = float(len(local))
        values["background_waiting_mean"] = _mean(job.start - job.submit for job in local)
        values["background_response_mean"] = _mean(job.end - job.submit for job in local)
    return values


def _mean(values: Iterable[float]) -> float:
    total, count = 0.0, 0
    for value in values:
        total += value
        count += 1
    return total / count if count else nan
