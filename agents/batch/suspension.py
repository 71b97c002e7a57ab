"""Jobs of a batch site that are suspended: they make way for others, and go on in their own slots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from math import inf, nextafter

from gridtune.agents.batch.batch_site import BatchSite
from gridtune.agents.batch.executions import Waking
from gridtune.agents.batch.interruptions import jobs_on, planned_end, slots_of, suspend
from gridtune.agents.batch.services import Ended
from gridtune.model.batch.holds import KEYS, Hold
from gridtune.model.batch.nodes import Named
from gridtune.model.job import QUEUED, Job


@dataclass(eq=False, slots=True)
class Suspended:
    """A job that waits for its own slots.

    Attributes:
        job: which.
        queue: from which it was started, by index.
        done: who hears of its end.
        waking: where it goes on.
        hold: what keeps its slots from the scheduler.
        kept: those of its slots that are idle.
    """

    job: Job
    queue: int
    done: Ended | None
    waking: Waking
    hold: Hold
    kept: Sequence[int] = ()

    @property
    def slots(self) -> set[int]:
        """Those that it holds in memory."""
        return set(self.waking.placement.slots)


class Suspensions:
    """The suspended jobs of a site: their slots go to those for whom they make way, and to nobody else.

    An idle slot is kept for the job that was suspended last of those that hold it in memory. Who has all of
    its slots goes on at once.

    Args:
        site: whose jobs; its nodes have names, and nothing but its scheduler decides who gets them.
        level: QOS of a job; those of a higher one may have the slots of suspended jobs.
    """

    def __init__(self, site: BatchSite, level: Callable[[Job], float]) -> None:
        assert isinstance(site.nodes, Named), "slots that are kept have numbers"
        self.site, self.nodes, self.level = site, site.nodes, level
        self._suspended: list[Suspended] = []  # the last one first
        self._numbers = count(1)

    @property
    def jobs(self) -> list[Job]:
        """Those that are suspended, the last one first."""
        return [one.job for one in self._suspended]

    def idle_below(self, job: Job) -> int:
        """Idle slots that are kept for suspended jobs of a lower QOS than that of a job."""
        return sum(len(one.kept) for one in self._below(self.level(job)))

    def holds_below(self, level: float) -> list[Hold]:
        """What is kept for suspended jobs of a lower QOS."""
        return [one.hold for one in self._below(level)]

    def displace(self, job: Job, victims: Sequence[Job]) -> None:
        """Start a waiting job on what is free, what jobs leave, and what is kept for jobs of a lower QOS.

        Args:
            job: for which that is enough.
            victims: running jobs of a lower QOS, which leave.
        """
        for one in self._below(self.level(job)):
            self._let_go(one)
        for victim in victims:
            self._set_aside(victim)
        self.site.start(job)
        self._share_out()

    def settle(self) -> None:
        """Slots have come free, or a job was withdrawn: let those go on that have all of theirs."""
        if self._suspended:
            free = set(self.nodes.free_slots)
            if any(one.job.state is not QUEUED or one.slots & free for one in self._suspended):
                self._share_out()

    def _below(self, level: float) -> list[Suspended]:
        return [one for one in self._suspended if self.level(one.job) < level]

    def _set_aside(self, job: Job) -> None:
        site = self.site
        queue = site.cluster.queues.index(site.cluster.queue_of(job))
        done = site.owners.pop(job.id, None)
        waking = suspend(site, job)
        self._suspended.insert(0, Suspended(job, queue, done, waking, self._hold(inf)))

    def _share_out(self) -> None:
        """Give slots to suspended jobs anew, and let those go on that have all of theirs."""
        for one in self._suspended:
            self._let_go(one)
        waiting, self._suspended = self._suspended, []
        for one in waiting:
            if one.job.state is not QUEUED:  # its owner has withdrawn it
                self.site.processors_returned()
            elif one.slots <= set(self.nodes.free_slots):
                self._wake(one)
            else:
                self._keep(one)
                self._suspended.append(one)

    def _keep(self, one: Suspended) -> None:
        """Keep slots of a job that are idle for it, and those on which others run once these end."""
        site, cluster = self.site, self.site.cluster
        slots = one.slots
        one.kept = self.nodes.set_aside(slots)
        others = [(job, planned_end(site, job.id)) for job in jobs_on(site, slots)]
        before = [end for _, end in others] + [
            later.hold.until for later in self._suspended if slots & later.slots
        ]
        back = max(before, default=site.grid.now)
        until = max(back, site.grid.now) + cluster.duration(one.job)
        one.hold = self._hold(max(until, nextafter(back, inf)))
        for job, end in others:
            cluster.claim(one.hold, job, end, slots_of(site, job, slots))
        if one.kept:
            cluster.keep(one.hold, len(one.kept))

    def _let_go(self, one: Suspended) -> None:
        """Keep nothing for a job any more."""
        site = self.site
        site.cluster.free_hold(one.hold, {job: planned_end(site, job) for job in one.hold.lent})
        self.nodes.put_back(one.kept)
        one.kept = ()

    def _wake(self, one: Suspended) -> None:
        """Have a job go on, all of whose slots are free."""
        site, job = self.site, one.job
        self.nodes.set_aside(one.slots)
        job.expected = job.estimate if site.predictor is None else site.predictor.expect(job)
        if one.done is not None:
            site.owners[job.id] = one.done
        site.executions.waking[job.id] = one.waking
        site.cluster.enqueue(job, one.queue, site.policy.owner(job))
        site.start(job)

    def _hold(self, until: float) -> Hold:
        return Hold(KEYS - next(self._numbers), until)
