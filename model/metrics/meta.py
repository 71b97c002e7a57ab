"""Metrics of meta-tasks: tasks that a grid's middleware, not their owner, brings to a site."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import inf, nan

from gridtune.model.grid import Grid
from gridtune.model.job import DONE, Job
from gridtune.model.metrics.lost import Reckoning, lost
from gridtune.model.metrics.registry import define
from gridtune.model.metrics.users import mean

for _name, _unit, _meaning in (
    ("meta_waiting_mean", "s", "meta-tasks: mean of start minus global submission (RR-5576, equation 1)"),
    ("meta_execution_mean", "s", "completed meta-tasks: mean of end minus start (RR-5576, equation 2)"),
    ("meta_response_mean", "s", "meta-tasks: mean of end minus global submission (RR-5576, equation 3)"),
    (
        "meta_makespan",
        "s",
        "meta-tasks: last end minus first global submission (RR-5576, equation 4); infinite if one was lost",
    ),
    ("local_wait_mean", "s", "meta-tasks: mean of start minus local submission, the wait in a site's queue"),
    ("global_wait_mean", "s", "meta-tasks: mean of local minus global submission, the wait for a site"),
    ("background_waiting_mean", "s", "local users: mean of start minus submission"),
    ("background_response_mean", "s", "local users: mean of end minus submission"),
):
    define(_name, _unit, "minimize", _meaning)
define("meta_completed", "tasks", "maximize", "completed meta-tasks")
define("background_completed", "jobs", "maximize", "completed jobs of local users")


def measures(grid: Grid, tasks: Sequence[Job]) -> dict[str, Callable[[], float]]:
    """How the metrics of meta-tasks are read when a run is over.

    Means are over all tasks, lost ones included: see `model.metrics.lost.Reckoning`.

    Args:
        grid: whose jobs those that are owed and are no meta-tasks, are of local users.
        tasks: meta-tasks; may still grow.
    """

    record = grid.record

    def background() -> list[Job]:
        meta = {task.id for task in tasks}
        return [job for job in record.jobs if job.mandatory and job.id not in meta]

    def local_jobs() -> list[Job]:
        made: list[Job] = record.reckon(background, background)
        return made

    def averaged(difference: Callable[[Reckoning, Job], float], jobs: Iterable[Job]) -> float:
        reckoning = Reckoning.of_run(grid)
        return mean([difference(reckoning, job) for job in jobs])

    return {
        "meta_waiting_mean": lambda: averaged(Reckoning.waiting, tasks),
        "meta_execution_mean": lambda: mean([job.end - job.start for job in tasks if job.state is DONE]),
        "meta_response_mean": lambda: averaged(Reckoning.response, tasks),
        "meta_makespan": lambda: _makespan(tasks),
        "local_wait_mean": lambda: averaged(_local_wait, tasks),
        "global_wait_mean": lambda: averaged(_global_wait, tasks),
        "meta_completed": lambda: sum(task.state is DONE for task in tasks),
        "background_completed": lambda: sum(job.state is DONE for job in local_jobs()),
        "background_waiting_mean": lambda: averaged(Reckoning.waiting, local_jobs()),
        "background_response_mean": lambda: averaged(Reckoning.response, local_jobs()),
    }


def messages_per_task(tasks: Sequence[Job], messages: float) -> float:
    """Control messages of a middleware per task; nan without tasks.

    A lost task counts as if it had taken all messages of the run: what is not brought to a site needs none,
    and a middleware must not look thrifty for it.
    """
    return messages * (1 + sum(map(lost, tasks))) / len(tasks) if tasks else nan


def _makespan(tasks: Sequence[Job]) -> float:
    if any(map(lost, tasks)):
        return inf
    ends = [task.end for task in tasks if task.state is DONE]
    return max(ends) - min(task.submit for task in tasks) if ends else nan


def _local_wait(reckoning: Reckoning, job: Job) -> float:
    """From the local submission to the start; of a task that never had one, from the global submission."""
    return reckoning.begun(job) - (job.queued if job.queued == job.queued else job.submit)


def _global_wait(reckoning: Reckoning, job: Job) -> float:
    """From the global to the local submission; of a task that never had one, until it counts as begun."""
    return (job.queued if job.queued == job.queued else reckoning.begun(job)) - job.submit
