"""The front run again under streams that the search never used, and what might have been on it.

Where all points of the front share a kind of system (a middleware, a controller) although others were tried,
the others are put in its place in points of the front, and these variants are run as members are: what no
other beats joins the front. So nothing is said of kinds that was not tried in the same place.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

from gridtune.optimize.budget import VALIDATION, Meter
from gridtune.optimize.evaluator import Evaluator
from gridtune.optimize.explanation.transplants import variants
from gridtune.optimize.front.dominant_choice import dominant_choices, kinds
from gridtune.optimize.front.front import front
from gridtune.optimize.front.kind_test import VARIANTS
from gridtune.optimize.inference.judgement import ENOUGH, Judgement, judgement_of
from gridtune.optimize.records.evaluations import Archive, Estimate, Evaluation
from gridtune.optimize.replication.compare import first_of
from gridtune.optimize.replication.refine import Refinement
from gridtune.optimize.replication.shortlist import LIMIT, shortlist
from gridtune.optimize.replication.validation import FRESH
from gridtune.optimize.search_space.constraints import Cases, feasible
from gridtune.optimize.search_space.space import Point, key

PAIR = 2  # runs, or members, of which differences are seen
PROBES = 10  # points by which luck is told from worth where none was run twice
TRANSPLANTS = 0.2  # of the runs so far: what variants of members may take
RESAMPLES = 200  # by which chances to keep constraints are told well enough here
OVERLOOKED = 0.1  # chance from which a point is not left without fresh runs


class HeldOut:
    """Runs the front of a search again, the same streams for all members.

    What is known of members already is not run again. Today's setting gets as many replications as any
    member: all are compared with it.

    Args:
        evaluator: runs points; its store says what is known.
        meter: says what is left of the budget.
        spent: runs of the search before.
        least: replications of every member, where a model of all runs helps to judge it.
        usual: the same where there are too few points for that; 0 for none.
        most: replications of those that remain uncertain.
    """

    def __init__(
        self, evaluator: Evaluator, meter: Meter, spent: int, least: int, usual: int, most: int
    ) -> None:
        self._evaluator, self._meter, self._searched = evaluator, meter, spent
        self._least, self._usual, self._most = least, usual, most
        settings = evaluator.settings
        self._race = Refinement(
            settings.objectives, most, self._fresh, settings.constraints, self._fresh_cases
        )
        self._last: tuple[dict[str, int], Judgement | None] | None = None

    def validate(self) -> None:
        """Run the shortlist of the search."""
        evaluator, settings = self._evaluator, self._evaluator.settings
        raced = isinstance(evaluator.store.known.get(evaluator.today), Evaluation)
        candidates = self._candidates()
        least = self._least if len(candidates) >= ENOUGH else self._usual
        each = max(1, least * len(settings.run_in))
        room = self._left(VALIDATION) // each - raced
        if room < PAIR:
            candidates = [one for one in candidates if key(one.values) != evaluator.today]
            least, room = self._few(len(shortlist(candidates, settings.objectives)), least, raced)
        standing = {evaluator.today: least} if raced else {}
        members = self._promising(candidates, min(LIMIT, room), standing, least) if least and room > 0 else []
        if not members:
            return
        wanted = self._affordable({key(member.values): least for member in members}, standing)
        evaluator.extend(wanted | standing, self._race, "front on fresh seeds", FRESH)
        self._settle("uncertain members on fresh seeds", VALIDATION)
        self.look_again(VALIDATION)

    def _few(self, members: int, least: int, raced: bool) -> tuple[int, int]:
        """Replications of a member, and how many members there may be, where runs are too few for the usual.

        All that are left go to these, so that each has two at least.

        Args:
            members: there could be.
            least: replications of a member otherwise.
            raced: whether today's setting gets as many.
        """
        slots = self._left() // len(self._evaluator.settings.run_in)
        room = min(members, slots // min(PAIR, max(1, least)) - raced)
        return min(least, slots // max(1, room + raced)), room

    def _affordable(
        self, wanted: Mapping[str, int], beside: dict[str, int] | None = None, share: float = 1.0
    ) -> dict[str, int]:
        """The first of what points should have, as far as runs allow.

        Today's setting is run as often as any of them.

        Args:
            wanted: replications by key of the point.
            beside: what others get in any case.
            share: of the budget.
        """
        counts, found = self._race.counts, dict[str, int]()
        runs = partial(self._evaluator.spent, level=True)
        left = self._left(share)
        for name, count in wanted.items():
            more = found | {name: count}
            if runs(counts | (beside or {}) | more) - runs(counts) > left:
                break
            found = more
        return found

    def look_again(self, share: float = 1.0) -> None:
        """Run what may be on the front after all, and more often what would be kept after few runs.

        Those that look best after few runs are those that were lucky in them. What a share of the budget does
        not allow is left.
        """
        while wanted := self._overlooked(share) or self._unconfirmed(share):
            self._evaluator.extend(wanted, self._race, "others on fresh seeds", FRESH)
            self._settle("uncertain members on fresh seeds", share)

    def _unconfirmed(self, share: float) -> dict[str, int]:
        """Points that would be kept by fewer than the usual replications, the likeliest first, by key.

        Of a front that no model of all runs helps to judge, as most of its points are equal, all members.
        """
        counts = self._race.counts
        if not counts or min(counts.values()) >= self._usual:
            return {}
        told = front(self._archive(), resamples=RESAMPLES)
        kept = sorted(
            told.kept if told.judgement else told.members,
            key=lambda member: -(member.probability_non_dominated or 0.0),
        )
        names = [key(member.evaluation.values) for member in kept if not told.certain]
        lacking = [name for name in names if counts.get(name, self._usual) < self._usual]
        return self._affordable(dict.fromkeys(lacking, self._usual), share=share)

    def _overlooked(self, share: float) -> dict[str, int]:
        """Points that may be on the front after all, now that its members were seen again.

        What is said of a point that was run once leans on others like it: too little to keep it by. Points
        that do the same as a member are none.
        """
        settings, counts = self._evaluator.settings, self._race.counts
        least = self._least  # of points enough for the model
        left = self._left(share) // (least * len(settings.run_in)) if counts else 0
        candidates = self._candidates() if left else []
        if len(candidates) <= LIMIT:  # of few points few are overlooked
            return {}
        judged = self._judged(candidates)
        if judged is None:
            return {}
        likely = [one for one in candidates if judged.chances.get(one.number, 0.0) >= OVERLOOKED]
        members = [one for one in candidates if key(one.values) in counts]
        room = min(left, LIMIT - sum(key(one.values) in counts for one in likely))
        others = [one for one in likely if not any(_alike(one, member) for member in members)]
        others.sort(key=lambda one: -judged.chances[one.number])
        return self._affordable({key(one.values): least for one in others[: max(room, 0)]}, share=share)

    def _candidates(self) -> list[Evaluation]:
        """Points that keep the constraints, with the runs that count so far."""
        constraints = self._evaluator.settings.constraints
        return [entry for entry in self._archive().evaluations if feasible(entry, constraints)]

    def _judged(self, candidates: Sequence[Evaluation]) -> Judgement | None:
        """What all runs so far say of the candidates; worked out once for equal runs."""
        counts, settings = self._race.counts, self._evaluator.settings
        if self._last is None or self._last[0] != counts:
            self._last = dict(counts), judgement_of(candidates, settings.objectives, settings.seed)
        return self._last[1]

    def _promising(
        self, candidates: Sequence[Evaluation], limit: int, standing: dict[str, int], least: int
    ) -> Sequence[Evaluation]:
        """Those of the candidates that may be on the front, by all runs; by means where these say too little.

        Where no point was run twice nobody knows what is luck: a few are, to begin with.
        """
        objectives = self._evaluator.settings.objectives
        seen = shortlist(candidates, objectives, limit)
        if max((one.replications for one in candidates), default=0) < PAIR <= least:
            some = {key(one.values): PAIR for one in shortlist(candidates, objectives, min(PROBES, limit))}
            probes = self._affordable(some, standing)
            self._evaluator.extend(probes, self._race, "some on fresh seeds", FRESH)
            numbers = {one.number for one in candidates}
            candidates = [one for one in self._candidates() if one.number in numbers]
        judged = self._judged(candidates)
        if judged is None:
            return seen
        known = {one.number: one for one in candidates}
        return [known[number] for number in judged.promising(limit)]

    def transplant(self) -> None:
        """Try other kinds of systems in members, as far as runs allow.

        What joins the front may leave it with one kind of another system, which is then tried as well.
        """
        evaluator, settings = self._evaluator, self._evaluator.settings
        tried: set[str] = set()
        while made := self._untried(tried):
            tried |= made.keys()
            new = {name: one for name, one in made.items() if name not in evaluator.store.known}
            if new:
                evaluator.progress.start("other kinds in members of the front", len(new))
                evaluator.evaluate([point for _, point in new.values()], [host for host, _ in new.values()])
            put = [name for name in made if evaluator.store.known[name].host is not None]
            self._searched += len(put) * settings.replications * len(settings.run_in)
            ran = [name for name in made if isinstance(evaluator.store.known[name], Evaluation)]
            evaluator.extend(dict.fromkeys(ran, self._usual), self._race, "other kinds on fresh seeds", FRESH)
            self._settle("uncertain members on fresh seeds")

    def _untried(self, tried: Collection[str]) -> dict[str, tuple[int, Point]]:
        """Points with another kind in the place of that which all members have, and their hosts, by key."""
        archive, settings = self._archive(), self._evaluator.settings
        each = (settings.replications + self._usual) * len(settings.run_in)
        used = each * len(tried)
        spent = self._searched + self._evaluator.spent(self._race.counts)
        room = min(self._left(), int(TRANSPLANTS * (spent - used)) - used)
        if not self._race.counts or room < VARIANTS * each or not kinds(archive.evaluations):
            return {}
        found = front(archive, resamples=RESAMPLES)  # as it will be told: by all runs
        choices = [
            one
            for one in dominant_choices(found)
            if not all(other.tested and other.tested.enough for other in one.alternatives)
        ]
        made = variants(found, settings.space, choices, room // each) if choices else []
        return {key(point): (host, point) for host, point in made if key(point) not in tried}

    def level(self) -> None:
        """Give today's setting as many replications as any member."""
        if self._evaluator.today in self._race.counts:
            most = max(self._race.counts.values())
            self._evaluator.extend(
                {self._evaluator.today: most}, self._race, "today's setting on fresh seeds", FRESH
            )

    def _archive(self) -> Archive:
        """The search with what counts so far, be more known from an earlier part of it."""
        archive, counts = self._evaluator.store.archive(), self._race.counts
        entries = []
        for entry in archive.evaluations:
            count = counts.get(key(entry.values), 0)
            if count:
                again = first_of(entry.validated or {}, count)
                cases = {
                    case: first_of(known, count) for case, known in (entry.validated_cases or {}).items()
                }
                entries.append(replace(entry, validated=again or None, validated_cases=cases or None))
            elif entry.host is None:
                entries.append(replace(entry, validated=None, validated_cases=None))
        return replace(archive, evaluations=tuple(entries))

    def _settle(self, phase: str, share: float = 1.0) -> None:
        if self._most > self._usual:
            self._evaluator.settle(self._race, lambda: self._left(share), phase, FRESH)

    def _left(self, share: float = 1.0) -> int:
        return self._meter.left(self._searched + self._evaluator.spent(self._race.counts, level=True), share)

    def _fresh(self, name: str) -> dict[str, Estimate]:
        entry = self._evaluator.store.known[name]
        return (entry.validated or {}) if isinstance(entry, Evaluation) else {}

    def _fresh_cases(self, name: str) -> Cases:
        entry = self._evaluator.store.known[name]
        return (entry.validated_cases or {}) if isinstance(entry, Evaluation) else {}


def _alike(one: Evaluation, other: Evaluation) -> bool:
    """Whether two points gave the same in all runs of the search that both had."""
    return all(
        first == second
        for name, estimate in one.objectives.items()
        for first, second in zip(estimate.values, other.objectives[name].values, strict=False)
    )
