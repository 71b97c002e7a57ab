"""The M/M/c queue: a batch site under Poisson arrivals and exponential service, to compare with theory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from model.batch.policies import Fcfs
from model.grid import Grid
from scenarios.batch import SiteSpec, arrivals
from scenarios.job_workloads import GeneratedJobs
from scenarios.laws import Exponential
from scenarios.parts import Switchable

if TYPE_CHECKING:
    from scenarios.schema import ScenarioSpec


class QueueingSpec(Switchable):
    """An M/M/c queue (RR-5576, section 6.1)."""

    servers: int = Field(default=4, ge=1, description="c")
    load: float = Field(default=0.8, gt=0, description="arrival rate times mean service over c")
    mean_service: float = Field(default=4.0, gt=0, description="s")
    customers: int = Field(default=100_000, ge=1, description="of one run, which starts empty")


def check(spec: ScenarioSpec) -> None:
    """Nothing can be missing."""


def build(grid: Grid, spec: ScenarioSpec) -> None:
    """Put the queue on the grid, if the scenario has one."""
    queue = spec.queue
    if queue is None:
        return
    site = SiteSpec(name="queue", nodes=queue.servers, policy=Fcfs()).place(grid)
    gap = queue.mean_service / (queue.servers * queue.load)
    customers = GeneratedJobs(
        name="customer",
        kind="generated",
        count=queue.customers,
        interval=Exponential(law="exponential", mean=gap),
        runtime=Exponential(law="exponential", mean=queue.mean_service),
    )
    grid.agenda.feed(arrivals(grid, customers, site))
