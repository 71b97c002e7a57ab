"""Quotas: how much of a site, or of one of its queues, users and groups may hold at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf

from gridtune.model.job import Job


@dataclass(frozen=True, slots=True)
class Quota:
    """How much of each user, and of each group, may run at once. Jobs without a group are those of one.

    Attributes:
        user_running, group_running: jobs.
        user_slots, group_slots: processors.
    """

    user_running: float = inf
    user_slots: float = inf
    group_running: float = inf
    group_slots: float = inf

    @property
    def widest(self) -> float:
        """Processors that one job may ask for."""
        return min(self.user_slots, self.group_slots)

    @property
    def limits(self) -> Sequence[tuple[str, float, float]]:
        """Whose, jobs, processors, where there is a limit at all."""
        made = (
            ("user", self.user_running, self.user_slots),
            ("group", self.group_running, self.group_slots),
        )
        return [limit for limit in made if min(limit[1:]) < inf]


Key = tuple[int, str, str]  # queue or -1 for the site, user or group or queue, whose


class Quotas:
    """Who runs how much of what is limited, and who may start.

    Args:
        site: quota of the whole site.
        queues: jobs and processors of each queue that may run at once, and its quota.
    """

    def __init__(self, site: Quota, queues: Sequence[tuple[float, float, Quota]]) -> None:
        self._limits: list[list[tuple[int, str, float, float]]] = []
        for index, (running, slots, quota) in enumerate(queues):
            limits = [(-1, *limit) for limit in site.limits] + [(index, *limit) for limit in quota.limits]
            if min(running, slots) < inf:
                limits.append((index, "queue", running, slots))
            self._limits.append(limits)
        self._held: dict[Key, tuple[int, int]] = {}  # jobs, processors

    def change(self, job: Job, queue: int, sign: int) -> None:
        """A job of a queue starts (1) or ends (-1)."""
        for key, _, _ in self._of(job, queue):
            jobs, processors = self._held.get(key, (0, 0))
            if jobs + sign:
                self._held[key] = jobs + sign, processors + sign * job.processors
            else:
                del self._held[key]

    def admitted(self, order: Iterable[Job], queue_of: Callable[[Job], int]) -> Iterator[Job]:
        """Those of the waiting jobs that may start beside what runs and those before them.

        Jobs count in their order, whether they start or not. The first one that would exceed a limit stands
        for all that come later under the same limit: a narrow job does not pass a wide one of its user.
        """
        counts: dict[Key, tuple[int, int]] = {}
        closed: set[Key] = set()
        held = self._held
        for job in order:
            limits = list(self._of(job, queue_of(job)))
            if any(key in closed for key, _, _ in limits):
                continue
            made: dict[Key, tuple[int, int]] = {}
            for key, running, slots in limits:
                jobs, processors = counts.get(key) or held.get(key, (0, 0))
                made[key] = jobs + 1, processors + job.processors
                if jobs + 1 > running or processors + job.processors > slots:
                    closed.add(key)
            if any(key in closed for key in made):
                continue
            counts.update(made)
            yield job

    def _of(self, job: Job, queue: int) -> Iterator[tuple[Key, float, float]]:
        """The limits that a job of a queue is under: what is counted, jobs, processors."""
        for place, whose, running, slots in self._limits[queue]:
            name = job.user if whose == "user" else job.group if whose == "group" else ""
            yield (place, whose, name), running, slots
