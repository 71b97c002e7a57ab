"""Which jobs a batch site takes in, and into which of its queues."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from gridtune.model.batch.cluster import Cluster, Queue
from gridtune.model.job import Job


class Admission:
    """The limits of a site and its queues: a job enters the first queue whose limits it keeps.

    Args:
        cluster: with the queues.
        widest: processors that one job can get on the site at most.

    Attributes:
        widest: see above.
        limits: processors and s that a job may ask for, of each queue; None where no queue limits processors.
        directed: queues of jobs that may enter no other, by job.
    """

    def __init__(self, cluster: Cluster, widest: float) -> None:
        self._cluster = cluster
        self._narrow_to(widest)
        self.directed: dict[int, int] = {}
        self._admits = [(queue.widest, queue.max_runtime, queue.groups) for queue in cluster.queues]
        self._open = cluster.queues == (Queue(),)  # one queue that takes whatever fits

    def narrow(self, widest: float) -> None:
        """Refuse jobs of more processors than that."""
        self._narrow_to(min(self.widest, widest))

    def _narrow_to(self, widest: float) -> None:
        self.widest = widest
        queues, slots = self._cluster.queues, self._cluster.capacity
        made = [(min(queue.widest, widest), queue.max_runtime) for queue in queues]
        self.limits: Sequence[tuple[float, float]] | None
        self.limits = made if any(most < slots for most, _ in made) else None

    def queue_for(self, job: Job) -> int | None:
        """Index of the first queue whose limits the job keeps; None if there is none."""
        cluster = self._cluster
        if job.processors > self.widest:
            return None
        if cluster.resources is not None and not cluster.resources.could_hold(job):
            return None
        if self._open and not self.directed:
            return 0
        directed = self.directed.get(job.id) if self.directed else None
        for index, (widest, longest, groups) in enumerate(self._admits):
            if directed is not None and index != directed:
                continue
            # Who a placeholder works for is not known yet: its owner sees to it.
            admitted = not groups or job.group in groups or job.runtime == inf
            if admitted and job.processors <= widest and cluster.duration(job) <= longest:
                return index
        return None
