"""The best-effort queue of a batch site: jobs that run in the holes of its schedule and make way."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

from gridtune.agents.batch.batch_site import BatchSite, Delay, no_delay
from gridtune.model.agenda import COMPLETION, DECISION
from gridtune.model.batch.file_system import Timer
from gridtune.model.batch.nodes import Placement
from gridtune.model.job import Job


class Errand(NamedTuple):
    """A best-effort job at a site.

    Attributes:
        job: what is to run.
        timer: its timer, slowed down by the file system or not.
        overhead: s of commission and decommission around its execution.
        started: called when it gets its processors.
        ended: called when it has run to its end, or was killed (`job.state` tells), with the time of its
            start.
    """

    job: Job
    timer: Timer
    overhead: float
    started: Callable[[Job], object]
    ended: Callable[[Job, float], object]


class Guest(NamedTuple):
    """A best-effort job on its processors."""

    errand: Errand
    placement: Placement
    event: int


@dataclass(frozen=True)
class Manners:
    """How best-effort jobs give way.

    Attributes:
        kill_delay: s that processors take to be clean after a kill; the premium job holds them, and its
            execution takes that much longer (BatCiGri, section 3.6).
        grace: s between the notice to a job and its killing; a job that ends meanwhile is not lost.
        lifetime: s from its start during which a job is not killed.
        start_delay: s from the first submission to the first start (BatCiGri, section 3.6).
    """

    kill_delay: Delay = no_delay
    grace: float = 0.0
    lifetime: float = 0.0
    start_delay: float = 0.0


class BestEffortQueue:
    """Best-effort jobs at one site, first come first served (BatCiGri, section 3.3).

    The local scheduler does not see them. Where it starts a job on processors that they hold, the youngest
    of them are killed, since they lose least; those still within their guaranteed lifetime come last.

    Args:
        site: whose processors; all of equal speed.
        manners: how they give way.

    Attributes:
        waiting: processors asked for by the jobs that wait.
        held: processors held.
    """

    def __init__(self, site: BatchSite, manners: Manners) -> None:
        self.site = site
        self.agenda = site.grid.agenda
        self.manners = manners
        self.waiting = 0
        self.held = 0
        self._queue: deque[Errand] = deque()
        self._guests: dict[int, Guest] = {}  # by job, oldest start first
        self._leaving: set[int] = set()
        self._leaving_processors = 0
        self._opens: float | None = None
        site.guests = self

    @property
    def idle(self) -> int:
        """Processors that nobody holds or waits for; negative while guests have to leave."""
        return self.site.cluster.free - self.held

    @property
    def depth(self) -> int:
        """Jobs that wait."""
        return len(self._queue)

    @property
    def running(self) -> int:
        """Jobs that hold processors."""
        return len(self._guests)

    @property
    def used(self) -> int:
        """Processors held by anybody."""
        return self.site.nodes.slots - self.site.cluster.free + self.held

    def submit(self, errand: Errand) -> None:
        """Let a job wait for a hole."""
        now = self.agenda.now
        errand.job.queue(now, self.site.name)
        self._queue.append(errand)
        self.waiting += errand.job.processors
        if self._opens is None:
            self._opens = now + self.manners.start_delay
            if self._opens > now:
                self.agenda.at(self._opens, self._open, None, DECISION)
        if now >= self._opens:
            self.site.call_round()

    def make_room(self, processors: int) -> float:
        """Have the youngest jobs leave until that many processors are idle, at once or soon.

        Returns:
            s that the processors take to be clean, once free; 0 where nobody must leave.
        """
        # Those already on their way out count: they may leave more than those who wait for them need.
        missing = processors - self.idle - self._leaving_processors
        if missing <= 0:
            return 0.0
        for guest, notice in self._victims(missing):
            job = guest.errand.job
            if notice > 0:
                self._leaving.add(job.id)
                self._leaving_processors += job.processors
                self.agenda.after(notice, self._time_is_up, (job, job.kills), COMPLETION)
            else:
                self._kill(guest)
        if self._queue:
            self.site.call_round()
        return self.manners.kill_delay()

    def choose(self, idle: int) -> Sequence[Job]:
        """The jobs at the head of the queue that fit into the idle processors."""
        if self._opens is None or self.agenda.now < self._opens:
            return ()
        chosen: list[Job] = []
        for errand in self._queue:
            idle -= errand.job.processors
            if idle < 0:
                break
            chosen.append(errand.job)
        return chosen

    def start(self, job: Job) -> None:
        """Start the job at the head of the queue."""
        errand = self._queue.popleft()
        assert errand.job is job
        self.waiting -= job.processors
        self.held += job.processors
        placement = self.site.nodes.take(job.processors)
        job.begin(self.agenda.now, placement.nodes)
        duration = errand.overhead + job.runtime / placement.speed
        event = errand.timer.after(duration, self._complete, job, COMPLETION)
        self._guests[job.id] = Guest(errand, placement, event)
        errand.started(job)

    def _open(self, _: object) -> None:
        self.site.call_round()

    def _victims(self, missing: int) -> Sequence[tuple[Guest, float]]:
        """Who must leave to free so many processors, with the s of notice that each is given."""
        now, manners = self.agenda.now, self.manners
        victims: Iterable[tuple[Guest, float]] = (
            (guest, max(manners.grace, guest.errand.job.start + manners.lifetime - now))
            for guest in reversed(self._guests.values())
            if guest.errand.job.id not in self._leaving
        )
        if manners.lifetime:
            victims = sorted(victims, key=itemgetter(1))
        chosen: list[tuple[Guest, float]] = []
        for guest, notice in victims:
            chosen.append((guest, notice))
            missing -= guest.errand.job.processors
            if missing <= 0:
                break
        return chosen

    def _time_is_up(self, notice: tuple[Job, int]) -> None:
        job, kills = notice
        guest = self._guests.get(job.id)
        if guest is not None and job.id in self._leaving and job.kills == kills:
            self._kill(guest)
            self.site.processors_came_free()

    def _kill(self, guest: Guest) -> None:
        """End an execution and hand the job back to its owner."""
        guest.errand.timer.cancel(guest.event)
        job = guest.errand.job
        begun = job.start
        job.kill(self.agenda.now)
        self._leave(guest, begun)

    def _complete(self, job: Job) -> None:
        job.finish(self.agenda.now)
        self._leave(self._guests[job.id], job.start)
        self.site.processors_came_free()

    def _leave(self, guest: Guest, begun: float) -> None:
        job = guest.errand.job
        del self._guests[job.id]
        if job.id in self._leaving:
            self._leaving.remove(job.id)
            self._leaving_processors -= job.processors
        self.site.nodes.give_back(guest.placement)
        self.held -= job.processors
        guest.errand.ended(job, begun)
