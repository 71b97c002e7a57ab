"""User-level scheduling: a master whose workers are jobs of the grid and pull tasks (DIANE, gPTM3D)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from math import inf
from typing import NamedTuple

import mesa

from gridtune.agents.batch.services import Delay
from gridtune.agents.wms.workers import Errors, Submits, Worker, Workplace
from gridtune.model.agenda import ARRIVAL, COMPLETION, DECISION
from gridtune.model.grid import Grid
from gridtune.model.job import CREATED, DONE, QUEUED, RUNNING, Job
from gridtune.model.metrics.registry import define
from gridtune.model.policy import misjudged
from gridtune.model.wms.farming import (
    Assignment,
    ByKind,
    ErrorKind,
    Failure,
    InOrder,
    Recovery,
    Verdict,
)

define("workers_lost", "workers", "minimize", "workers of user-level schedulers that crashed or met a limit")
define("workers_submitted", "jobs", "minimize", "workers that user-level schedulers submitted to the grid")
define("workers_dismissed", "workers", "minimize", "workers taken out of their pools for system errors")
define("workers_moved", "jobs", "minimize", "workers cancelled where they waited, and submitted anew")
define("task_errors", "executions", "minimize", "executions that ended with an error, or without a result")
define("tasks_given_up", "tasks", "minimize", "tasks that their master gave up after failures")


class MasterHabits(NamedTuple):
    """How a master works.

    Attributes:
        user: owner of tasks and workers.
        role: kind of the workers as jobs, by which sites know their class.
        workers: that are to be available.
        watch: s between two looks of the operator, who replaces missing workers; 0 for none.
        dispatch_time: s that dispatching a task occupies the master.
        latency: s that a message between master and worker takes.
        detection: s until the master knows that a worker or a result is lost.
        lifetime: of a worker until it crashes, s; None if none does.
        estimate: run time that workers promise, s.
        processors: of each task, and so slots of each worker.
        patience: s for which a worker may wait at a site before it is submitted anew.
        assignment: decides which task goes next, and to which idle worker.
        recovery: decides what becomes of a task that has failed, and of its worker.
        errors: that befall tasks; None for none.
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
    patience: float = inf
    assignment: Assignment = InOrder()
    recovery: Recovery = ByKind()
    errors: Errors | None = None


