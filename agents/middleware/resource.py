"""Places of work: batch sites, and classes of sites with virtual reservations, as a middleware sees them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from gridtune.agents.batch.batch_site import BatchSite
from gridtune.agents.batch.services import Ended, Started
from gridtune.agents.wms.vres_site import VresSite
from gridtune.model.job import Job
from gridtune.model.middleware.matching import Limits
from gridtune.model.vres import SlotClass


class SiteResource(Protocol):
    """Where a middleware can bring tasks and pilots; a `BatchSite` is one.

    Attributes:
        name: of the site.
        slots: that tasks can get there.
        widest: slots that one task can get.
        pace: work per s of the slowest of them, alone on its processor.
        depth: jobs that wait for them.
        wanted: slots that these jobs need.
        free: slots that hold no job.
        limits: processors and s that its queues grant, where they differ in the former; None elsewhere.
    """

    name: str
    limits: Limits | None

    @property
    def slots(self) -> int:
        """See above."""

    @property
    def widest(self) -> int:
        """See above."""

    @property
    def pace(self) -> float:
        """See above."""

    @property
    def depth(self) -> int:
        """See above."""

    @property
    def wanted(self) -> int:
        """See above."""

    @property
    def free(self) -> int:
        """See above."""

    def submit(self, job: Job, done: Ended | None = None, started: Started | None = None) -> None:
        """Take a job in; see `BatchSite.submit`."""

    def give_back(self, job: Job) -> bool:
        """Let go of a job that waits, for it to wait elsewhere; False if it does not wait here."""

    def compute(self, job: Job, task: Job, then: Callable[[Job], object]) -> None:
        """Have a running placeholder do a task in slots that are free of others; `then` gets the task."""

    def finish(self, job: Job) -> None:
        """A running placeholder has done all its work."""


class QueueResource:
    """One queue of a batch site, with its limits, groups and share of the nodes (RR-5576, section 4.4: q_ij).

    Args:
        site: whose queue.
        queue: its index.
    """

    def __init__(self, site: BatchSite, queue: int) -> None:
        self.site, self.queue = site, queue
        self.name = site.name
        self.rules = site.cluster.queues[queue]
        self.groups = self.rules.groups
        self.slots = int(min(site.slots, self.rules.slots))
        self.widest = int(min(self.rules.widest, site.widest))
        self.limits: Limits | None = None
        self.pace = site.pace

    @property
    def depth(self) -> int:
        """Jobs that wait in the queue."""
        return self.site.cluster.waiting_in(self.queue)

    @property
    def wanted(self) -> int:
        """Processors that the jobs in the queue need."""
        return self.site.cluster.wanted_in(self.queue)

    @property
    def free(self) -> int:
        """Slots that hold no job, as far as the queue may use them."""
        return min(self.site.free, self.site.cluster.free_for(self.queue))

    def submit(self, job: Job, done: Ended | None = None, started: Started | None = None) -> None:
        """Take a job into this queue and no other; see `BatchSite.submit`."""
        self.site.submit(job, done, started, self.queue)

    def give_back(self, job: Job) -> bool:
        """See `SiteResource`."""
        return self.site.give_back(job)

    def compute(self, job: Job, task: Job, then: Callable[[Job], object]) -> None:
        """See `SiteResource`."""
        self.site.compute(job, task, then)

    def finish(self, job: Job) -> None:
        """See `SiteResource`."""
        self.site.finish(job)


class VresResource:
    """The class of a site with virtual reservations that takes a middleware's tasks.

    Pilots enter it too, whatever kinds of jobs it admits: they come in place of the tasks.

    Args:
        site: with virtual reservations.
        slot_class: of it, the one that tasks enter.
    """

    def __init__(self, site: VresSite, slot_class: SlotClass) -> None:
        self.site, self.slot_class = site, slot_class
        self.name = site.name
        self.slots = slot_class.slots
        self.widest = slot_class.widest
        self.limits: Limits | None = None
        self.pace = min(unit.speed for unit in site.units)
        site.admit("pilot", slot_class)

    @property
    def depth(self) -> int:
        """Jobs that wait for slots of the class."""
        return len(self.slot_class.queue)

    @property
    def wanted(self) -> int:
        """Slots that these jobs need."""
        return sum(job.processors for job in self.slot_class.queue)

    @property
    def free(self) -> int:
        """Slots of the class that hold no job, as far as its limits let them be used."""
        self.site.catch_up()
        return self.slot_class.free

    def submit(self, job: Job, done: Ended | None = None, started: Started | None = None) -> None:
        """Take a job in; see `VresSite.submit`. Slots that are shared are as fast as they are alone."""
        if started is None:
            self.site.submit(job, done)
        else:
            self.site.submit(job, done, lambda begun, _site: started(begun, self.pace))

    def give_back(self, job: Job) -> bool:
        """See `SiteResource`."""
        return self.site.give_back(job)

    def compute(self, job: Job, task: Job, then: Callable[[Job], object]) -> None:
        """See `SiteResource`: the processor is shared with whatever else is active there."""
        self.site.compute(job, task, then)

    def finish(self, job: Job) -> None:
        """See `SiteResource`."""
        self.site.finish(job)
