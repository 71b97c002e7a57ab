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
        self.submit(task._replace(submit=self._grid.now))