class Master(mesa.Agent):
    """Splits a job of a user into tasks, which workers pull (Responsive Grids, sections 4.1 and 4.2).

    Args:
        grid: where it lives.
        tasks: to be done, each released at its `submit` time, in this order.
        habits: how it works.
        gateway: where workers are submitted.
        settled: called when all tasks so far are done or given up; `close` if left out.

    Attributes:
        left: tasks that are neither done nor given up.
        closed: whether the overlay has dissolved.
    """

    def __init__(
        self,
        grid: Grid,
        tasks: Sequence[Job],
        habits: MasterHabits,
        gateway: Submits,
        settled: Callable[[], object] | None = None,
    ) -> None:
        super().__init__(grid)
        self.grid = grid
        self.tasks: list[Job] = []
        self.habits = habits
        self.gateway = gateway
        self.workers: dict[int, Worker] = {}
        self.submitted: list[Job] = []  # workers as jobs of the grid
        self.left = 0
        self.closed = False
        self._settled = settled or self.close
        self._ready: list[tuple[float, int, Job]] = []  # a heap, by rank and then by the order of release
        self._last = self._first = 0  # of the orders of release; what is dispatched again is put in front
        self._idle: list[Worker] = []
        self._pending: set[int] = set()  # workers on their way
        self._free_at = 0.0
        self._failing: set[int] = set()  # tasks that fail wherever they are executed
        self._failures: Counter[tuple[int, ErrorKind]] = Counter()  # by task and kind
        counters = [
            "workers_lost",
            "workers_submitted",
            *(["workers_dismissed", "task_errors", "tasks_given_up"] if habits.errors is not None else []),
            *(["workers_moved"] if habits.patience < inf else []),
        ]
        for counter in counters:
            grid.record.counters[counter] += 0
        self._take(tasks)

    @property
    def busy(self) -> int:
        """Workers that compute a task."""
        return sum(
            worker.task is not None and worker.task.state is RUNNING for worker in self.workers.values()
        )

    def begin(self, _: object) -> None:
        """Submit the workers, and release the tasks as they come."""
        self._expect(self.tasks)
        self._replace(None)

    def add(self, tasks: Sequence[Job]) -> None:
        """Take further tasks, each released at its `submit` time."""
        self._take(tasks)
        self._expect(tasks)
        self._serve()

    def close(self) -> None:
        """The overlay dissolves: its workers give their slots back."""
        self.closed = True
        for worker in list(self.workers.values()):
            self._bury(worker)
            if worker.job.state is RUNNING:
                worker.site.finish(worker.job)

    def efficiency(self) -> tuple[float, float]:
        """Work of completed tasks, and time that its workers' slots were in the grid, s."""
        now = self.grid.now
        work = sum(task.work for task in self.tasks if task.state is DONE)
        held = sum((job.end if job.end == job.end else now) - job.submit for job in self.submitted)
        return work, held * self.habits.processors

    def _take(self, tasks: Sequence[Job]) -> None:
        self.tasks += tasks
        self.left += len(tasks)
        if self.habits.errors is not None:
            self._failing |= {task.id for task in tasks if self.habits.errors.application()}

    def _expect(self, tasks: Sequence[Job]) -> None:
        for task in tasks:
            if task.submit <= self.grid.now:
                self._release(task)
            else:
                self.grid.agenda.at(task.submit, self._released, task, ARRIVAL)

    def _release(self, task: Job) -> None:
        task.queue(self.grid.now, "master")
        self._last += 1
        heappush(self._ready, (self.habits.assignment.rank(task), self._last, task))

    def _released(self, task: Job) -> None:
        self._release(task)
        self._serve()

    def _replace(self, _: object) -> None:
        """The operator adds workers until as many as wanted are available or on their way."""
        habits = self.habits
        if self.closed:
            return
        for _k in range(habits.workers - len(self.workers) - len(self._pending)):
            self._send_worker()
        if habits.watch > 0:
            self.grid.agenda.after(habits.watch, self._replace, None, DECISION)

    def _send_worker(self) -> None:
        habits = self.habits
        job = self.grid.record.placeholder(
            habits.user,
            self.grid.now,
            habits.estimate,
            kind=habits.role,
            group=habits.user,
            processors=habits.processors,
        )
        self.submitted.append(job)
        self._pending.add(job.id)
        self.grid.record.counters["workers_submitted"] += 1
        self.gateway.submit(job, self._worker_ended, self._worker_started)
        if habits.patience < inf:
            self.grid.agenda.after(habits.patience, self._move, job, DECISION)

    def _move(self, job: Job) -> None:
        """A worker that still waits is taken out of its queue, and another one submitted."""
        if job.state in (CREATED, QUEUED) and not self.closed:
            self._pending.discard(job.id)
            self.gateway.cancel(job)
            self.grid.record.counters["workers_moved"] += 1
            self._send_worker()

    def _worker_started(self, job: Job, site: Workplace) -> None:
        if job.id not in self._pending:
            site.withdraw(job)  # it was moved, of which its site has not heard yet
            return
        self._pending.discard(job.id)
        if self.closed:  # once what started it is over: many may wait, and each lets the next one start
            self.grid.agenda.after(0.0, site.finish, job, COMPLETION)
            return
        errors = self.habits.errors
        worker = self.workers[job.id] = Worker(job, site, errors is not None and errors.system())
        if self.habits.lifetime is not None:
            worker.crash = self.grid.agenda.after(self.habits.lifetime(), self._crash, worker, DECISION)
        self._idle.append(worker)
        self._serve()

    def _worker_ended(self, job: Job) -> None:
        """The grid tells that a worker has ended: at its limit, or because it could not even begin."""
        self._pending.discard(job.id)
        worker = self.workers.get(job.id)
        if worker is not None:
            self._lose(worker)

    def _crash(self, worker: Worker) -> None:
        worker.crash = 0
        if worker.works:
            worker.site.withdraw(worker.job)
            self._lose(worker)

    def _lose(self, worker: Worker) -> None:
        """Take a worker that has ended out of the pool, and its task back."""
        self._bury(worker)
        if self.closed:
            return
        self.grid.record.counters["workers_lost"] += 1
        task = worker.task
        if task is not None and task.state in (RUNNING, QUEUED):
            # It was lost when its worker ended, who may be known to be dead only later.
            self._fails(task, "worker", worker, min(self.grid.now, worker.job.end))

    def _bury(self, worker: Worker) -> None:
        """A worker leaves the pool and the grid."""
        worker.alive = False
        worker.remove()
        self.workers.pop(worker.job.id, None)
        if worker in self._idle:
            self._idle.remove(worker)
        if worker.crash:
            self.grid.agenda.cancel(worker.crash)
            worker.crash = 0

    def _serve(self) -> None:
        """Dispatch tasks to idle workers, one after the other."""
        now, habits = self.grid.now, self.habits
        while self._idle and self._ready:
            task = heappop(self._ready)[-1]
            chosen = habits.assignment.choose(task, self._idle)
            if not 0 <= chosen < len(self._idle):
                raise misjudged(habits.assignment, "chooses none of the workers that are idle")
            worker = self._idle.pop(chosen)
            worker.task = task
            self._free_at = max(now, self._free_at) + habits.dispatch_time
            self.grid.agenda.at(self._free_at + habits.latency, self._arrive, (worker, task), ARRIVAL)

    def _arrive(self, what: tuple[Worker, Job]) -> None:
        worker, task = what
        if not worker.works:
            return
        task.site = worker.site.name
        task.begin(self.grid.now, worker.job.node)
        errors = self.habits.errors
        kind = None if errors is None else worker.error(task.id in self._failing, errors)
        if errors is None or kind is None:
            worker.site.compute(worker.job, task, lambda _: self._computed(worker))
        else:
            work = task.runtime if kind == "connection" else min(errors.after(), task.runtime)
            worker.site.compute(worker.job, task, lambda _: self._erred(worker, kind), work)

    def _computed(self, worker: Worker) -> None:
        assert worker.task is not None
        worker.task.finish(self.grid.now)
        worker.task, worker.failures = None, 0
        self._settle(worker)

    def _erred(self, worker: Worker, kind: ErrorKind) -> None:
        """An execution has ended with an error; the worker lives, and says so."""
        assert worker.task is not None
        task, worker.task = worker.task, None
        worker.failures += kind == "system"
        self.grid.record.counters["task_errors"] += 1
        verdict = self._fails(task, kind, worker, self.grid.now)
        if self.closed:
            return
        if verdict.keep:
            self.grid.agenda.after(self.habits.latency, self._asks, worker, ARRIVAL)
        else:
            self.grid.record.counters["workers_dismissed"] += 1
            self._bury(worker)
            worker.site.finish(worker.job)

    def _fails(self, task: Job, kind: ErrorKind, worker: Worker, at: float) -> Verdict:
        """A task was lost at a worker at some time: it is dispatched again, or given up."""
        self._failures[task.id, kind] += 1
        alike = self._failures[task.id, kind]
        total = sum(self._failures[task.id, known] for known in KINDS)
        verdict = self.habits.recovery.decide(Failure(kind, alike, total, worker.failures))
        if verdict.wait is None:
            if task.state is RUNNING:
                task.fail(at)
            else:
                task.reject(self.grid.now)  # it may have come after its worker's end
            self.grid.record.counters["tasks_given_up"] += 1
            self._settle(None)
            return verdict
        if task.state is RUNNING:
            task.kill(at)
        known = self.habits.latency if kind in ("application", "system") else self.habits.detection
        self.grid.agenda.after(known + verdict.wait, self._again, task, DECISION)
        return verdict

    def _again(self, task: Job) -> None:
        self._first -= 1
        heappush(self._ready, (self.habits.assignment.rank(task), self._first, task))
        self._serve()

    def _settle(self, worker: Worker | None) -> None:
        """A task is done or given up, and its worker asks for more."""
        self.left -= 1
        if self.left == 0:
            self._settled()
        if worker is not None and not self.closed:
            # The result travels to the master, who sees the worker ask for more.
            self.grid.agenda.after(self.habits.latency, self._asks, worker, ARRIVAL)

    def _asks(self, worker: Worker) -> None:
        if worker.works and worker.task is None:
            self._idle.append(worker)
            self._serve()


KINDS: tuple[ErrorKind, ...] = ("application", "system", "connection", "worker")
