"""User-level scheduling: a master whose workers are jobs of the grid and pull tasks (DIANE, gPTM3D)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import mesa

from gridtune.agents.batch.services import Delay
from gridtune.agents.wms.vres_site import Ended, Started, VresSite
from gridtune.model.agenda import ARRIVAL, DECISION
from gridtune.model.grid import Grid
from gridtune.model.job import DONE, QUEUED, RUNNING, Job
from gridtune.model.metrics.registry import define

define("workers_lost", "workers", "minimize", "workers of user-level schedulers that crashed or met a limit")
define("workers_submitted", "jobs", "minimize", "workers that user-level schedulers submitted to the grid")


class Submits(Protocol):
    """Whoever brings jobs to a slot: a site or the brokers."""

    def submit(self, job: Job, done: Ended | None = None, started: Started | None = None) -> None:
        """Take a job in."""


class MasterHabits(NamedTuple):
    """How a master works.

    Attributes:
        user: owner of tasks and workers.
        role: kind of the workers as jobs, by which sites know their class.
        workers: that are to be available.
        watch: s between two looks of the operator, who replaces missing workers; 0 for none.
        dispatch_time: s that dispatching a task occupies the master.
        latency: s that a message between master and worker takes.
        detection: s until the master knows that a worker is lost.
        lifetime: of a worker until it crashes, s; None if none does.
        estimate: run time that workers promise, s.
        processors: of each task, and so slots of each worker.
    """

    user: str
    role: str
    workers: int
    watch: float
    dispatch_time: float
    latency: float
    detection: float
    lifetime: Delay | None
    estimate: float
    processors: int = 1


class Worker(mesa.Agent):
    """A worker that holds a slot; it leaves the grid when its master takes it out of the pool.

    Attributes:
        job: its job in the grid.
        site: where.
        task: that it computes or that is on its way; None while it is idle.
        alive: whether it can work.
        crash: handle of the event at which it crashes; 0 if it does not.
    """

    def __init__(self, job: Job, site: VresSite) -> None:
        super().__init__(site.grid)
        self.job = job
        self.site = site
        self.task: Job | None = None
        self.alive = True
        self.crash = 0


class Master(mesa.Agent):
    """Splits a job of a user into tasks, which workers pull (Responsive Grids, sections 4.1 and 4.2).

    Args:
        grid: where it lives.
        tasks: to be done, each released at its `submit` time, in this order.
        habits: how it works.
        gateway: where workers are submitted.
    """

    def __init__(self, grid: Grid, tasks: Sequence[Job], habits: MasterHabits, gateway: Submits) -> None:
        super().__init__(grid)
        self.grid = grid
        self.tasks = tasks
        self.habits = habits
        self.gateway = gateway
        self.workers: dict[int, Worker] = {}
        self.submitted: list[Job] = []  # workers as jobs of the grid
        self.left = len(tasks)
        self._ready: deque[Job] = deque()
        self._idle: deque[Worker] = deque()
        self._pending = 0
        self._free_at = 0.0
        for counter in ("workers_lost", "workers_submitted"):
            grid.record.counters[counter] += 0

    @property
    def busy(self) -> int:
        """Workers that compute a task."""
        return sum(
            worker.task is not None and worker.task.state is RUNNING for worker in self.workers.values()
        )

    def begin(self, _: object) -> None:
        """Submit the workers, and release the tasks as they come."""
        for task in self.tasks:
            if task.submit <= self.grid.now:
                self._release(task)
            else:
                self.grid.agenda.at(task.submit, self._released, task, ARRIVAL)
        self._replace(None)

    def efficiency(self) -> tuple[float, float]:
        """Work of completed tasks, and time that its workers' slots were in the grid, s."""
        now = self.grid.now
        work = sum(task.work for task in self.tasks if task.state is DONE)
        held = sum((job.end if job.end == job.end else now) - job.submit for job in self.submitted)
        return work, held * self.habits.processors

    def _release(self, task: Job) -> None:
        task.queue(self.grid.now, "master")
        self._ready.append(task)

    def _released(self, task: Job) -> None:
        self._release(task)
        self._serve()

    def _replace(self, _: object) -> None:
        """The operator adds workers until as many as wanted are available or on their way."""
        habits = self.habits
        if self.left == 0:
            return
        for _k in range(habits.workers - len(self.workers) - self._pending):
            job = self.grid.record.placeholder(
                habits.user,
                self.grid.now,
                habits.estimate,
                kind=habits.role,
                group=habits.user,
                processors=habits.processors,
            )
            self.submitted.append(job)
            self._pending += 1
            self.grid.record.counters["workers_submitted"] += 1
            self.gateway.submit(job, self._worker_ended, self._worker_started)
        if habits.watch > 0:
            self.grid.agenda.after(habits.watch, self._replace, None, DECISION)

    def _worker_started(self, job: Job, site: VresSite) -> None:
        self._pending -= 1
        if self.left == 0:
            site.finish(job)
            return
        worker = self.workers[job.id] = Worker(job, site)
        if self.habits.lifetime is not None:
            worker.crash = self.grid.agenda.after(self.habits.lifetime(), self._crash, worker, DECISION)
        self._idle.append(worker)
        self._serve()

    def _worker_ended(self, job: Job) -> None:
        """The grid tells that a worker has ended: at its limit, or because no site took it."""
        worker = self.workers.get(job.id)
        if worker is not None:
            self._lose(worker)
        elif job.start != job.start:
            self._pending -= 1

    def _crash(self, worker: Worker) -> None:
        worker.crash = 0
        if worker.alive and worker.job.state is RUNNING:
            worker.site.cancel(worker.job)
            self._lose(worker)

    def _lose(self, worker: Worker) -> None:
        """Take a worker out of the pool, and its task back."""
        self._bury(worker)
        del self.workers[worker.job.id]
        if worker in self._idle:
            self._idle.remove(worker)
        if self.left == 0:
            return
        self.grid.record.counters["workers_lost"] += 1
        task = worker.task
        if task is not None and task.state in (RUNNING, QUEUED):
            if task.state is RUNNING:
                # It was lost when its worker ended, who may be known to be dead only later.
                task.kill(min(self.grid.now, worker.job.end))
            self.grid.agenda.after(self.habits.detection, self._again, task, DECISION)

    def _bury(self, worker: Worker) -> None:
        worker.alive = False
        worker.remove()
        if worker.crash:
            self.grid.agenda.cancel(worker.crash)
            worker.crash = 0

    def _again(self, task: Job) -> None:
        self._ready.appendleft(task)
        self._serve()

    def _serve(self) -> None:
        """Dispatch tasks to idle workers, one after the other."""
        now, habits = self.grid.now, self.habits
        while self._idle and self._ready:
            # The one that came last: the one idle for longest is the nearest to the limit of its site, and a
            # long task that always went there would never end.
            worker, task = self._idle.pop(), self._ready.popleft()
            worker.task = task
            self._free_at = max(now, self._free_at) + habits.dispatch_time
            self.grid.agenda.at(self._free_at + habits.latency, self._arrive, (worker, task), ARRIVAL)

    def _arrive(self, what: tuple[Worker, Job]) -> None:
        worker, task = what
        if worker.alive and worker.job.state is RUNNING:
            task.site = worker.site.name
            task.begin(self.grid.now, worker.job.node)
            worker.site.compute(worker.job, task, lambda _: self._computed(worker))

    def _computed(self, worker: Worker) -> None:
        assert worker.task is not None
        worker.task.finish(self.grid.now)
        worker.task = None
        self.left -= 1
        if self.left == 0:
            self._disband()
        else:
            # The result travels to the master, who sees the worker ask for more.
            self.grid.agenda.after(self.habits.latency, self._asks, worker, ARRIVAL)

    def _asks(self, worker: Worker) -> None:
        if worker.alive and worker.job.state is RUNNING and worker.task is None:
            self._idle.append(worker)
            self._serve()

    def _disband(self) -> None:
        """All is done: the overlay dissolves."""
        for worker in list(self.workers.values()):
            self._bury(worker)
            if worker.job.state is RUNNING:
                worker.site.finish(worker.job)


