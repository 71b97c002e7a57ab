"""What is asked of a search, checked as a whole before anything is run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gridtune.model.metrics.registry import METRICS
from gridtune.optimize.records.evaluations import Constraint, Objective
from gridtune.optimize.search_space.cases import MEAN, Case, cases_of, check_paths, share_of
from gridtune.optimize.search_space.constraints import constraints_of
from gridtune.optimize.search_space.objectives import check_measured, objectives_of
from gridtune.optimize.search_space.space import Space
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.execution.replicate import no_metric
from gridtune.scenarios.tables.search import SearchSpec


@dataclass(frozen=True)
class Problem:
    """What is varied, in which cases, for which objectives and under which constraints.

    Attributes:
        space: what is varied.
        objectives: what is traded off.
        cases: in which every configuration is evaluated; empty for the scenario and the seed alone.
        robust: how an objective sums up the cases.
        constraints: what a configuration must keep, in every case.
        notes: what a user should know, a line each.
    """

    space: Space
    objectives: tuple[Objective, ...]
    cases: tuple[Case, ...]
    robust: str
    constraints: tuple[Constraint, ...]
    notes: tuple[str, ...]


def problem_of(
    scenario: Scenario,
    seed: int,
    *,
    objectives: Sequence[str] = (),
    require: Sequence[str] = (),
    vary: Sequence[str] = (),
    others: Sequence[Scenario] = (),
    seeds: Sequence[int] = (),
    robust: str | None = None,
) -> Problem:
    """Check what is asked; see `optimize.search.search` for the arguments.

    Raises:
        ScenarioError: what is asked for cannot be done, and why.
    """
    spec = scenario.spec.search or SearchSpec()
    space = Space.of(scenario, vary)
    notes = [*space.check(scenario), *(note for other in others for note in check_paths(space, other))]
    cases = cases_of([scenario, *others], seeds, seed)
    if robust is not None and len(cases) == 1:
        raise ScenarioError(f"--robust {robust}: there is one case only; --scenario or --seeds adds others")
    share_of(robust or MEAN)
    wanted, required = objectives or spec.objectives, require or spec.require
    constrained = [one.metric for one in constraints_of(required)]
    check_measured([*wanted, *constrained], space, cases)
    return Problem(
        space,
        objectives_of(wanted),
        cases if others or seeds else (),
        robust or MEAN,
        constraints_of(required),  # again: the units of some metrics are known only now
        tuple(f"{note}; such configurations will fail" for note in notes),
    )


def check(scenario: Scenario) -> None:
    """Make sure that what a scenario's `[search]` names is there, without building or running anything.

    Metrics that only a part of a scenario defines have dots in their names, and are known when it is built.

    Raises:
        ScenarioError: a path or choice that the scenario does not have, or no such metric.
    """
    spec = scenario.spec.search
    if spec is None:
        return
    Space.of(scenario).check(scenario)
    names = [*spec.objectives, *(one.metric for one in constraints_of(spec.require))]
    for name in names:
        if name not in METRICS and "." not in name:
            raise no_metric(name)
