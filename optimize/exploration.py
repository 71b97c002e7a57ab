"""A search under way: propose, evaluate, record, learn.

Where points may have different numbers of replications, every point gets a few at first. After each batch
the points whose membership of the front is uncertain get more (see `optimize.replication.allocate`), once;
so whoever stays on the front is examined again and again. When the budget is spent, rounds follow until
nobody is uncertain or all have the most they may have.
"""

from __future__ import annotations

from collections.abc import Sequence

from gridtune.optimize.budget import Meter
from gridtune.optimize.convergence import Convergence
from gridtune.optimize.evaluator import Evaluator
from gridtune.optimize.records.evaluations import Estimate, Evaluation, Failed
from gridtune.optimize.replication.refine import Refinement
from gridtune.optimize.samplers import Sampler, samplers
from gridtune.optimize.search_space.constraints import Cases, Excesses
from gridtune.optimize.search_space.space import Point, key

STALE_BATCHES = 25  # batches in a row without a new point, after which a sampler is given up


class Exploration:
    """Spends a budget, today's setting first.

    Proposals come in batches that do not depend on the number of workers, so equal seeds give equal searches.
    With a store that holds evaluations already the sampler is asked again from the start: what is
    known is looked up, the rest is evaluated. So a resumed search ends as it would have uninterrupted, unless
    its end is a matter of time.

    Args:
        evaluator: evaluates points; its store says what is known.
        sampler: proposes points; fresh from its seed.
        meter: says what is left of the budget.
    """

    def __init__(self, evaluator: Evaluator, sampler: Sampler, meter: Meter) -> None:
        self.evaluator, self.sampler, self.meter = evaluator, sampler, meter
        self.settings, self.store = evaluator.settings, evaluator.store
        self.race = Refinement(
            self.settings.objectives,
            self.settings.most,
            self._searched,
            self.settings.constraints,
            self._cases,
        )
        self._converged = Convergence(self.store, self.race) if meter.budget.converged else None
        # Made of points of a front, by an earlier part of the search: no sampler proposes them.
        self._grafted = {name for name, entry in self.store.known.items() if entry.host is not None}

    def explore(self) -> None:
        """Spend the budget, or as much of it as there are points to evaluate; then settle the front."""
        store = self.store
        store.explored = store.explored and self._count() >= self.meter.budget.points
        self._spend()
        self.evaluator.look()
        if self.settings.adaptive:
            seen = self._grafted | self.race.counts.keys()
            self.race.counts |= {
                name: self.race.had(name)
                for name, entry in self.store.known.items()
                if isinstance(entry, Evaluation) and name not in seen
            }
            self.evaluator.settle(self.race, self._left, "uncertain points")
        store.explored = True

    def _spend(self) -> None:
        store, size, budget = self.store, self.settings.space.size(), self.meter.budget
        self.evaluator.progress.start("evaluations", budget.points if budget.counted else 0, len(store.known))
        starts = self._starts()
        seen = set(starts)
        stale = 0
        while self._room() > 0 or self._untraced(seen):
            if size is not None and self._count() - self._beside() >= size and not self._untraced(seen):
                self.evaluator.note(f"note: the space has only {size} points; all of them are evaluated")
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
            if missing and not self.evaluator.evaluated:
                self._compare(len(store.known.keys() - self._grafted - seen))
            room = self._room(len(new) - len(missing))
            self.evaluator.evaluate(missing[:room])
            self.race.counts |= dict.fromkeys(
                (name for name in new if name in store.known), self.settings.replications
            )
            if len(missing) > room:
                return
            if starts:
                self._inform(list(starts.values()))
                starts = {}
            self._teach(points)
            if self._converged is not None and self._converged():
                self.evaluator.note(f"note: {self._converged.reason}")
                return

    def _count(self) -> int:
        """Points that are known, without those that were made of points of a front."""
        return len(self.store.known) - len(self._grafted)

    def _left(self) -> int:
        """Runs that the search may still do."""
        return self.meter.left_to_search(self.evaluator.spent(self.race.counts))

    def _room(self, again: int = 0) -> int:
        """Points that may still be evaluated.

        Args:
            again: points of a batch that are known and take part of the runs that are left.
        """
        points = max(0, self.meter.budget.points - self._count())
        each = self.settings.replications * len(self.settings.run_in)
        return min(points, max(0, self._left() // each - again))

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
        traced = self.store.explored or self.store.known.keys() - self._grafted <= seen
        return self.settings.adaptive and not traced

    def _compare(self, strangers: int) -> None:
        """Say so if a resumed search does not retrace its steps."""
        if strangers:
            self.evaluator.note(
                f"note: {strangers} evaluations of the study were not proposed again, perhaps because a "
                "library has changed since; they are kept, but the sampler knows nothing of them"
            )

    def _replace_sampler(self) -> None:
        """Fill the budget with points that the sampler has overlooked."""
        old, known = self.sampler, len(self.store.known)
        kind = samplers()["random" if old.space.size() is None else "exhaustive"]
        self.sampler = kind(old.space, old.objectives, old.seed, old.batch)
        self.evaluator.note(
            f"note: {old.name} proposes nothing new after {known} evaluations; other points fill the budget"
        )

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
        race = self.race
        self.evaluator.extend(self.evaluator.affordable(race, self._left()), race)
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
        return {} if isinstance(self.store.known[name], Failed) else self.race.excesses(name)

    def _searched(self, name: str) -> dict[str, Estimate]:
        return self.store.known[name].objectives

    def _cases(self, name: str) -> Cases:
        return self.store.known[name].cases