class PlainUser(mesa.Agent):
    """The same tasks without a master: each is a job of the grid.

    Args:
        grid: where it lives.
        tasks: to be done.
        gateway: where they are submitted.
        window: of them in the grid at once; 0 for all.
    """

    def __init__(self, grid: Grid, tasks: Sequence[Job], gateway: Submits, window: int) -> None:
        super().__init__(grid)
        self.grid = grid
        self.tasks = tasks
        self.gateway = gateway
        self.window = window or len(tasks)
        self.told: dict[int, tuple[float, float]] = {}
        self._next = 0
        self._sent: dict[int, float] = {}

    def begin(self, _: object) -> None:
        """Submit the first tasks."""
        for _k in range(min(self.window, len(self.tasks))):
            self._send()

    def efficiency(self) -> tuple[float, float]:
        """Work of completed tasks, and time that their jobs were in the grid, s."""
        work = sum(task.work for task in self.tasks if task.state is DONE)
        held = sum(end - start for start, end in self.told.values())
        held += sum(self.grid.now - start for start in self._sent.values())
        return work, held * max((task.processors for task in self.tasks), default=1)

    def _send(self) -> None:
        task = self.tasks[self._next]
        self._next += 1
        self._sent[task.id] = self.grid.now
        self.gateway.submit(task, self._hear)

    def _hear(self, task: Job) -> None:
        self.told[task.id] = self._sent.pop(task.id), self.grid.now
        if self._next < len(self.tasks):
            self._send()
