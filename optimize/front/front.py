"""The Pareto front of a search: the configurations that no other dominates, and their probabilities.

All evaluated configurations that keep the constraints, in later checks, too, count, validated or not, by all
their runs together: by the posterior of the Gaussian-process model (`optimize.inference`). By their means
alone where no configuration was run twice, or where runs repeat each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan

import numpy as np

from gridtune.optimize.inference.gaussian_process import Posterior, posterior_of
from gridtune.optimize.records.difference import Change
from gridtune.optimize.records.evaluations import Archive, Constraint, Evaluation, Objective, side_by_side
from gridtune.optimize.replication.compare import Array, costs, non_dominated, signs
from gridtune.optimize.search_space.constraints import excesses, feasible, violation
from gridtune.scenarios.errors import ScenarioError

ON_FRONT = 0.5  # probability of being non-dominated from which a configuration is on the front
BEARABLE = 0.5  # of the baseline's value: what gets worse by more is too high a price to recommend
POSSIBLE = 0.05  # the same, from which it is listed among the members


@dataclass(frozen=True)
class Front:
    """The Pareto front of a search consists of its non-dominated configurations.

    Attributes:
        members: configurations that may be on the front, or break a constraint on validation seeds only (not
            when they were to be recommended); those that are on it first, then by their objectives.
        on_front: those that keep the constraints, and are non-dominated by their estimated means, or with a
            probability of at least `ON_FRONT`.
        means: estimated means by number, an entry per objective, to be minimised: of members, the baseline,
            and all others that the posterior knows.
        same: number of the configuration that stands for another one, which gave the same in every run.
    """

    archive: Archive
    members: tuple[Evaluation, ...]
    on_front: tuple[Evaluation, ...]
    reference: tuple[float, ...]  # see `reference_point`
    hypervolume: float = 0.0  # of the configurations on the front, by their estimated means
    posterior: Posterior | None = None  # None where configurations are too few, or runs do not vary
    certain: bool = False  # whether runs of a configuration repeat each other exactly: then one tells all
    means: Mapping[int, Array] = field(default_factory=dict)
    same: Mapping[int, int] = field(default_factory=dict)

    @property
    def objectives(self) -> tuple[Objective, ...]:
        """The objectives that were traded off."""
        return self.archive.objectives

    @property
    def validated(self) -> bool:
        """True if any configuration on the front has validation runs."""
        return any(one.validated for one in self.on_front)

    def chance(self, number: int) -> float | None:
        """Probability that nothing feasible dominates one; 0 if it breaks a constraint, None if unknown."""
        return None if self.posterior is None else self.posterior.chances.get(number)

    def stand(self, number: int) -> int:
        """Number of the configuration that stands for one: its own, or of an earlier equal one."""
        return self.same.get(number, number)

    def equals(self, number: int) -> tuple[int, ...]:
        """Numbers of further evaluations with the same objectives as a member, replication by replication."""
        return tuple(other for other, first in self.same.items() if first == number)

    def costs(self, some: Sequence[Evaluation]) -> Array:
        """Estimated means of configurations, to be minimised, configurations x objectives."""
        return np.reshape([self.means[one.number] for one in some], (len(some), len(self.objectives)))

    def value(self, number: int, objective: Objective) -> float:
        """Estimated mean of an objective at a configuration, in the unit of the objective."""
        at = self.objectives.index(objective)
        return float(self.means[number][at] * signs([objective])[0])

    def __repr__(self) -> str:
        names = ", ".join(one.name for one in self.objectives)
        return f"Front({self.archive.study!r}, {len(self.on_front)} configurations for {names})"

    def unbearable(self, one: Change) -> bool:
        """Whether an objective gets worse: significantly, and by more than half of the baseline's value.

        Where that is 0, or below the resolution, by more than half of the range over all configurations. Of a
        logarithm the value is what it is the logarithm of.
        """
        size, gap = abs(one.start), abs(one.difference.mean)
        if one.metric.logarithm:
            size, gap = 1.0, 10**gap - 1
        elif size <= one.metric.resolution:
            at = self.objectives.index(one.metric)
            size = float(np.ptp([row[at] for row in self.means.values()]))
        return one.significant and not one.better and gap > BEARABLE * size


def front(archive: Archive) -> Front:
    """The Pareto front of a search; a `ScenarioError` if it has no objective."""
    objectives = archive.objectives
    if not objectives:
        raise ScenarioError(f"{archive.study}: a study without objectives has no front")
    corner, broken = reference_point(archive), archive.broken
    able = [one for one in archive.evaluations if feasible(one, archive.constraints)]
    groups = without_equals(able, archive).items()
    same = {first: others for first, others in groups if broken.isdisjoint((first, *others))}
    if not same:
        return Front(archive, (), (), corner, means=_plain(archive.evaluations, objectives))
    rivals = [one for one in able if one.number in same]
    standing = [one for one in archive.evaluations if one.number == archive.baseline]
    known = [*rivals, *(replace(one, values=one.values or dict(archive.present)) for one in standing)]
    runs = [all_values(one, name) for one in known for name in one.objectives]
    certain = any(len(some) > 1 for some in runs) and all(len(set(some)) == 1 for some in runs)
    posterior = None
    if not certain:
        keep = {one.number for one in rivals if keeps(one, archive.constraints)}
        entries = [one for _, one in sorted({one.number: one for one in known}.items())]
        posterior = posterior_of(archive, entries, keep)
    means = _plain(known, objectives)
    means |= _anchored(archive, posterior, means)
    if posterior is None:
        members, best = _members(archive, rivals, _plain(rivals, objectives), {})
    else:
        modelled = [one for one in rivals if one.number in posterior]
        members, best = _members(archive, modelled, means, posterior.chances)
    volume = hypervolume([means[one.number] for one in best], objectives, corner)
    stands = {other: first for first, others in same.items() for other in others}
    return Front(archive, members, best, corner, volume, posterior, certain, means, stands)


def _members(
    archive: Archive, rivals: Sequence[Evaluation], rows: Mapping[int, Array], chances: Mapping[int, float]
) -> tuple[tuple[Evaluation, ...], tuple[Evaluation, ...]]:
    """The members of a front, and those on it, the best first; means (`rows`) decide without `chances`."""
    keep = sorted(one.number for one in rivals if keeps(one, archive.constraints))
    values = np.array([rows[number] for number in keep])
    best = {keep[k] for k in non_dominated(values)}
    on_front, others = [], []
    for one in sorted(rivals, key=lambda one: tuple(rows[one.number])):
        chance = chances.get(one.number, 0.0)
        if one.number in keep and (one.number in best or chance >= ON_FRONT):
            on_front.append(one)
        elif one.number not in keep or chance >= POSSIBLE:
            others.append(one)
    return (*on_front, *others), tuple(on_front)


def _plain(evaluations: Sequence[Evaluation], objectives: Sequence[Objective]) -> dict[int, Array]:
    """Means to be minimised, by number; see `side_by_side`."""
    rows = costs(side_by_side(evaluations), objectives)
    return {one.number: row for one, row in zip(evaluations, rows, strict=True)}


def _anchored(archive: Archive, posterior: Posterior | None, plain: Mapping[int, Array]) -> dict[int, Array]:
    """Posterior means by number, or plain ones, on the level of the baseline's runs; those confirmed as such.

    What is above the baseline's mean moves as far as that, what is below it in proportion, and stays small.
    """
    turned, objectives = signs(archive.objectives), archive.objectives
    confirmed = archive.recommendations
    means = plain if posterior is None else dict(zip(posterior.numbers, posterior.means, strict=True))
    rows = turned * np.array(list(means.values()))
    # Where no run was below 0, no mean is.
    lowest = [min(min(e.objectives[o.name].values) for e in archive.evaluations) for o in objectives]
    least = np.where(np.array(lowest) < 0, -np.inf, 0.0)
    baseline = archive.standing
    if baseline is not None and baseline.number in means:
        start = end = turned * means[baseline.number]
        if confirmed:
            end = np.array([confirmed[0].objectives[one.name].start for one in objectives])
        elif posterior is not None:
            runs = [all_values(baseline, one.name) for one in objectives]
            end = np.array([sum(values) / len(values) for values in runs])
        ratio = np.where((least == 0) & (start > 0), end / np.where(start > 0, start, 1.0), np.nan)
        rows = np.where((rows < start) & (ratio > 0), rows * ratio, rows + end - start)
    anchored = dict(zip(means, turned * np.maximum(rows, least), strict=True))
    return anchored | {
        one.number: turned * [one.objectives[o.name].to for o in objectives] for one in confirmed
    }


def all_values(evaluation: Evaluation, name: str) -> tuple[float, ...]:
    """Of an objective, in the search and on validation seeds."""
    validated = evaluation.validated[name].values if evaluation.validated else ()
    return evaluation.objectives[name].values + validated


def keeps(evaluation: Evaluation, constraints: Sequence[Constraint]) -> bool:
    """Whether a configuration keeps all constraints, on validation seeds if it has any."""
    return violation(excesses(constraints, evaluation.checked_cases)) == 0


def without_equals(evaluations: Sequence[Evaluation], archive: Archive) -> dict[int, tuple[int, ...]]:
    """The numbers of evaluations with distinct outcomes, and for each those of its equals (see `_same`).

    The baseline stands for its equals, else whichever has most validation runs.
    """
    names = [objective.name for objective in archive.objectives]
    alike: dict[object, list[list[Evaluation]]] = {}
    for one in sorted(evaluations, key=lambda one: (-one.validation_replications, one.number)):
        among = alike.setdefault(tuple(one.objectives[name].values for name in names), [])
        # What agrees with the first of a group, which has most validation runs, agrees with all of it.
        group = next((some for some in among if _same(one, some[0], names)), None)
        among.append([one]) if group is None else group.append(one)
    found = {}
    for some in (group for among in alike.values() for group in among):
        first = next((one for one in some if one.number == archive.baseline), some[0])
        found[first.number] = tuple(sorted(one.number for one in some if one is not first))
    return found


def _same(one: Evaluation, other: Evaluation, names: Sequence[str]) -> bool:
    """Whether two gave the same in all metrics, and in the validation runs that both have."""
    if len(one.metrics) != len(other.metrics):
        return False
    pairs = [(value, other.metrics.get(name, nan)) for name, value in one.metrics.items()]
    if one.validated and other.validated:
        for name in names:
            pairs += zip(one.validated[name].values, other.validated[name].values, strict=False)
    return all(a == b or (a != a and b != b) for a, b in pairs)


def reference_point(archive: Archive) -> tuple[float, ...]:
    """Reference point of the hypervolume: twice as bad as the baseline, one unit worse where that has 0.

    It is by the first replication of the search: searches of one scenario with one seed have the same, so
    that their volumes compare. Without a baseline it is the worst value of each objective, on validation
    seeds, too, and 10 % more: of the range in the search, or of the size (at least 1) where all are equal.
    """
    objectives, turned, usable = archive.objectives, signs(archive.objectives), archive.evaluations
    if archive.standing is not None:
        first = np.array([archive.standing.objectives[one.name].values[0] for one in objectives])
        steps = [one.resolution for one in objectives]
        return tuple((first + turned * np.where(np.abs(first) > steps, np.abs(first), 1.0)).tolist())
    if not usable:
        return (0.0,) * len(objectives)
    # What breaks constraints does not count, unless there is nothing else.
    usable = tuple(one for one in usable if feasible(one, archive.constraints)) or usable
    values = costs([e.objectives for e in usable], objectives)
    validated = costs([e.validated for e in usable if e.validated], objectives)
    ranges = np.ptp(values, axis=0)
    size = np.maximum(np.abs(values).max(axis=0), 1.0)
    worst = np.vstack([values, validated]).max(axis=0) + 0.1 * np.where(ranges > 0, ranges, size)
    return tuple((worst * turned).tolist())


def hypervolume(
    rows: Sequence[Array] | Array, objectives: Sequence[Objective], reference: Sequence[float]
) -> float:
    """Volume that `costs` dominate within the reference point; its unit is the product of the objectives'."""
    import moocore

    if not len(rows):
        return 0.0
    return float(moocore.hypervolume(np.array(rows), ref=np.array(reference) * signs(objectives)))
