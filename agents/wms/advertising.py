"""What sites publish to brokers: each class of virtual slots, each queue of a batch site."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from gridtune.agents.batch.batch_site import BatchSite
from gridtune.model.batch.holds import KEYS
from gridtune.model.job import Job
from gridtune.model.vres import SlotClass
from gridtune.model.vres.slot_classes import ENDLESS
from gridtune.model.wms.ranking import Advert


class ComputingElement(Protocol):
    """A site as brokers know it; a `VresSite` is one.

    Attributes:
        name: of the site.
    """

    name: str

    def adverts(self) -> Sequence[Advert]:
        """What it publishes now, of each class or queue."""

    def queues_for(self, job: Job) -> Sequence[str]:
        """Names of the classes or queues that would take a job; empty if it could never start here."""

    def offer(
        self,
        job: Job,
        done: Callable[[Job], object] | None = None,
        started: Callable[[Job, Any], object] | None = None,
        queue: str | None = None,
    ) -> bool:
        """Take a job into a queue if it can start or may wait; whether it was taken; see `VresSite.offer`."""

    def cancel(self, job: Job) -> None:
        """Take a job out on its owner's demand, whether it waits or runs; too late is no error."""


class BatchElement:
    """The queues of a batch site.

    Args:
        site: whatever its local scheduler does.
    """

    def __init__(self, site: BatchSite) -> None:
        self.site = site
        self.name = site.name

    def adverts(self) -> Sequence[Advert]:
        """Each queue: the traversal time is 0 while a slot is free, else all promised work over all slots.

        Slots that are out or reserved do no work, but are waited for if there are no others.
        """
        site, cluster = self.site, self.site.cluster
        site.catch_up()
        now, name, pace = site.grid.now, site.name, site.pace
        running = [end for end in cluster.ends if end.job > KEYS]
        usable = site.slots - sum(end.processors for end in cluster.ends if end.job < KEYS)
        busy = running if usable else cluster.ends
        left = sum(max(0.0, end.time - now) * end.processors for end in busy)
        waiting = sum(
            cluster.duration(job) * job.processors for jobs in cluster.lanes.values() for job in jobs.values()
        )
        made = []
        for index, queue in enumerate(cluster.queues):
            depth = cluster.waiting_in(index)
            free = 0 if depth else min(site.free, cluster.free_for(index))
            slots = int(min(site.slots, queue.slots))
            ett = 0.0 if free else min((left + waiting) / (usable or site.slots), ENDLESS)
            held = slots - cluster.free_for(index)
            made.append(
                Advert(
                    *(name, queue.name, False, slots, free, held, depth, ett, pace),
                    *(queue.max_runtime, slots * pace),
                )
            )
        return made

    def queues_for(self, job: Job) -> list[str]:
        """All queues whose limits the job keeps."""
        queues = self.site.cluster.queues
        return [queues[index].name for index in self.site.queues_for(job)]

    def offer(
        self,
        job: Job,
        done: Callable[[Job], object] | None = None,
        started: Callable[[Job, Any], object] | None = None,
        queue: str | None = None,
    ) -> bool:
        """Jobs may always wait, in the queue that was chosen, else in the first that accepts them."""
        site = self.site
        if site.queue_for(job) is None:
            return False
        names = [known.name for known in site.cluster.queues]
        begins = None if started is None else lambda begun, _: started(begun, site)
        site.submit(job, done, begins, None if queue is None else names.index(queue))
        return True

    def cancel(self, job: Job) -> None:
        """As its site does."""
        self.site.cancel(job)


def advertise(site: str, speed: float, known: SlotClass) -> Advert:
    """What a site publishes of a class.

    Its rate is what its active jobs get of the processors that they share, for all slots.

    The traversal time is 0 while a slot is free, else the promised work that is waiting, and half of what
    is running, over the slots on nodes that are not out; `ENDLESS` if all are.
    """
    free = max(0, known.free) if not known.queue else 0
    work, slots = known.waiting_work + known.running_work / 2, known.in_service
    return Advert(
        site,
        known.rules.name,
        known.rules.full == "reject",
        known.slots,
        free,
        known.running,
        len(known.queue),
        0.0 if free else work / (slots * speed) if slots else ENDLESS,
        speed,
        known.rules.wall_limit,
        known.slots * (known.rate / known.active if known.active else speed),
    )
