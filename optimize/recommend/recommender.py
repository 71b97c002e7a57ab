"""Sparse recommendations: found by leaving changes out, confirmed on seeds that nothing before has used.

`elimination` leaves out parameters that do nothing. What is left is run on further seeds beside the baseline
and the whole configuration: only these runs say what a recommendation gains and costs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import ceil

from gridtune.optimize.front.changes import gains
from gridtune.optimize.front.front import Front
from gridtune.optimize.recommend.candidates import MOST, Candidate, candidates_of, title_of
from gridtune.optimize.recommend.elimination import Elimination
from gridtune.optimize.recommend.harm import blamed, by_case, harms, harms_in_some, worst_of
from gridtune.optimize.recommend.plan import Plan, plan
from gridtune.optimize.recommend.replays import Replays
from gridtune.optimize.recommend.subsets import Subsets
from gridtune.optimize.records.difference import INTERVAL, Change
from gridtune.optimize.records.evaluations import EXCESS_WAIT
from gridtune.optimize.records.recommendation import Harm, ParameterChange, Recommendation, Refusal
from gridtune.optimize.report.numbers import plain
from gridtune.optimize.runs.blocks import Block, Sample
from gridtune.optimize.runs.evaluator import Evaluator
from gridtune.optimize.runs.table import FIRST_CONFIRMATION, FIRST_ELIMINATION
from gridtune.optimize.search_space.space import key
from gridtune.threads import one_thread

CONFIRMED = 0.8  # of each significant gain, on the seeds of the confirmation, which chance moves, too
ROUNDS = 3  # in which others are tried where all were refused


class Recommender:
    """Makes recommendations of a front; on `left`, `replay` and `overtime` see `Replays`."""

    def __init__(
        self, evaluator: Evaluator, front: Front, left: Callable[[], int], replay: float, overtime: float
    ) -> None:
        self._evaluator, self._front, self._left = evaluator, front, left
        self._settings, self._objectives = evaluator.settings, front.objectives
        self._replays = Replays(evaluator, left, replay, overtime)
        self._aside: list[Candidate] = []  # that break a constraint in the log with all their changes
        self._subsets = Subsets(front, self._settings)
        self.refusals: dict[int, Refusal] = {}  # why configurations are not recommended, by number
        self._elimination = Elimination(front, self._subsets, self.refusals)
        self.remarks: tuple[str, ...] = ()  # why harm may have been missed, a line each

    @one_thread()
    def recommend(self) -> tuple[Recommendation, ...]:
        """The recommendations, confirmed; those that runs do not suffice for are left out."""
        for _ in range(ROUNDS):
            refused, sure = len(self.refusals), self._elimination.sure
            candidates = candidates_of(self._front, self._subsets, sure, self.refusals)
            if found := self._found(self._screened(candidates)):
                return found
            if len(self.refusals) == refused:
                break
        return self._found(self._aside[:MOST])

    def _found(self, candidates: Sequence[Candidate]) -> tuple[Recommendation, ...]:
        """What is recommended of candidates."""
        if not candidates:
            return ()
        # Replays of what is left of a candidate; without a screening its own, and the baseline's, as logged.
        new = self._replays.as_logged.new([{}, *(one.origin.values for one in candidates)])
        chosen = self._plan(candidates, (3 if new else 2) * self._replays.weight)
        if not chosen.candidates:
            note = "note: too few runs are left to confirm recommendations; more --runs or --time allow it"
            if note not in self._evaluator.notes:
                self._evaluator.note(note)
            return ()
        done = len(self._evaluator.table)
        self._evaluator.progress.expect(done + chosen.runs * len(self._settings.run_in))
        first = FIRST_CONFIRMATION if self._front.certain else FIRST_ELIMINATION
        elimination = Block(self._evaluator, range(first, first + chosen.elimination))
        last = FIRST_CONFIRMATION + chosen.confirmation
        confirmation = Block(self._evaluator, range(FIRST_CONFIRMATION, last))
        each = candidates[: chosen.candidates]
        thinned = [self._elimination.thinned(one, elimination, chosen) for one in each]
        candidates = [one for one in thinned if one is not None]
        some = [values for one in candidates for values in (one.sparse, one.origin.values)]
        confirmation.run([{}, *some] if some else [])
        found: dict[str, Recommendation] = {}
        for one in candidates:
            if made := self._confirmed(one, confirmation, len(candidates) * len(self._objectives)):
                found.setdefault(key(made.values), made)
        return tuple(
            replace(self._elimination.with_shares(made, elimination, self._left()), letter=letter)
            for letter, made in zip("ABC", found.values(), strict=False)
        )

    def _plan(self, candidates: Sequence[Candidate], replays: float, kept: float = 0.0) -> Plan:
        """How the runs that are left are divided, without some that are kept."""
        left = self._left() // len(self._settings.run_in) - ceil(kept)
        return plan(left, len(candidates), self._settings.replications, replays, certain=self._front.certain)

    def _screened(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """The first candidates that keep the constraints in the log, also with more jobs, as runs allow.

        Others are set aside: with fewer changes they may keep them. All are left if runs allow no replay.
        """
        replays = self._replays
        if not replays.weight:
            return candidates
        passed = list[Candidate]()
        for one in candidates:
            chosen = self._plan([*passed, one], 2 * replays.weight, replays.cost(one.origin.values))
            if chosen.candidates <= len(passed):
                return passed if one is not candidates[0] else candidates
            sure = [gain for gain in gains(self._front, one.origin) if gain.better and gain.beyond_noise]
            replay = replays.of(one.origin.values, [gain.metric for gain in sure])
            if replay.broken is None:
                passed.append(one)
                continue
            self._refuse(one.origin.number, replay.broken, replay.harmed)
            if len(one.changed) > 1:
                self._aside.append(one)
        return passed

    def _confirmed(self, candidate: Candidate, block: Block, tests: int) -> Recommendation | None:
        """What the runs of the confirmation bear out: the sparse or the whole one, in a family of `tests`."""
        sparse, values = candidate.sparse, candidate.origin.values
        start, whole, part = block.run([{}, values, sparse])
        if start is None:
            return None
        stands = part is not None
        if part is not None and whole is not None and sparse != values:
            kept = self._elimination.kept(part, whole, start)
            stands = kept >= CONFIRMED and not self._replays.worse(sparse, values)
        made = self._borne_out(candidate, part, start, tests) if part and stands else None
        if made is None and whole is not None and sparse != values:
            made = self._borne_out(replace(candidate, sparse=values), whole, start, tests)
        return made

    def _borne_out(
        self, candidate: Candidate, sample: Sample, start: Sample, tests: int
    ) -> Recommendation | None:
        """The recommendation of the sparse configuration, unless these runs or a replay speak against it."""
        number = candidate.origin.number
        changes = {one.name: sample.change(one, start) for one in self._objectives}
        broken = sample.breaks(start)
        gained = [one.metric for one in changes.values() if self._gained(one, tests)]
        if broken or not gained:
            self._refuse(number, broken, blamed(start, sample))
            return None
        dear = [one for one in changes.values() if self._front.unbearable(one)]
        if dear:
            much = [Harm(one.metric.name, one.metric.unit, one.start, one.to) for one in dear]
            self._refuse(number, tuple(one.metric for one in much), much)
            return None
        # What the mean over the cases hides is told of objectives, too.
        harmed = harms(start.metrics, sample.metrics, changes) + by_case(start, sample)
        seldom, remarks = tuple[Harm, ...](), self.remarks
        if self._replays.weight:
            replay = self._replays.of(candidate.sparse, gained)
            if replay.broken is not None:
                self._refuse(number, replay.broken, replay.harmed)
                return None
            harmed, remarks = harmed + replay.harmed, replay.remarks
            told = {one.metric for one in harmed if one.load == 1 and not one.case}
            # The table tells what is significant, of logarithms what they are of.
            worse = [one.metric for one in changes.values() if one.significant and not one.better]
            told |= {plain(metric).name for metric in worse}
            seldom = harms_in_some(start.metrics, sample.metrics, told)
        if candidate.sparse == candidate.origin.values:
            self.refusals.pop(number, None)
        self.remarks = remarks
        return self._made(candidate, changes, worst_of(harmed) + seldom, sample.evaluation.replications)

    def _refuse(self, number: int, broken: tuple[str, ...], harmed: Sequence[Harm] = ()) -> None:
        """Note why a configuration is not recommended."""
        known = harmed and not {EXCESS_WAIT, harmed[0].metric}.isdisjoint(broken)
        self.refusals[number] = Refusal(broken, harmed[0] if known else None)

    def _made(
        self, candidate: Candidate, objectives: dict[str, Change], harmed: tuple[Harm, ...], replications: int
    ) -> Recommendation:
        origin, configuration, subsets = candidate.origin, candidate.sparse, self._subsets
        kept = subsets.kept(configuration)
        changes = [
            ParameterChange(path, subsets.before(configuration, path), configuration[path])
            for path in dict.fromkeys([*candidate.changed, *configuration])
            if path in configuration and path not in kept
        ]
        told = {*subsets.kept(origin.values), *(one.path for one in changes)}
        gained = [one.metric for one in objectives.values() if self._gained(one)]
        return Recommendation(
            letter="",
            title=title_of(candidate.chosen, gained, self._objectives, compromise=candidate.compromise),
            origin=origin.number,
            number=origin.number if configuration == origin.values else self._evaluator.number(configuration),
            values=configuration,
            changes=tuple(changes),
            without_effect=tuple(path for path in origin.values if path not in told),
            objectives=objectives,
            harms=harmed,
            replications=replications,
        )

    def _gained(self, one: Change, tests: int = 1) -> bool:
        """Whether an objective gets better, significantly (95 %) in the family of so many tests."""
        p_value = one.difference.p_value
        sure = p_value is not None and p_value * tests <= 1 - INTERVAL
        return one.better and (self._front.certain or sure)
