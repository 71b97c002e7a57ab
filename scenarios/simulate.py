"""From a scenario to a finished run."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from model.collector import without_collector
from model.grid import Grid
from model.metrics import Metric, summarise
from model.record import Record
from model.users import UserOutcome
from scenarios.classes import announce
from scenarios.scenario import Scenario
from scenarios.systems import SYSTEMS
from scenarios.trace_file import FromTrace


@dataclass(frozen=True)
class Run:
    """A finished run.

    Attributes:
        scenario: what was run.
        seed, replication: of its random streams.
        metrics: by name.
        users: outcomes by user.
        record: jobs, stays, signals, messages, events.
        end: simulated time at which it ended, s.
        slots: places where a job could run.
    """

    scenario: Scenario
    seed: int
    replication: int
    metrics: dict[str, Metric]
    users: dict[str, UserOutcome]
    record: Record
    end: float
    slots: int


def build(scenario: Scenario, seed: int = 1, replication: int = 0, *, keep_events: bool = False) -> Grid:
    """The grid of a scenario, ready to run.

    Args:
        scenario: what to build.
        seed: of the experiment, non-negative.
        replication: index of the run under that seed.
        keep_events: whether to record every transition of every job.

    Raises:
        ScenarioError: a file that the scenario names cannot be used.
    """
    spec = scenario.spec.standing
    grid = Grid(
        seed,
        replication,
        step_length=spec.step_length,
        horizon=spec.horizon or inf,
        sample_period=spec.record.sample_period,
        keep_events=keep_events,
    )
    grid.record.message_bin = spec.record.message_bin
    announce(grid, spec)
    for system in SYSTEMS:
        system.build(grid, spec)
    return grid


def simulate(scenario: Scenario, seed: int = 1, replication: int = 0, *, keep_events: bool = False) -> Run:
    """Build a scenario, run it to its end and sum it up; see `build`."""
    with build(scenario, seed, replication, keep_events=keep_events) as grid, without_collector():
        grid.run()
        readings = scenario.spec.metrics
        metrics, users = summarise(grid, allocated=readings.allocated, deserved=readings.deserved)
        return Run(scenario, seed, replication, metrics, users, grid.record, grid.now, grid.slots)


def notes(scenario: Scenario) -> list[str]:
    """What a user should know of where the workloads come from, a line each."""
    return [
        f"workload {workload.name}: {workload.provenance()}"
        for workload in scenario.spec.standing.workload
        if isinstance(workload, FromTrace)
    ]
