"""Metrics of meta-tasks: tasks that a grid's middleware, not their owner, brings to a site."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from math import nan

from gridtune.model.job import DONE, Job
from gridtune.model.metrics.registry import define

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


def measures(tasks: Sequence[Job], jobs: Sequence[Job]) -> dict[str, Callable[[], float]]:
    """How the metrics of meta-tasks are read when a run is over.

    Args:
        tasks: meta-tasks; may still grow.
        jobs: all jobs; those that are no meta-tasks are of local users.
    """
    made: dict[str, Callable[[], float]] = {
        name: partial(_mean, difference, tasks) for name, difference in _DIFFERENCES.items()
    }
    made["meta_completed"] = lambda: sum(task.state is DONE for task in tasks)
    made["meta_makespan"] = lambda: (
        max((task.end for task in tasks if task.state is DONE), default=nan)
        - min((task.submit for task in tasks), default=nan)
    )

    def background() -> Iterator[Job]:
        meta = {task.id for task in tasks}
        return (job for job in jobs if job.id not in meta)

    made["background_completed"] = lambda: sum(job.state is DONE for job in background())
    made["background_waiting_mean"] = lambda: _mean(_waiting, background())
    made["background_response_mean"] = lambda: _mean(_response, background())
    return made


def _waiting(job: Job) -> float:
    return job.start - job.submit


def _response(job: Job) -> float:
    return job.end - job.submit


_DIFFERENCES: dict[str, Callable[[Job], float]] = {
    "meta_waiting_mean": _waiting,
    "meta_execution_mean": lambda job: job.end - job.start,
    "meta_response_mean": _response,
    "local_wait_mean": lambda job: job.start - job.queued,
    "global_wait_mean": lambda job: job.queued - job.submit,
}


def _mean(difference: Callable[[Job], float], jobs: Iterable[Job]) -> float:
    """Mean over completed jobs; nan if there are none."""
    total, count = 0.0, 0
    for job in jobs:
        if job.state is DONE:
            total += difference(job)
            count += 1
    return total / count if count else nan
