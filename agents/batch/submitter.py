"""The users of one workload: each of their jobs is made when it comes, and handed to whoever takes it in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mesa

from gridtune.model.grid import Grid
from gridtune.model.job import Job


class Submitter(mesa.Agent):
    """Submits the jobs of a workload, one at each call of `submit`.

    Args:
        grid: where it lives.
        name: of the workload.
        make: creates the job of a task that comes now.
        receive: takes the job in: `submit` of a site, or of a middleware.

    Attributes:
        submitted: number of jobs so far.
    """

    def __init__(
        self, grid: Grid, name: str, make: Callable[[Any], Job], receive: Callable[[Job], object]
    ) -> None:
        super().__init__(grid)
        self.name = name
        self.submitted = 0
        self._make = make
        self._receive = receive

    def submit(self, task: Any) -> None:
        """A task comes."""
        self.submitted += 1
        self._receive(self._make(task))
