"""Where users hand in tasks to a middleware, and what it has to know to stop working."""

from __future__ import annotations

import mesa

from model.agenda import Action
from model.grid import Grid
from model.job import Job


class Entrance(mesa.Agent):
    """Takes tasks in and counts those that are still to be done.

    Attributes:
        tasks: all that were handed in.
        open: whether more will come.
        unfinished: tasks handed in that have not ended.
    """

    def __init__(self, grid: Grid) -> None:
        super().__init__(grid)
        self.grid = grid
        self.tasks: list[Job] = []
        self.open = True
        self.unfinished = 0

    @property
    def waiting(self) -> int:
        """Tasks that have not yet been brought to a site."""
        raise NotImplementedError

    def accept(self, task: Job) -> None:
        """A task is handed in."""
        self.tasks.append(task)
        self.unfinished += 1

    def refuse(self, task: Job) -> None:
        """No site will ever run the task."""
        task.reject(self.grid.now)
        self.grid.record.counters["refused"] += 1
        self.unfinished -= 1

    def ended(self, task: Job) -> None:
        """A task has been completed or lost."""
        self.unfinished -= 1

    def every(self, period: float, action: Action, start: float, order: int) -> None:
        """Do something every `period` s from `start` (s), until all tasks have come and ended.

        The middleware's own messages would keep one waiting for ever who waits for an idle grid.
        """
        agenda = self.grid.agenda

        def tick(count: int) -> None:
            if self.open or self.unfinished:
                action(None)
                agenda.at(start + count * period, tick, count + 1, order)

        agenda.at(start, tick, 1, order)
