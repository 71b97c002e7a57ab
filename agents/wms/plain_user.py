"""A user without a scheduler of the user's own: each task is a job of the grid."""

from __future__ import annotations

from collections.abc import Sequence

import mesa

from gridtune.agents.wms.workers import Submits
from gridtune.model.grid import Grid
from gridtune.model.job import DONE, Job


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
