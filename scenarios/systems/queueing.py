"""The M/M/c queue: a batch site under Poisson arrivals and exponential service, to compare with theory."""

from __future__ import annotations

from gridtune.model.batch.policies import Fcfs
from gridtune.model.grid import Grid
from gridtune.scenarios.fields.laws import Exponential
from gridtune.scenarios.systems.batch import arrivals, place
from gridtune.scenarios.tables.batch import SiteSpec
from gridtune.scenarios.tables.schema import ScenarioSpec
from gridtune.scenarios.workloads.jobs import GeneratedJobs


def check(spec: ScenarioSpec) -> None:
    """Nothing can be missing."""


def build(grid: Grid, spec: ScenarioSpec) -> None:
    """Put the queue on the grid, if the scenario has one."""
    queue = spec.queue
    if queue is None:
        return
    site = place(grid, SiteSpec(name="queue", nodes=queue.servers, policy=Fcfs()))
    customers = GeneratedJobs(
        name="customer",
        kind="generated",
        count=queue.customers,
        interval=Exponential(law="exponential", mean=queue.mean_interval),
        runtime=Exponential(law="exponential", mean=queue.mean_service),
    )
    grid.agenda.feed(arrivals(grid, customers, site))
