"""What happens to metrics from one configuration to another, above all from the baseline.

By the posterior of all runs where these are enough to learn from. Else paired over common replications: on
validation seeds where both have them, else on those of the search, which flatter the front.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gridtune.model.metrics.registry import definition
from gridtune.optimize.front.front import Front, all_values
from gridtune.optimize.records.difference import Change, Difference, difference
from gridtune.optimize.records.evaluations import Evaluation, Failed, Objective, of_class, side_by_side
from gridtune.optimize.records.recommendation import Recommendation
from gridtune.optimize.replication.guards import failing

WIDER = 1.1  # times the half-interval of the paired test, at which the posterior says less than that test
ENOUGH = 5  # runs of two configurations, after which what was equal in all of them is called the same
DOUBT = 0.01  # over all metrics: p-value of the differences that are shown of others than objectives
OTHERS = 5  # metrics beside the objectives that are shown
IDLE = {"events"}  # metrics that say nothing about a policy

Runs = Mapping[str, Sequence[float]]  # values by metric, one per replication


def change(metric: Objective, start: Sequence[float], to: Sequence[float]) -> Change:
    """What happens to one metric, over the replications that both configurations have."""
    pairs = min(len(start), len(to))
    gap = difference(to, start, metric.resolution)
    return Change(metric, sum(start[:pairs]) / pairs, sum(to[:pairs]) / pairs, gap)


def changes(objectives: Sequence[Objective], start: Runs, to: Runs) -> tuple[Change, ...]:
    """What happens to each objective that both configurations have."""
    return tuple(change(o, start[o.name], to[o.name]) for o in objectives if o.name in start and o.name in to)


def other_changes(objectives: Sequence[Objective], start: Runs, to: Runs) -> tuple[Change, ...]:
    """Clear changes (by Bonferroni) of other metrics, the relatively largest first, at most `OTHERS`."""
    known = {o.name for o in objectives} | IDLE
    meanings = {name: definition(name) for name in start if name not in known and not of_class(name)}
    others = [
        Objective(name, one.direction, one.unit) if one else Objective(name, "minimize")
        for name, one in meanings.items()
    ]
    found = changes(others, start, to)
    clear = [
        one
        for one in found
        if one.difference.p_value is not None and one.difference.p_value * len(found) <= DOUBT
    ]
    return tuple(sorted(clear, key=lambda one: (-one.relative, one.metric.name))[:OTHERS])


def modelled(front: Front, *configurations: Evaluation | Failed) -> bool:
    """Whether the posterior knows the configurations."""
    return front.posterior is not None and all(one.number in front.posterior for one in configurations)


def confirmed(front: Front, start: Evaluation, to: Evaluation) -> Recommendation | None:
    """The recommendation whose confirmation has compared these two; None if none has."""
    known = front.archive.recommendations if start.number == front.archive.baseline else ()
    return next((one for one in known if one.number == to.number), None)


def gains(front: Front, evaluation: Evaluation) -> tuple[Change, ...]:
    """What happens to each objective from the baseline to a configuration; empty without a baseline."""
    standing = front.archive.standing
    if standing is None or standing.number == evaluation.number:
        return ()
    return between(front, standing, evaluation)


def bearable(front: Front, evaluation: Evaluation) -> bool:
    """Whether a configuration makes no objective unbearably worse, and no class of jobs fail."""
    start = front.archive.standing
    if start is None or start.number not in front.means or failing(evaluation.metrics, start.metrics):
        return False
    return not any(front.unbearable(one) for one in gains(front, evaluation))


def between(front: Front, start: Evaluation, to: Evaluation) -> tuple[Change, ...]:
    """What happens to each objective from one configuration to another.

    From the baseline to a recommendation by the runs that confirmed it. Else by the posterior; paired over
    common replications where it has not both, and where validation runs of both know better (`_informed`).
    """
    if advice := confirmed(front, start, to):
        return tuple(advice.objectives[objective.name] for objective in front.objectives)
    both = bool(start.validated and to.validated)
    before, after = side_by_side((start, to))
    posterior = front.posterior if modelled(front, start, to) else None
    made = []
    for objective in front.objectives:
        name = objective.name
        one = change(objective, before[name].values, after[name].values)
        gap = one.difference
        same = gap.equal and gap.pairs >= ENOUGH
        if posterior is not None and not (same and (both or _same_in_all_runs(start, to, name))):
            apart = front.value(to.number, objective) - front.value(start.number, objective)
            model = posterior.difference(to.number, start.number, objective, gap.pairs, apart)
            gap = _informed(model, gap) if both else model
            if gap is model:
                gap = model.times(posterior.factor_of(objective))
            one = replace(one, difference=gap)
        made.append(one)
    return tuple(made)


def _informed(model: Difference, paired: Difference) -> Difference:
    """What the model says, unless the interval of `ENOUGH` pairs is much narrower, or leaves that out."""
    if paired.pairs < ENOUGH or paired.half is None or model.half is None:
        return model
    denied = abs(model.mean - paired.mean) > paired.half
    return paired if denied or paired.half * WIDER < model.half else model


def _same_in_all_runs(start: Evaluation, to: Evaluation, name: str) -> bool:
    """Of equal configurations, whether they vary or, as of rare events, give one number in all their runs."""
    common = set(start.objectives[name].values[: len(to.objectives[name].values)])
    return len(common) > 1 or common == {*all_values(start, name), *all_values(to, name)}
