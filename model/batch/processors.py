"""The processors of a site: how many are free, when others come back, and which are kept by holds."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gridtune.model.batch.holds import KEYS, Hold
from gridtune.model.job import Job


class PlannedEnd(NamedTuple):
    """At its planned end, a running job or a hold should give back processors; it may be overdue.

    Attributes:
        time: s.
        job: id of the job, or the key of the hold.
        processors: those that are free then.
    """

    time: float
    job: int
    processors: int


_planned_end = tuple.__new__  # one is made for each job that starts: half the cost of a call of the class


class Processors:
    """The processors of a site and who has them. A `Cluster` is this, and knows whose turn it is.

    Args:
        capacity: the number of processors.

    Attributes: see `Cluster`.
    """

    __slots__ = ("_borrowed", "capacity", "disturbed", "ends", "free", "lendable")

    def __init__(self, capacity: int) -> None:
        self.capacity = self.free = capacity
        self.ends: list[PlannedEnd] = []
        self.disturbed = False
        self.lendable = 0
        self._borrowed: dict[int, list[Hold]] = {}  # by job

    def borrows(self, job: Job) -> bool:
        """Tell whether processors of a running job go to a hold when it ends.

        Args:
            job: the job.

        Example:
            >>> cluster.borrows(wide)
            False
        """
        return job.id in self._borrowed

    def replan(self, job: Job, old: float, new: float) -> None:
        """Change the planned end of a running job.

        Args:
            job: the job.
            old: the end that was planned, s.
            new: the end that is planned now, s.
        """
        processors = self.ends.pop(bisect_left(self.ends, (old, job.id))).processors
        insort(self.ends, PlannedEnd(new, job.id, processors))
        self.disturbed = True

    def keep(self, hold: Hold, processors: int) -> None:
        """Keep free processors from the scheduler.

        Args:
            hold: the hold that gets them.
            processors: the number of processors; a negative one gives some back.
        """
        self._change_end(hold.until, hold.key, processors)
        self.free -= processors
        hold.idle += processors
        if hold.lends:
            self.lendable += processors

    def claim(self, hold: Hold, job: Job, end: float, processors: int) -> None:
        """Have some processors of a running job come to a hold when it ends.

        Where the job is planned to last longer than the hold, the hold has nothing of it. What the job has
        from a reservation is lost to that.

        Args:
            hold: the hold.
            job: the running job.
            end: the planned end of the job, s.
            processors: the number of processors.
        """
        if end >= hold.until:
            return
        left = processors
        for other in self._borrowed.get(job.id, ()):
            if other.lends:
                taken = min(left, other.lent[job.id])
                other.lent[job.id] -= taken
                self._change_end(other.until, other.key, -taken)
                left -= taken
        self._change_end(end, job.id, -left)
        self._change_end(hold.until, hold.key, processors)
        self._lend(hold, job, processors)

    def free_hold(self, hold: Hold, ends: Mapping[int, float]) -> None:
        """Give all processors of a hold back.

        Args:
            hold: the hold, which is over.
            ends: the planned ends of the jobs that still run on its processors, by id, s.
        """
        self.keep(hold, -hold.idle)
        for job, processors in hold.lent.items():
            self._change_end(hold.until, hold.key, -processors)
            self._change_end(ends[job], job, processors)
            borrowed = self._borrowed[job]
            borrowed.remove(hold)
            if not borrowed:
                del self._borrowed[job]
        hold.lent.clear()

    def _release(self, now: float, released: Mapping[int, float], holds: Iterable[Hold]) -> None:
        """Count processors of running jobs as free from some times on, s, and those of holds at once."""
        ends = {key: (time, processors) for time, key, processors in self.ends}
        for hold in holds:
            ends.pop(hold.key, None)
            self.free += hold.idle
            for job, processors in hold.lent.items():
                time, own = ends[job]
                ends[job] = time, own + processors
        for job, since in released.items():
            time, processors = ends.pop(job)
            if since <= now:
                self.free += processors
            else:
                ends[job] = min(time, since), processors
        self.ends = sorted(PlannedEnd(time, key, processors) for key, (time, processors) in ends.items())

    def _take(self, job: Job, end: float, hold: Hold | None) -> None:
        """Give a job its processors until its planned end (s): those of a hold, or free ones."""
        if hold is None:
            self.free -= job.processors
            insort(self.ends, _planned_end(PlannedEnd, (end, job.id, job.processors)))
        else:
            hold.idle -= job.processors
            self.lendable -= job.processors
            self._lend(hold, job, job.processors)
            insort(self.ends, PlannedEnd(end, job.id, 0))
            self.disturbed = True

    def _give_back(self, job: Job, end: float) -> None:
        """Take the processors of a job back, whose end was planned (s): they are free, or their holds'."""
        self.free += self.ends.pop(bisect_left(self.ends, (end, job.id))).processors
        if self._borrowed:
            self._bring_back(job)
        self.disturbed = True

    def _lend(self, hold: Hold, job: Job, processors: int) -> None:
        """Note that a job has processors which come to a hold when it ends."""
        hold.lent[job.id] = processors
        self._borrowed.setdefault(job.id, []).append(hold)

    def _bring_back(self, job: Job) -> None:
        """What a job that has ended had from holds is theirs again."""
        for hold in self._borrowed.pop(job.id, ()):
            processors = hold.lent.pop(job.id)
            hold.idle += processors
            if hold.lends:
                self.lendable += processors

    def _change_end(self, time: float, key: int, processors: int) -> None:
        """Have so many more processors come back at a time (s) with what has that key."""
        place = bisect_left(self.ends, (time, key))
        known = place < len(self.ends) and self.ends[place][:2] == (time, key)
        had = self.ends.pop(place).processors if known else 0
        # A job has an entry as long as it runs, a hold while it has processors.
        if key > KEYS or had + processors:
            self.ends.insert(place, PlannedEnd(time, key, had + processors))
        self.disturbed = True
