"""From a scenario to a finished run."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from math import inf

from pydantic import BaseModel

from gridtune.model.garbage_collection import without_garbage_collection
from gridtune.model.grid import Grid
from gridtune.model.metrics.custom import CustomMetric, MetricError, custom_metrics
from gridtune.model.metrics.summary import summarise
from gridtune.model.plugins import guarded, place
from gridtune.model.policy import Policy, PolicyError, is_own
from gridtune.model.shown_job import protect, shown_job
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.results.run import Run
from gridtune.scenarios.simulation.classes import announce
from gridtune.scenarios.systems.registry import SYSTEMS
from gridtune.scenarios.systems.replay import sized
from gridtune.scenarios.tables.schema import ScenarioSpec


def build(scenario: Scenario, seed: int = 1, replication: int = 0, *, keep_events: bool = False) -> Grid:
    """The grid of a scenario, ready to run.

    Args:
        scenario: what to build.
        seed: of the experiment, non-negative.
        replication: index of the run under that seed.
        keep_events: whether to record every transition of every job.

    Raises:
        ScenarioError: a file that the scenario names cannot be used, or a metric of the user's own.
    """
    spec = sized(scenario.active)
    grid = Grid(
        seed,
        replication,
        step_length=spec.step_length,
        horizon=spec.horizon or inf,
        sample_period=spec.record.sample_period,
        keep_events=keep_events,
    )
    furnish(grid, scenario, spec)
    return grid


def furnish(grid: Grid, scenario: Scenario, spec: ScenarioSpec) -> None:
    """Put everything that stands in a scenario on an empty grid.

    Args:
        grid: made for the scenario.
        scenario: what to build.
        spec: what of it stands in the grid (`sized`).

    Raises:
        ScenarioError: see `build`.
    """
    grid.record.message_bin = spec.record.message_bin
    grid.record.custom = _custom(scenario)
    for policy in _foreign(spec):
        protect(policy)
        grid.record.make_job = shown_job
    announce(grid, spec)
    for system in SYSTEMS:
        system.build(grid, spec)


def simulate(
    scenario: Scenario,
    seed: int = 1,
    replication: int = 0,
    *,
    keep_events: bool = False,
    patience: float = inf,
) -> Run:
    """Build a scenario, run it to its end and sum it up; see `build` and, for `patience`, `Grid.run`."""
    with (
        without_garbage_collection(),  # until the grid is closed: then it has only the jobs left to walk
        guarded() if scenario.document.get("plugins") else nullcontext(),
        build(scenario, seed, replication, keep_events=keep_events) as grid,
    ):
        try:
            grid.patience = patience
            grid.run()
        except (TypeError, AttributeError, LookupError, ValueError, ArithmeticError) as error:
            _blame(scenario, error)
            raise
        readings = scenario.spec.metrics
        metrics, users = summarise(
            grid,
            allocated=readings.allocated,
            deserved=readings.deserved,
            shortest=readings.slowdown_bound,
        )
        run = Run(scenario, seed, replication, metrics, users, grid.record, grid.now, grid.slots)
        grid.scrap()  # nobody else has seen it
        return run


def _blame(scenario: Scenario, error: Exception) -> None:
    """Name the policies that are not gridtune's: what one returns may fail where gridtune uses it.

    Raises:
        PolicyError: there are some, and the error arose in code of gridtune.
    """
    modules = {one.kind: type(one).__module__ for one in _foreign(scenario.active)}
    used = [f"{kind} of {getattr(sys.modules.get(name), '__file__', name)}" for kind, name in modules.items()]
    if used and is_own(type(error)) and not place(error):  # ours say it themselves
        what = " ".join(f"{type(error).__name__}: {error}".split())
        raise PolicyError(f"{what}; perhaps from what a policy returned: {', '.join(used)}") from error


def _foreign(at: object) -> Iterator[Policy]:
    if isinstance(at, Policy) and is_own(type(at)):
        yield at
    parts = vars(at).values() if isinstance(at, BaseModel) else at if isinstance(at, list | tuple) else ()
    for part in parts:
        yield from _foreign(part)


def _custom(scenario: Scenario) -> Mapping[str, CustomMetric]:
    """The metrics of users' own that the scenario measures."""
    try:
        return custom_metrics([str((scenario.base / name).resolve()) for name in scenario.spec.plugins])
    except MetricError as error:
        raise ScenarioError(f"{scenario.name}: {error}") from error
