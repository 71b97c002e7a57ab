"""Workers of a user-level scheduler: jobs of the grid that hold a slot, and what goes wrong there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import mesa

from gridtune.agents.batch.services import Delay, Ended
from gridtune.model.grid import Grid
from gridtune.model.job import RUNNING, Job
from gridtune.model.wms.farming import ErrorKind


class Workplace(Protocol):
    """A site whose slots workers hold: one with virtual reservations, or with a batch scheduler.

    Attributes:
        name: of the site.
        grid: where it stands.
    """

    name: str
    grid: Grid

    @property
    def pace(self) -> float:
        """Work per s of its slowest processor while nothing shares it."""

    def compute(self, job: Job, task: Job, then: Ended, work: float | None = None) -> None:
        """Have a job that holds a slot compute a task; see `VresSite.compute`."""

    def finish(self, job: Job) -> None:
        """A job that holds a slot has done all its work."""

    def withdraw(self, job: Job) -> None:
        """Take a job out at once, whether it waits or runs; too late is no error."""


class Submits(Protocol):
    """Whoever brings jobs to a slot: a site or the brokers."""

    def submit(
        self,
        job: Job,
        done: Ended | None = None,
        started: Callable[[Job, Any], object] | None = None,
    ) -> None:
        """Take a job in; `started` is called with it and the `Workplace` where it holds a slot."""

    def cancel(self, job: Job) -> None:
        """Take a job out on its owner's demand; too late is no error."""


class Errors(NamedTuple):
    """What goes wrong where tasks are executed (Responsive Grids, section 4.1.6).

    Attributes:
        application: whether the next task fails wherever it is executed; asked once for each task.
        system: whether the next worker fails every task; asked once for each worker.
        connection: whether the next result does not arrive; asked for each execution.
        after: s of work until an error shows.
    """

    application: Callable[[], bool]
    system: Callable[[], bool]
    connection: Callable[[], bool]
    after: Delay


class Worker(mesa.Agent):
    """A worker that holds a slot; it leaves the grid when its master takes it out of the pool.

    Attributes:
        job: its job in the grid.
        site: where.
        task: that it computes or that is on its way; None while it is idle.
        alive: whether it can work.
        crash: handle of the event at which it crashes; 0 if it does not.
        sick: whether its node fails every task.
        failures: tasks that system errors have lost here since one was done.
    """

    def __init__(self, job: Job, site: Workplace, sick: bool = False) -> None:
        super().__init__(site.grid)
        self.job = job
        self.site = site
        self.task: Job | None = None
        self.alive = True
        self.crash = 0
        self.sick = sick
        self.failures = 0

    @property
    def speed(self) -> float:
        """Work per s of a processor of its site while nothing shares it."""
        return self.site.pace

    @property
    def works(self) -> bool:
        """Whether it can compute: it lives, and its job holds a slot."""
        return self.alive and self.job.state is RUNNING

    def error(self, task_fails: bool, errors: Errors) -> ErrorKind | None:
        """What goes wrong with the task that it is about to execute, if anything does."""
        if self.sick:
            return "system"
        if task_fails:
            return "application"
        return "connection" if errors.connection() else None
