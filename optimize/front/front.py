"""The Pareto front of a search: the configurations that no other dominates, and their probabilities.

All evaluated configurations count, validated or not, by all their runs together: by the posterior of the
Gaussian-process model (`optimize.inference.study_posterior`). Where there are too few configurations to learn
from, those are compared that have validation runs, or all by their means if none has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gridtune.optimize.inference.study_posterior import StudyPosterior, posterior_of
from gridtune.optimize.records.evaluations import Archive, Constraint, Estimate, Evaluation, Objective
from gridtune.optimize.replication.chances import FEWEST, RESAMPLES, chances, probability_non_dominated
from gridtune.optimize.replication.compare import costs, non_dominated, replications, signs
from gridtune.optimize.replication.loss import failing
from gridtune.optimize.search_space.constraints import Cases, excesses, feasible, violation
from gridtune.scenarios.errors import ScenarioError

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float64]]

ON_FRONT = 0.8  # probability of being non-dominated from which a configuration is on the front
BEARABLE = 0.5  # of the baseline's value: what gets worse by more is too high a price to recommend
POSSIBLE = 0.05  # the same, from which it is listed among the members
__all__ = ["Front", "Member", "comparable", "front", "probability_non_dominated", "reference_point"]


@dataclass(frozen=True)
class Member:
    """A configuration that is, or may be, on the Pareto front.

    Attributes:
        evaluation: what the search knows of it.
        non_dominated: whether it is on the front: it keeps the constraints, and is non-dominated with a
            probability of at least `ON_FRONT` or has the best estimated mean of an objective. Without
            probabilities: whether no other member has better means.
        probability_non_dominated: that it keeps the constraints and no other evaluated configuration that
            does dominates it; None if there are too few replications to say.
        equivalents: numbers of further evaluations with the same objectives, replication by replication.
        feasible: whether it keeps the constraints on validation seeds, or in the search if it has no
            validation runs.
        probability_feasible: that it does (bootstrap); None if that cannot be said.
    """

    evaluation: Evaluation
    non_dominated: bool
    probability_non_dominated: float | None
    equivalents: tuple[int, ...] = ()
    feasible: bool = True
    probability_feasible: float | None = None

    @property
    def validated(self) -> bool:
        """Whether it has validation runs, and does not rest on runs of the search alone."""
        return self.evaluation.validated is not None

    @property
    def estimates(self) -> dict[str, Estimate]:
        """The objectives on validation seeds if there are any, else in the search."""
        return self.evaluation.validated or self.evaluation.objectives

    @property
    def cases(self) -> Cases:
        """Estimates by case, then by metric, on the same seeds as `estimates`; see `Evaluation.cases`."""
        return _cases(self.evaluation)

    def __repr__(self) -> str:
        means = ", ".join(f"{name} {estimate.mean:.6g}" for name, estimate in self.estimates.items())
        where = "on the front" if self.non_dominated else "dominated"
        return f"Member({self.evaluation.number}, {where}: {means})"


@dataclass(frozen=True)
class Front:
    """The Pareto front of a search.

    Attributes:
        archive: the search.
        members: configurations that may be on the front, or break a constraint on validation seeds only;
            those that are on it first, then by their objectives.
        validated: whether any member has validation runs.
        reference: reference point of the hypervolume, in the units of the objectives; see `reference_point`.
        hypervolume: of the configurations on the front, by their estimated means.
        hypervolume_searched: of the same configurations by their means in the search; the excess over
            `hypervolume` is optimism.
        posterior: the posterior of all configurations; None where these are too few, or runs do not vary.
        certain: whether runs of a configuration repeat each other exactly: then one tells all.
        means: estimated means by number, an entry per objective, to be minimised: of members, the baseline,
            and all others that the posterior knows.
    """

    archive: Archive
    members: tuple[Member, ...]
    validated: bool
    reference: tuple[float, ...]
    hypervolume: float
    hypervolume_searched: float
    posterior: StudyPosterior | None = None
    certain: bool = False
    means: Mapping[int, Array] = field(default_factory=dict)

    @property
    def objectives(self) -> tuple[Objective, ...]:
        """What was traded off."""
        return self.archive.objectives

    @property
    def on_front(self) -> tuple[Member, ...]:
        """The configurations on the front."""
        return tuple(member for member in self.members if member.non_dominated)

    def costs(self, members: Sequence[Member], objectives: Sequence[Objective] | None = None) -> Array:
        """Estimated means of members, to be minimised, members x objectives (all of them, if left out)."""
        import numpy as np

        columns = [self.objectives.index(one) for one in objectives or self.objectives]
        rows = [self.means[member.evaluation.number][columns] for member in members]
        return np.array(rows, dtype=float).reshape(len(members), len(columns))

    def value(self, number: int, objective: Objective) -> float:
        """Estimated mean of an objective at a configuration, in the unit of the objective."""
        at = self.objectives.index(objective)
        return float(self.means[number][at] * signs([objective])[0])

    def __repr__(self) -> str:
        names = ", ".join(one.name for one in self.objectives)
        return f"Front({self.archive.study!r}, {len(self.on_front)} configurations for {names})"

    def bearable(self, members: Sequence[Member]) -> list[Member]:
        """Those that make no objective worse than the baseline by more than half of its value.

        Where that is 0, by more than half of the range over all configurations. Nor may a further tenth of
        the mandatory jobs of a class fail (`replication.loss.failing`).
        """
        import numpy as np

        start = self.archive.standing
        baseline = None if start is None else self.means.get(start.number)
        if start is None or baseline is None or not members:
            return []
        spread = np.ptp(list(self.means.values()), axis=0)
        most = baseline + BEARABLE * np.where(baseline == 0, spread, np.abs(baseline))
        return [
            one
            for one, row in zip(members, self.costs(members), strict=True)
            if (row <= most).all() and not failing(one.evaluation.metrics, start.metrics)
        ]

    @property
    def chances(self) -> bool:
        """Whether anything is said of how probably members are on the front."""
        return any(member.probability_non_dominated is not None for member in self.members)


def front(archive: Archive, *, reference: Sequence[float] | None = None, resamples: int = RESAMPLES) -> Front:
    """The Pareto front of a search.

    Args:
        archive: the search, with at least one objective.
        reference: of the hypervolume, one value per objective in its unit; see `reference_point`.
        resamples: bootstrap samples behind probabilities of keeping the constraints; 0 for no probabilities.

    Raises:
        ScenarioError: no objective, or a reference of the wrong length.
    """
    objectives = archive.objectives
    if not objectives:
        raise ScenarioError(f"{archive.study}: a study without objectives has no front")
    if reference is not None and len(reference) != len(objectives):
        raise ScenarioError(
            f"{archive.study}: a reference point needs {len(objectives)} values, one per objective"
        )
    usable = comparable(archive)
    corner = tuple(float(x) for x in reference) if reference is not None else reference_point(archive)
    able = [one for one in usable if feasible(one, archive.constraints)]
    if not able:
        return Front(archive, (), False, corner, 0.0, 0.0, means=_plain(usable, objectives))
    rivals, equivalents = _without_equals(able, objectives)
    same = dict(zip([one.number for one in rivals], equivalents, strict=True))
    baseline = [one for one in usable if one.number == archive.baseline]
    certain = _repeats([*rivals, *baseline])
    posterior = _posterior(archive, rivals) if resamples > 0 and not certain else None
    means = _plain([*rivals, *baseline], objectives)
    means |= _anchored(archive, posterior, means)
    if posterior is None:
        members = _by_means(archive, rivals, same, 0 if certain else resamples)
    else:
        members = _by_posterior(archive, rivals, same, posterior, means, resamples)
    best = [member for member in members if member.non_dominated]
    rows = [[means[member.evaluation.number] for member in best]]
    rows.append(_searched([member.evaluation for member in best], baseline, objectives, means))
    now, searched = (hypervolume(_array(some, objectives), objectives, corner) for some in rows)
    validated = any(member.validated for member in members)
    return Front(archive, members, validated, corner, now, searched, posterior, certain, means)


def _by_posterior(
    archive: Archive,
    rivals: Sequence[Evaluation],
    same: Mapping[int, tuple[int, ...]],
    posterior: StudyPosterior,
    means: Mapping[int, Array],
    resamples: int,
) -> tuple[Member, ...]:
    """What the posterior says of each configuration that keeps the constraints; best first."""
    known = [one for one in rivals if one.number in posterior]
    keep = {one.number for one in known if keeps(one, archive.constraints)}
    able = [one for one in known if one.number in keep]
    best = {
        min(able, key=lambda one: (means[one.number][at], one.number)).number
        for at in range(len(archive.objectives))
        if able
    }
    chances_of = posterior.chances
    listed = [
        one
        for one in known
        if chances_of[one.number] >= POSSIBLE or one.number in best or one.number not in keep
    ]
    bounds = _feasible_chances(archive, listed, resamples)
    made = []
    for one, bound in zip(listed, bounds, strict=True):
        chance = chances_of[one.number] * (1.0 if bound is None else bound)
        feasible = one.number in keep
        on_front = feasible and (chance >= ON_FRONT or one.number in best)
        made.append(Member(one, on_front, chance, same[one.number], feasible, bound))
    return tuple(sorted(made, key=lambda m: (not m.non_dominated, *means[m.evaluation.number])))


def _feasible_chances(
    archive: Archive, evaluations: Sequence[Evaluation], resamples: int
) -> list[float | None]:
    """How probably each keeps the constraints."""
    if not archive.constraints:
        return [None] * len(evaluations)
    estimates = [one.validated or one.objectives for one in evaluations]
    cases = [_cases(one) for one in evaluations]
    found = chances(
        estimates, archive.objectives, archive.constraints, cases, seed=archive.seed, resamples=resamples
    )
    return [one.feasible for one in found]


def _by_means(
    archive: Archive, rivals: Sequence[Evaluation], same: Mapping[int, tuple[int, ...]], resamples: int
) -> tuple[Member, ...]:
    """Few configurations, or runs that repeat each other: by means, and the bootstrap of the runs."""
    objectives, constraints = archive.objectives, archive.constraints
    tested = [one for one in rivals if one.validated is not None] or list(rivals)
    estimates = [one.validated or one.objectives for one in tested]
    cases = [_cases(one) for one in tested]
    values = costs(estimates, objectives)
    keep = [k for k, one in enumerate(tested) if keeps(one, constraints)]
    best = {keep[k] for k in non_dominated(values[keep])}
    enough = min((replications(one) for one in estimates), default=0) >= FEWEST
    chance = chances(
        estimates, objectives, constraints, cases, seed=archive.seed, resamples=resamples if enough else 0
    )
    return tuple(
        Member(
            tested[k],
            k in best,
            chance[k].non_dominated if enough else None,
            same[tested[k].number],
            k in keep,
            chance[k].feasible,
        )
        for k in sorted(range(len(tested)), key=lambda k: (k not in best, *values[k], tested[k].number))
        if k in best or tested[k].validated is not None
    )


def _posterior(archive: Archive, rivals: Sequence[Evaluation]) -> StudyPosterior | None:
    """The posterior of the configurations that may be on the front, and of the baseline."""
    known = {one.number: one for one in rivals}
    known |= {one.number: one for one in comparable(archive) if one.number == archive.baseline}
    outside = {n: archive.present for n, one in known.items() if n == archive.baseline and not one.values}
    return posterior_of(
        [known[number] for number in sorted(known)],
        archive.objectives,
        archive.seed,
        rivals={one.number for one in rivals if keeps(one, archive.constraints)},
        values=outside,
    )


def _plain(evaluations: Sequence[Evaluation], objectives: Sequence[Objective]) -> dict[int, Array]:
    """Means to be minimised, by number; on validation seeds where there are any."""
    if not evaluations:
        return {}
    rows = costs([one.validated or one.objectives for one in evaluations], objectives)
    return {one.number: row for one, row in zip(evaluations, rows, strict=True)}


def _anchored(
    archive: Archive, posterior: StudyPosterior | None, plain: Mapping[int, Array]
) -> dict[int, Array]:
    """Posterior means by number, or plain ones, on the level of the baseline's runs.

    Confirmed means stand for what is recommended, and for the baseline beside it.
    """
    import numpy as np

    turned, objectives = signs(archive.objectives), archive.objectives
    confirmed = [one for one in archive.recommendations if one.replications]
    means = dict(plain) if posterior is None else {n: posterior.means(n) for n in posterior.chances}
    baseline = archive.standing
    if baseline is not None and baseline.number in means:
        if confirmed:
            level = turned * [confirmed[0].baseline[one.name] for one in objectives]
        elif posterior is not None:
            level = turned * [_mean(baseline, one.name) for one in objectives]
        else:
            level = means[baseline.number]
        shift = level - means[baseline.number]
        means = {number: row + shift for number, row in means.items()}
    # Where no run was below 0, no mean is.
    runs = [[min(e.objectives[o.name].values) for e in archive.evaluations] for o in objectives]
    least = np.where(np.min(runs, axis=1) < 0, -np.inf, 0.0)
    means = {number: turned * np.maximum(turned * row, least) for number, row in means.items()}
    return means | {one.number: turned * [one.means[o.name] for o in objectives] for one in confirmed}


def _searched(
    best: Sequence[Evaluation],
    baseline: Sequence[Evaluation],
    objectives: Sequence[Objective],
    means: Mapping[int, Array],
) -> list[Array]:
    """Means in the search, to be minimised, on the level of `means`: the same shift for all of them."""
    rows = costs([one.objectives for one in [*baseline, *best]], objectives)
    shift = sum(means[one.number] - row for one, row in zip(baseline, rows, strict=False))
    return [row + shift for row in rows[len(baseline) :]]


def _mean(evaluation: Evaluation, name: str) -> float:
    """Mean over all runs of an evaluation."""
    values = [*evaluation.objectives[name].values]
    values += evaluation.validated[name].values if evaluation.validated else ()
    return sum(values) / len(values)


def _array(rows: Sequence[Array], objectives: Sequence[Objective]) -> Array:
    import numpy as np

    return np.array(rows, dtype=float).reshape(-1, len(objectives))


def _repeats(evaluations: Sequence[Evaluation]) -> bool:
    """Whether each configuration that was run more than once gave the same each time, and there is one."""
    repeated = [one for one in evaluations if one.replications + one.validation_replications > 1]
    return bool(repeated) and all(map(_certain, repeated))


def _certain(evaluation: Evaluation) -> bool:
    """Whether all runs of a configuration gave the same."""
    again = evaluation.validated or {}
    return all(
        len({*one.values, *(again[name].values if name in again else ())}) == 1
        for name, one in evaluation.objectives.items()
    )


def keeps(evaluation: Evaluation, constraints: Sequence[Constraint]) -> bool:
    """Whether a configuration keeps all constraints, on validation seeds if it has any."""
    return violation(excesses(constraints, _cases(evaluation))) == 0


def _cases(evaluation: Evaluation) -> Cases:
    return evaluation.cases if evaluation.validated is None else evaluation.validated_cases or {}


def comparable(archive: Archive) -> list[Evaluation]:
    """Evaluations that can be ranked: every objective a finite number, each configuration once.

    Of a configuration evaluated more than once, the first validated evaluation counts, else the first.
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
    """Reference point of the hypervolume: twice as bad as the baseline.

    That is twice the baseline's value of an objective to be minimised, and 0 of one to be maximised (one unit
    beyond it where the baseline's value is 0), by the first replication of the search. Searches of one
    scenario with one seed have the same reference, so that their volumes compare.

    Where a search does not know the baseline, it is the worst value of each objective and 10 % more. Values
    on validation seeds count, too: those of the search may all be optimistic. The 10 % are of the range that
    the search saw; where all values are equal, of their size (at least 1), so that no objective makes every
    volume zero. It depends on all evaluations: give the same reference to `front` to compare the volumes of
    two such searches.
    """
    import numpy as np

    if archive.standing is not None:
        return twice_as_bad(archive.standing, archive.objectives)
    usable = comparable(archive)
    # What breaks constraints does not count, unless there is nothing else.
    usable = [e for e in usable if feasible(e, archive.constraints)] or usable
    turned = signs(archive.objectives)
    if not usable:
        return tuple(0.0 for _ in archive.objectives)
    values = costs([evaluation.objectives for evaluation in usable], archive.objectives)
    validated = costs([e.validated for e in usable if e.validated], archive.objectives)
    ranges = values.max(axis=0) - values.min(axis=0)
    size = np.maximum(np.abs(values).max(axis=0), 1.0)
    worst = np.vstack([values, validated]).max(axis=0) + 0.1 * np.where(ranges > 0, ranges, size)
    return tuple(float(x) for x in worst * turned)


def twice_as_bad(baseline: Evaluation, objectives: Sequence[Objective]) -> tuple[float, ...]:
    """The reference point that the baseline makes; see `reference_point`."""
    first = [baseline.objectives[o.name].values[0] for o in objectives]
    return tuple(float(x + side * (abs(x) or 1.0)) for x, side in zip(first, signs(objectives), strict=True))


def hypervolume(rows: Array, objectives: Sequence[Objective], reference: Sequence[float]) -> float:
    """Volume that configurations dominate within the reference point; its unit is the objectives' product.

    Args:
        rows: the configurations, by what is to be minimised; see `optimize.replication.compare.costs`.
        objectives: what is traded off.
        reference: in the units of the objectives; see `reference_point`.
    """
    import moocore
    import numpy as np

    if not len(rows):
        return 0.0
    return float(moocore.hypervolume(rows, ref=np.array(reference) * signs(objectives)))


def history(archive: Archive, reference: Sequence[float] | None = None) -> list[tuple[int, float]]:
    """The growth of the hypervolume in the search: (evaluations so far, hypervolume) at each step.

    Args:
        archive: the search; where the search re-ran configurations, their final values count from the start.
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
        keep = moocore.is_nondominated(grown)  # of equal ones the first counts
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
