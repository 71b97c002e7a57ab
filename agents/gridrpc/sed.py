"""The server daemon (SeD): executes one request at a time, chosen by its queue discipline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Literal, Protocol

import mesa

from gridtune.agents.gridrpc.hierarchy import Discovery
from gridtune.agents.gridrpc.machine import Machine
from gridtune.agents.infrastructure.network import Way, passed
from gridtune.model.agenda import COMPLETION, DECISION
from gridtune.model.grid import Grid
from gridtune.model.gridrpc.disciplines import Discipline
from gridtune.model.gridrpc.estimation import Estimation, EstimationVector, History, ServerState
from gridtune.model.infrastructure.lane import Timer
from gridtune.model.job import CANCELLED, CREATED, QUEUED, RUNNING, Job
from gridtune.model.metrics.registry import define
from gridtune.model.network import Link
from gridtune.model.policy import misjudged
from gridtune.model.record import Stay

define("killed_by_mandatory", "kills", "minimize", "optional executions displaced by mandatory arrivals")
define("cancelled_running", "jobs", "minimize", "executions cancelled by their owner, e.g. at the deadline")
define("cancelled_waiting", "jobs", "minimize", "waiting requests cancelled by their owner")

SED_COUNTERS = ("killed_by_mandatory", "cancelled_running", "cancelled_waiting")

Killed = Literal["requeue", "suspend", "drop"]


class Place(Protocol):
    """Where a server stands for a time.

    Attributes:
        up: whether it can execute requests there.
    """

    up: bool

    def wanted(self) -> None:
        """There are requests for the server, which does not work."""

    def used(self) -> None:
        """The server has something to do."""

    def unused(self) -> None:
        """The server has nothing to do."""


class SeD(mesa.Agent):
    """A server: a queue, a discipline, and a place where one request runs.

    Args:
        grid: where it lives.
        name: by which jobs and messages refer to it.
        index: its number within the hierarchy.
        discipline: decides which request runs.
        speed: run time at speed 1 over run time here; more than 0.
        overhead: s that each execution takes on top (start and clean-up of the service).
        killed: what becomes of a displaced optional request: it goes back into the queue and begins anew, or
            goes on later where it was (suspended), or is dropped.
        group: of equal servers, to which it belongs.
        services: that it offers; none for all.
        estimation: what it says of itself.
        memory: bytes.
        link: from clients; None for theirs to the master agent.
        host: on which it handles messages.

    Attributes:
        place: where it stands only for a time; None for a server of its own.
        way: between the site where it stands and the clients; None where links are not shared, or it stands
            at no site.
        executed: s of executions so far, lost ones too.
    """

    # Python 3.11 finds what is no slot a third slower where an object has thirty attributes or more.
    __slots__ = (
        "_agenda", "_completion", "_kept", "_length", "_owners", "_record", "_review_due", "_rng", "_served",
        "_stays", "_timer", "discipline", "down", "estimation", "executed", "grid", "group", "host", "index",
        "job", "killed", "link", "memory", "name", "overhead", "place", "queue", "services", "speed", "way",
    )  # fmt: skip

    def __init__(
        self,
        grid: Grid,
        name: str,
        index: int,
        discipline: Discipline,
        *,
        speed: float = 1.0,
        overhead: float = 0.0,
        killed: Killed = "requeue",
        group: str = "",
        services: Sequence[str] = (),
        estimation: Estimation | None = None,
        memory: float = inf,
        link: Link | None = None,
        host: Machine | None = None,
    ) -> None:
        super().__init__(grid)
        self.grid = grid
        self._agenda = grid.agenda
        self._record = grid.record
        self.name = name
        self.index = index
        self.discipline = discipline
        self.speed = speed
        self.overhead = overhead
        self.killed = killed
        self.group = group
        self.down = 0  # failures that are not yet repaired
        self.services = frozenset(services)
        self.estimation = estimation or History()
        self.memory = memory
        self.link = link
        self.host = host or Machine(grid, 0.0)
        self.queue = discipline.queue()
        self.job: Job | None = None
        self._owners: dict[int, Callable[[Job], object]] = {}
        self._stays: dict[str, object] = {}  # of each user the one that the server knows of
        self.place: Place | None = None
        self.way: Way | None = None
        self.executed = 0.0
        self._timer: Timer = grid.agenda
        self._completion = 0
        self._length = 0.0  # s of the execution under way
        self._review_due = False
        self._served: dict[str, tuple[int, float]] = {}  # executions of each service, and s that they took
        self._kept: dict[int, float] = {}  # s that suspended requests have run
        self._rng = grid.streams.stream(f"tie:{name}")
        grid.add_slots(1, speed)
        grid.record.noting.append(self._note_given)

    @property
    def busy(self) -> bool:
        """Whether requests wait or run here."""
        return self.job is not None or len(self.queue) > 0

    def stand_up(self, timer: Timer) -> None:
        """The server works from now on, as fast as the timer of its site has it."""
        self._timer = timer
        self._review()

    def fall(self) -> None:
        """The server has lost its place: what runs is interrupted, and waits."""
        job = self.job
        if job is not None:
            self._timer.cancel(self._completion)
            self._release(job)
            job.kill(self._agenda.now)
            self._interrupted(job)

    def _interrupted(self, job: Job) -> None:
        self.queue.push(job)

    def offers(self, service: str) -> bool:
        """Whether it offers a service."""
        return not self.services or service in self.services

    def discover(self, discovery: Discovery) -> None:
        """Answer with an estimation vector."""
        self._record.message(self.name, "estimate", self._agenda.now)
        self.host.handle(self.name, self._answer, discovery)

    def _answer(self, discovery: Discovery) -> None:
        discovery.reply(() if self.down else (self.estimate(discovery.service),))

    def estimate(self, service: str = "") -> EstimationVector:
        """How fit this server is for a new request."""
        queue = self.queue
        running = 0 if self.job is None else 1
        state = ServerState(
            self.speed,
            self.memory,
            running,
            len(queue.mandatory),
            len(queue),
            *self._served.get(service, (0, 0.0)),
        )
        return EstimationVector(self.index, self.estimation.values(service, state))

    def submit(self, job: Job, completed: Callable[[Job], object]) -> None:
        """Take a request in and review what runs; `completed` is called when it is done, or lost here."""
        self._record.message(self.name, "submit", self._agenda.now)
        if self.host.cost:
            self.host.handle(self.name, self._take, (job, completed))
        else:
            self._take((job, completed))

    def _take(self, what: tuple[Job, Callable[[Job], object]]) -> None:
        job, completed = what
        if self.down and job.state is not CANCELLED:
            completed(job)
        elif self._admit(job, completed):
            self._review()

    def fail(self) -> None:
        """Lose what runs and what waits, whose owners get it back, take nothing in until restored."""
        self.down += 1
        self.fall()
        for job in list(self.queue.jobs()):
            self.queue.remove(job)
            self._forget(job)
            self._owners.pop(job.id)(job)
        if self.place is not None:
            self.place.unused()

    def restore(self) -> None:
        """Take requests in again."""
        self.down -= 1

    def _admit(self, job: Job, completed: Callable[[Job], object]) -> bool:
        """Put a request into the queue; whether it still wants to be there."""
        if job.state is CANCELLED:
            return False  # by its owner, while it was on its way
        job.queue(self._agenda.now, self.name)
        stay = job.data if isinstance(job.data, Stay) else None
        if self._stays.get(job.user, self) is not stay:
            # Who comes back after a pause is a newcomer, too: an old counter would starve those who stayed.
            self._stays[job.user] = stay
            start = self.discipline.newcomer(self.queue, self.job)
            self.queue.count(job.user, max(self.queue.allocated.get(job.user, 0.0), start))
        self.queue.push(job)
        self._owners[job.id] = completed
        return True

    def cancel(self, job: Job) -> None:
        """Take a request out on its owner's demand, whether it waits or runs; too late is no error."""
        self._record.message(self.name, "cancel", self._agenda.now)
        if self.host.cost:
            self.host.handle(self.name, self._cancel, job)
        else:
            self._cancel(job)

    def _cancel(self, job: Job) -> None:
        if job is self.job:
            self._record.counters["cancelled_running"] += 1
            self._timer.cancel(self._completion)
            self._release(job)
            self._review_later()
        elif job.state is QUEUED and self.queue.remove(job):
            self._record.counters["cancelled_waiting"] += 1
        elif job.state is not CREATED and job.state is not QUEUED:
            return
        self._forget(job)
        job.cancel(self._agenda.now)
        self._owners.pop(job.id, None)

    def _forget(self, job: Job) -> None:
        """What a suspended request has done is lost with it."""
        if self._kept.pop(job.id, None) is not None:
            job.wasted, job.kept = job.wasted + job.kept, 0.0

    def waits(self, job: Job) -> bool:
        """Whether a mandatory request waits here."""
        return job.id in self.queue.mandatory

    def expected(self, job: Job, service_time: float) -> float:
        """Seconds until a mandatory request is done that waits, if each takes so long; else infinity."""
        if not self.waits(job):
            return inf
        ahead = list(self.queue.mandatory).index(job.id) + (self.job is not None and self.job.mandatory)
        return (ahead + 1) * service_time

    def withdraw(self, job: Job) -> None:
        """Take a waiting request out without ending it, because it goes elsewhere.

        Raises:
            ValueError: it does not wait here.
        """
        if not self.queue.remove(job):
            raise ValueError(f"job {job.id} does not wait at {self.name}")
        del self._owners[job.id]

    def _review_later(self) -> None:
        """Look at the queue once everything else that happens at this very instant has happened."""
        if not self._review_due:
            self._review_due = True
            self._agenda.at(self._agenda.now, self._review_once, None, DECISION)

    def _review_once(self, _: object) -> None:
        self._review_due = False
        self._review()

    def _review(self) -> None:
        """Run what the discipline puts in front."""
        place, running = self.place, self.job
        if place is not None and not place.up:
            if len(self.queue):
                place.wanted()
            return
        front = self.discipline.front(self.queue, running, self._rng)
        if place is not None:  # a lease
            if front is None:
                place.unused()
            else:
                place.used()
        if front is running:
            return
        if front is not None and front not in self.queue:
            raise misjudged(self.discipline, f"runs a request that does not wait at {self.name}")
        if running is not None:
            self._displace(running)
        if front is not None:
            self._start(front)

    def _start(self, job: Job) -> None:
        self.queue.remove(job)
        self.job = job
        job.begin(self._agenda.now, self.name)
        self._length = self.duration(job)
        self._completion = self._timer.after(self._length, self._complete, job, COMPLETION)

    def executed_by(self, now: float) -> float:
        """Seconds of executions by now, lost ones and the present one too."""
        return self.executed + (0.0 if self.job is None else now - self.job.start)

    def _note_given(self) -> None:
        """Note in what runs the work that has been done for it, s at speed 1."""
        if self.job is not None:
            now = self._agenda.now
            done = passed(self._timer, self._completion, self.job.start, self._length, now)
            self.job.given = self._work(self.job, done)

    def _work(self, job: Job, seconds: float) -> float:
        """Work that is done for what runs so many s into its execution, s at speed 1."""
        return max(0.0, seconds - self.overhead) * self.speed

    def duration(self, job: Job) -> float:
        """Seconds that an execution of a request takes if it starts now."""
        done = self._kept.get(job.id, 0.0) if self._kept else 0.0
        return self.overhead + job.runtime / self.speed - done

    def _displace(self, job: Job) -> None:
        self._timer.cancel(self._completion)
        self._release(job)
        if self.killed == "suspend":
            ran = max(0.0, self._agenda.now - job.start - self.overhead)
            self._kept[job.id] = self._kept.get(job.id, 0.0) + ran
            job.kill(self._agenda.now, kept=ran)
        else:
            job.kill(self._agenda.now)
        self._record.counters["killed_by_mandatory"] += 1
        if self.killed != "drop":
            self.queue.push(job)
        else:
            job.cancel(self._agenda.now)
            del self._owners[job.id]

    def _complete(self, job: Job) -> None:
        self._release(job)
        service = job.data.service if isinstance(job.data, Stay) else ""
        number, time = self._served.get(service, (0, 0.0))
        now = self._agenda.now
        self._served[service] = number + 1, time + now - job.start
        job.finish(now)
        if self._kept:
            self._kept.pop(job.id, None)
        self._owners.pop(job.id)(job)
        self._review()

    def _release(self, job: Job) -> None:
        """Free the place and count the time that the user had it."""
        assert job.state is RUNNING
        queue, time = self.queue, self._agenda.now - job.start
        self.executed += time
        queue.count(job.user, queue.allocated[job.user] + time)
        self.job = None
