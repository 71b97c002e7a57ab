"""The best-effort queue of a batch site: jobs that run in the holes of its schedule and make way."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

from gridtune.agents.batch.batch_site import BatchSite
from gridtune.agents.batch.services import Delay, no_delay
from gridtune.agents.infrastructure.network import passed
from gridtune.model.agenda import COMPLETION, DECISION
from gridtune.model.batch.nodes import Named, Placement
from gridtune.model.harvest.victims import Victims, Youngest
from gridtune.model.infrastructure.lane import Timer
from gridtune.model.job import Job


class BestEffortRequest(NamedTuple):
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


class BestEffortExecution(NamedTuple):
    """A best-effort job on its processors."""

    request: BestEffortRequest
    placement: Placement
    event: int
    overhead: float


@dataclass(frozen=True)
class Preemption:
    """How best-effort jobs give way.

    Attributes:
        kill_delay: s that processors take to be clean after a kill; the premium job holds them, and its
            execution takes that much longer (BatCiGri, section 3.6).
        grace: s between the notice to a job and its killing; a job that ends meanwhile is not lost.
        lifetime: s from its start during which a job is not killed.
        start_delay: s from the first submission to the first start (BatCiGri, section 3.6).
        victims: who gives way first.
    """

    kill_delay: Delay = no_delay
    grace: float = 0.0
    lifetime: float = 0.0
    start_delay: float = 0.0
    victims: Victims = Youngest()


class BestEffortQueue:
    """Best-effort jobs at one site, first come first served (BatCiGri, section 3.3).

    The local scheduler does not see them. Where it starts a job on processors that they hold, some of them
    are killed, by default the youngest; those still within their guaranteed lifetime come last.

    Args:
        site: whose processors; all of equal speed.
        preemption: how they give way.

    Attributes:
        waiting: processors asked for by the jobs that wait.
        held: processors held.
        coming: jobs submitted that the head node has not taken in yet.
        kills: executions that gave way.
    """

    def __init__(self, site: BatchSite, preemption: Preemption) -> None:
        self.site = site
        self.agenda = site.grid.agenda
        self.preemption = preemption
        self.waiting = 0
        self.held = self.coming = self.kills = 0
        self._queue: deque[BestEffortRequest] = deque()
        self._executions: dict[int, BestEffortExecution] = {}  # by job, oldest start first
        self._leaving: set[int] = set()
        self._leaving_processors = 0
        self._opens: float | None = None
        site.best_effort = self
        site.grid.record.noting.append(self._note_given)

    @property
    def idle(self) -> int:
        """Processors that nobody holds or waits for; negative while such jobs have to leave."""
        return self.site.cluster.free - self.held

    @property
    def depth(self) -> int:
        """Jobs that wait."""
        return len(self._queue)

    @property
    def waiting_jobs(self) -> Iterator[Job]:
        """Jobs that wait, first come first."""
        return (request.job for request in self._queue)

    @property
    def running(self) -> int:
        """Jobs that hold processors."""
        return len(self._executions)

    @property
    def present(self) -> int:
        """Jobs that are coming, wait or run."""
        return self.coming + self.depth + self.running

    @property
    def used(self) -> int:
        """Processors held by anybody."""
        return self.site.nodes.slots - self.site.cluster.free + self.held

    def submit(self, request: BestEffortRequest) -> None:
        """Let a job wait for a hole."""
        if self.site.head_node is None:
            self._enter(request)
        else:
            self.coming += 1
            self.site.head_node.serve(self._received, request)

    def _received(self, request: BestEffortRequest) -> None:
        self.coming -= 1
        self._enter(request)

    def _enter(self, request: BestEffortRequest) -> None:
        now = self.agenda.now
        if self.site.keeper is not None:
            self.site.keeper.work_came()
        request.job.queue(now, self.site.name)
        self._queue.append(request)
        self.waiting += request.job.processors
        if self._opens is None:
            self._opens = now + self.preemption.start_delay
            if self._opens > now:
                self.agenda.at(self._opens, self._open, None, DECISION)
        if now >= self._opens:
            self.site.scheduler.call_round()

    def make_room(self, processors: int) -> float:
        """Have jobs leave until that many processors are idle, at once or soon.

        Returns:
            s that the processors take to be clean, once free; 0 where nobody must leave.
        """
        # Those already on their way out count: they may leave more than those who wait for them need.
        missing = processors - self.idle - self._leaving_processors
        victims = self._victims(missing, processors)
        if not victims:
            return 0.0
        for execution, notice in victims:
            job = execution.request.job
            if notice > 0:
                self._leaving.add(job.id)
                self._leaving_processors += job.processors
                spared = notice > self.preemption.grace
                self.agenda.after(notice, self._time_is_up, (job, job.kills, spared), COMPLETION)
            else:
                self._kill(execution)
        if self._queue:
            self.site.scheduler.call_round()
        return self.preemption.kill_delay()

    def evict(self, slots: Set[int]) -> int:
        """Kill the jobs on some slots, with no notice; how many."""
        on_them = [one for one in self._executions.values() if not slots.isdisjoint(one.placement.slots)]
        for execution in on_them:
            self._kill(execution)
        return len(on_them)

    def choose(self, idle: int) -> Sequence[Job]:
        """The jobs at the head of the queue that fit into the idle processors."""
        if self._opens is None or self.agenda.now < self._opens:
            return ()
        chosen: list[Job] = []
        for request in self._queue:
            idle -= request.job.processors
            if idle < 0:
                break
            chosen.append(request.job)
        return chosen

    def start(self, job: Job) -> None:
        """Start the job at the head of the queue."""
        request = self._queue.popleft()
        assert request.job is job
        self.waiting -= job.processors
        self.held += job.processors
        placement = self.site.nodes.take(job.processors)
        job.begin(self.agenda.now, placement.nodes)
        overhead = request.overhead + placement.delay
        duration = overhead + job.runtime / placement.speed
        fails = self.site.executions.failing(placement) if self.site.executions.broken else None
        if fails is None:
            event = request.timer.after(duration, self._complete, job, COMPLETION)
        else:
            request = request._replace(timer=self.agenda)
            event = self.agenda.after(overhead + fails, self._fail, job, COMPLETION)
        self._executions[job.id] = BestEffortExecution(request, placement, event, overhead)
        request.started(job)

    def _note_given(self) -> None:
        """Note in running jobs the work that each processor has done for them, s at speed 1."""
        for request, placement, event, overhead in self._executions.values():
            job, speed, now = request.job, placement.speed, self.agenda.now
            length = overhead + job.runtime / speed
            job.given = passed(request.timer, event, job.start, length, now, overhead) * speed

    def _open(self, _: object) -> None:
        self.site.scheduler.call_round()

    def _victims(self, missing: int, processors: int) -> Sequence[tuple[BestEffortExecution, float]]:
        """Who must leave, with the s of notice that each is given.

        Args:
            missing: processors that must come free.
            processors: of the job that is to start.
        """
        now, preemption, policy = self.agenda.now, self.preemption, self.preemption.victims
        if missing <= 0 and not (policy.blind and processors):
            return ()
        victims: Iterable[tuple[BestEffortExecution, float]] = (
            (execution, max(preemption.grace, execution.request.job.start + preemption.lifetime - now))
            for execution in reversed(self._executions.values())
            if execution.request.job.id not in self._leaving
        )
        if not isinstance(policy, Youngest):  # they stand in that order
            victims = sorted(victims, key=lambda victim: policy.rank(victim[0].request.job, now))
        if preemption.lifetime:
            victims = sorted(victims, key=itemgetter(1))
        chosen: list[tuple[BestEffortExecution, float]] = []
        if policy.blind:
            wanted = self._wanted(processors)
            chosen = [one for one in victims if not wanted.isdisjoint(one[0].placement.slots)]
            victims = [one for one in victims if wanted.isdisjoint(one[0].placement.slots)]
            missing -= sum(execution.request.job.processors for execution, _ in chosen)
        for execution, notice in victims if missing > 0 else ():
            chosen.append((execution, notice))
            missing -= execution.request.job.processors
            if missing <= 0:
                break
        return chosen

    def _wanted(self, processors: int) -> Set[int]:
        """The slots that the premium scheduler would hand out if there were no best-effort jobs."""
        nodes = self.site.nodes
        assert isinstance(nodes, Named)
        held = (slot for execution in self._executions.values() for slot in execution.placement.slots)
        return set(sorted([*nodes.free_slots, *held])[:processors])

    def _time_is_up(self, notice: tuple[Job, int, bool]) -> None:
        """A job leaves, unless it was only spared for its lifetime and nobody waits for it any more."""
        job, kills, spared = notice
        execution = self._executions.get(job.id)
        if execution is None or job.id not in self._leaving or job.kills != kills:
            return
        if spared and self.idle >= 0:
            self._stays(job)
        else:
            self._kill(execution)
            self.site.processors_came_free()

    def _stays(self, job: Job) -> None:
        if job.id in self._leaving:
            self._leaving.remove(job.id)
            self._leaving_processors -= job.processors

    def _kill(self, execution: BestEffortExecution) -> None:
        """End an execution and hand the job back to its owner."""
        execution.request.timer.cancel(execution.event)
        job = execution.request.job
        begun = job.start
        job.kill(self.agenda.now)
        self.kills += 1
        if self.site.head_node is not None:
            self.site.head_node.charge()
        self._leave(execution, begun)

    def _fail(self, job: Job) -> None:
        """What ran on a broken node goes back to its owner, as if it had been killed."""
        begun = job.start
        job.kill(self.agenda.now)
        self.site.grid.record.counters["broken_executions"] += 1
        self._leave(self._executions[job.id], begun)
        self.site.processors_came_free()

    def _complete(self, job: Job) -> None:
        job.finish(self.agenda.now)
        self._leave(self._executions[job.id], job.start)
        self.site.processors_came_free()

    def _leave(self, execution: BestEffortExecution, begun: float) -> None:
        job = execution.request.job
        del self._executions[job.id]
        self._stays(job)
        self.site.nodes.give_back(execution.placement)
        self.held -= job.processors
        if self.site.keeper is not None and self.site.empty:
            self.site.keeper.released(True)
        execution.request.ended(job, begun)
