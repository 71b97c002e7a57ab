"""Objectives as asked for, and checks that a scenario has what a search names, before anything is run."""

from __future__ import annotations

from collections.abc import Sequence

from gridtune.model.metrics.registry import ALWAYS, METRICS
from gridtune.model.metrics.summary import measured
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.search_space.cases import Case
from gridtune.optimize.search_space.constraints import constraints_of
from gridtune.optimize.search_space.space import Space
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.execution.replicate import known_metrics, no_metric
from gridtune.scenarios.simulation.simulate import build


def objectives_of(names: Sequence[str]) -> tuple[Objective, ...]:
    """Metrics as objectives; a `ScenarioError` of an unknown one, one named twice, or none at all."""
    if not names:
        raise ScenarioError("a search needs at least one --objective")
    known = {name: METRICS[name] for name in known_metrics(names)}
    return tuple(Objective(name, one.direction, one.unit, one.resolution) for name, one in known.items())


def check_measured(names: Sequence[str], space: Space, cases: Sequence[Case]) -> None:
    """Raise a `ScenarioError` unless every case measures some metrics, at some configuration of the space.

    Cases are built for it, not run; that also defines metrics that only some scenarios have.
    """
    if all(name in ALWAYS for name in names):
        return
    for case in cases:
        known: dict[str, None] = {}
        for scenario in space.variants(case.scenario):
            with build(scenario, case.seed) as grid:
                known |= dict.fromkeys(measured(grid))
            missing = [name for name in names if name not in known]
            # Names that only a scenario defines, of its parts, have dots; others are no metrics at all.
            if not missing or any(name not in METRICS and "." not in name for name in missing):
                break
        for name in sorted(missing, key=METRICS.__contains__):
            if name in METRICS:
                raise ScenarioError(f"{name}: not measured in {case.name}, which measures {', '.join(known)}")
            raise no_metric(name)


def check(scenario: Scenario) -> None:
    """Raise a `ScenarioError` unless what a scenario's `[search]` names is there; nothing is built or run.

    Metrics that only a part of a scenario defines have dots in their names, and are known when it is built.
    """
    if (spec := scenario.spec.search) is not None:
        Space.of(scenario).check(scenario)
        for name in [*spec.objectives, *(one.metric for one in constraints_of(spec.require))]:
            if name not in METRICS and "." not in name:
                raise no_metric(name)
