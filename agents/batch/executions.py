"""How jobs run on the processors of a batch site, and the tasks that placeholders do on theirs."""

from __future__ import annotations

from math import inf
from typing import Literal, NamedTuple

from gridtune.agents.batch.services import AT_ONCE, Delay, Ended, Services
from gridtune.agents.infrastructure.network import Staged, Way, passed
from gridtune.model.agenda import COMPLETION
from gridtune.model.batch.cluster import Cluster
from gridtune.model.batch.nodes import NodePool, Placement
from gridtune.model.grid import Grid
from gridtune.model.infrastructure.lane import Timer
from gridtune.model.job import RUNNING, Job

Overrun = Literal["extend", "kill"]


class Waking(NamedTuple):
    """Where a job goes on that was suspended.

    Attributes:
        placement: its slots.
        overhead: s of its execution that were still to come without progress.
    """

    placement: Placement
    overhead: float


class Execution(NamedTuple):
    """A job on its processors.

    Attributes:
        job: which.
        placement: where.
        planned_end: what the scheduler goes by, s.
        event: handle of its end; None for a placeholder without limit.
        timer: that will tell of it.
        overhead: s of it without progress.
        end: s at which it ends if nothing slows or interrupts it.
        fails: whether it fails then because of where it is.
    """

    job: Job
    placement: Placement
    planned_end: float
    event: int | None
    timer: Timer
    overhead: float
    end: float
    fails: bool


_execution = tuple.__new__  # one is made for each job that starts: half the cost of a call of the class


class Executions(dict[int, Execution]):
    """Those of the jobs that hold processors of a site, by job, in the order of their starts.

    Args:
        grid: where.
        nodes: of the site.
        cluster: with the limits of its queues.
        services: delays around an execution.
        overrun: what becomes of a job that runs longer than promised.
        timer: of the work of jobs.
        ended: called with a job once the site hears that it has ended.

    Attributes:
        timer: see above.
        resumed: work done before, s to go on from it, and the run time that was promised at first, by job.
        paused: s that jobs ran which write down how far they have come, and how far that is, s.
        waking: where jobs go on that were suspended.
        broken: slots where what starts fails, after some s.
    """

    # Python 3.11 finds other attributes of what is a dict itself five times slower.
    __slots__ = (
        "_agenda", "_cluster", "_common_limit", "_cut_short", "_ended", "_nodes", "_overrun", "_services",
        "_tasks", "broken", "grid", "paused", "resumed", "timer", "waking",
    )  # fmt: skip

    def __init__(
        self,
        grid: Grid,
        nodes: NodePool,
        cluster: Cluster,
        services: Services,
        overrun: Overrun,
        timer: Timer,
        ended: Ended,
    ) -> None:
        super().__init__()
        self.grid = grid
        self._agenda, self._nodes, self._cluster = grid.agenda, nodes, cluster
        self._services, self._overrun, self._ended = services, overrun, ended
        limits = {queue.max_runtime for queue in cluster.queues}
        # s after which every job is killed; None where that depends on the job.
        self._common_limit = limits.pop() if overrun == "extend" and len(limits) == 1 else None
        self.timer = self._cut_short = timer  # the other one of jobs that are killed at a limit
        self._tasks = PlaceholderTasks()
        self.resumed: dict[int, tuple[float, float, float]] = {}
        self.paused: dict[int, tuple[float, float]] = {}
        self.waking: dict[int, Waking] = {}
        self.broken: dict[int, Delay] = {}

    def stage(self, way: Way) -> None:
        """From now on jobs with data hold their slots while it moves."""
        self.timer, self._cut_short = Staged(way, self.timer), Staged(way, self.timer, output=False)

    def begin(self, job: Job, cleaning: float, planned_end: float | None) -> Execution:
        """Put a job on its processors.

        Args:
            job: which.
            cleaning: s that its processors take to be clean.
            planned_end: s, where its plan began before; else it begins now.
        """
        now = self._agenda.now
        waking = self.waking.pop(job.id, None) if self.waking else None
        placement = self._nodes.take(job.processors) if waking is None else waking.placement
        nodes, speed, _, delay = placement
        job.begin(now, nodes)
        runtime = job.runtime / speed
        before, overhead = 0.0, cleaning + delay
        if waking is not None:
            overhead = waking.overhead
        elif self._services is not AT_ONCE:
            overhead = self._services.overhead() + cleaning + delay
        if self.resumed and job.id in self.resumed:
            before, restart, _ = self.resumed[job.id]
            runtime = max(0.0, job.runtime - before) / speed
            overhead += restart
        # Who was suspended has what is left of its limit; who was put back has all of it again.
        limit = self._common_limit
        if limit is None or waking is not None:
            limit = self._limit(job, speed, before if waking is not None else 0.0)
        # A placeholder does no work of its own: its life is not longer where the file system is slow.
        timer = self.timer if runtime < inf else self._agenda
        if limit < runtime < inf:
            timer = self._cut_short
        event: int | None = None
        fails = self.failing(placement) if self.broken else None
        if fails is not None:
            timer = self._agenda
            event = timer.after(overhead + fails, self._fail, job, COMPLETION)
        elif runtime > limit:
            event = timer.after(overhead + limit, self._expire, job, COMPLETION)
        elif runtime < inf:
            event = timer.after(overhead + runtime, self.complete, job, COMPLETION)
        if planned_end is None:
            planned_end = now + job.expected / speed
        end = now + overhead + (runtime if runtime < limit else limit)
        made = self[job.id] = _execution(
            Execution, (job, placement, planned_end, event, timer, overhead, end, fails is not None)
        )
        return made

    def failing(self, placement: Placement) -> float | None:
        """Seconds after which an execution fails because of where it is; None if it does not."""
        return min((self.broken[slot]() for slot in placement.slots if slot in self.broken), default=None)

    def compute(self, job: Job, task: Job, then: Ended, work: float) -> None:
        """Have a running placeholder do so much work (s at speed 1) of a task, then call `then` with that."""
        speed, now = self[job.id].placement.speed, self._agenda.now
        self._tasks.begin(job, Computing(task, then, self.timer, now, work / speed, speed))

    def forget_end(self, job: Job) -> None:
        """The end of a running job is not to come."""
        execution = self[job.id]
        if execution.event is not None:
            execution.timer.cancel(execution.event)

    def progress(self, job: Job) -> float:
        """Seconds of its run time that a running job has behind it, however long they have taken."""
        _, _, _, event, timer, overhead, end, _ = self[job.id]
        return passed(timer, event or 0, job.start, end - job.start, self._agenda.now, overhead)

    def note_given(self) -> None:
        """Note in running jobs and tasks the work that each processor has done for them, s at speed 1."""
        for execution in self.values():
            job = execution.job
            if job.runtime == inf:  # a placeholder
                self._tasks.note_given(job, self._agenda.now)
            elif job.state is RUNNING:
                job.given = self.progress(job) * execution.placement.speed

    def complete(self, job: Job) -> None:
        """A job has done its work, and the site hears of it now or after a while."""
        job.finish(self._agenda.now)
        delay = 0.0 if self._services is AT_ONCE else self._services.send()
        if delay > 0:
            self._agenda.after(delay, self._ended, job, COMPLETION)
        else:
            self._ended(job)

    def leave(self, job: Job) -> Execution:
        """Take a job off its processors; how it was there."""
        execution = self.pop(job.id)
        if job.runtime == inf:  # a placeholder
            self._tasks.drop(job, self._agenda.now)
        self._nodes.give_back(execution.placement)
        return execution

    def _limit(self, job: Job, speed: float, before: float) -> float:
        """Seconds after which a job that starts on nodes of a speed is killed, with work done before."""
        limit = self._cluster.queue_of(job).max_runtime
        if before > 0:  # as what is left of the run time is worked out
            limit = max(0.0, limit * speed - before) / speed
        return min(limit, job.estimate / speed) if self._overrun == "kill" else limit

    def _fail(self, job: Job) -> None:
        """What runs on a broken node has failed, and its owner hears of it as of an end."""
        job.fail(self._agenda.now)
        self.grid.record.counters["broken_executions"] += 1
        self._ended(job)

    def _expire(self, job: Job) -> None:
        execution = self[job.id]
        # Its limit has passed as progress: it took longer where something slowed it down.
        job.expire(
            self._agenda.now, (execution.end - job.start - execution.overhead) * execution.placement.speed
        )
        self.grid.record.counters["killed_by_limit"] += job.mandatory  # not of what its owner withdraws
        self._ended(job)


