"""How users fared: whose mandatory work failed, what they were given and what they deserved."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import inf, nan
from typing import Literal

from gridtune.model.job import CANCELLED, DONE, EXPIRED, FAILED, REJECTED, RUNNING, Job
from gridtune.model.metrics.fairness import deserved_areas, free_time
from gridtune.model.metrics.lost import (
    SHORTEST,
    Reckoning,
    left_over,
    lost,
    overran,
    progress,
)
from gridtune.model.record import Missing, Stay

Allocated = Literal["completed", "occupied"]
Deserved = Literal["area", "capped"]


@dataclass(slots=True)
class Outcome:
    """What became of jobs of a user.

    Attributes:
        user: name.
        jobs, completed: jobs created, and completed.
        lost_jobs, lost_work: mandatory jobs that were not completed or never submitted, and their work.
        mandatory_failed: mandatory jobs that failed, see `failed`, or were never submitted.
        allocated: work, or slot-seconds, that the user was given.
    """

    user: str
    jobs: int = 0
    completed: int = 0
    lost_jobs: int = 0
    lost_work: float = 0.0
    mandatory_failed: int = 0
    allocated: float = 0.0

    @property
    def unhappy(self) -> bool:
        """True if any mandatory job of the user failed."""
        return self.mandatory_failed > 0


@dataclass(slots=True)
class ClassOutcome(Outcome):
    """How the jobs of one class of one user fared; the class of a job is its `kind`.

    Attributes:
        kind: the class.
        work: of all its jobs, slot-seconds at speed 1; of optional requests none.
        owed_lost: the part of `lost_work` that is mandatory; the rest is best-effort work that was left over.
        waitings, responses, slowdowns: of all its jobs, in s, s and without unit; lost ones count as
            `model.metrics.lost.Reckoning` says, optional requests that were not completed not at all.
    """

    kind: str = ""
    work: float = 0.0
    owed_lost: float = 0.0
    waitings: list[float] = field(default_factory=list)
    responses: list[float] = field(default_factory=list)
    slowdowns: list[float] = field(default_factory=list)

    @property
    def waiting_mean(self) -> float:
        """Mean waiting time, s; nan if there are no jobs."""
        return mean(self.waitings)

    @property
    def response_mean(self) -> float:
        """Mean response time, s; nan if there are no jobs."""
        return mean(self.responses)

    @property
    def slowdown_mean(self) -> float:
        """Mean bounded slow-down; nan if there are no jobs."""
        return mean(self.slowdowns)


@dataclass(slots=True)
class UserOutcome(Outcome):
    """The outcome says how one user fared.

    Attributes:
        deserved: work, or slot-seconds, that the user should have been given.
        mandatory: mandatory jobs, those that were never submitted included.
        waiting_mean, response_mean, slowdown_mean: over the user's mandatory jobs; nan if there are none.
        classes: the same work by class.
        times: of the user's mandatory jobs, in the order of their creation: waiting, response, slow-down.
    """

    mandatory: int = 0
    deserved: float = 0.0
    waiting_mean: float = nan
    response_mean: float = nan
    slowdown_mean: float = nan
    classes: dict[str, ClassOutcome] = field(default_factory=dict, repr=False)
    times: list[tuple[float, float, float]] = field(default_factory=list, repr=False)

    @property
    def satisfaction(self) -> float:
        """Allocated over deserved; 1 is ideal."""
        return self.allocated / self.deserved if self.deserved > 0 else nan


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean; nan of no values."""
    return sum(values) / len(values) if values else nan


def apart(times: Collection[tuple[float, float, float]]) -> tuple[list[float], list[float], list[float]]:
    """Waiting times, response times and slow-downs of jobs, each by itself."""
    if not times:
        return [], [], []
    waitings, responses, slowdowns = zip(*times, strict=True)
    return list(waitings), list(responses), list(slowdowns)


def failed(job: Job, judged: float) -> bool:
    """Whether a job is mandatory work that has failed by a time (s), see `Grid.judged`.

    It has failed if it was late or lost (`model.metrics.lost.lost`): completion exactly at the deadline is in
    time, and a response bound is a deadline. Of jobs that are merely not done yet, those whose deadline is
    still to come have not failed: there are none once nothing can happen any more.
    """
    if not job.mandatory:
        return False
    state = job.state
    if state is DONE:
        return job.end > job.deadline
    if state in (REJECTED, CANCELLED, FAILED):
        return True
    if state is EXPIRED:
        return job.deadline < inf or lost(job)
    return not judged < job.deadline < inf


