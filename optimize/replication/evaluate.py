"""From replications of a configuration to its evaluation."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from math import inf, isfinite

from gridtune.optimize.records.evaluations import Estimate, Evaluation, Failed, Objective
from gridtune.optimize.search_space.cases import summed_up
from gridtune.optimize.search_space.settings import Settings
from gridtune.optimize.search_space.space import Configuration
from gridtune.scenarios.execution.replicate import Metrics, summarise


def evaluated(
    number: int, values: Configuration, runs: Sequence[Sequence[Metrics]], settings: Settings, first: int = 0
) -> Evaluation | Failed:
    """The evaluation of a configuration; failed if an objective or constraint is not finite in a run.

    An objective sums up the cases replication by replication, so that its standard error is that of the sum.
    """
    cases = settings.run_in
    # Without units, which only the runs done now would have.
    summaries = [
        {name: replace(one, unit="") for name, one in summarise(replications).items()}
        for replications in runs
    ]
    watched = [settings.watched(_in_all(replications)) for replications in runs]
    for case, summary, names in zip(cases, summaries, watched, strict=True):
        fault = _fault(summary, names, first)
        if fault:
            return Failed(number, values, fault if len(cases) == 1 else f"{case.name}: {fault}")
    estimates = {
        case.name: {name: summary[name] for name in names}
        for case, summary, names in zip(cases, summaries, watched, strict=True)
    }
    objectives = {
        objective.name: _over_cases([summary[objective.name] for summary in summaries], objective, settings)
        for objective in settings.objectives
    }
    return Evaluation(
        number,
        values,
        objectives,
        _others(summaries, objectives),
        cases=estimates if len(cases) > 1 or settings.constraints else {},
    )


def _over_cases(each: Sequence[Estimate], objective: Objective, settings: Settings) -> Estimate:
    if len(each) == 1:
        return each[0]
    replications = zip(*(one.values for one in each), strict=True)
    return Estimate.of([summed_up(values, objective.direction, settings.robust) for values in replications])


def _in_all(runs: Sequence[Metrics]) -> list[str]:
    """Metrics that all runs have: a class of jobs may be compared with the baseline's in some only."""
    return [name for name in runs[0] if all(name in run for run in runs)]


def _fault(summaries: Mapping[str, Estimate], watched: Sequence[str], first: int) -> str:
    for name in watched:
        if name not in summaries:
            return f"{name} is not measured in this scenario"
        for replication, value in enumerate(summaries[name].values, start=first):
            if value == inf:
                return f"{name} is infinite in replication {replication}: work was lost or left over"
            if not isfinite(value):
                return f"{name} is {value} in replication {replication}"
    return ""


def _others(summaries: Sequence[Mapping[str, Estimate]], objectives: Container[str]) -> dict[str, float]:
    """Means of all other metrics, over the cases that have them."""
    means: dict[str, list[float]] = {}
    for summary in summaries:
        for name in summary:
            if name not in objectives:
                means.setdefault(name, []).append(summary[name].mean)
    return {name: sum(values) / len(values) for name, values in means.items()}