class Computing(NamedTuple):
    """A task that a placeholder computes.

    Attributes:
        task: which.
        then: called with it at its end.
        timer: of its work.
        since: when it was begun, s.
        seconds: that it takes if nothing slows it down.
        speed: of its processors.
        event: handle of its end.
    """

    task: Job
    then: Ended
    timer: Timer
    since: float
    seconds: float
    speed: float
    event: int = 0


class PlaceholderTasks:
    """What is being computed within placeholders (pilots, leases), by these and by task."""

    def __init__(self) -> None:
        self._within: dict[int, dict[int, Computing]] = {}  # by placeholder and task
        self._placeholders: dict[int, int] = {}  # by task

    def begin(self, job: Job, work: Computing) -> None:
        """A placeholder begins a task."""
        task = work.task
        event = work.timer.after(work.seconds, self._done, task, COMPLETION)
        self._within.setdefault(job.id, {})[task.id] = work._replace(event=event)
        self._placeholders[task.id] = job.id

    def note_given(self, job: Job, now: float) -> None:
        """Note in the tasks of a placeholder what each processor has done for them, s at speed 1."""
        for task, _, timer, since, seconds, speed, event in self._within.get(job.id, {}).values():
            task.given = passed(timer, event, since, seconds, now) * speed

    def drop(self, job: Job, now: float) -> None:
        """A placeholder has left: what it was doing comes to no end."""
        self.note_given(job, now)
        for work in self._within.pop(job.id, {}).values():
            del self._placeholders[work.task.id]
            work.timer.cancel(work.event)

    def _done(self, task: Job) -> None:
        self._within[self._placeholders.pop(task.id)].pop(task.id).then(task)
