"""The users of one workload: each of their jobs is made when it comes, and handed to whoever takes it in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import inf
from typing import Any

import mesa

from gridtune.model.agenda import ARRIVAL, Arrival
from gridtune.model.grid import Grid
from gridtune.model.job import Job
from gridtune.model.owed import Owed
from gridtune.model.record import Missing


class Submitter(mesa.Agent):
    """Submits the jobs of a workload, one at each call of `submit`, and then those that follow it.

    A task is owed from the moment that it is scheduled, and what follows others from the time of the log on.

    Args:
        grid: where it lives.
        name: of the workload.
        make: creates the job of a task that comes now.
        receive: takes the job in: `submit` of a site, or of a middleware.
        followers: tasks that come when another has ended, by the number of that one; their receiver tells
            of the end.

    Attributes:
        submitted: number of jobs so far.
        owed: tasks of which no job has been made.
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
        self.owed = Owed()
        for tasks in self._followers.values():
            for task in tasks:
                self.owed.add((task.submit, self._follow, task))
        self.name = name
        self.submitted = 0
        self._create = make
        self._receive = receive

    def schedule(self, tasks: Iterable[Any]) -> Iterator[Arrival]:
        """Tasks, in the order of their coming, as arrivals that submit them."""
        submit = self.submit
        return self.owed.schedule((task.submit, submit, task) for task in tasks)

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

    def _make(self, task: Any) -> Job:
        self.owed.made(task)
        return self._create(task)

    def _ended(self, number: int, _: Job | None) -> None:
        """A job has ended, for whatever reason: those who waited for it think, and submit what comes next."""
        for task in self._followers.pop(number, ()):
            self._grid.agenda.after(task.think, self._follow, task, ARRIVAL)

    def _follow(self, task: Any) -> None:
        self.owed.made(task)
        came = task._replace(submit=self._grid.now)
        self.owed.add((came.submit, self.submit, came))
        self.submit(came)

    def missing(self, now: float) -> list[Missing]:
        """What should have come by now (s) and has not; nobody misses what would have been withdrawn."""
        late = [task for task in self.owed.unmade(now) if task.withdrawn == inf]
        return [Missing(task.user, 1, task.runtime * task.processors, inf) for task in late]
