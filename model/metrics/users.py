"""How users fared: whose mandatory work failed, what they were given and what they deserved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import inf, nan
from typing import Literal

from gridtune.model.job import CANCELLED, DONE, EXPIRED, REJECTED, Job
from gridtune.model.metrics.fairness import Want, deserved_areas
from gridtune.model.record import Stay

Allocated = Literal["completed", "occupied"]
Deserved = Literal["area", "capped"]

SHORTEST = 10.0  # s; shorter run times count as this in slow-downs, lest jobs of a second outweigh all others


@dataclass(slots=True)
class ClassOutcome:
    """How the jobs of one class of one user fared; the class of a job is its `kind`.

    Attributes:
        user: whose.
        kind: the class.
        jobs, completed: jobs created, and completed.
        mandatory_failed: mandatory jobs that failed, see `failed`.
        allocated: as of the user, of these jobs alone.
        response: sum of the response times of completed jobs, s.
        slowdown: sum of their bounded slow-downs, see `bounded_slowdown`.
    """

    user: str
    kind: str
    jobs: int = 0
    completed: int = 0
    mandatory_failed: int = 0
    allocated: float = 0.0
    response: float = 0.0
    slowdown: float = 0.0

    @property
    def unhappy(self) -> bool:
        """Whether any mandatory work of this class failed."""
        return self.mandatory_failed > 0

    @property
    def response_mean(self) -> float:
        """Mean response time of completed jobs, s; nan if there are none."""
        return self.response / self.completed if self.completed else nan

    @property
    def slowdown_mean(self) -> float:
        """Mean bounded slow-down of completed jobs; nan if there are none."""
        return self.slowdown / self.completed if self.completed else nan


@dataclass(slots=True)
class UserOutcome:
    """How one user fared.

    Attributes:
        user: name.
        jobs: jobs created.
        completed: jobs completed.
        mandatory_failed: mandatory jobs that failed, see `failed`.
        allocated: work, or slot-seconds, that the user was given.
        deserved: the same, that the user should have been given.
        satisfaction: allocated / deserved; nan if nothing was deserved.
        classes: the same work by class.
    """

    user: str
    jobs: int = 0
    completed: int = 0
    mandatory_failed: int = 0
    allocated: float = 0.0
    deserved: float = 0.0
    classes: dict[str, ClassOutcome] = field(default_factory=dict)

    @property
    def unhappy(self) -> bool:
        """Whether any mandatory work failed."""
        return self.mandatory_failed > 0

    @property
    def satisfaction(self) -> float:
        """Allocated over deserved; 1 is ideal."""
        return self.allocated / self.deserved if self.deserved > 0 else nan


def failed(job: Job, now: float) -> bool:
    """Whether a job is mandatory work that has failed by `now` (s).

    It has failed if

    - it was refused for good, by whomever, whether it had a deadline or not;
    - its deadline has passed and it was not done by then, or it never will be: completion exactly at the
      deadline is in time. A response bound is a deadline;
    - it was killed for good at a limit of run time, although it needed no more than its owner had promised.

    It has not failed if it is optional; nor, as long as it has no deadline, if it was killed because it needs
    more than its owner promised, or its owner withdrew it: that is the owner's doing; nor if it is merely
    not done yet when the run ends.
    """
    if not job.mandatory:
        return False
    state = job.state
    if state is DONE:
        return job.end > job.deadline
    if state is REJECTED:
        return True
    if job.deadline < inf:
        return state is CANCELLED or state is EXPIRED or now > job.deadline
    return state is EXPIRED and job.runtime <= job.estimate


def bounded_slowdown(job: Job, pace: float) -> float:
    """Response time of a completed job over its run time at speed `pace`, which counts as 10 s at least.

    Never less than 1: short jobs do not outweigh all others, and fast nodes do not make up for waiting.
    """
    return max(1.0, (job.end - job.submit) / max(job.runtime / pace, SHORTEST))


def outcomes(
    jobs: Sequence[Job],
    stays: Sequence[Stay],
    slots: int,
    capacity: float,
    now: float,
    *,
    allocated: Allocated = "completed",
    deserved: Deserved = "capped",
) -> dict[str, UserOutcome]:
    """How every user fared.

    Args:
        jobs: all jobs of the run.
        stays: visits of users with deadlines, to which the jobs belong whose `data` they are. All other jobs
            of a user make one more stay, from the first submission to the last end. A job that is
            not done stays until its deadline, or until it was lost if it has none, or is not lost yet, until
            the run ends.
        slots: n_R, places where a job can run. Slots that share a processor count as that processor.
        capacity: the sum of their speeds.
        now: end of the run, s.
        allocated: `completed` counts the work of completed jobs, at speed 1, against `capacity`; `occupied`
            the time that slots were held, lost executions included, against `slots`.
        deserved: `capped` is the equal share of those who still want something, see
            `model.metrics.fairness.deserved_areas`; `area` is the equal share of
            the paper, whatever is wanted.
    """
    pace = capacity / slots if slots else 1.0
    users = _tally(jobs, now, pace, allocated)
    for stay in stays:
        users.setdefault(stay.user, UserOutcome(stay.user))
    # Work is counted at speed 1, so it is compared with what the speeds can do in the time.
    whole, unit = (capacity, 1.0) if allocated == "completed" else (float(slots), pace)
    loose = [job for job in jobs if not isinstance(job.data, Stay)]
    visits = _visits(loose, now)
    if deserved == "area":
        areas = deserved_areas([replace(stay, demand=inf) for stay in (*stays, *visits)], whole)
    else:
        asked = [replace(stay, demand=stay.demand / unit) for stay in stays]
        wants = (Want(job.submit, job.user, job.work / unit) for job in loose)
        areas = deserved_areas([*asked, *visits], whole, wants)
    for user, outcome in users.items():
        outcome.deserved = areas[user]
    return users


def _tally(jobs: Iterable[Job], now: float, pace: float, allocated: Allocated) -> dict[str, UserOutcome]:
    """Count the jobs of all users, and what they were given."""
    users: dict[str, UserOutcome] = {}
    for job in jobs:
        outcome = users.get(job.user)
        if outcome is None:
            outcome = users[job.user] = UserOutcome(job.user)
        part = outcome.classes.get(job.kind)
        if part is None:
            part = outcome.classes[job.kind] = ClassOutcome(job.user, job.kind)
        part.jobs += 1
        given = 0.0 if allocated == "completed" else job.wasted
        if job.state is DONE:
            part.completed += 1
            part.response += job.end - job.submit
            part.slowdown += bounded_slowdown(job, pace)
            given += job.work if allocated == "completed" else (job.end - job.start) * job.processors
        part.allocated += given
        outcome.allocated += given
        if failed(job, now):
            part.mandatory_failed += 1
    for outcome in users.values():
        for part in outcome.classes.values():
            outcome.jobs += part.jobs
            outcome.completed += part.completed
            outcome.mandatory_failed += part.mandatory_failed
    return users


def _visits(jobs: Iterable[Job], now: float) -> list[Stay]:
    """A stay of each user with jobs: from the first submission until no job need be waited for any longer."""
    made: dict[str, Stay] = {}
    for job in jobs:
        stay = made.get(job.user)
        if stay is None:
            stay = made[job.user] = Stay(job.user, job.submit, -inf, demand=0.0)
        stay.entry = min(stay.entry, job.submit)
        stay.deadline = max(stay.deadline, _until(job, now))
    return list(made.values())


def _until(job: Job, now: float) -> float:
    """When the owner of a job need not wait for it any longer, s."""
    if job.state is DONE:
        return job.end
    if job.state is REJECTED or job.state is CANCELLED or job.state is EXPIRED:
        return max(job.end, min(job.deadline, now)) if job.deadline < inf else job.end
    return now
