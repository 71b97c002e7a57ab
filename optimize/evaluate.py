"""From replications of a point to its evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from model.metrics import METRICS, Metric
from optimize.archive import Estimate, Evaluation, Objective
from optimize.space import Point
from optimize.study import Failed
from scenarios.errors import ScenarioError
from scenarios.replicate import Summary, known_metrics, summarise


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


def evaluated(
    number: int, values: Point, runs: Sequence[dict[str, Metric]], objectives: Sequence[Objective]
) -> Evaluation | Failed:
    """The evaluation of a point; failed if an objective has no finite value in some replication.

    Args:
        number: of its trial.
        values: what was set, by path.
        runs: metrics of its replications.
        objectives: what is traded off.
    """
    summaries = summarise(runs)
    for objective in objectives:
        summary = summaries.get(objective.name)
        if summary is None:
            return Failed(number, values, f"{objective.name} is not measured in this scenario")
        for replication, value in enumerate(summary.values):
            if not isfinite(value):
                return Failed(number, values, f"{objective.name} is {value} in replication {replication}")
    names = [objective.name for objective in objectives]
    return Evaluation(
        number,
        values,
        {name: estimate(summaries[name]) for name in names},
        {name: summary.mean for name, summary in summaries.items() if name not in names},
    )


def estimate(summary: Summary) -> Estimate:
    """A summary as an estimate of an objective."""
    return Estimate(summary.mean, summary.standard_error, summary.values)
