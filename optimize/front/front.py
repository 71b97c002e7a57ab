"""The front of a search: which points no other point beats, how surely, and how large a region they cover.

Points are compared on fresh seeds wherever the search validated them: values that made a point look good
during the search flatter it (the optimiser's curse).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gridtune.optimize.front.worth import worth_of
from gridtune.optimize.inference.judgement import Judgement, judgement_of
from gridtune.optimize.records.evaluations import Archive, Estimate, Evaluation, Objective
from gridtune.optimize.replication.chances import FEWEST, RESAMPLES, chances, probability_non_dominated
from gridtune.optimize.replication.compare import costs, non_dominated, replications, signs
from gridtune.optimize.search_space.constraints import Cases, excesses, feasible, violation
from gridtune.scenarios.errors import ScenarioError

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float64]]

KEPT = 0.5  # chance of being on the front from which a member is kept
__all__ = ["Front", "Member", "comparable", "front", "probability_non_dominated", "reference_point"]


@dataclass(frozen=True)
class Member:
    """A point of the front.

    Attributes:
        evaluation: what the search knows of it.
        non_dominated: whether it keeps the constraints on the values that the front rests on, no other
            member that keeps them is expected to beat it, or it is more likely on the front than not, and it
            is one of those of which nine in ten are expected to hold against each other on new runs,
            by what matters
            (`optimize.inference.judgement.Judgement.holding`).
        probability_non_dominated: how probably it keeps the constraints and no other evaluated point that
            does beats it, by all runs of the search together (`optimize.inference.posterior`); where there
            are too few points to learn from, the share of bootstrap samples in which no other member does.
            None if there are too few replications to say.
        equivalents: numbers of further evaluations with the same objectives, replication by replication.
        feasible: whether it keeps the constraints on the values that the front rests on.
        probability_feasible: share of bootstrap samples in which it does.
    """

    evaluation: Evaluation
    non_dominated: bool
    probability_non_dominated: float | None
    equivalents: tuple[int, ...] = ()
    feasible: bool = True
    probability_feasible: float | None = None

    @property
    def estimates(self) -> dict[str, Estimate]:
        """The objectives on fresh seeds if there are any, else as searched."""
        return self.evaluation.validated or self.evaluation.objectives

    @property
    def cases(self) -> Cases:
        """Estimates by case, then by metric, on fresh seeds if there are any; see `Evaluation.cases`."""
        return _cases(self.evaluation)

    def __repr__(self) -> str:
        means = ", ".join(f"{name} {estimate.mean:.6g}" for name, estimate in self.estimates.items())
        where = "on the front" if self.non_dominated else "not kept"
        return f"Member({self.evaluation.number}, {where}: {means})"


@dataclass(frozen=True)
class Front:
    """The front of a search.

    Attributes:
        archive: the search.
        members: the shortlist: first those that stay non-dominated, each part sorted by the objectives in
            their order, best first.
        validated: whether the members are compared on fresh seeds.
        unvalidated: points that are non-dominated as searched, but have no fresh seeds yet (an interrupted
            search); they are not members while other points are validated.
        reference: reference point of the hypervolume, in the units of the objectives; see `reference_point`.
        hypervolume: of the members that keep the constraints, on the values that the front rests on.
        hypervolume_searched: of the same members on the values that the search saw; the excess over
            `hypervolume` is luck.
        hypervolume_levelled: the same, each objective moved by what it changed by over the members on
            average: without the luck that they share, be it that the workloads of the search were kind to
            all points, or that the members were chosen for theirs (the optimiser's curse).
        judgement: what all runs together say of the points; None where these are too few, or no chance is
            at work.
        certain: whether it was seen that runs of a point repeat each other: then one tells all.
        worth: what points are worth, by number, an entry per objective, to be minimised: members, today's
            setting, and the others that the judgement is about; see `optimize.front.worth`.
    """

    archive: Archive
    members: tuple[Member, ...]
    validated: bool
    unvalidated: int
    reference: tuple[float, ...]
    hypervolume: float
    hypervolume_searched: float
    hypervolume_levelled: float
    judgement: Judgement | None = None
    certain: bool = False
    worth: Mapping[int, Array] = field(default_factory=dict)

    @property
    def objectives(self) -> tuple[Objective, ...]:
        """What was traded off."""
        return self.archive.objectives

    @property
    def kept(self) -> tuple[Member, ...]:
        """The members that are kept."""
        return tuple(member for member in self.members if member.non_dominated)

    def costs(self, members: Sequence[Member], objectives: Sequence[Objective] | None = None) -> Array:
        """What members are worth, to be minimised, members x objectives (all of them, if left out)."""
        import numpy as np

        columns = [self.objectives.index(one) for one in objectives or self.objectives]
        rows = [self.worth[member.evaluation.number][columns] for member in members]
        return np.array(rows, dtype=float).reshape(len(members), len(columns))

    def value(self, number: int, objective: Objective) -> float:
        """What a member or today's setting is worth in an objective, in its unit."""
        at = self.objectives.index(objective)
        return float(self.worth[number][at] * signs([objective])[0])

    def __repr__(self) -> str:
        names = ", ".join(one.name for one in self.objectives)
        return f"Front({self.archive.study!r}, {len(self.kept)} of {len(self.members)} points for {names})"

    @property
    def chances(self) -> bool:
        """Whether anything is said of how probably members are on the front."""
        return any(member.probability_non_dominated is not None for member in self.members)

    @property
    def infeasible(self) -> list[Evaluation]:
        """Points that break a constraint as searched, those that are nearest to keeping all of them first."""
        constraints = self.archive.constraints
        broken = [(violation(excesses(constraints, e.cases)), e) for e in comparable(self.archive)]
        return [e for amount, e in sorted(broken, key=lambda pair: (pair[0], pair[1].number)) if amount > 0]


def front(archive: Archive, *, reference: Sequence[float] | None = None, resamples: int = RESAMPLES) -> Front:
    """The front of a search.

    Where any evaluation is validated, the validated ones are the members, and those that turn out
    dominated on fresh seeds, or break a constraint there, stay listed as such, except for today's setting,
    which is only a member if nothing beats it; else the members are the
    points that are non-dominated as searched. Points that break a constraint as searched are no members. A
    point evaluated twice counts once.

    Args:
        archive: the search, with at least one objective.
        reference: of the hypervolume, one value per objective in its unit; see `reference_point`.
        resamples: bootstrap samples behind `probability_non_dominated`; 0 for no probabilities.

    Raises:
        ScenarioError: no objective, or a reference of the wrong length.
    """
    import numpy as np

    objectives = archive.objectives
    if not objectives:
        raise ScenarioError(f"{archive.study}: a study without objectives has no front")
    if reference is not None and len(reference) != len(objectives):
        raise ScenarioError(
            f"{archive.study}: a reference point needs {len(objectives)} values, one per objective"
        )
    usable = comparable(archive)
    point = tuple(float(x) for x in reference) if reference is not None else reference_point(archive)
    allowed = [evaluation for evaluation in usable if feasible(evaluation, archive.constraints)]
    searched = [allowed[k] for k in non_dominated(costs([e.objectives for e in allowed], objectives))]
    tested = [e for e in usable if e.validated is not None]
    present = [one for one in archive.evaluations if one.number == archive.today]
    if not tested and not searched:
        standing = worth_of([], present, [], objectives, None)
        return Front(archive, (), False, 0, point, 0.0, 0.0, 0.0, worth=standing)
    shortlist, equivalents = _without_equals(tested or searched, objectives)
    members = _members(archive, shortlist, equivalents, resamples)
    rivals = _without_equals([*shortlist, *allowed], objectives)[0]
    certain = _without_luck([*rivals, *present])
    judgement = _judgement(archive, rivals) if resamples > 0 and not certain else None
    members = _judged(members, judgement, certain)
    worth = worth_of([m.evaluation for m in members], present, rivals, objectives, judgement)
    members = tuple(
        m
        for m in (members if judgement is None else _kept(members, worth, judgement.holding))
        if m.non_dominated or m.evaluation.number != archive.today
    )
    keeping = [member for member in members if member.feasible]
    true = np.array([worth[member.evaluation.number] for member in keeping]).reshape(-1, len(objectives))
    believed = costs([member.evaluation.objectives for member in keeping], objectives)
    shared = (true - believed).mean(axis=0) if keeping else 0.0
    now, then, levelled = (
        hypervolume(rows, objectives, point) for rows in (true, believed, believed + shared)
    )
    left = sum(e.validated is None for e in searched) if tested else 0
    return Front(archive, members, bool(tested), left, point, now, then, levelled, judgement, certain, worth)


def _members(
    archive: Archive,
    shortlist: Sequence[Evaluation],
    equivalents: Sequence[tuple[int, ...]],
    resamples: int,
) -> tuple[Member, ...]:
    """The points of a shortlist, the best first."""
    objectives, constraints = archive.objectives, archive.constraints
    estimates = [evaluation.validated or evaluation.objectives for evaluation in shortlist]
    cases = [_cases(evaluation) for evaluation in shortlist]
    values = costs(estimates, objectives)
    keep = [k for k, case in enumerate(cases) if violation(excesses(constraints, case)) == 0]
    stay = {keep[k] for k in non_dominated(values[keep])}
    chance = chances(estimates, objectives, constraints, cases, seed=archive.seed, resamples=resamples)
    return tuple(
        Member(
            shortlist[k], k in stay, chance[k].non_dominated, equivalents[k], k in keep, chance[k].feasible
        )
        for k in sorted(range(len(shortlist)), key=lambda k: (k not in stay, *values[k], shortlist[k].number))
    )


def _judgement(archive: Archive, rivals: Sequence[Evaluation]) -> Judgement | None:
    """What all runs say of the points that may be on the front, and of today's setting."""
    known = {one.number: one for one in rivals}
    known |= {one.number: one for one in comparable(archive) if one.number == archive.today}
    outside = {n: archive.present for n, one in known.items() if n == archive.today and not one.values}
    return judgement_of(
        [known[number] for number in sorted(known)],
        archive.objectives,
        archive.seed,
        rivals={one.number for one in rivals},
        values=outside,
    )


def _judged(members: Sequence[Member], judgement: Judgement | None, certain: bool) -> tuple[Member, ...]:
    """The members, with their chances against all evaluated points that keep the constraints."""
    few = min((replications(member.estimates) for member in members), default=0) < FEWEST
    if certain or (judgement is None and few):
        # Replications that repeat each other are no sample, and few are next to none: of points with two runs
        # that all bootstrap samples have on the front three in four are.
        return tuple(replace(member, probability_non_dominated=None) for member in members)
    if judgement is None:
        return tuple(members)
    return tuple(
        replace(
            member,
            probability_non_dominated=judgement.chances.get(member.evaluation.number, 0.0)
            * (1.0 if member.probability_feasible is None else member.probability_feasible),
        )
        for member in members
    )


def _kept(
    members: Sequence[Member],
    worth: Mapping[int, Array],
    holding: Callable[[Sequence[int]], Collection[int]],
) -> list[Member]:
    """The members that stay by what the model expects, or by their chance, and hold together; best first."""
    import numpy as np

    able = [member for member in members if member.feasible]
    rows = np.array([worth[member.evaluation.number] for member in able])
    expected = {able[at].evaluation.number for at in non_dominated(rows)}
    numbers = [
        member.evaluation.number
        for member in able
        if (member.probability_non_dominated or 0.0) >= KEPT or member.evaluation.number in expected
    ]
    stay = holding(numbers)
    made = [replace(member, non_dominated=member.evaluation.number in stay) for member in members]
    return sorted(made, key=lambda m: (not m.non_dominated, *worth[m.evaluation.number]))


def _without_luck(evaluations: Sequence[Evaluation]) -> bool:
    """Whether each point that was run more than once gave the same in all its runs, and there is one."""
    repeated = [one for one in evaluations if one.replications + one.fresh_replications > 1]
    return bool(repeated) and all(map(_certain, repeated))


def _certain(evaluation: Evaluation) -> bool:
    """Whether all runs of a point gave the same, searched and fresh ones."""
    again = evaluation.validated or {}
    return all(
        len({*one.values, *(again[name].values if name in again else ())}) == 1
        for name, one in evaluation.objectives.items()
    )


def _cases(evaluation: Evaluation) -> Cases:
    return evaluation.cases if evaluation.validated is None else evaluation.validated_cases or {}


def comparable(archive: Archive) -> list[Evaluation]:
    """Evaluations that can be ranked: every objective a finite number, each point once.

    Of a point evaluated more than once, the first validated evaluation counts, else the first.
    """
    from math import isfinite

    chosen: dict[tuple[tuple[str, object], ...], Evaluation] = {}
    for evaluation in archive.evaluations:
        estimates = [evaluation.objectives, evaluation.validated or evaluation.objectives]
        if not all(isfinite(e[objective.name].mean) for e in estimates for objective in archive.objectives):
            continue
        key = tuple(sorted(evaluation.values.items()))
        known = chosen.get(key)
        if known is None or (known.validated is None and evaluation.validated is not None):
            chosen[key] = evaluation
    return sorted(chosen.values(), key=lambda evaluation: evaluation.number)


def reference_point(archive: Archive) -> tuple[float, ...]:
    """Reference point of the hypervolume: what is twice as bad as today's setting.

    That is twice today's value of an objective to be minimised, and nothing of one to be maximised (one unit
    beyond it where today's value is 0), as the first stream of the search gave it: searches of one scenario
    with one seed have the same, so that their volumes compare.

    Where a search does not know today's setting, it is the worst value of each objective and 10 % more.
    Values on fresh seeds count as well as those of the search, which may all have been luckier. The 10 % are
    of the range that the search saw; where all values are equal, of their size (at least 1), so that no
    objective makes every volume zero. It depends on all evaluations: give the same reference to `front` to
    compare the volumes of two such searches.
    """
    import numpy as np

    for evaluation in archive.evaluations:
        if evaluation.number == archive.today:
            return twice_as_bad(evaluation, archive.objectives)

    usable = comparable(archive)
    # What breaks constraints does not count, unless there is nothing else.
    usable = [e for e in usable if feasible(e, archive.constraints)] or usable
    turned = signs(archive.objectives)
    if not usable:
        return tuple(0.0 for _ in archive.objectives)
    values = costs([evaluation.objectives for evaluation in usable], archive.objectives)
    fresh = costs([e.validated for e in usable if e.validated], archive.objectives)
    span = values.max(axis=0) - values.min(axis=0)
    size = np.maximum(np.abs(values).max(axis=0), 1.0)
    worst = np.vstack([values, fresh]).max(axis=0) + 0.1 * np.where(span > 0, span, size)
    return tuple(float(x) for x in worst * turned)


def twice_as_bad(today: Evaluation, objectives: Sequence[Objective]) -> tuple[float, ...]:
    """The reference point that today's setting makes; see `reference_point`."""
    first = [today.objectives[o.name].values[0] for o in objectives]
    return tuple(float(x + side * (abs(x) or 1.0)) for x, side in zip(first, signs(objectives), strict=True))


def hypervolume(rows: Array, objectives: Sequence[Objective], reference: Sequence[float]) -> float:
    """Volume that points dominate within the reference point, in the product of the objectives' units.

    Args:
        rows: the points, by what is to be minimised; see `optimize.replication.compare.costs`.
        objectives: what is traded off.
        reference: in the units of the objectives; see `reference_point`.
    """
    import moocore
    import numpy as np

    if not len(rows):
        return 0.0
    return float(moocore.hypervolume(rows, ref=np.array(reference) * signs(objectives)))


def history(archive: Archive, reference: Sequence[float] | None = None) -> list[tuple[int, float]]:
    """How the hypervolume grew: (evaluations so far, hypervolume as searched) at each growth and at the end.

    Args:
        archive: the search; where the search re-ran points, their final values count from the start.
        reference: see `reference_point`.
    """
    import moocore
    import numpy as np

    objectives = archive.objectives
    corner = np.array(reference if reference is not None else reference_point(archive)) * signs(objectives)
    usable = [e for e in comparable(archive) if feasible(e, archive.constraints)]
    rows = dict(
        zip([e.number for e in usable], costs([e.objectives for e in usable], objectives), strict=True)
    )
    best = np.empty((0, len(objectives)))
    steps: list[tuple[int, float]] = []
    for count, evaluation in enumerate(archive.evaluations, start=1):
        if evaluation.number not in rows:
            continue
        grown = np.vstack([best, rows[evaluation.number]])
        keep = moocore.is_nondominated(grown)  # of equal points the first is kept
        if keep[-1]:
            best = grown[keep]
            steps.append((count, float(moocore.hypervolume(best, ref=corner))))
    total = len(archive.evaluations)
    if steps and steps[-1][0] < total:
        steps.append((total, steps[-1][1]))
    return steps


def _without_equals(
    evaluations: Sequence[Evaluation], objectives: Sequence[Objective]
) -> tuple[list[Evaluation], list[tuple[int, ...]]]:
    """The evaluations with distinct outcomes, and for each the numbers of those that equal it."""
    first: dict[tuple[tuple[float, ...], ...], Evaluation] = {}
    others: dict[int, list[int]] = {}
    for evaluation in evaluations:
        sources = [evaluation.objectives, evaluation.validated or {}]
        outcome = tuple(source[o.name].values for source in sources for o in objectives if o.name in source)
        if outcome in first:
            others[first[outcome].number].append(evaluation.number)
        else:
            first[outcome] = evaluation
            others[evaluation.number] = []
    return list(first.values()), [tuple(others[evaluation.number]) for evaluation in first.values()]
