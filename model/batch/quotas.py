"""Quotas: how much of a site, or of one of its queues, users and groups may hold at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import floor, inf
from typing import NamedTuple

from gridtune.model.job import Job


@dataclass(frozen=True, slots=True)
class Quota:
    """A quota limits what each user and group may run at once. Jobs without a group are those of one.

    Attributes:
        user_running, group_running: jobs.
        user_slots, group_slots: processors.
        user_share: part of the site's processors that several jobs of a user may hold together; a job that
            asks for more runs where its user runs no other. 1 is no limit.
    """

    user_running: float = inf
    user_slots: float = inf
    group_running: float = inf
    group_slots: float = inf
    user_share: float = 1.0

    @property
    def widest(self) -> float:
        """Processors that one job may ask for."""
        return min(self.user_slots, self.group_slots)

    def limits(self, capacity: int) -> Sequence[Limit]:
        """Those that there are, on a site of so many processors."""
        together = floor(self.user_share * capacity + 1e-9) if self.user_share < 1 else inf
        made = (
            Limit("user", self.user_running, self.user_slots, together),
            Limit("group", self.group_running, self.group_slots),
        )
        return [limit for limit in made if min(limit[1:]) < inf]


class Limit(NamedTuple):
    """How much of somebody may run at once.

    Attributes:
        whose: each `user`'s or `group`'s, or all of the `queue`.
        running: jobs.
        slots: processors.
        together: processors of several jobs; one alone may hold more.
    """

    whose: str
    running: float
    slots: float
    together: float = inf

    def allows(self, jobs: int, processors: int) -> bool:
        """Whether so many jobs may hold so many processors."""
        slots = self.slots if jobs == 1 else min(self.slots, self.together)
        return jobs <= self.running and processors <= slots


Key = tuple[int, str, str]  # queue or -1 for the site, user or group or queue, whose


class Quotas:
    """The quotas say who runs how much of what is limited, and who may start.

    Jobs of one queue, user and group are under the same limits: they are of one kind.

    Args:
        site: quota of the whole site.
        queues: jobs and processors of each queue that may run at once, and its quota.
        capacity: processors of the site.
    """

    def __init__(self, site: Quota, queues: Sequence[tuple[float, float, Quota]], capacity: int) -> None:
        self._limits: list[list[tuple[int, Limit]]] = []  # of the site (-1) or a queue, for each queue
        for index, (running, slots, quota) in enumerate(queues):
            limits = [(-1, limit) for limit in site.limits(capacity)]
            limits += [(index, limit) for limit in quota.limits(capacity)]
            if min(running, slots) < inf:
                limits.append((index, Limit("queue", running, slots)))
            self._limits.append(limits)
        self._held: dict[Key, tuple[int, int]] = {}  # jobs, processors
        self._kinds: dict[tuple[int, str, str], int] = {}
        self._under: list[list[tuple[Key, Limit]]] = []  # limits of each kind, each with what is counted
        self._members: dict[Key, list[int]] = {}  # kinds under a limit
        self._kind_of: dict[int, int] = {}  # by job
        self._single = all(len(limits) < 2 for limits in self._limits)  # nobody is under several limits
        self._full: set[int] = set()  # kinds of which no further job could start

    def enter(self, job: Job, queue: int) -> None:
        """A job waits in a queue."""
        kind = self._kinds.setdefault((queue, job.user, job.group), len(self._under))
        if kind == len(self._under):
            self._under.append(list(self._of(job, queue)))
            for key, limit in self._under[kind]:
                self._members.setdefault(key, []).append(kind)
                self._look(key, limit)
        self._kind_of[job.id] = kind

    def leave(self, job: Job) -> None:
        """A job neither waits nor runs any more."""
        del self._kind_of[job.id]

    def change(self, job: Job, sign: int) -> None:
        """A job starts (1) or ends (-1)."""
        for key, limit in self._under[self._kind_of[job.id]]:
            jobs, processors = self._held.get(key, (0, 0))
            if jobs + sign:
                self._held[key] = jobs + sign, processors + sign * job.processors
            else:
                del self._held[key]
            self._look(key, limit)

    def _look(self, key: Key, limit: Limit) -> None:
        """Whether a further job could start under a limit; see `hopeful`."""
        if not self._single:
            return
        jobs, processors = self._held.get(key, (0, 0))
        if limit.allows(jobs + 1, processors + 1):
            self._full.difference_update(self._members[key])
        else:
            self._full.update(self._members[key])

    def hopeful(self, jobs: Iterable[Job]) -> Iterable[Job]:
        """Those that can be admitted beside what runs in some order, if that can be seen from the limits.

        A job under several limits may stand for others under one of them though it is shut out by another:
        where there are such, nobody is left out.
        """
        full, kind_of = self._full, self._kind_of
        if not self._single or not full:
            return jobs
        return (job for job in jobs if kind_of[job.id] not in full)

    def admitted(self, order: Iterable[Job]) -> Iterator[Job]:
        """Those of the waiting jobs that may start beside what runs and those before them.

        Jobs count in their order, whether they start or not. The first one that would exceed a limit stands
        for all that come later under the same limit: a narrow job does not pass a wide one of its user.
        """
        counts: dict[Key, tuple[int, int]] = {}
        closed: set[Key] = set()
        shut: set[int] = set()  # kinds under a closed limit, as far as met with: most of a long queue
        held, kind_of = self._held, self._kind_of
        for job in order:
            kind = kind_of[job.id]
            if kind in shut:
                continue
            made: dict[Key, tuple[int, int]] = {}
            for key, _ in self._under[kind]:
                if key in closed:
                    shut.add(kind)
                    break
                jobs, processors = counts.get(key) or held.get(key, (0, 0))
                made[key] = jobs + 1, processors + job.processors
            else:
                for key, limit in self._under[kind]:
                    if not limit.allows(*made[key]):
                        closed.add(key)
                        shut.add(kind)
                if kind not in shut:
                    counts.update(made)
                    yield job

    def _of(self, job: Job, queue: int) -> Iterator[tuple[Key, Limit]]:
        """The limits that a job of a queue is under, each with what is counted."""
        for place, limit in self._limits[queue]:
            whose = limit.whose
            name = job.user if whose == "user" else job.group if whose == "group" else ""
            yield (place, whose, name), limit
