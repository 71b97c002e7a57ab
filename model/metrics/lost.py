"""Work that was lost: what counts as lost, and as what a lost job enters into means and quantiles.

Every mandatory job ends as completed or lost, except one that used up all the run time that its owner had
promised for it: that one got what was asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan, nan
from typing import NamedTuple

from gridtune.model.grid import Grid
from gridtune.model.job import DONE, EXPIRED, QUEUED, RUNNING, Job
from gridtune.model.record import Missing, Record, Stay

SHORTEST = 10.0  # s; shorter run times count as this in slow-downs, lest jobs of a second outweigh all others


def best_effort(job: Job) -> bool:
    """Whether a job is owed to nobody and may be killed for others; optional requests are another kind."""
    return not job.mandatory and not isinstance(job.data, Stay)


def overran(job: Job) -> bool:
    """Whether a job was ended at its owner's own promise: it had all that was asked for."""
    if job.state is not EXPIRED or job.runtime <= job.estimate:
        return False
    return job.given >= job.estimate * (1 - 1e-9)


def lost(job: Job) -> bool:
    """Whether a job was lost, once the run is over.

    It was if it is mandatory and was refused, killed for good, withdrawn, abandoned, or not finished when the
    run ended. What is optional is never lost; best-effort work is left over, see `left_over`. Mandatory
    requests that were never submitted are lost, too: see `missing`.
    """
    return job.mandatory and job.state is not DONE and not overran(job)


def is_cut_off(job: Job) -> bool:
    """Whether a job was lost by nothing but the end of the run: it ran. What waited might have for ever."""
    return job.mandatory and job.state is RUNNING


def left_over(job: Job) -> bool:
    """Whether a job is best-effort work that was not done, once the run is over."""
    return job.state is not DONE and best_effort(job)


def missing(record: Record, now: float) -> list[Missing]:
    """What should have been submitted by now (s), and was not.

    These are mandatory requests of stays (RR-7959, section 3.2: n_min of them), and jobs that were to follow
    others, which take longer than they did in the log.
    """
    held_back = [one for source in record.held_back for one in source(now)]
    return [*_requests(record.jobs, record.stays), *held_back]


def _requests(jobs: Iterable[Job], stays: Iterable[Stay]) -> list[Missing]:
    wanted = {id(stay): stay for stay in stays if stay.n_min}
    if not wanted:
        return []
    sent = dict.fromkeys(wanted, 0)
    for job in jobs:
        if job.mandatory and id(job.data) in sent:
            sent[id(job.data)] += 1
    return [
        Missing(
            stay.user,
            stay.n_min - sent[key],
            stay.mandatory_work * (stay.n_min - sent[key]) / stay.n_min,
            stay.deadline,
        )
        for key, stay in wanted.items()
        if sent[key] < stay.n_min
    ]


class Times(NamedTuple):
    """What the owner of a job experiences once the run is over; see `Reckoning`.

    Attributes:
        waiting: from submission to the last start, without executions that were kept, s.
        response: end minus submission, s.
        slowdown: response time over run time, 1 at least.
    """

    waiting: float
    response: float
    slowdown: float


class Reckoning(NamedTuple):
    """As what jobs enter into means and quantiles once the run is over.

    A lost job counts as if it had begun after the end of the run, when all lost work had been done one job
    after the other: any scheduler that does not idle would have begun it by then. So it looks worse than
    if it had been served, and each further loss makes all lost jobs look worse.

    Attributes:
        last: when a lost job counts as begun, s.
        least: when best-effort work that is left over does, after all lost work, s.
        pace: work that a slot does in a second: the mean speed.
        shortest: s that run times count at least in slow-downs.
    """

    last: float
    least: float
    pace: float = 1.0
    shortest: float = SHORTEST

    @classmethod
    def of(cls, jobs: Iterable[Job], now: float, pace: float = 1.0, shortest: float = SHORTEST) -> Reckoning:
        """Of the jobs of a run that ended `now` (s)."""
        owed = left = 0.0
        for job in jobs:
            if job.state is not DONE:
                if job.mandatory:
                    owed += 0.0 if overran(job) else job.runtime
                elif best_effort(job):
                    left += job.runtime
        return cls(now + owed / pace, now + (owed + left) / pace, pace, shortest)

    @classmethod
    def of_run(cls, grid: Grid) -> Reckoning:
        """Of the jobs of a grid whose run is over."""
        made: Reckoning = grid.record.reckon(cls, lambda: cls.of(grid.record.jobs, grid.now, grid.mean_speed))
        return made

    def begun(self, job: Job) -> float:
        """When a job began, or counts as begun, s."""
        if done(job):
            return job.start
        return self.last if job.mandatory else self.least

    def times(self, job: Job) -> Times:
        """Waiting time, response time and slow-down.

        The slow-down is the response time over the run time at the mean speed, which counts as `shortest` at
        least. It is never less than 1: short jobs do not outweigh all others, and fast nodes do not make up
        for waiting.

        Source: RR-5576, equations 1 and 3; D. Feitelson et al., Theory and Practice in Parallel Job
            Scheduling, 1997 (bounded slow-down).
        """
        needed = job.runtime / self.pace
        if job.state is DONE:
            end = job.end
        elif overran(job):
            end, needed = job.end, job.execution_time
        else:
            end = self.begun(job) + needed
        response = end - job.submit
        slowdown = response / (needed if needed > self.shortest else self.shortest)
        return Times(self.waiting(job), response, slowdown if slowdown > 1.0 else 1.0)

    def waiting(self, job: Job) -> float:
        """From submission to the last start, without executions that were kept, s; see `Job.waiting_time`."""
        return job.waiting_time if done(job) else self.begun(job) - job.submit

    def response(self, job: Job) -> float:
        """End minus submission, s."""
        return job.end - job.submit if job.state is DONE else self.times(job).response

    def slowdown(self, job: Job) -> float:
        """Response time over run time; see `times`."""
        return self.times(job).slowdown


def done(job: Job) -> bool:
    """Whether a job was completed, or had all that its owner promised."""
    return job.state is DONE or overran(job)


def progress(job: Job, now: float, pace: float) -> float:
    """Work that a job has been given: all of it if it is done, what it has had so far if it may go on."""
    if job.state is DONE:
        return job.work
    before = job.kept * pace
    if job.state is RUNNING:
        seconds = (now - job.start) * pace if isnan(job.given) else job.given
        return min(job.work, before + seconds * job.processors)
    return min(job.work, before) if job.state is QUEUED else 0.0


def quantile(ordered: list[float], share: float) -> float:
    """Of sorted values the one that a share of them does not exceed, between neighbours in proportion."""
    if not ordered:
        return nan
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])
