"""What a service costs, as a scenario writes it: a time per request, threads, a search through what waits."""

from __future__ import annotations

from collections.abc import Callable

from gridtune.agents.infrastructure.service import Service, none_waiting
from gridtune.model.grid import Grid
from gridtune.scenarios.fields.laws import Constant, Law, draws
from gridtune.scenarios.fields.table import Table, number


class ServiceSpec(Table):
    """A service that takes time: requests wait, first come first served, until one of its threads is free."""

    time: Law = number(Constant(value=0.0), "s", "s that a request takes")
    per_waiting: float = number(
        0.0,
        "s",
        "s that it takes on top for each job that waits there: the cost of a search through them",
        ge=0,
    )
    threads: int = number(1, "count", "requests that are served at once", ge=1)

    @property
    def free(self) -> bool:
        """Whether requests cost nothing."""
        return self.per_waiting == 0 and isinstance(self.time, Constant) and self.time.value == 0

    def place(self, grid: Grid, name: str, waiting: Callable[[], int] = none_waiting) -> Service | None:
        """Put the service on a grid; None where it costs nothing.

        Args:
            grid: where it is to live.
            name: of it.
            waiting: counts the jobs that it keeps waiting.
        """
        if self.free:
            return None
        time = draws(self.time, grid.streams.stream(f"service:{name}")).__next__
        return Service(grid, name, time, per_waiting=self.per_waiting, waiting=waiting, threads=self.threads)


AT_ONCE = ServiceSpec()
