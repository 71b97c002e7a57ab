"""A search under way: propose, evaluate, record, learn; then look at the front again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from optimize.archive import Evaluation
from optimize.constraints import Excesses, excesses, feasible
from optimize.evaluate import evaluated
from optimize.progress import Progress, Volume
from optimize.samplers import Result, Sampler, samplers
from optimize.shortlist import shortlist
from optimize.space import Point, key
from optimize.store import Entry, Store
from optimize.study import Failed, Settings
from scenarios.pool import Outcome, Pool
from scenarios.replicate import Metrics, Task, run_groups

STALE_BATCHES = 25  # batches in a row without a new point, after which a sampler is given up
VOLUME_PERIOD = 1.0  # s between two computations of the hypervolume shown


class Exploration:
    """Spends a budget and validates the front.

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
        self.settings, self.store, self.sampler, self.pool = settings, store, sampler, pool
        self.progress, self.work = progress, work
        self.evaluated = 0
        self.notes: list[str] = []
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
        """Spend the budget, or as much of it as there are points to evaluate."""
        store, size = self.store, self.settings.space.size()
        self.progress.start("evaluations", store.budget, len(store.known))
        seen: set[str] = set()
        stale = 0
        while len(store.known) < store.budget:
            if size is not None and len(store.known) >= size:
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
            missing = [point for name, point in new.items() if name not in store.known]
            if missing and not self.evaluated:
                self._compare(len(store.known.keys() - seen))
            room = store.budget - len(store.known)
            self._evaluate(missing[:room])
            if len(missing) <= room:
                self._teach(points)

    def validate(self, replications: Sequence[int]) -> None:
        """Run the front again under replications that the search never used, the same for all members.

        Members that are validated already are left as they are.
        """
        evaluations = [
            entry
            for entry in self.store.entries()
            if isinstance(entry, Evaluation) and feasible(entry, self.settings.constraints)
        ]
        members = [
            member
            for member in shortlist(evaluations, self.settings.objectives)
            if not _validated(member, len(replications))
        ]
        if not members or not replications:
            return
        self.progress.start("front on fresh seeds", len(members))
        found: dict[int, Evaluation] = {}
        try:
            points = [member.values for member in members]
            for done, outcome in enumerate(self._run(points, replications), start=1):
                entry = self._entry(members[outcome.index].number, points[outcome.index], outcome)
                if isinstance(entry, Evaluation):
                    found[entry.number] = entry
                else:
                    self.note(f"note: evaluation {entry.number} failed on fresh seeds: {entry.reason}")
                self.progress.update(done)
        finally:
            self.store.validate(found)

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
            for outcome in self._run(points, range(self.settings.replications)):
                at = outcome.index
                finished[at] = self._entry(first + at, points[at], outcome)
                while kept in finished:
                    self._keep(finished.pop(kept))
                    kept += 1
        finally:
            # Interrupted: what is finished out of turn is kept, too, under the next numbers.
            for number, at in enumerate(sorted(finished), start=first + kept):
                self._keep(replace(finished[at], number=number))

    def _run(self, points: Sequence[Point], replications: Sequence[int]) -> Iterator[Outcome[list[Metrics]]]:
        cases = self.settings.run_in
        groups = [
            [Task(case.scenario, point, case.seed, k) for case in cases for k in replications]
            for point in points
        ]
        return run_groups(groups, self.pool, self.work)

    def _entry(self, number: int, point: Point, outcome: Outcome[list[Metrics]]) -> Entry:
        if outcome.failure is not None:
            return Failed(number, point, str(outcome.failure))
        runs, cases = outcome.value, len(self.settings.run_in)
        each = len(runs) // cases  # the replications of a case follow one another
        by_case = [runs[case * each : (case + 1) * each] for case in range(cases)]
        return evaluated(number, point, by_case, self.settings)

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
        """Tell the sampler what became of its batch."""
        results = [self._result(point) for point in points]
        if not self.settings.constraints:
            self.sampler.tell(results)
            return
        self.sampler.learn(results, [self._excesses(point) for point in points])

    def _excesses(self, point: Point) -> Excesses:
        """By how much a point breaks each constraint; of a failed one nothing is known."""
        entry = self.store.known[key(point)]
        return {} if isinstance(entry, Failed) else excesses(self.settings.constraints, entry.cases)

    def _result(self, point: Point) -> Result:
        """What the sampler is told of a point."""
        entry = self.store.known[key(point)]
        if isinstance(entry, Failed):
            return None
        return [entry.objectives[objective.name].mean for objective in self.settings.objectives]


def _validated(member: Evaluation, replications: int) -> bool:
    if member.validated is None:
        return False
    return all(len(estimate.values) == replications for estimate in member.validated.values())
