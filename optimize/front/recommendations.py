"""Which point of a front to run: recommendations, each with its reason in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from gridtune.optimize.front.against_today import between, worth_it
from gridtune.optimize.front.changes import Change
from gridtune.optimize.front.front import Front, Member
from gridtune.optimize.front.number_format import amount, measured, spoken, with_unit
from gridtune.optimize.inference.judgement import Loss
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.replication.compare import shares
from gridtune.optimize.replication.reliability import Reliability, reliability
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.results.amounts import human_difference

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float64]]

TOLERANCE = 1.0
RISK = 0.05  # probability that a recommended point is beaten by a loss that matters
ONLY, ALONE = "The only point that is kept.", "The only candidate."


@dataclass(frozen=True)
class Recommendation:
    """A point worth running.

    Attributes:
        name: `lexicographic`, `compromise` or `best OBJECTIVE`.
        member: the point.
        reason: one or two sentences: why this point, and what it gains and loses against another.
        loss: what it may cost that another point beats it in truth; None where nothing can be said of that.
    """

    name: str
    member: Member
    reason: str
    loss: Loss | None = None

    def __repr__(self) -> str:
        return f"Recommendation({self.name!r}, point {self.member.evaluation.number})"


@dataclass(frozen=True)
class _Choice:
    name: str
    member: Member
    why: str


def recommend(
    front: Front, *, order: Sequence[str] | None = None, tolerance: float = TOLERANCE
) -> list[Recommendation]:
    """The lexicographic choice, the compromise and the best of each objective.

    Only members that stay non-dominated and are better than today's setting in some objective beyond noise
    are candidates; see `optimize.front.against_today.worth_it`. Of these, where there are any, those that are
    beaten by a loss that matters with a probability of no more than `RISK`. Today's setting is a candidate
    beside them as long as it is kept: where a rule chooses it, that is a recommendation to keep it.
    There is no best of an objective that tells points of the front apart no better than chance.

    Args:
        front: what to choose from; where nothing is better than today's setting there is no recommendation.
        order: names of the objectives, the most important first; left out, their order in the study.
        tolerance: see `lexicographic`.

    Raises:
        ScenarioError: `order` names something that is no objective of the study.
    """
    objectives = ordered(front.objectives, order)
    today = [member for member in front.kept if member.evaluation.number == front.archive.today]
    better = worth_it(front, [member for member in front.kept if member not in today])
    if not better:
        return []
    losses = {} if front.judgement is None else front.judgement.losses(_numbers([*better, *today]))
    candidates = [*_unbeaten(better, losses), *today]
    choices = [
        _lexicographic_choice(front, candidates, objectives, tolerance),
        _compromise_choice(front, candidates, objectives),
    ]
    unknown = silent(front)
    choices += [
        _best_choice(front, candidates, objective, objectives)
        for objective in objectives
        if objective.name not in unknown or len(objectives) == 1
    ]
    if len(objectives) == 1:  # the three rules agree, one is enough
        choices = choices[-1:]
    return [
        Recommendation(
            choice.name,
            choice.member,
            f"{choice.why} {_contrast(front, choice, choices, candidates, objectives)}",
            losses.get(choice.member.evaluation.number),
        )
        for choice in choices
    ]


def reliabilities(front: Front) -> dict[str, Reliability | None]:
    """How far each objective tells the points of the front apart, on the values that the front rests on."""
    return {
        o.name: reliability([member.estimates[o.name].values for member in front.kept])
        for o in front.objectives
    }


def silent(front: Front) -> dict[str, float]:
    """Objectives that do not tell the points of the front apart, no two of them either.

    Returns:
        By its name the probability that equal points would differ as much.
    """
    doubts = {
        name: known.doubt
        for name, known in reliabilities(front).items()
        if known is not None and not known.tells
    }
    if not doubts:
        return {}
    evaluations = [member.evaluation for member in front.kept]
    pairs = [between(front, *pair) for pair in combinations(evaluations, 2)]
    told = {one.metric.name for changes in pairs for one in changes if one.told}
    return {name: doubt for name, doubt in doubts.items() if name not in told}


def _unbeaten(candidates: Sequence[Member], losses: Mapping[int, Loss]) -> Sequence[Member]:
    """Candidates that hardly anything beats by much, as far as there are any."""
    sure = [
        member
        for member in candidates
        if (loss := losses.get(member.evaluation.number)) is not None and loss.probability <= RISK
    ]
    return sure or candidates


def _numbers(members: Sequence[Member]) -> list[int]:
    return [member.evaluation.number for member in members]


def grouped(advice: Sequence[Recommendation]) -> list[list[Recommendation]]:
    """Recommendations of one point together, in the order of the first of each."""
    found: dict[int, list[Recommendation]] = {}
    for item in advice:
        found.setdefault(item.member.evaluation.number, []).append(item)
    return list(found.values())


def ordered(objectives: Sequence[Objective], names: Sequence[str] | None) -> list[Objective]:
    """The objectives, those named first in that order, then the others.

    Raises:
        ScenarioError: a name that is no objective.
    """
    known = {objective.name: objective for objective in objectives}
    wanted = list(dict.fromkeys(names or ()))
    for name in wanted:
        if name not in known:
            raise ScenarioError(f"{name}: not an objective of this study, which has {', '.join(known)}")
    return [known[name] for name in wanted] + [o for o in objectives if o.name not in wanted]


def lexicographic(
    front: Front,
    candidates: Sequence[Member],
    objectives: Sequence[Objective],
    tolerance: float = TOLERANCE,
) -> tuple[Member, list[int]]:
    """The best in the first objective, among equals the best in the second, and so on.

    Two points whose difference lies within the noise are equals: a point stays in the race if it is
    behind the best by no more than `tolerance` standard errors of their difference (see
    `optimize.front.against_today.between`). The last objective decides by its plain mean. With a single
    replication only equal values are equals.

    Args:
        front: that they are from.
        candidates: at least one.
        objectives: the most important first.
        tolerance: in standard errors; 0 for the strict rule of the paper.

    Returns:
        The choice, and how many candidates were left after each objective.

    Source: RR-7959, section 3.3 (unhappy users, then unfairness, then completed requests); the
        one-standard-error rule of L. Breiman et al., Classification and Regression Trees, 1984, section 3.4.
    """
    left, remaining = list(candidates), []
    for objective in objectives:
        column = front.costs(left, [objective])[:, 0].tolist()
        best = left[column.index(min(column))]
        noise = 0.0 if objective is objectives[-1] else tolerance
        left = [
            member
            for member, cost in zip(left, column, strict=True)
            if cost - min(column) <= noise * _error(front, best, member, objective)
        ]
        remaining.append(len(left))
    values = front.costs(left, objectives)
    return min(zip(values.tolist(), range(len(left)), left, strict=True))[-1], remaining


def compromise(
    front: Front, candidates: Sequence[Member], objectives: Sequence[Objective]
) -> tuple[Member, float]:
    """The knee: the point whose largest loss over all objectives is the least.

    Losses are differences from the best of the front, as shares of its span in that objective; a small share
    of their sum breaks ties (augmented achievement function, equal weights).

    Args:
        front: whose spans count.
        candidates: members of it to choose from, at least one.
        objectives: what is traded off.

    Returns:
        The point, and its largest loss in [0, 1].

    Source: A. Wierzbicki, The Use of Reference Objectives in Multiobjective Optimization, 1980.
    """
    import numpy as np
    from pymoo.decomposition.aasf import AASF

    losses = _losses(front, candidates, objectives)
    scores = AASF(eps=0.0, rho=1e-3).do(losses, np.ones(len(objectives)), _type="many_to_one")
    chosen = int(np.argmin(scores))
    return candidates[chosen], float(losses[chosen].max())


def _losses(front: Front, candidates: Sequence[Member], objectives: Sequence[Objective]) -> Array:
    """Differences from the best of the front, as shares of its span in each objective."""
    return shares(front.costs(candidates, objectives), front.costs(front.kept, objectives))


def _error(front: Front, start: Member, to: Member, objective: Objective) -> float:
    """Standard error of the difference between two members in an objective; 0 where it is not known."""
    if start is to:
        return 0.0
    changes = between(front, start.evaluation, to.evaluation)
    return changes[front.objectives.index(objective)].difference.standard_error or 0.0


def _lexicographic_choice(
    front: Front, candidates: Sequence[Member], objectives: Sequence[Objective], tolerance: float
) -> _Choice:
    member, remaining = lexicographic(front, candidates, objectives, tolerance)
    steps, before = [], len(candidates)
    for objective, left in zip(objectives, remaining, strict=True):
        if before == 1:
            break
        equals = (
            ""
            if objective is objectives[-1] or left == 1
            else f", {left} of {before} points level with the best"
        )
        steps.append(f"the {_superlative(objective)} ({_value(front, member, objective)}{equals})")
        before = left
    whose = "" if len(candidates) == len(front.kept) else f"Of {len(candidates)} candidates "
    why = f"{whose}first {', then '.join(steps)}."
    return _Choice("lexicographic", member, why[0].upper() + why[1:] if steps else _only(front))


def _compromise_choice(
    front: Front, candidates: Sequence[Member], objectives: Sequence[Objective]
) -> _Choice:
    member, loss = compromise(front, candidates, objectives)
    if len(candidates) == 1:
        return _Choice("compromise", member, _only(front))
    what = "point" if len(candidates) == len(front.kept) else "candidate"
    if loss >= 1:
        why = f"Every {what} gives up all of the front's span in some objective: none lies between."
        return _Choice("compromise", member, why)
    level = int((_losses(front, candidates, objectives).max(axis=1) <= loss).sum()) > 1
    others = f"no more than any other {what}" if level else f"less than every other {what}"
    why = f"Gives up at most {loss:.0%} of the front's span in any objective, {others}."
    return _Choice("compromise", member, why)


def _best_choice(
    front: Front, candidates: Sequence[Member], objective: Objective, objectives: Sequence[Objective]
) -> _Choice:
    others = [other for other in objectives if other is not objective]
    member, _ = lexicographic(front, candidates, [objective, *others], 0.0)
    best = front.costs([member], [objective])[0, 0] <= front.costs(front.kept, [objective]).min()
    whose = "the front" if best else f"{len(candidates)} candidates"
    why = f"The {_superlative(objective)} of {whose}: {_value(front, member, objective)}."
    return _Choice(f"best {objective.name}", member, why if len(candidates) > 1 else _only(front))


def _only(front: Front) -> str:
    """Why a single candidate is recommended."""
    return ONLY if len(front.kept) == 1 else ALONE


def _contrast(
    front: Front,
    choice: _Choice,
    choices: Sequence[_Choice],
    candidates: Sequence[Member],
    objectives: Sequence[Objective],
) -> str:
    """What the choice gains and loses against the most different of the other choices."""
    rivals = [other for other in choices if other.member is not choice.member]
    if not rivals:
        return "All other choices agree with it." if len(candidates) > 1 and len(choices) > 1 else ""
    every = front.costs(candidates, objectives)

    def loss(rival: _Choice) -> float:
        mine, other = shares(front.costs([choice.member, rival.member], objectives), every)
        return float((mine - other).max())

    rival = max(rivals, key=loss)
    changes = between(front, rival.member.evaluation, choice.member.evaluation)
    named = {one.metric.name: one for one in changes}
    ordered_changes = [named[objective.name] for objective in objectives]
    gains = balance([one for one in ordered_changes if one.told and one.better])
    losses = balance([one for one in ordered_changes if one.told and not one.better])
    unsure = [spoken(one.metric) for one in ordered_changes if not one.told and one.difference.mean]
    against = f"Against number {rival.member.evaluation.number} ({rival.name.replace('_', ' ')})"
    if not gains and not losses:
        return f"{against} it is {'not told apart' if unsure else 'level'}."
    price = f", at the price of {losses}" if losses else "" if unsure else ", and nothing worse"
    rest = f"; not told apart: {', '.join(unsure)}" if unsure else ""
    return f"{against}: {gains or 'nothing better'}{price}{rest}."


def balance(changes: Sequence[Change]) -> str:
    """How objectives change, in words: `completed work higher by 1.4 ± 0.1 h`; ± is half the interval."""
    parts = []
    for one in changes:
        gap = one.difference
        way = "higher" if gap.mean > 0 else "lower"
        if one.metric.unit == "s":
            size = human_difference(abs(gap.mean), gap.half, "s").lstrip("+")
        else:
            size = with_unit(measured(abs(gap.mean), gap.half), one.metric)
        parts.append(f"{spoken(one.metric)} {way} by {size}")
    return ", ".join(parts)


def _value(front: Front, member: Member, objective: Objective) -> str:
    return amount(front.value(member.evaluation.number, objective), objective)


def _superlative(objective: Objective) -> str:
    return f"{'lowest' if objective.direction == 'minimize' else 'highest'} {spoken(objective)}"
