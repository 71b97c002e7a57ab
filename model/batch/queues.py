"""The queues of a site: their limits, their lanes, and the jobs for which they have slots left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from gridtune.model.batch.quotas import Quota
from gridtune.model.batch.resources import POOL
from gridtune.model.job import Job


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue of a site has limits (RR-5576, section 4.4).

    Attributes:
        name: of the queue.
        priority: queues of higher priority are served first, those of equal one together.
        factor: what `weight_queue` of the policy `priority` weighs; None for the priority, which then
            decides by itself only where it has no weight.
        slots: processors that its jobs may hold together; infinite by default.
        max_runtime: t_max, s that a job may run; a job that asks for more is refused, one that runs
            longer is killed.
        max_processors: that one job may ask for.
        running: jobs that may run at once; infinite by default.
        quota: of each user and group in the queue.
        groups: whose jobs may enter; all if there are none.
        partition: whether `slots` are processors on which its jobs are planned, and pass each other by
            backfilling, rather than a limit beyond which they wait without a plan.
    """

    name: str = "default"
    priority: float = 0.0
    slots: float = inf
    max_runtime: float = inf
    max_processors: float = inf
    running: float = inf
    quota: Quota = Quota()
    groups: frozenset[str] = frozenset()
    partition: bool = False
    factor: float | None = None

    @property
    def weighed(self) -> float:
        """What `weight_queue` weighs."""
        return self.priority if self.factor is None else self.factor

    @property
    def limit(self) -> float:
        """Processors beyond which its jobs wait without a plan."""
        return inf if self.partition else self.slots

    @property
    def pool(self) -> str:
        """The resource of the site that its processors are; empty if it is no partition."""
        return f"{POOL}{self.name}" if self.partition else ""

    @property
    def widest(self) -> float:
        """Processors that one job can get."""
        return min(self.max_processors, self.slots, self.quota.widest)


class Lane(NamedTuple):
    """In a lane, jobs wait first come, first served: those of one owner in one queue.

    Attributes:
        rank: minus the priority of the queue.
        queue: index of the queue.
        owner: whose jobs; "" where the policy does not distinguish owners.
    """

    rank: float
    queue: int
    owner: str


def with_room(
    order: Iterable[Job], lane_of: Mapping[int, Lane], queues: Sequence[Queue], used: Sequence[int]
) -> Iterator[Job]:
    """Waiting jobs in an order, as far as their queues have slots left.

    A queue admits its jobs until the next would exceed its slots, beside what runs.

    Args:
        order: the jobs.
        lane_of: the lane of each, by its id.
        queues: by index.
        used: the processors that running jobs of each queue hold.
    """
    room = [queue.limit - held for queue, held in zip(queues, used, strict=True)]
    for job in order:
        queue = lane_of[job.id].queue
        room[queue] -= job.processors
        if room[queue] >= 0:
            yield job
        else:
            room[queue] = -inf
