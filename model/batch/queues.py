"""The queues of a site: their limits, their lanes, and the jobs for which they have slots left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from gridtune.model.batch.quotas import Quota
from gridtune.model.job import Job


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue of a site and its limits (RR-5576, section 4.4).

    Attributes:
        name: of the queue.
        priority: queues of higher priority are served first; equal ones in the order declared.
        slots: processors that its jobs may hold together; infinite by default.
        max_runtime: t_max, s that a job may run; a job that asks for more is refused, one that runs
            longer is killed.
        max_processors: that one job may ask for.
        running: jobs that may run at once; infinite by default.
        quota: of each user and group in the queue.
        groups: whose jobs may enter; all if there are none.
    """

    name: str = "default"
    priority: float = 0.0
    slots: float = inf
    max_runtime: float = inf
    max_processors: float = inf
    running: float = inf
    quota: Quota = Quota()
    groups: frozenset[str] = frozenset()

    @property
    def widest(self) -> float:
        """Processors that one job can get."""
        return min(self.max_processors, self.slots, self.quota.widest)


class Lane(NamedTuple):
    """Jobs that wait first come, first served: those of one owner in one queue.

    Attributes:
        rank: minus the priority of the queue.
        queue: index of the queue.
        owner: whose jobs; "" where the policy does not distinguish owners.
    """

    rank: float
    queue: int
    owner: str


def within_slots(
    queues: Sequence[Queue], used: Sequence[int], turns: Iterable[tuple[int, Iterable[Job]]]
) -> Iterator[Job]:
    """Those of the waiting jobs for which their queues have slots left, beside what runs and those before.

    A queue admits its jobs in order until the next would exceed its slots.

    Args:
        queues: by index.
        used: the processors that running jobs of each queue hold.
        turns: waiting jobs in order, each time with the index of the queue that they wait in.
    """
    room = [queue.slots - held for queue, held in zip(queues, used, strict=True)]
    for queue, waiting in turns:
        left = room[queue]
        for job in waiting:
            left -= job.processors
            if left < 0:
                break
            yield job
        room[queue] = left
