"""A server for sequential tasks: a SeD on a machine whose performance changes."""

from __future__ import annotations

from collections.abc import Callable

from gridtune.agents.gridrpc.sed import SeD
from gridtune.model.deadline.platform import Machine, Service
from gridtune.model.grid import Grid
from gridtune.model.gridrpc.disciplines import Discipline
from gridtune.model.job import Job


class TaskServer(SeD):
    """A SeD that sends data, computes and returns results, one task at a time.

    Args:
        grid: where it lives.
        machine: what it runs on.
        index: its number among the servers of its agent.
        discipline: decides which task runs next.

    Attributes:
        started: is told of every start.
        lost: is told of every task that is interrupted.
        service: phases of the last execution that began.
    """

    def __init__(self, grid: Grid, machine: Machine, index: int, discipline: Discipline) -> None:
        super().__init__(grid, machine.name, index, discipline, speed=machine.speed)
        self.machine = machine
        self.started: Callable[[TaskServer, Job], object] = lambda _server, _job: None
        self.lost: Callable[[TaskServer, Job], object] = lambda _server, _job: None
        self.service = Service(0.0, 0.0, 0.0)

    def submit(self, job: Job, completed: Callable[[Job], object]) -> None:
        """Take a task in; it starts once all that arrives at the same instant has been placed."""
        self.grid.record.message(self.name, "submit", self.grid.now)
        if self._admit(job, completed):
            self._review_later()

    def _interrupted(self, job: Job) -> None:
        """The agent places an interrupted task anew: plans of the queue begin with what runs."""
        del self._owners[job.id]
        self.lost(self, job)

    def duration(self, job: Job) -> float:
        """Seconds that an execution which starts now takes, transfers included."""
        self.service = self.machine.service(job, job.data, self.grid.now)
        return sum(self.service)

    def _work(self, job: Job, seconds: float) -> float:
        """See `SeD`; data moves first and last."""
        send, compute, _ = self.service
        return job.runtime * min(1.0, max(0.0, seconds - send) / compute) if compute > 0 else job.runtime

    def _start(self, job: Job) -> None:
        super()._start(job)
        self.started(self, job)

    def backlog(self, counts: Callable[[Job], bool]) -> float:
        """Seconds that the server needs for those of its tasks that count, as its machine is now."""
        now = self.grid.now
        left = 0.0
        if self.job is not None and counts(self.job):
            left = max(0.0, self.job.start + sum(self.service) - now)
        return left + sum(
            sum(self.machine.service(job, job.data, now)) for job in self.queue.jobs() if counts(job)
        )

    def hopeless(self, counts: Callable[[Job], bool]) -> list[Job]:
        """Tasks that count and would be late, as the machine is now, even without those late before them.

        To be asked while no task runs.
        """
        end, late = self.grid.now, []
        for job in self.queue.jobs():
            took = sum(self.machine.service(job, job.data, self.grid.now))
            if counts(job) and end + took >= job.deadline:
                late.append(job)
            else:
                end += took
        return late