def outcomes(
    jobs: Sequence[Job],
    stays: Sequence[Stay],
    slots: int,
    capacity: float,
    now: float,
    *,
    allocated: Allocated = "completed",
    deserved: Deserved = "capped",
    shortest: float = SHORTEST,
    unsent: Iterable[Missing] = (),
    judged: float | None = None,
) -> dict[str, UserOutcome]:
    """How every user fared.

    Args:
        jobs: all jobs of the run.
        stays: visits of users with deadlines, to which the jobs belong whose `data` they are. All other jobs
            of a user make one more stay, from the first submission to the last end. A job that is
            not done stays until its deadline, or until the run ends if it has none; one that was withdrawn,
            or had all that was promised, until then.
        slots: n_R, places where a job can run. Slots that share a processor count as that processor.
        capacity: the sum of their speeds.
        now: end of the run, s.
        allocated: `completed` counts the work of completed jobs, at speed 1, and what those that still run
            have had of theirs, against `capacity`; `occupied` the time that slots were held, lost executions
            included, against `slots`.
        deserved: `capped` is the equal share of those who still want something, see
            `model.metrics.fairness.deserved_areas`; `area` is the equal share of
            the paper, whatever is wanted.
        shortest: s that run times count at least in slow-downs.
        unsent: mandatory jobs that were never submitted.
        judged: s up to which deadlines have been missed by what is not done; `now` if left out.
    """
    judged = now if judged is None else judged
    pace = capacity / slots if slots else 1.0
    users = _tally(jobs, now, pace, allocated, shortest, judged)
    for stay in stays:
        users.setdefault(stay.user, UserOutcome(stay.user))
    for one in unsent:
        outcome = users.setdefault(one.user, UserOutcome(one.user))
        outcome.lost_jobs += one.jobs
        outcome.lost_work += one.work
        outcome.mandatory += one.jobs
        counted = outcome.classes.setdefault(one.kind, ClassOutcome(one.user, kind=one.kind))
        counted.lost_jobs += one.jobs
        counted.lost_work += one.work
        counted.owed_lost += one.work
        counted.work += one.work
        if not judged < one.deadline < inf:
            outcome.mandatory_failed += one.jobs
            counted.mandatory_failed += one.jobs
    # Work is counted at speed 1, so it is compared with what the speeds can do in the time.
    whole, unit = (capacity, 1.0) if allocated == "completed" else (float(slots), pace)
    stays = [replace(stay, deadline=min(stay.deadline, now)) for stay in stays]
    loose = [job for job in jobs if not isinstance(job.data, Stay)]  # best-effort if they are not owed
    if deserved == "area":
        areas = deserved_areas([replace(stay, demand=inf) for stay in (*stays, *_visits(loose, now))], whole)
    else:
        owed = [job for job in loose if job.mandatory]
        asked = [replace(stay, demand=stay.demand / unit) for stay in stays]
        present = [*asked, *_visits(owed, now)]
        areas = deserved_areas(present, whole, _wants(owed, now, pace, unit))
        if len(owed) < len(loose):
            # Best-effort work deserves what the others leave: the time in which nobody else wants anything.
            free = free_time(present, whole, _wants(owed, now, pace, unit))
            rest = [job for job in loose if not job.mandatory]
            left = [
                replace(visit, entry=free(visit.entry), deadline=free(visit.deadline))
                for visit in _visits(rest, now)
            ]
            wants = ((free(time), user, work) for time, user, work in _wants(rest, now, pace, unit))
            for user, area in deserved_areas(left, whole, wants).items():
                areas[user] = areas.get(user, 0.0) + area
    for user, outcome in users.items():
        outcome.deserved = areas.get(user, 0.0)
    return users


def _wants(jobs: Iterable[Job], now: float, pace: float, unit: float) -> Iterator[tuple[float, str, float]]:
    """What jobs ask for: as much of their work as could be done before the run ended `now` (s)."""
    return (
        (
            job.submit,
            job.user,
            (
                job.runtime * job.processors
                if job.state is DONE
                else min(job.runtime * job.processors, max(0.0, now - job.submit) * pace * job.processors)
            )
            / unit,
        )
        for job in jobs
    )


