"""From replications of a point to its evaluation."""

from __future__ import annotations

from collections.abc import Container, Sequence
from math import isfinite

from model.metrics import ALWAYS, METRICS, measured
from optimize.archive import Estimate, Evaluation, Failed, Objective
from optimize.cases import Case
from optimize.space import Point, Space
from optimize.study import Settings
from scenarios.errors import ScenarioError
from scenarios.replicate import Metrics, Summary, known_metrics, no_metric, summarise
from scenarios.simulate import build


def objectives_of(names: Sequence[str]) -> tuple[Objective, ...]:
    """Metrics as objectives, with their directions and units.

    Raises:
        ScenarioError: an unknown metric, one named twice, or none at all.
    """
    if not names:
        raise ScenarioError("a search needs at least one --objective")
    return tuple(
        Objective(name, METRICS[name].direction, METRICS[name].unit) for name in known_metrics(names)
    )


def check_measured(names: Sequence[str], space: Space, cases: Sequence[Case]) -> None:
    """Make sure that every case measures some metrics, at some point of the space at least.

    Cases are built for it, not run; that also defines metrics that only some scenarios have.

    Args:
        names: of the metrics.
        space: what is varied.
        cases: what is run.

    Raises:
        ScenarioError: an unknown metric, or a case that does not measure one.
    """
    if all(name in ALWAYS for name in names):
        return
    for case in cases:
        missing = list(names)
        known: list[str] = []
        for scenario in space.variants(case.scenario):
            with build(scenario, case.seed) as grid:
                known += [name for name in measured(grid) if name not in known]
            missing = [name for name in missing if name not in known]
            # Names that only a scenario defines, of its parts, have dots; others are no metrics at all.
            if not missing or any(name not in METRICS and "." not in name for name in missing):
                break
        for name in sorted(missing, key=METRICS.__contains__):
            if name in METRICS:
                raise ScenarioError(f"{name}: not measured in {case.name}, which measures {', '.join(known)}")
            raise no_metric(name)


def evaluated(
    number: int, values: Point, runs: Sequence[Sequence[Metrics]], settings: Settings, first: int = 0
) -> Evaluation | Failed:
    """The evaluation of a point; failed where what is traded off or constrained has no finite value in a run.

    An objective sums up the cases replication by replication, so that its standard error is that of the sum.

    Args:
        number: of its trial.
        values: what was set, by path.
        runs: metrics by case of the settings, then by replication.
        settings: what is traded off and constrained, and how cases are summed up.
        first: number of the first replication.
    """
    cases = settings.run_in
    summaries = [summarise(replications) for replications in runs]
    for case, summary in zip(cases, summaries, strict=True):
        fault = _fault(summary, settings, first)
        if fault:
            return Failed(number, values, fault if len(cases) == 1 else f"{case.name}: {fault}")
    estimates = {
        case.name: {name: estimate(summary[name]) for name in settings.watched}
        for case, summary in zip(cases, summaries, strict=True)
    }
    objectives = {
        objective.name: summed_up([summary[objective.name] for summary in summaries], objective, settings)
        for objective in settings.objectives
    }
    return Evaluation(
        number,
        values,
        objectives,
        _others(summaries, objectives),
        cases=estimates if len(cases) > 1 or settings.constraints else {},
    )


def summed_up(summaries: Sequence[Summary], objective: Objective, settings: Settings) -> Estimate:
    """An objective over the cases, one summary for each."""
    if len(summaries) == 1:
        return estimate(summaries[0])
    replications = zip(*(summary.values for summary in summaries), strict=True)
    return estimate(
        Summary.of([settings.robust.value(values, objective.direction) for values in replications])
    )


def estimate(summary: Summary) -> Estimate:
    """A summary as an estimate of an objective."""
    return Estimate(summary.mean, summary.standard_error, summary.values)


def _fault(summaries: dict[str, Summary], settings: Settings, first: int) -> str:
    for name in settings.watched:
        if name not in summaries:
            return f"{name} is not measured in this scenario"
        for replication, value in enumerate(summaries[name].values, start=first):
            if not isfinite(value):
                return f"{name} is {value} in replication {replication}"
    return ""


def _others(summaries: Sequence[dict[str, Summary]], objectives: Container[str]) -> dict[str, float]:
    """Means of all other metrics, over the cases that have them."""
    means: dict[str, list[float]] = {}
    for summary in summaries:
        for name in summary:
            if name not in objectives:
                means.setdefault(name, []).append(summary[name].mean)
    return {name: sum(values) / len(values) for name, values in means.items()}
