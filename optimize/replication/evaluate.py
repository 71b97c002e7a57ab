"""From replications of a configuration to its evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    several = len(settings.run_in) > 1
    summaries: list[dict[str, Estimate]] = []
    estimates: dict[str, dict[str, Estimate]] = {}
    for case, replications in zip(settings.run_in, runs, strict=True):
        # Without units, which only the runs done now would have.
        summary = {name: replace(one, unit="") for name, one in summarise(replications).items()}
        # A class of jobs may be compared with the baseline's in some runs only.
        names = settings.watched(
            [name for name in replications[0] if all(name in run for run in replications)]
        )
        if fault := _fault(summary, names, first):
            return Failed(number, values, f"{case.name}: {fault}" if several else fault)
        summaries.append(summary)
        estimates[case.name] = {name: summary[name] for name in names}
    objectives = {one.name: _over_cases(summaries, one, settings.robust) for one in settings.objectives}
    others = dict.fromkeys(name for summary in summaries for name in summary if name not in objectives)
    means = {name: [summary[name].mean for summary in summaries if name in summary] for name in others}
    return Evaluation(
        number,
        values,
        objectives,
        {name: sum(each) / len(each) for name, each in means.items()},
        cases=estimates if several or settings.constraints else {},
    )


def _over_cases(summaries: Sequence[Mapping[str, Estimate]], objective: Objective, robust: str) -> Estimate:
    each = [summary[objective.name] for summary in summaries]
    if len(each) == 1:
        return each[0]
    replications = zip(*(one.values for one in each), strict=True)
    return Estimate.of([summed_up(values, objective.direction, robust) for values in replications])


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