def _tally(
    jobs: Sequence[Job], now: float, pace: float, allocated: Allocated, shortest: float, judged: float
) -> dict[str, UserOutcome]:
    """Count the jobs of all users, and what they were given."""
    users: dict[str, UserOutcome] = {}
    parts: dict[tuple[str, str], _Part] = {}
    reckoning = Reckoning.of(jobs, now, pace, shortest)
    by_work = allocated == "completed"
    for job in jobs:
        part = parts.get((job.user, job.kind))
        if part is None:
            part = parts[job.user, job.kind] = _part(users, job)
        outcome, counted, times = part
        counted.jobs += 1
        if job.state is not DONE:
            _count_unfinished(job, part, reckoning, now, by_work)
            if failed(job, judged):
                counted.mandatory_failed += 1
            continue
        # As below, and `Reckoning.times` and `failed` say, without a call: most jobs are done.
        runtime, submit, end = job.runtime, job.submit, job.end
        work = runtime * job.processors
        given = work if by_work else job.wasted + job.kept + (end - job.start) * job.processors
        counted.allocated += given
        outcome.allocated += given
        counted.completed += 1
        needed = runtime / pace
        response = end - submit
        slowdown = response / (needed if needed > shortest else shortest)
        waiting = job.start - submit - job.kept / job.processors
        experienced = waiting, response, slowdown if slowdown > 1.0 else 1.0
        times.append(experienced)
        if job.mandatory:
            counted.work += work
            outcome.times.append(experienced)
            if end > job.deadline:
                counted.mandatory_failed += 1
        elif not isinstance(job.data, Stay):
            counted.work += work
    for _, counted, times in parts.values():
        if times:
            counted.waitings, counted.responses, counted.slowdowns = apart(times)
    for outcome in users.values():
        outcome.mandatory = len(outcome.times)
        if outcome.times:
            (counted, *others) = outcome.classes.values()
            alone = not others and len(counted.waitings) == len(outcome.times)
            parted = counted.waitings, counted.responses, counted.slowdowns
            means = map(mean, parted if alone else apart(outcome.times))
            outcome.waiting_mean, outcome.response_mean, outcome.slowdown_mean = means
        for counted in outcome.classes.values():
            outcome.jobs += counted.jobs
            outcome.completed += counted.completed
            outcome.mandatory_failed += counted.mandatory_failed
    return users


_Part = tuple[UserOutcome, ClassOutcome, list[tuple[float, float, float]]]


def _part(users: dict[str, UserOutcome], job: Job) -> _Part:
    """Where the jobs of the same user and kind as one are counted, and their times, none of them so far."""
    outcome = users.get(job.user)
    if outcome is None:
        outcome = users[job.user] = UserOutcome(job.user)
    counted = outcome.classes[job.kind] = ClassOutcome(job.user, kind=job.kind)
    return outcome, counted, []


def _count_unfinished(job: Job, part: _Part, reckoning: Reckoning, now: float, by_work: bool) -> None:
    """Count a job that is not done, and what its user was given."""
    outcome, counted, times = part
    work = job.runtime * job.processors
    if by_work:
        given = progress(job, now, reckoning.pace)
    else:
        held = job.state is RUNNING
        given = job.wasted + job.kept + ((now - job.start) * job.processors if held else 0.0)
    counted.allocated += given
    outcome.allocated += given
    if lost(job):
        counted.owed_lost += work
        outcome.lost_jobs += 1
        outcome.lost_work += work
    if lost(job) or left_over(job):
        counted.lost_jobs += 1
        counted.lost_work += work
    if job.mandatory or not isinstance(job.data, Stay):
        counted.work += work
        times.append(reckoning.times(job))
        if job.mandatory:
            outcome.times.append(times[-1])


def _visits(jobs: Iterable[Job], now: float) -> list[Stay]:
    """A stay of each user with jobs: from the first submission until no job need be waited for any longer."""
    made: dict[str, Stay] = {}
    for job in jobs:
        stay = made.get(job.user)
        if stay is None:
            stay = made[job.user] = Stay(job.user, job.submit, -inf, demand=0.0)
        if job.submit < stay.entry:
            stay.entry = job.submit
        until = job.end if job.state is DONE else _until(job, now)
        if until > stay.deadline:
            stay.deadline = until
    return list(made.values())


def _until(job: Job, now: float) -> float:
    """When the owner of a job that is not done need not wait for it any longer, s."""
    if job.state not in (REJECTED, CANCELLED, EXPIRED, FAILED):
        return now
    if job.deadline < inf:
        return max(job.end, min(job.deadline, now))
    return job.end if job.state is CANCELLED or overran(job) else now
