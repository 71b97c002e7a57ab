"""Evaluating points of a search: runs them, keeps what they gave, and runs some of them again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from gridtune import limits
from gridtune.optimize.front.front import twice_as_bad
from gridtune.optimize.progress import Volume
from gridtune.optimize.records.evaluations import Evaluation, Failed
from gridtune.optimize.replication.evaluate import evaluated
from gridtune.optimize.replication.listener import Progress
from gridtune.optimize.replication.loss import TodaysRuns
from gridtune.optimize.replication.refine import Refinement
from gridtune.optimize.replication.run_cache import Runs
from gridtune.optimize.search_space.constraints import feasible
from gridtune.optimize.search_space.settings import Settings
from gridtune.optimize.search_space.space import Point, key
from gridtune.optimize.study.evaluation_store import Entry, Store
from gridtune.optimize.study.extra_runs import ExtraRuns
from gridtune.scenarios.execution.replicate import Metrics, Task
from gridtune.scenarios.workers.pool import Outcome, Pool

VOLUME_PERIOD = 1.0  # s between two computations of the hypervolume shown


class Evaluator:
    """Runs points and keeps what they gave, for all parts of a search.

    Args:
        settings: what is searched, and how.
        store: what is known, and where evaluations go.
        pool: who runs the simulations.
        progress: hears how it goes.
        work: gives the metrics of a run to be done.

    Attributes:
        evaluated: points evaluated by it.
        notes: what a user should know, a line each.
        today: key of today's setting; empty if it is not in the race.
    """

    def __init__(
        self,
        settings: Settings,
        store: Store,
        pool: Pool,
        progress: Progress,
        work: Callable[[Task], Metrics],
    ) -> None:
        self.settings, self.store, self.progress = settings, store, progress
        self.evaluated = 0
        self.notes: list[str] = []
        self.today = "" if settings.today is None else key(settings.today.point)
        self._runs = Runs(pool, work, store.left)
        self._todays_runs = TodaysRuns(settings, pool, work)
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

    def evaluate(self, points: Sequence[Point], hosts: Sequence[int] = ()) -> None:
        """Evaluate points and keep them, in their order as far as they are finished.

        Args:
            points: new ones.
            hosts: of each, see `Evaluation.host`; none has one if left out.
        """
        first = self.store.next_number
        finished: dict[int, Entry] = {}
        kept = 0
        try:
            for outcome in self._run(points, [range(self.settings.replications)] * len(points)):
                at = outcome.index
                entry = self._entry(first + at, points[at], outcome)
                finished[at] = replace(entry, host=hosts[at]) if hosts else entry
                while kept in finished:
                    self._keep(finished.pop(kept))
                    kept += 1
        finally:
            # Interrupted: what is finished out of turn is kept, too, under the next numbers.
            for number, at in enumerate(sorted(finished), start=first + kept):
                self._keep(replace(finished[at], number=number))

    def extend(self, wanted: Mapping[str, int], race: Refinement, phase: str = "", first: int = 0) -> None:
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

    def settle(self, race: Refinement, left: Callable[[], int], phase: str, first: int = 0) -> None:
        """Give uncertain points more runs until there are none, all have the most, or none are left.

        Args:
            race: whose uncertain points.
            left: runs that may still be done.
            phase: how this is announced.
            first: see `extend`.
        """
        while wanted := self.affordable(race, left(), level=first > 0):
            self.extend(wanted, race, phase, first)

    def affordable(self, race: Refinement, left: int, *, level: bool = False) -> dict[str, int]:
        """What uncertain points of a race should have, as far as so many runs allow.

        Args:
            race: whose.
            left: runs that may still be done.
            level: see `spent`.
        """
        found = {}
        most = max(race.counts.values(), default=0) if self._levelled(race.counts, level) else limits.WHOLE
        for name, count in race.wanted().items():
            left -= (count - race.counts[name] + max(0, count - most)) * len(self.settings.run_in)
            if left < 0:
                break
            found[name] = count
            most = max(most, count)
        return found

    def spent(self, counts: Mapping[str, int], *, level: bool = False) -> int:
        """Runs behind what counts in a race.

        Args:
            counts: its replications by key of the point.
            level: whether today's setting is run, or will be, under every stream that others are.
        """
        most = max(counts.values(), default=0)
        beside = most - counts.get(self.today, 0) if self._levelled(counts, level) else 0
        return (sum(counts.values()) + beside) * len(self.settings.run_in)

    def _levelled(self, counts: Mapping[str, int], level: bool) -> bool:
        """Whether today's setting is run under every stream that others are."""
        return (level and self.today in counts) or self._todays_runs.guarded

    def _run(
        self, points: Sequence[Point], replications: Sequence[Sequence[int]]
    ) -> Iterator[Outcome[list[Metrics]]]:
        """Run points, each under its replications, in every case."""
        cases = self.settings.run_in
        groups = [
            [Task(case.scenario, point, case.seed, k) for case in cases for k in numbers]
            for point, numbers in zip(points, replications, strict=True)
        ]
        asked = [at for at, point in enumerate(points) if self.today and key(point) == self.today]
        self._todays_runs.prepare([k for numbers in replications for k in numbers])
        self._todays_runs.prepare([k for at in asked for k in replications[at]], asked=True)
        others = [at for at in range(len(points)) if at not in asked]
        outcomes = (
            Outcome(others[one.index], one.result, one.failure)
            for one in self._runs.of([groups[at] for at in others])
        )
        for outcome in chain((self._todays_runs.outcome(at, replications[at]) for at in asked), outcomes):
            if outcome.failure is None:
                runs = self._todays_runs.compared(outcome.value, replications[outcome.index])
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
        self._show(time.monotonic() - self._looked >= VOLUME_PERIOD)

    def look(self) -> None:
        """Show the hypervolume of all that is known."""
        self._show(True)

    def _show(self, anew: bool) -> None:
        if anew:
            self._volume_shown = self._volume.value()
            self._looked = time.monotonic()
        self.progress.update(len(self.store.known), self._volume_shown, self._failures)

    def _count(self, entry: Entry) -> None:
        if isinstance(entry, Failed):
            self._failures += 1
            return
        if self.today and key(entry.values) == self.today:
            self._volume.measure_from(twice_as_bad(entry, self.settings.objectives))
        if feasible(entry, self.settings.constraints):
            self._volume.add(entry)
