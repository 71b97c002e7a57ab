"""The users of one workload: each of their jobs is made when it comes, and handed to whoever takes it in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import inf
from typing import Any

import mesa

from gridtune.model.agenda import ARRIVAL
from gridtune.model.grid import Grid
from gridtune.model.job import Job
from gridtune.model.record import Missing


class Submitter(mesa.Agent):
    """Submits the jobs of a workload, one at each call of `submit`, and then those that follow it.

    Args:
        grid: where it lives.
        name: of the workload.
        make: creates the job of a task that comes now.
        receive: takes the job in: `submit` of a site, or of a middleware.
        followers: tasks that come when another has ended, by the number of that one; their receiver tells
            of the end.

    Attributes:
        submitted: number of jobs so far.
    """

    def __init__(
        self,
        grid: Grid,
        name: str,
        make: Callable[[Any], Job],
        receive: Callable[..., object],
        followers: Mapping[int, Sequence[Any]] | None = None,
    ) -> None:
        super().__init__(grid)
        self._grid = grid
        self._followers = dict(followers or {})
        self._unsent = {task.number: task for tasks in self._followers.values() for task in tasks}
        if self._unsent:
            grid.record.held_back.append(self._held_back)
        self.name = name
        self.submitted = 0
        self._make = make
        self._receive = receive

    def submit(self, task: Any) -> None:
        """A task comes."""
        self.submitted += 1
        if task.number not in self._followers:
            self._receive(self._make(task))
            return
        ended = partial(self._ended, task.number)
        if task.withdrawn < inf:  # nobody is told of what its owner does
            self._grid.agenda.after(task.withdrawn, ended, None, ARRIVAL)
        self._receive(self._make(task), ended)

    def _ended(self, number: int, _: Job | None) -> None:
        """A job has ended, for whatever reason: those who waited for it think, and submit what comes next."""
        for task in self._followers.pop(number, ()):
            self._grid.agenda.after(task.think, self._follow, task, ARRIVAL)

    def _follow(self, task: Any) -> None:
        del self._unsent[task.number]
        self.submit(task._replace(submit=self._grid.now))

    def _held_back(self, now: float) -> list[Missing]:
        """What has not come, and would have by now (s) if others had ended as in the log."""
        late = [task for task in self._unsent.values() if task.submit < now and task.withdrawn == inf]
        return [Missing(task.user, 1, task.runtime * task.processors, inf) for task in late]
