"""What happens to metrics from one configuration to another, above all from the baseline.

By the posterior of all runs where these are enough to learn from. Else everything is paired over the
replications that both have in common: on validation seeds where both have them, else on those of the search,
which flatter the front.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gridtune.model.metrics.registry import METRICS
from gridtune.optimize.front.front import Front
from gridtune.optimize.records.change import Change
from gridtune.optimize.records.difference import Difference
from gridtune.optimize.records.evaluations import Evaluation, Objective, of_class
from gridtune.optimize.replication.paired import difference
from gridtune.optimize.search_space.constraints import feasible

WIDER = 1.1  # times the half-interval of the paired test, at which the posterior says less than that test
ENOUGH = 5  # runs of two configurations, after which what was equal in all of them is called the same
OTHERS = 5  # metrics beside the objectives that are shown
IDLE = {"events"}  # metrics that say nothing about a policy

Runs = Mapping[str, tuple[float, ...]]  # values by metric, one per replication


def change(metric: Objective, start: Sequence[float], to: Sequence[float]) -> Change:
    """What happens to one metric, over the replications that both configurations have."""
    pairs = min(len(start), len(to))
    gap = difference(to, start, metric.resolution)
    return Change(metric, sum(start[:pairs]) / pairs, sum(to[:pairs]) / pairs, gap)


def changes(objectives: Sequence[Objective], start: Runs, to: Runs) -> tuple[Change, ...]:
    """What happens to each objective that both configurations have."""
    return tuple(change(o, start[o.name], to[o.name]) for o in objectives if o.name in start and o.name in to)


def other_changes(
    objectives: Sequence[Objective], start: Runs, to: Runs, units: Mapping[str, str]
) -> tuple[Change, ...]:
    """Clear changes of metrics that are no objectives, the relatively largest first, at most `OTHERS`.

    Many metrics are looked at, so each must be the surer (Bonferroni).
    """
    known = {o.name for o in objectives} | IDLE
    others = [
        Objective(name, METRICS[name].direction if name in METRICS else "minimize", units.get(name, ""))
        for name in start
        if name not in known and not of_class(name)
    ]
    found = changes(others, start, to)
    clear = [one for one in found if one.difference.corrected(len(found)) == "clearly"]
    return tuple(sorted(clear, key=lambda one: (-one.relative, one.metric.name))[:OTHERS])


def baseline_chance(front: Front) -> float | None:
    """Probability that no other evaluated configuration dominates the baseline; None if unknown."""
    number = front.archive.baseline
    for member in front.members:
        if member.evaluation.number == number:
            return member.probability_non_dominated
    standing = front.archive.standing
    if standing is None or front.posterior is None or not feasible(standing, front.archive.constraints):
        return None
    return front.posterior.chances.get(standing.number)


def gains(front: Front, evaluation: Evaluation) -> tuple[Change, ...]:
    """What happens to each objective from the baseline to a configuration; empty without a baseline."""
    standing = front.archive.standing
    if standing is None or standing.number == evaluation.number:
        return ()
    return between(front, standing, evaluation)


def between(front: Front, start: Evaluation, to: Evaluation) -> tuple[Change, ...]:
    """What happens to each objective from one configuration to another.

    From the baseline to a recommendation by the runs that confirmed it. Else by the posterior where it has
    both; paired over common replications where it has not, and where validation runs of both say more than
    the posterior or contradict it (`_informed`).
    """
    for advice in front.archive.recommendations:
        if (start.number, to.number) == (front.archive.baseline, advice.number) and advice.replications:
            return tuple(advice.objectives[objective.name] for objective in front.objectives)
    before, after, both = start.objectives, to.objectives, False
    if start.validated and to.validated:
        before, after, both = start.validated, to.validated, True
    paired = [change(o, before[o.name].values, after[o.name].values) for o in front.objectives]
    posterior = front.posterior
    if posterior is None or start.number not in posterior or to.number not in posterior:
        return tuple(paired)
    made = []
    for one in paired:
        gap = one.difference
        same = gap.verdict == "equal" and gap.pairs >= ENOUGH and _same_in_all_runs(start, to, one.metric)
        if not same:
            model = posterior.difference(to.number, start.number, one.metric, gap.pairs)
            one = replace(one, difference=_informed(model, gap) if both else model)
        made.append(one)
    return tuple(made)


def _informed(model: Difference, paired: Difference) -> Difference:
    """What the model says of a difference, unless `ENOUGH` paired validation runs know better.

    They do if their interval is narrower by more than a tenth, or leaves out what the model expects.
    """
    if paired.pairs < ENOUGH or paired.low is None or paired.high is None:
        return model
    if model.half is None or paired.half is None:
        return model
    denied = not paired.low <= model.mean <= paired.high
    return paired if denied or paired.half * WIDER < model.half else model


def _same_in_all_runs(start: Evaluation, to: Evaluation, objective: Objective) -> bool:
    """Whether two configurations gave the same in every replication that both had; see `between`.

    What was always the same number, as of rare events, must have been so in runs of one configuration alone,
    too.
    """
    name, step = objective.name, objective.resolution
    parts = ([one.objectives, one.validated or {}] for one in (start, to))
    values = [tuple(part[name].values if part else () for part in both) for both in zip(*parts, strict=True)]
    equal = all(difference(after, before, step).mean == 0 for before, after in values if before and after)
    common = {value for before, after in values for value, _ in zip(before, after, strict=False)}
    return equal and (
        len(common) > 1 or common == {value for rows in values for row in rows for value in row}
    )
