"""What configurations change against the baseline, with intervals.

By the posterior of all runs where these are enough to learn from. Else everything is paired over the
replications that both have in common: on validation seeds where both have them, else on those of the search,
which flatter the front.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gridtune.optimize.front.changes import Change, change
from gridtune.optimize.front.front import Front
from gridtune.optimize.front.number_format import amount, spoken
from gridtune.optimize.records.difference import Difference
from gridtune.optimize.records.evaluations import Evaluation, Objective
from gridtune.optimize.replication.paired import difference
from gridtune.optimize.search_space.constraints import feasible
from gridtune.scenarios.results.amounts import human

WIDER = 1.1  # times the half-interval of the paired test, at which the posterior says less than that test
ENOUGH = 5  # runs of two configurations, after which what was equal in all of them is called the same


def baseline(front: Front) -> Evaluation | None:
    """The evaluation of the scenario's own configuration; None if the search has none."""
    return front.archive.standing


def baseline_chance(front: Front) -> float | None:
    """Probability that no other evaluated configuration dominates the baseline; None if unknown."""
    number = front.archive.baseline
    for member in front.members:
        if member.evaluation.number == number:
            return member.probability_non_dominated
    standing = baseline(front)
    if standing is None or front.posterior is None or not feasible(standing, front.archive.constraints):
        return None
    return front.posterior.chances.get(standing.number)


def gains(front: Front, evaluation: Evaluation) -> tuple[Change, ...]:
    """What happens to each objective from the baseline to a configuration; empty without a baseline."""
    standing = baseline(front)
    if standing is None or standing.number == evaluation.number:
        return ()
    return between(front, standing, evaluation)


def between(front: Front, start: Evaluation, to: Evaluation) -> tuple[Change, ...]:
    """What happens to each objective from one configuration to another.

    By the posterior where it has both; paired over common replications else, and where validation runs of
    both say more than the posterior or contradict it (`_informed`).
    """
    before, after = start.objectives, to.objectives
    both = start.validated is not None and to.validated is not None
    if start.validated and to.validated:
        before, after = start.validated, to.validated
    paired = [change(o, before[o.name].values, after[o.name].values) for o in front.objectives]
    posterior = front.posterior
    if posterior is None or start.number not in posterior or to.number not in posterior:
        return tuple(paired)
    return tuple(
        one
        if one.difference.verdict == "equal"
        and one.difference.pairs >= ENOUGH
        and _same_in_all_runs(start, to, one.metric)
        else replace(
            one,
            difference=_informed(
                posterior.difference(to.number, start.number, one.metric, one.difference.pairs),
                one.difference if both else None,
            ),
        )
        for one in paired
    )


def _informed(model: Difference, paired: Difference | None) -> Difference:
    """What the model says of a difference, unless `ENOUGH` paired validation runs know better.

    They do if their interval is narrower by more than a tenth, or leaves out what the model expects.
    """
    if paired is None or paired.pairs < ENOUGH or paired.low is None or paired.high is None:
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


def in_words(one: Change) -> str:
    """A change of an objective with its interval, e.g. `unfairness lower by 0.12 (0.08 to 0.16)`."""
    gap = one.difference
    if gap.verdict == "equal":
        return f"{spoken(one.metric)} the same"
    way, sign = ("higher", 1) if gap.mean > 0 else ("lower", -1)
    text = f"{spoken(one.metric)} {way} by {amount(abs(gap.mean), one.metric)}"
    if gap.low is None or gap.high is None:
        return f"{text} (one run: noise is unknown)"
    if gap.low == gap.high:
        return f"{text} in every run"
    low, high = sorted((sign * gap.low, sign * gap.high))
    return f"{text} ({human(low, one.metric.unit)} to {human(high, one.metric.unit)})"


def told_changes(changes: Sequence[Change]) -> Iterator[str]:
    """What a configuration gains, what it costs, and what cannot be told, a line each."""
    unsure = [one for one in changes if not one.significant and one.difference.verdict != "equal"]
    groups = {
        "gains": [one for one in changes if one.significant and one.better],
        "costs": [one for one in changes if one.significant and not one.better],
        "no significant difference": unsure,
    }
    for kind, some in groups.items():
        if some:
            yield f"{kind}: {'; '.join(map(in_words, some))}"
    same = [spoken(one.metric) for one in changes if one.difference.verdict == "equal"]
    if same:
        yield f"the same in every run: {', '.join(same)}"
