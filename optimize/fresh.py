"""Runs of points on the fresh seeds that the front was validated by: the same streams for all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite

from optimize.progress import Progress
from optimize.search import FRESH
from optimize.space import Point, key
from optimize.study import Kept
from scenarios.pool import Pool
from scenarios.replicate import Metrics, Task, evaluate, metrics_of, summarise

Runs = dict[str, tuple[float, ...]]  # finite values by metric, one per replication


class FreshRuns:
    """Runs points of a kept search, each once.

    Args:
        kept: what the search has left.
        replications: runs per point; replication k is that of the validated values of the front.
        pool: who runs the simulations.
        progress: hears how it goes.
        work: gives the metrics of a run to be done.

    Attributes:
        count: simulations done so far.
        units: of the metrics seen.
    """

    def __init__(
        self,
        kept: Kept,
        replications: int,
        pool: Pool,
        progress: Progress | None = None,
        work: Callable[[Task], Metrics] = metrics_of,
    ) -> None:
        self.scenario, self.seed = kept.scenario, int(kept.settings["seed"])
        self.replications = replications
        self.count = 0
        self.units: dict[str, str] = {}
        self._pool, self._progress, self._work = pool, progress or Progress(), work
        self._known: dict[str, Runs | str] = {}

    def run(self, points: Sequence[Point]) -> list[Runs | str]:
        """What each point gives; why it failed, in one line, if it did.

        Args:
            points: values to set, by path; none at all for the scenario as it stands.
        """
        new = list({key(point): point for point in points if key(point) not in self._known}.values())
        if new:
            self._progress.start(f"points on fresh seeds, {self.replications} runs each", len(new))
        numbers = range(FRESH, FRESH + self.replications)
        outcomes = evaluate(self.scenario, new, self.seed, numbers, self._pool, self._work)
        for done, outcome in enumerate(outcomes, start=1):
            result: Runs | str = str(outcome.failure)
            if outcome.failure is None:
                found = summarise(outcome.value)
                self.units |= {name: summary.unit for name, summary in found.items()}
                result = {
                    name: summary.values
                    for name, summary in found.items()
                    if all(isfinite(value) for value in summary.values)
                }
            self._known[key(new[outcome.index])] = result
            self._progress.update(done)
        self.count += len(new) * self.replications
        return [self._known[key(point)] for point in points]
