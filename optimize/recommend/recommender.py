"""Sparse recommendations: found by leaving changes out, confirmed on seeds that nothing before has used.

A configuration of the front differs from the baseline in many parameters, most of which do nothing. A
surrogate model of all runs orders the changes by what they add; paired runs decide how few of them keep
`KEEP` of each significant gain and make nothing worse. What is left is run on further seeds beside the
baseline and the whole configuration: only these runs say what a recommendation gains and costs.

Source: C. Fawcett and H. Hoos, Analysing Differences between Algorithm Configurations through Ablation,
Journal of Heuristics 22(4), 2016.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil

import numpy as np

from gridtune.model.metrics.labels import label
from gridtune.model.streams import AS_LOGGED
from gridtune.optimize.front.front import Front, Member
from gridtune.optimize.inference.surrogate_model import NoisySurrogate, coordinates_of, distances
from gridtune.optimize.recommend.harm import harms, harms_of_replay, worst_of
from gridtune.optimize.recommend.runs import Block, Sample, better, gain, significant, worse
from gridtune.optimize.recommend.subsets import Unit, combined, rounded, units_of
from gridtune.optimize.records.difference import Difference
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.records.recommendation import Harm, ParameterChange, Recommendation
from gridtune.optimize.replication.compare import shares
from gridtune.optimize.replication.loss import failing
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
KNOWN = 200  # configurations that the surrogate model learns from
DRAWS = 64
PHASE = "confirming recommendations"


@dataclass
class _Candidate:
    title: str
    member: Member
    configuration: Configuration
    sparse: Configuration
    units: list[Unit]  # of the sparse configuration, the most effective first


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
        self._evaluator.progress.start(PHASE, 0)
        if elimination.replications:
            candidates = [self._thinned(one, elimination) for one in candidates]
        found: dict[str, Recommendation] = {}
        for one in candidates:
            made = self._confirmed(one, confirmation, chr(ord("A") + len(found)))
            if made is not None:
                found.setdefault(key(made.values), made)
        return tuple(self._with_shares(one, elimination) for one in found.values())

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
        order = [
            (int(values[:, at].argmin()), _best(one, front.objectives))
            for at, one in enumerate(front.objectives)
        ]
        order = [pair for at, pair in enumerate(order) if values[pair[0], at] < start[at]]
        if len(front.objectives) > 1:
            ahead = [at for at, row in enumerate(values) if (row < start).any()]
            if ahead:
                order.append((ahead[int(shares(values, values)[ahead].max(axis=1).argmin())], "compromise"))
        titles: dict[int, list[str]] = {}
        for at, title in order:
            titles.setdefault(at, []).append(title)
        return [self._candidate(members[at], ", ".join(names)) for at, names in list(titles.items())[:MOST]]

    def _candidate(self, member: Member, title: str) -> _Candidate:
        configuration = member.evaluation.values
        units = self._ordered(units_of(self._settings.space, self._baseline, configuration), member)
        return _Candidate(title, member, configuration, configuration, units)

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
            confirmation = min(CONFIRMATION, left_here // sure)
            if count > 1 and (left_here - confirmation * sure) // tries < LEAST_ELIMINATION:
                continue
            if confirmation >= LEAST_CONFIRMATION:
                elimination = min(ELIMINATION, (left_here - confirmation * sure) // tries)
                enough = elimination >= LEAST_ELIMINATION
                return candidates[:count], elimination if enough else 0, confirmation
        return [], 0, 0

    def _ordered(self, units: Sequence[Unit], member: Member) -> list[Unit]:
        """The changes, each the one that adds most to those before it, by a surrogate model of all runs."""
        left, chosen = list(units), list[Unit]()
        predict = self._surrogate
        goal = self._improvement(predict([self._baseline, member.evaluation.values]))
        while left:
            configurations = [combined(self._settings.space, self._baseline, [*chosen, one]) for one in left]
            able = [at for at, configuration in enumerate(configurations) if configuration is not None]
            if not able:
                break
            values = predict([self._baseline, *(configurations[at] or {} for at in able)])
            achieved = self._share_achieved(values, goal)
            chosen.append(left.pop(able[int(achieved.argmax())]))
        return [*chosen, *left]

    def _improvement(self, values: np.ndarray) -> np.ndarray:
        """Improvement from the baseline to the whole configuration, by objective; 0 where there is none."""
        return np.asarray((values[0] - values[1]).clip(0.0))

    @staticmethod
    def _share_achieved(values: np.ndarray, goal: np.ndarray) -> np.ndarray:
        """Share of the improvement that each configuration after the baseline keeps, mean over objectives."""
        some = goal > 0
        if not some.any():
            return np.zeros(len(values) - 1)
        kept = (values[0] - values[1:])[:, some] / goal[some]
        return np.asarray(kept.clip(-1.0, 1.0).mean(axis=1))

    @cached_property
    def _surrogate(self) -> Callable[[Sequence[Configuration]], np.ndarray]:
        """Predicts objectives of configurations, to be minimised."""
        archive = self._front.archive
        numbers = {one.number: one for one in archive.evaluations}
        known = [numbers[number] for number in list(self._front.means) if number in numbers]
        known = [one for one in known if one.values][:KNOWN]
        places = [one.values for one in known]
        values = np.array([self._front.means[one.number] for one in known])
        paths = self._settings.space.paths
        fitted = NoisySurrogate.of(distances(coordinates_of(places, paths)), values, self._settings.seed)

        def predict(configurations: Sequence[Configuration]) -> np.ndarray:
            apart = distances(coordinates_of([*places, *configurations], paths))
            which = range(len(places), len(places) + len(configurations))
            rng = np.random.default_rng([self._settings.seed, len(places)])
            return np.asarray(fitted.draws(apart, values, which, DRAWS, rng).mean(axis=0))

        return predict

    def _thinned(self, candidate: _Candidate, block: Block) -> _Candidate:
        """The configuration with the fewest changes that keep its gains in these runs."""
        space, units = self._settings.space, candidate.units
        start, whole = block.run([{}, candidate.configuration])
        if start is None or whole is None or len(units) < 2:
            return candidate
        best = candidate
        low, high = 0, len(units)  # so many changes keep too little, so many keep enough
        size = self._first_guess(units, candidate)
        for _ in range(TRIES):
            if not low < size < high:
                break
            some = combined(space, self._baseline, units[:size])
            sparse = None if some is None else rounded(space, some, self._baseline)
            sample = None if sparse is None else block.run([sparse])[0]
            if (
                sample is not None
                and sparse is not None
                and self._suffices(sample, whole, start, KEEP, block)
            ):
                best = _Candidate(
                    candidate.title, candidate.member, candidate.configuration, sparse, units[:size]
                )
                high, size = size, size - 1 if size - low <= 2 else (low + size) // 2
            else:
                low, size = size, size + 1 if high - size <= 2 else (size + high + 1) // 2
        return best

    def _first_guess(self, units: Sequence[Unit], candidate: _Candidate) -> int:
        """How many changes the surrogate model expects to keep enough of the improvement."""
        predict = self._surrogate
        configurations = [
            combined(self._settings.space, self._baseline, units[: k + 1]) for k in range(len(units))
        ]
        values = predict([self._baseline, *(one or self._baseline for one in configurations)])
        goal = self._improvement(predict([self._baseline, candidate.configuration]))
        achieved = self._share_achieved(values, goal)
        enough = np.flatnonzero(achieved >= KEEP * max(float(achieved[-1]), 1e-9))
        return int(enough[0]) + 1 if len(enough) else len(units)

    def _suffices(self, sample: Sample, whole: Sample, start: Sample, share: float, block: Block) -> bool:
        """Whether a sparse configuration keeps that share of each gain, and makes nothing worse."""
        if block.broken(sample):
            return False
        for objective in self._objectives:
            full, part = gain(whole, start, objective), gain(sample, start, objective)
            if better(full, objective) and part.mean / full.mean < share:
                return False
            if worse(part, objective) and worse(gain(sample, whole, objective), objective):
                return False
        return True

    def _confirmed(self, candidate: _Candidate, block: Block, letter: str) -> Recommendation | None:
        """The recommendation that the runs of the confirmation bear out; None if they bear out none."""
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
        changes = {one.name: gain(sample, start, one) for one in self._objectives}
        if not any(self._gained(changes, one) for one in self._objectives):
            self.refused[candidate.member.evaluation.number] = ()
            return None
        replayed = self._replayed(candidate, configuration)
        if replayed is None:
            return None
        return self._made(candidate, letter, configuration, start, sample, len(block.replications), replayed)

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
        self,
        candidate: _Candidate,
        letter: str,
        configuration: Configuration,
        start: Sample,
        sample: Sample,
        count: int,
        replayed: Sequence[Harm],
    ) -> Recommendation:
        origin = candidate.member.evaluation
        changes = []
        for unit in candidate.units:
            for path in unit.values:
                value = configuration.get(path)
                if value is not None and value != self._baseline.get(path):
                    changes.append(ParameterChange(path, self._baseline.get(path), value))
        told = {one.path for one in changes}
        for path, value in configuration.items():
            if path not in told and value != self._baseline.get(path):
                changes.append(ParameterChange(path, self._baseline.get(path), value))
        kept = {one.path for one in changes}
        dropped = [
            path
            for path, value in origin.values.items()
            if value != self._baseline.get(path) and path not in kept
        ]
        names = [one.name for one in self._objectives]
        objectives = {one.name: gain(sample, start, one) for one in self._objectives}
        return Recommendation(
            letter,
            _borne_out(
                candidate.title,
                self._objectives,
                [one for one in self._objectives if self._gained(objectives, one)],
            ),
            origin.number,
            origin.number if configuration == origin.values else self._number(configuration),
            configuration,
            tuple(changes),
            tuple(dropped),
            objectives,
            {name: start.evaluation.objectives[name].mean for name in names},
            {name: sample.evaluation.objectives[name].mean for name in names},
            worst_of([*harms(start.metrics, sample.metrics, self._evaluator.table.units, names), *replayed]),
            count,
        )

    def _with_shares(self, made: Recommendation, block: Block) -> Recommendation:
        """The recommendation with what each change alone does to the baseline, as far as runs are left."""
        units = units_of(self._settings.space, self._baseline, made.values)
        singles = [(unit, combined(self._settings.space, self._baseline, [unit])) for unit in units]
        configurations = [
            made.values,
            *(configuration for _, configuration in singles if configuration is not None),
        ]
        if len(units) < 2 or not block.replications or block.cost([{}, *configurations]) > self._left():
            return made
        start, whole, *alone = block.run([{}, *configurations])
        if start is None or whole is None:
            return made
        samples = iter(alone)
        known = {unit.path: next(samples) for unit, configuration in singles if configuration is not None}
        changes = [self._told(one, known.get(one.path), start, whole) for one in made.changes]
        shares = {one.path: one.share or 0.0 for one in changes}
        share = {path: shares.get(unit.path, 0.0) for unit in units for path in unit.values}
        return replace(made, changes=tuple(sorted(changes, key=lambda one: -share.get(one.path, 0.0))))

    def _told(
        self, one: ParameterChange, sample: Sample | None, start: Sample, whole: Sample
    ) -> ParameterChange:
        if sample is None:
            return one
        gaps = {o.name: gain(sample, start, o) for o in self._objectives}
        full = {o.name: gain(whole, start, o) for o in self._objectives}
        alone = {name: gap.mean if significant(gap) else 0.0 for name, gap in gaps.items()}
        parts = [alone[o.name] / full[o.name].mean for o in self._objectives if better(full[o.name], o)]
        share = sum(min(max(part, 0.0), 1.0) for part in parts) / len(parts) if parts else None
        return replace(one, alone=alone, share=share)

    def _gained(self, objectives: Mapping[str, Difference], one: Objective) -> bool:
        gap = objectives[one.name]
        return better(gap, one) or (self._front.certain and _ahead(gap.mean, one))


def _best(objective: Objective, among: Sequence[Objective]) -> str:
    """What the best in an objective is called: fewest users, lowest slowdown, most work."""
    known, least = label(objective.name), objective.direction == "minimize"
    counted = objective.unit not in ("", "s") or (known.percent and known.name.endswith("s"))
    if least:
        way = "fewest" if counted else "lowest"
    else:
        way = "most" if counted or known.name.endswith("work") else "highest"
    return f"{way} {_called(objective, among)}"


def _borne_out(title: str, among: Sequence[Objective], gained: Sequence[Objective]) -> str:
    """A title without superlatives that the confirmation does not bear out; at least what is better."""
    unmet = {_best(one, among) for one in among if one not in gained}
    kept = [part for part in title.split(", ") if part not in unmet]
    return ", ".join(kept) or f"better {' and '.join(_called(one, among) for one in gained)}"


def _called(objective: Objective, among: Sequence[Objective]) -> str:
    """An objective's name; with its statistic where others share its name."""
    mine = label(objective.name)
    shared = sum(label(one.name).name == mine.name for one in among) > 1
    return str(mine).replace("log10 of the ", "") if shared else mine.name


def _ahead(mean: float, objective: Objective) -> bool:
    return mean < 0 if objective.direction == "minimize" else mean > 0
