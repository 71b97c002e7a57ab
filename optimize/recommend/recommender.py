"""Sparse recommendations: found by leaving changes out, confirmed on seeds that nothing before has used.

A configuration of the front differs from the baseline in many parameters, most of which do nothing. A
surrogate model of all runs orders the changes by what they add; paired runs decide how few of them keep
`KEEP` of each significant gain and make nothing worse. What is left is run on further seeds beside the
baseline and the whole configuration: only these runs say what a recommendation gains and costs.

Source: C. Fawcett and H. Hoos, Analysing Differences between Algorithm Configurations through Ablation,
Journal of Heuristics 22(4), 2016.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from gridtune.model.streams import AS_LOGGED
from gridtune.optimize.front.front import Front, Member
from gridtune.optimize.recommend.harm import harms, harms_of_replay, worst_of
from gridtune.optimize.recommend.ordering import Ordering
from gridtune.optimize.recommend.subsets import Unit, combined, rounded, units_of
from gridtune.optimize.recommend.titles import title_of
from gridtune.optimize.records.difference import INTERVAL, ROUNDING, Change
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.records.recommendation import Harm, ParameterChange, Recommendation
from gridtune.optimize.replication.compare import shares, signs
from gridtune.optimize.replication.loss import failing
from gridtune.optimize.runs.blocks import Block, Sample
from gridtune.optimize.runs.evaluator import Evaluator
from gridtune.optimize.runs.table import FIRST_VALIDATION
from gridtune.optimize.search_space.space import Configuration, key
from gridtune.threads import one_thread

KEEP = 0.9  # of each significant gain of the whole configuration
CONFIRMED = 0.8  # the same on the seeds of the confirmation, which chance moves, too
ELIMINATION, CONFIRMATION = 6, 12  # replications, at most
LEAST_ELIMINATION, LEAST_CONFIRMATION = 3, 6  # replications without which they are left out
FIRST_ELIMINATION, FIRST_CONFIRMATION = FIRST_VALIDATION + 1000, FIRST_VALIDATION + 2000
LEAST = 3 * LEAST_CONFIRMATION  # runs without which nothing can be confirmed
MOST = 3  # recommendations
ROUNDS = 2  # in which others are tried where all were refused
TRIES = 4  # subsets of a configuration that are run
LEAST_RUNS = LEAST + (2 + TRIES) * LEAST_ELIMINATION  # to find and confirm one recommendation


@dataclass
class _Candidate:
    """A configuration that may be recommended, and why.

    Attributes:
        chosen: objectives that it is the best candidate for.
        compromise: whether it is the compromise.
        member: on the front.
        configuration: its values.
        sparse: the values with as few changes as suffice.
        units: changes of the sparse configuration, the most effective first.
    """

    chosen: list[Objective]
    compromise: bool
    member: Member
    configuration: Configuration
    sparse: Configuration
    units: list[Unit]


class Recommender:
    """Makes recommendations of a front.

    Args:
        evaluator: runs configurations.
        front: to recommend from.
        left: gives the runs that may still be done.
        number: gives an evaluated configuration's number, evaluating it first if need be.
        replay: runs that one replay of whole logs counts as; 0 if there is nothing to replay.

    Attributes:
        refused: metrics whose constraints a configuration broke in the confirmation, by its number; none of
            one that was not significantly better there.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        front: Front,
        left: Callable[[], int],
        number: Callable[[Configuration], int],
        replay: float = 0.0,
    ) -> None:
        self._evaluator, self._front, self._left, self._number = evaluator, front, left, number
        self._settings = evaluator.settings
        self._replay = replay
        self._whole = Block(evaluator, [AS_LOGGED])  # whole logs as they are
        baseline = self._settings.baseline
        self._baseline: Configuration = {} if baseline is None else dict(baseline.values)
        self._objectives = front.objectives
        settings = self._settings
        self._ordering = Ordering(front, settings.space, self._baseline, settings.seed)
        self.refused: dict[int, tuple[str, ...]] = {}

    @one_thread()
    def recommend(self) -> tuple[Recommendation, ...]:
        """The recommendations, confirmed; those that runs do not suffice for are left out."""
        found: tuple[Recommendation, ...] = ()
        for _ in range(ROUNDS if self._settings.baseline is not None else 0):
            refused = len(self.refused)
            found = self._found()
            if found or len(self.refused) == refused:
                break
        return found

    def _found(self) -> tuple[Recommendation, ...]:
        """What is recommended of the configurations that were not refused."""
        candidates = self._candidates()
        if not candidates:
            return ()
        candidates, eliminating, confirming = self._affordable(candidates)
        if not candidates:
            self._evaluator.note(
                "note: too few runs are left to confirm recommendations; more --runs allow it"
            )
            return ()
        certain = self._front.certain
        firsts = FIRST_CONFIRMATION if certain else FIRST_ELIMINATION, FIRST_CONFIRMATION
        elimination, confirmation = (
            Block(self._evaluator, range(first, first + count))
            for first, count in zip(firsts, (eliminating, confirming), strict=True)
        )
        if elimination.replications:
            candidates = [self._thinned(one, elimination) for one in candidates]
        found: dict[str, tuple[_Candidate, Recommendation]] = {}
        for one in candidates:
            tests = len(candidates) * len(self._objectives)
            made = self._confirmed(one, confirmation, chr(ord("A") + len(found)), tests)
            if made is not None:
                found.setdefault(key(made.values), (one, made))
        every = [made for _, made in found.values()]
        return tuple(
            replace(self._with_shares(made, elimination), title=self._title(one, made, every))
            for one, made in found.values()
        )

    def _title(self, candidate: _Candidate, made: Recommendation, every: Sequence[Recommendation]) -> str:
        """What it is called; every recommendation is on the front, too."""
        front, turned, baseline = self._front, signs(self._objectives), self._front.archive.baseline
        assert baseline is not None
        gains = {
            one.evaluation.number: front.means[one.evaluation.number] - front.means[baseline]
            for one in front.on_front
        }
        gains |= {
            one.number: turned * [one.objectives[o.name].difference.mean for o in self._objectives]
            for one in every
        }
        most = np.min(list(gains.values()), axis=0)
        first = gains[made.number] <= most + ROUNDING * abs(most)
        return title_of(
            candidate.chosen,
            [one.metric for one in made.objectives.values() if self._gained(one)],
            [one for one, mine in zip(self._objectives, first, strict=True) if mine],
            self._objectives,
            compromise=candidate.compromise,
        )

    def _candidates(self) -> list[_Candidate]:
        """The best of each objective, and the compromise, as far as they are better than the baseline."""
        front, baseline = self._front, self._front.archive.baseline
        members = [one for one in front.on_front if one.evaluation.number not in (baseline, *self.refused)]
        if baseline is None or baseline not in front.means:
            return []
        start = front.means[baseline]
        members = front.bearable(members)
        if not members:
            return []
        values = front.costs(members)
        chosen: dict[int, list[Objective]] = {}
        for at, objective in enumerate(front.objectives):
            best = int(values[:, at].argmin())
            if values[best, at] < start[at]:
                chosen.setdefault(best, []).append(objective)
        compromise = None
        ahead = [at for at, row in enumerate(values) if (row < start).any()]
        if len(front.objectives) > 1 and ahead:
            compromise = ahead[int(shares(values)[ahead].max(axis=1).argmin())]
            chosen.setdefault(compromise, [])
        return [
            self._candidate(members[at], some, at == compromise) for at, some in list(chosen.items())[:MOST]
        ]

    def _candidate(self, member: Member, chosen: list[Objective], compromise: bool) -> _Candidate:
        values = member.evaluation.values
        units = self._ordering.ordered(units_of(self._settings.space, self._baseline, values), values)
        return _Candidate(chosen, compromise, member, values, values, units)

    def _affordable(self, candidates: list[_Candidate]) -> tuple[list[_Candidate], int, int]:
        """As many candidates as runs allow, with the replications of elimination and of confirmation."""
        left = self._left() // len(self._settings.run_in)
        for count in range(len(candidates), 0, -1):
            # A sparse configuration is evaluated as any other.
            left_here = left - count * self._settings.replications - ceil((1 + count) * self._replay)
            sure = 1 + 2 * count  # the baseline, sparse and whole configurations
            tries = 1 + (1 + TRIES) * count
            if self._front.certain:  # one run tells all, and the confirmation repeats those of before
                if left_here >= tries:
                    return candidates[:count], 1, 1
                continue
            # A single one is rather confirmed by fewer runs than told with changes that do nothing.
            least = LEAST_CONFIRMATION if count == 1 else CONFIRMATION
            room = left_here - LEAST_ELIMINATION * tries
            if room >= least * sure:
                confirmation = min(CONFIRMATION, room // sure)
                elimination = min(ELIMINATION, (left_here - confirmation * sure) // tries)
                return candidates[:count], elimination, confirmation
        if candidates and left_here >= LEAST_CONFIRMATION * sure:
            return candidates[:1], 0, min(CONFIRMATION, left_here // sure)
        return [], 0, 0

    def _thinned(self, candidate: _Candidate, block: Block) -> _Candidate:
        """The configuration with the fewest changes that keep its gains in these runs."""
        space, units = self._settings.space, candidate.units
        start, whole = block.run([{}, candidate.configuration])
        if start is None or whole is None or len(units) < 2:
            return candidate
        best = candidate
        low, high = 0, len(units)  # so many changes keep too little, so many keep enough
        size = self._ordering.enough(units, candidate.configuration, KEEP)
        for _ in range(TRIES):
            if not low < size < high:
                break
            some = combined(space, self._baseline, units[:size])
            sparse = None if some is None else rounded(space, some, self._baseline)
            sample = None if sparse is None else block.run([sparse])[0]
            if sample and sparse is not None and self._suffices(sample, whole, start, KEEP, block):
                best = replace(candidate, sparse=sparse, units=units[:size])
                high, size = size, size - 1 if size - low <= 2 else (low + size) // 2
            else:
                low, size = size, size + 1 if high - size <= 2 else (size + high + 1) // 2
        return best

    def _suffices(self, sample: Sample, whole: Sample, start: Sample, share: float, block: Block) -> bool:
        """Whether a sparse configuration keeps that share of each gain, and makes nothing worse."""
        if block.broken(sample):
            return False
        for objective in self._objectives:
            full, part = whole.change(objective, start), sample.change(objective, start)
            if _sure(full, better=True) and part.difference.mean / full.difference.mean < share:
                return False
            if _sure(part, better=False) and _sure(sample.change(objective, whole), better=False):
                return False
        return True

    def _confirmed(
        self, candidate: _Candidate, block: Block, letter: str, tests: int
    ) -> Recommendation | None:
        """The recommendation that the runs of the confirmation bear out; None if they bear out none.

        As there are several tests, one of them must be the surer (Bonferroni).
        """
        start, sparse, whole = block.run([{}, candidate.sparse, candidate.configuration])
        if start is None:
            return None
        configuration, sample = candidate.sparse, sparse
        if sample is None or (
            whole is not None and not self._suffices(sample, whole, start, CONFIRMED, block)
        ):
            configuration, sample = candidate.configuration, whole
        if sample is None:
            return None
        if broken := block.broken(sample) or failing(sample.means, start.means):
            self.refused[candidate.member.evaluation.number] = broken
            return None
        if not any(self._gained(sample.change(one, start), tests) for one in self._objectives):
            self.refused[candidate.member.evaluation.number] = ()
            return None
        replayed = self._replayed(candidate, configuration)
        if replayed is None:
            return None
        made = self._made(candidate, letter, configuration, start, sample)
        return replace(made, harms=worst_of([*made.harms, *replayed]))

    def _replayed(self, candidate: _Candidate, configuration: Configuration) -> tuple[Harm, ...] | None:
        """What gets worse where whole logs are replayed; None if a constraint is broken there."""
        if not self._replay:
            return ()
        start, sample = self._whole.run([{}, configuration])
        broken: tuple[str, ...] = ()
        if (
            start is None
            or sample is None
            or (broken := self._whole.broken(sample) or failing(sample.means, start.means))
        ):
            self.refused[candidate.member.evaluation.number] = broken
            return None
        return harms_of_replay(start.means, sample.means, self._evaluator.table.units)

    def _made(
        self, candidate: _Candidate, letter: str, configuration: Configuration, start: Sample, sample: Sample
    ) -> Recommendation:
        origin, before = candidate.member.evaluation, self._baseline
        ordered = dict.fromkeys([*(path for unit in candidate.units for path in unit.values), *configuration])
        changes = [
            ParameterChange(path, before.get(path), configuration[path])
            for path in ordered
            if path in configuration and configuration[path] != before.get(path)
        ]
        kept = {one.path for one in changes}
        names = [one.name for one in self._objectives]
        return Recommendation(
            letter=letter,
            title="",
            origin=origin.number,
            number=origin.number if configuration == origin.values else self._number(configuration),
            values=configuration,
            changes=tuple(changes),
            without_effect=tuple(
                path
                for path, value in origin.values.items()
                if value != before.get(path) and path not in kept
            ),
            objectives={one.name: sample.change(one, start) for one in self._objectives},
            harms=harms(start.metrics, sample.metrics, self._evaluator.table.units, names),
            replications=sample.evaluation.replications,
        )

    def _with_shares(self, made: Recommendation, block: Block) -> Recommendation:
        """The recommendation with what each change alone does to the baseline, as far as runs are left."""
        space, before = self._settings.space, self._baseline
        units = units_of(space, before, made.values)
        made_alone = {unit.path: combined(space, before, [unit]) for unit in units}
        singles = {path: one for path, one in made_alone.items() if one is not None}
        configurations = [{}, made.values, *singles.values()]
        if len(units) < 2 or not block.replications or block.cost(configurations) > self._left():
            return made
        start, whole, *alone = block.run(configurations)
        if start is None or whole is None:
            return made
        samples = dict(zip(singles, alone, strict=True))
        changes = [self._told(one, samples.get(one.path), start, whole) for one in made.changes]
        shares = {one.path: one.share or 0.0 for one in changes}
        share = {path: shares.get(unit.path, 0.0) for unit in units for path in unit.values}
        return replace(made, changes=tuple(sorted(changes, key=lambda one: -share.get(one.path, 0.0))))

    def _told(
        self, one: ParameterChange, sample: Sample | None, start: Sample, whole: Sample
    ) -> ParameterChange:
        """A change with its effect alone, and its share of the gains of the whole."""
        if sample is None:
            return one
        alone, parts = dict[str, float](), list[float]()
        for objective in self._objectives:
            gap, full = sample.change(objective, start), whole.change(objective, start)
            alone[objective.name] = gap.difference.mean if gap.beyond_noise else 0.0
            if _sure(full, better=True):
                parts.append(min(max(alone[objective.name] / full.difference.mean, 0.0), 1.0))
        return replace(one, alone=alone, share=sum(parts) / len(parts) if parts else None)

    def _gained(self, one: Change, tests: int = 1) -> bool:
        """Whether an objective gets better, significantly (95 %) in the family of so many tests."""
        sure = one.difference.confidence or 0.0
        return one.better and (self._front.certain or (1 - sure) * tests <= 1 - INTERVAL)


def _sure(one: Change, *, better: bool) -> bool:
    """Whether an objective gets better, or worse, significantly (95 %)."""
    return one.beyond_noise and one.better is better
