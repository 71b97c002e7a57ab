"""A search under way: propose, evaluate, record, learn; then look at the front again.

Where points may have different numbers of replications, every point gets a few at first. After each batch
the points whose membership of the front is uncertain get more (see `optimize.replication.allocate`), once;
so whoever stays on the front is examined again and again. When the budget is spent, rounds follow until
nobody is uncertain or all have the most they may have. The front is then run on fresh seeds in the same way.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from gridtune.optimize.progress import Volume
from gridtune.optimize.records.evaluations import Estimate, Evaluation, Failed
from gridtune.optimize.replication.evaluate import evaluated
from gridtune.optimize.replication.listener import Progress
from gridtune.optimize.replication.loss import TodaysRuns
from gridtune.optimize.replication.refine import Refinement
from gridtune.optimize.replication.run_cache import Runs
from gridtune.optimize.replication.shortlist import shortlist
from gridtune.optimize.samplers import Sampler, samplers
from gridtune.optimize.search_space.constraints import Cases, Excesses, feasible
from gridtune.optimize.search_space.settings import Settings
from gridtune.optimize.search_space.space import Point, key
from gridtune.optimize.study.evaluation_store import Entry, Store
from gridtune.optimize.study.extra_runs import ExtraRuns
from gridtune.scenarios.execution.replicate import Metrics, Task
from gridtune.scenarios.workers.pool import Outcome, Pool

STALE_BATCHES = 25  # batches in a row without a new point, after which a sampler is given up
VOLUME_PERIOD = 1.0  # s between two computations of the hypervolume shown


class Exploration:
    """Spends a budget, today's setting first, and validates the front.

    Proposals come in batches that do not depend on the number of workers, so equal seeds give equal searches.
    With a store that holds evaluations already the sampler is asked again from the start: what is
    known is looked up, the rest is evaluated. So a resumed search ends as it would have uninterrupted.

    Args:
        settings: what is searched, and how.
        store: what is known, and where evaluations go.
        sampler: proposes points; fresh from its seed.
        pool: who runs the simulations.
        progress: hears how it goes.
        work: gives the metrics of a run to be done.

    Attributes:
        evaluated: points evaluated by this exploration.
        notes: what a user should know, a line each.
    """

    def __init__(
        self,
        settings: Settings,
        store: Store,
        sampler: Sampler,
        pool: Pool,
        progress: Progress,
        work: Callable[[Task], Metrics],
    ) -> None:
        self.settings, self.store, self.sampler = settings, store, sampler
        self.progress = progress
        self.evaluated = 0
        self.notes: list[str] = []
        self._runs = Runs(pool, work, store.left)
        self._today = TodaysRuns(settings, pool, work)
        self._todays_key = None if settings.today is None else key(settings.today.point)
        self._race = Refinement(
            settings.objectives, settings.most, self._searched, settings.constraints, self._cases
        )
        self._volume = Volume(settings.objectives)
        self._volume_shown: float | None = None
        self._looked = 0.0
        self._failures = 0
        for entry in store.entries():
            self._count(entry)

    def note(self, text: str) -> None:
        """Tell the user something."""
        self.notes.append(text)
        self.progress.note(text)

    def explore(self) -> None:
        """Spend the budget, or as much of it as there are points to evaluate; then settle the front."""
        store = self.store
        store.explored = store.explored and len(store.known) >= store.budget
        self._spend()
        if self.settings.adaptive:
            self._race.counts |= {
                name: self._race.had(name)
                for name, entry in self.store.known.items()
                if isinstance(entry, Evaluation)
            }
            self._settle(self._race, "uncertain points")
        store.explored = True

    def validate(self, first: int, least: int, most: int) -> None:
        """Run the front again under replications that the search never used, the same for all members.

        What is known of members already is not run again.

        Today's setting gets as many replications as any member: all are compared with it.

        Args:
            first: number of the first of them.
            least: replications of every member; 0 for none.
            most: replications of those that remain uncertain.
        """
        evaluations = [
            entry
            for entry in self.store.entries()
            if isinstance(entry, Evaluation) and feasible(entry, self.settings.constraints)
        ]
        members = shortlist(evaluations, self.settings.objectives) if least else []
        race = Refinement(
            self.settings.objectives, most, self._fresh, self.settings.constraints, self._fresh_cases
        )
        race.counts = {key(member.values): least for member in members}
        today = self._todays_key
        if members and isinstance(self.store.known.get(today or ""), Evaluation):
            assert today is not None
            race.counts[today] = least
        self._extend(race.counts, race, "front on fresh seeds", first)
        if most > least:
            self._settle(race, "uncertain members on fresh seeds", first)
        if today in race.counts:
            self._extend({today: max(race.counts.values())}, race, "today's setting on fresh seeds", first)

    def _spend(self) -> None:
        store, size = self.store, self.settings.space.size()
        self.progress.start("evaluations", store.budget, len(store.known))
        starts = self._starts()
        seen = set(starts)
        stale = 0
        while len(store.known) < store.budget or self._untraced(seen):
            if size is not None and len(store.known) - self._beside() >= size and not self._untraced(seen):
                self.note(f"note: the space has only {size} points; all of them are evaluated")
                return
            points = self.sampler.ask()
            new = {key(point): point for point in points if key(point) not in seen}
            seen.update(new)
            stale = 0 if new else stale + 1
            if not points or stale >= STALE_BATCHES:
                self._replace_sampler()
                stale = 0
                continue
            new = starts | new  # of the first batch
            missing = [point for name, point in new.items() if name not in store.known]
            if missing and not self.evaluated:
                self._compare(len(store.known.keys() - seen))
            room = store.budget - len(store.known)
            self._evaluate(missing[:room])
            self._race.counts |= dict.fromkeys(
                (name for name in new if name in store.known), self.settings.replications
            )
            if len(missing) > room:
                return
            if starts:
                self._inform(list(starts.values()))
                starts = {}
            self._teach(points)

    def _starts(self) -> dict[str, Point]:
        """Points that come before the sampler's own, by key: today's setting, then those asked for."""
        today = self.settings.today
        points = [*([] if today is None else [today.point]), *self.settings.starts]
        return {key(point): point for point in points}

    def _beside(self) -> int:
        """Points known that are none of the space: today's setting, where it is none."""
        return sum(1 for entry in self.store.known.values() if not entry.values)

    def _inform(self, points: Sequence[Point]) -> None:
        """Tell the sampler of points of the space that it has not proposed."""
        points = [point for point in points if point]
        means = self._plain_means(points)
        results = [means.get(key(point)) for point in points]
        self.sampler.inform(points, results, [self._excesses(point) for point in points])

    def _untraced(self, seen: set[str]) -> bool:
        """Whether points are known that a resumed search has still to come by, to see who got what when."""
        traced = self.store.explored or self.store.known.keys() <= seen
        return self.settings.adaptive and not traced

    def _compare(self, strangers: int) -> None:
        """Say so if a resumed search does not retrace its steps."""
        if strangers:
            self.note(
                f"note: {strangers} evaluations of the study were not proposed again, perhaps because a "
                "library has changed since; they are kept, but the sampler knows nothing of them"
            )

    def _replace_sampler(self) -> None:
        """Fill the budget with points that the sampler has overlooked."""
        old, known = self.sampler, len(self.store.known)
        kind = samplers()["random" if old.space.size() is None else "exhaustive"]
        self.sampler = kind(old.space, old.objectives, old.seed, old.batch)
        self.note(
            f"note: {old.name} proposes nothing new after {known} evaluations; other points fill the budget"
        )

    def _evaluate(self, points: Sequence[Point]) -> None:
        """Evaluate points and keep them, in their order as far as they are finished."""
        first = self.store.next_number
        finished: dict[int, Entry] = {}
        kept = 0
        try:
            for outcome in self._run(points, [range(self.settings.replications)] * len(points)):
                at = outcome.index
                finished[at] = self._entry(first + at, points[at], outcome)
                while kept in finished:
                    self._keep(finished.pop(kept))
                    kept += 1
        finally:
            # Interrupted: what is finished out of turn is kept, too, under the next numbers.
            for number, at in enumerate(sorted(finished), start=first + kept):
                self._keep(replace(finished[at], number=number))

    def _settle(self, race: Refinement, phase: str, first: int = 0) -> None:
        """Give uncertain points more replications until there are none, or all have the most."""
        while wanted := race.wanted():
            self._extend(wanted, race, phase, first)

    def _extend(self, wanted: Mapping[str, int], race: Refinement, phase: str = "", first: int = 0) -> None:
        """Give points more replications, as far as they are not known, and let them count.

        Args:
            wanted: replications by key of the point.
            race: that they are for.
            phase: how this is announced; not at all if left out.
            first: number of the first replication; not 0 on fresh seeds.
        """
        race.counts |= wanted
        known = self.store.known
        lacking = [name for name in wanted if isinstance(known[name], Evaluation) and not race.usable(name)]
        if not lacking:
            return
        if phase:
            self.progress.start(phase, len(lacking))
        points = [known[name].values for name in lacking]
        spans = [range(first + race.had(name), first + wanted[name]) for name in lacking]
        for done, outcome in enumerate(self._run(points, spans), start=1):
            at = outcome.index
            number = known[lacking[at]].number
            part = self._entry(number, points[at], outcome, spans[at].start)
            if isinstance(part, Failed):
                where = "on fresh seeds" if first else "on further seeds"
                self.note(f"note: evaluation {number} failed {where}: {part.reason}")
            self.store.extend(ExtraRuns(part, fresh=first > 0))
            if phase:
                self.progress.update(done)

    def _run(
        self, points: Sequence[Point], replications: Sequence[Sequence[int]]
    ) -> Iterator[Outcome[list[Metrics]]]:
        """Run points, each under its replications, in every case."""
        cases = self.settings.run_in
        groups = [
            [Task(case.scenario, point, case.seed, k) for case in cases for k in numbers]
            for point, numbers in zip(points, replications, strict=True)
        ]
        asked = [at for at, point in enumerate(points) if key(point) == self._todays_key]
        self._today.prepare([k for numbers in replications for k in numbers])
        self._today.prepare([k for at in asked for k in replications[at]], asked=True)
        others = [at for at in range(len(points)) if at not in asked]
        outcomes = (
            Outcome(others[one.index], one.result, one.failure)
            for one in self._runs.of([groups[at] for at in others])
        )
        for outcome in chain((self._today.outcome(at, replications[at]) for at in asked), outcomes):
            if outcome.failure is None:
                runs = self._today.compared(outcome.value, replications[outcome.index])
                outcome = Outcome(outcome.index, runs)
            yield outcome

    def _entry(self, number: int, point: Point, outcome: Outcome[list[Metrics]], first: int = 0) -> Entry:
        if outcome.failure is not None:
            return Failed(number, point, str(outcome.failure))
        runs, cases = outcome.value, len(self.settings.run_in)
        each = len(runs) // cases  # the replications of a case follow one another
        by_case = [runs[case * each : (case + 1) * each] for case in range(cases)]
        return evaluated(number, point, by_case, self.settings, first)

    def _keep(self, entry: Entry) -> None:
        self.store.add(entry)
        self.evaluated += 1
        self._count(entry)
        now = time.monotonic()
        if now - self._looked >= VOLUME_PERIOD:
            self._volume_shown = self._volume.value()
            self._looked = now
        self.progress.update(len(self.store.known), self._volume_shown, self._failures)

    def _count(self, entry: Entry) -> None:
        if isinstance(entry, Failed):
            self._failures += 1
        elif feasible(entry, self.settings.constraints):
            self._volume.add(entry)

    def _teach(self, points: Sequence[Point]) -> None:
        """Tell the sampler what became of its batch, and what has changed for earlier points."""
        means = self._revised() if self.settings.adaptive else self._plain_means(points)
        results = [means.get(key(point)) for point in points]
        if not self.settings.constraints:
            self.sampler.tell(results)
            return
        self.sampler.learn(results, [self._excesses(point) for point in points])

    def _revised(self) -> dict[str, list[float]]:
        """Means of the objectives by key, after a round of replications for uncertain points.

        The sampler hears of changes.
        """
        race = self._race
        self._extend(race.wanted(), race)
        means = race.means()
        self.sampler.relearn(means, {name: race.excesses(name) for name in means})
        return {name: row for name, row in means.items() if race.usable(name)}

    def _plain_means(self, points: Sequence[Point]) -> dict[str, list[float]]:
        """Means of the objectives by key, of points that did not fail."""
        entries = {key(point): self.store.known[key(point)] for point in points}
        return {
            name: [entry.objectives[objective.name].mean for objective in self.settings.objectives]
            for name, entry in entries.items()
            if isinstance(entry, Evaluation)
        }

    def _excesses(self, point: Point) -> Excesses:
        """By how much a point breaks each constraint; of a failed one nothing is known."""
        name = key(point)
        return {} if isinstance(self.store.known[name], Failed) else self._race.excesses(name)

    def _searched(self, name: str) -> dict[str, Estimate]:
        return self.store.known[name].objectives

    def _cases(self, name: str) -> Cases:
        return self.store.known[name].cases

    def _fresh(self, name: str) -> dict[str, Estimate]:
        entry = self.store.known[name]
        return (entry.validated or {}) if isinstance(entry, Evaluation) else {}

    def _fresh_cases(self, name: str) -> Cases:
        entry = self.store.known[name]
        return (entry.validated_cases or {}) if isinstance(entry, Evaluation) else {}
