"""Executions at a batch site that end before their time: with their node, or for another job."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from functools import partial
from math import inf

from gridtune.agents.batch.batch_site import BatchSite
from gridtune.agents.batch.executions import Waking
from gridtune.model.job import RUNNING, Job


def running_jobs(site: BatchSite) -> Sequence[Job]:
    """The jobs that hold processors, in the order of their starts."""
    return [execution.job for execution in site.executions.values()]


def jobs_on(site: BatchSite, slots: Set[int]) -> Sequence[Job]:
    """The jobs that hold any of some slots, in the order of their starts."""
    return [
        execution.job
        for execution in site.executions.values()
        if not slots.isdisjoint(execution.placement.slots)
    ]


def slots_of(site: BatchSite, job: Job, slots: Set[int]) -> int:
    """How many of some slots a running job holds."""
    return sum(slot in slots for slot in site.executions[job.id].placement.slots)


def planned_end(site: BatchSite, job: int) -> float:
    """When the processors of a job are expected to come back, by its id, s."""
    execution = site.executions.get(job)
    if execution is not None:
        return execution.planned_end
    return next(one.planned_end for one in site.reservations if one.job.id == job)


def leaves_at(site: BatchSite, job: Job, time: float) -> None:
    """The processors of a running job are expected back at another time, s."""
    execution = site.executions[job.id]
    site.cluster.replan(job, execution.planned_end, time)
    site.executions[job.id] = execution._replace(planned_end=time)


def take_off(site: BatchSite, job: Job) -> Callable[[], object]:
    """End the execution of a job with its node.

    Returns:
        What follows once the node is out: the job waits again, behind those that came before, or its owner
        hears that it is lost.
    """
    if job.state is not RUNNING:
        return _nothing  # it has ended, and the scheduler has not heard of it yet
    now, counters = site.grid.now, site.grid.record.counters
    site.executions.forget_end(job)
    site.executions.paused.pop(job.id, None)
    counters["killed_by_failure"] += 1
    done = site.owners.pop(job.id, None)
    site.failures[job.id] += 1
    # Nobody but its owner knows what a placeholder was for.
    last = site.failures[job.id] > site.requeues or (job.runtime == inf and done is not None)
    if last:
        del site.failures[job.id]  # who submits it again submits a new job
        job.fail(now)
        counters["failed_jobs"] += job.runtime < inf
    else:
        job.kill(now)
    site.vacate(job)
    if not last:
        return partial(site.enter, job, done)
    return _nothing if done is None else partial(done, job)


def pause(site: BatchSite, job: Job) -> None:
    """A running job makes no progress any more, and writes down how far it has come."""
    execution = site.executions[job.id]
    ran = max(0.0, site.grid.now - job.start - execution.overhead)
    site.executions.paused[job.id] = ran, site.executions.progress(job)
    site.executions.forget_end(job)
    site.executions[job.id] = execution._replace(event=None)


def preempt(site: BatchSite, job: Job, mode: str, restart: float) -> None:
    """End the execution of a job of the site's own for another: it waits again, or is lost.

    Args:
        site: where it runs.
        job: which runs.
        mode: `cancel`, `requeue`, or `checkpoint` after a `pause`.
        restart: s without progress that going on will take.
    """
    now = site.grid.now
    owner = site.owners.pop(job.id, None)
    kept, progress = site.executions.paused.pop(job.id, (0.0, 0.0))
    if mode == "checkpoint":
        _keep_progress(site, job, progress, restart)
    else:
        site.executions.forget_end(job)
    if mode == "cancel":
        job.fail(now)
    else:
        job.kill(now, kept)
    site.vacate(job)
    site.came_back()
    if mode != "cancel":
        site.enter(job, owner)
    elif owner is not None:
        owner(job)
    site.processors_returned()


def suspend(site: BatchSite, job: Job) -> Waking:
    """Take a running job off its processors, to go on later from where it is; where that will be."""
    now, execution = site.grid.now, site.executions[job.id]
    pause(site, job)
    _keep_progress(site, job, site.executions.paused.pop(job.id)[1], 0.0)
    overhead = max(0.0, execution.overhead - (now - job.start))
    job.suspend(now)
    site.vacate(job)
    return Waking(execution.placement, overhead)


def _keep_progress(site: BatchSite, job: Job, progress: float, restart: float) -> None:
    """Note that a running job has made progress for some s, and needs some s without to go on."""
    before, _, promised = site.executions.resumed.get(job.id, (0.0, 0.0, job.estimate))
    done = before + progress * site.executions[job.id].placement.speed
    site.executions.resumed[job.id] = done, restart, promised
    # What is promised is the rest, to the last digit as what is left of the run time is worked out.
    job.estimate = max(0.0, promised - done)


def drop_claim(site: BatchSite) -> bool:
    """Give back what is kept for the last job that waits for others to leave, if there is one."""
    return site.qos is not None and site.qos.drop_claim()


def undo_reservation(site: BatchSite) -> bool:
    """Let the last job that waits for best-effort jobs to leave go back to its queue; whether any did."""
    if not site.reservations:
        return False
    job, planned, *_ = site.reservations.pop()
    site.cluster.put_back(job, site.grid.now, planned)
    return True


def _nothing() -> None:
    """What follows where nothing does."""
