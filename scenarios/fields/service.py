"""What a service costs, as a scenario writes it: a time per request, threads, a search through what waits."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import Field

from gridtune.agents.infrastructure.service import Service, none_waiting
from gridtune.model.grid import Grid
from gridtune.scenarios.fields.laws import Constant, Law, draws
from gridtune.scenarios.fields.table import Table, says


class ServiceSpec(Table):
    """A service that takes time: requests wait, first come first served, until one of its threads is free."""

    time: Law = Field(
        default=Constant(value=0.0), json_schema_extra=says("s"), description="s that a request takes"
    )
    per_waiting: float = Field(
        default=0.0,
        ge=0,
        json_schema_extra=says("s"),
        description="s that it takes on top for each job that waits there: the cost of a search through them",
    )
    threads: int = Field(
        default=1, ge=1, json_schema_extra=says("count"), description="requests that are served at once"
    )

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
