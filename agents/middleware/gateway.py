"""Where users hand in tasks to a middleware, and what it has to know to stop working."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import inf

import mesa

from gridtune.agents.middleware.trouble import Trouble
from gridtune.model.agenda import DECISION, OBSERVATION, Action
from gridtune.model.grid import Grid
from gridtune.model.job import FAILED, Job


class Gateway(mesa.Agent, ABC):
    """Takes tasks in and counts those that are still to be done.

    Attributes:
        tasks: all that were handed in.
        open: whether more will come.
        unfinished: tasks handed in that have not ended.
        hopeless: whether nothing can happen to these any more, in a run without horizon.
        trouble: what it learns from failures, and does about them.
    """

    def __init__(self, grid: Grid) -> None:
        super().__init__(grid)
        self.grid = grid
        self.tasks: list[Job] = []
        self.open = True
        self.unfinished = 0
        self.hopeless = False
        self._visits = 0  # of `every`, that are to come
        self.trouble = Trouble(grid)

    @property
    @abstractmethod
    def waiting(self) -> int:
        """Tasks that have not yet been brought to a site."""

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
        """A task has been completed or lost, or has failed and may be tried again."""
        if task.state is FAILED:
            self.grid.agenda.after(self.trouble.detection(), self._hear_of_failure, task, DECISION)
        else:
            self.unfinished -= 1

    def lost(self, task: Job) -> None:
        """A task was lost on its way to a site, which is found out later."""
        self.grid.agenda.after(self.trouble.detection(), self._try_again, task, DECISION)

    @abstractmethod
    def resubmit(self, task: Job) -> None:
        """Bring a task that has failed or was lost to a site once more."""

    def _hear_of_failure(self, task: Job) -> None:
        self.trouble.note(task.site)
        self._try_again(task)

    def _try_again(self, task: Job) -> None:
        wait = self.trouble.wait(task)
        if wait is not None:
            self.grid.agenda.after(wait, self.resubmit, task, DECISION)
            return
        if task.state is not FAILED:
            task.reject(self.grid.now)
        self.unfinished -= 1

    @property
    def at_work(self) -> bool:
        """Whether tasks are still to come or to end.

        The middleware's own messages would keep one waiting for ever who waits for an idle grid.
        """
        return not self.hopeless and (self.open or self.unfinished > 0)

    def every(self, period: float, actions: Sequence[Action], start: float = 0.0) -> None:
        """Do some things every `period` s from `start` (s), evenly spread over it, while there is work.

        They come after all else that happens at their instants, and end for good once it is `quiet`.
        """
        agenda, count = self.grid.agenda, len(actions)

        def enter(number: int) -> None:
            turn, k = divmod(number, count)
            self._visits += 1
            # Multiples of the period, not sums of its parts: no rounding creeps in.
            agenda.at(start + (turn + k / count) * period, visit, number, OBSERVATION)

        def visit(number: int) -> None:
            self._visits -= 1
            if self.at_work:
                actions[number % count](None)
                if not self.quiet:
                    enter(number + 1)

        enter(0)

    @property
    def quiet(self) -> bool:
        """Whether nothing but what recurs is to come, in a run without horizon."""
        return self.grid.horizon == inf and not self.grid.agenda.busy_beyond(self._visits)
