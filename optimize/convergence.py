"""When a search may end: nothing that matters was found for a while."""

from __future__ import annotations

from dataclasses import replace

from gridtune.optimize.inference.model_of_runs import worth_of
from gridtune.optimize.records.evaluations import Evaluation
from gridtune.optimize.replication.compare import first_of, non_dominated
from gridtune.optimize.replication.refine import Refinement
from gridtune.optimize.study.evaluation_store import Store

LEAST = 100  # evaluations before the first look
STEP = 25  # evaluations between two looks
WINDOW = 0.3  # of the evaluations: those that must have found nothing
TOLERANCE = 0.01  # of the hypervolume: growth that is nothing


class Convergence:
    """Whether the last evaluations of a search have added to its front.

    The hypervolume of all points so far is compared with that of all but the last `WINDOW` of them, both by
    what the model of all runs so far expects of the points: values as seen grow for ever, by luck. The search
    has converged when that is less than `TOLERANCE` more.

    Args:
        store: what is known.
        race: replications of it that count.

    Attributes:
        reason: why the search may end, once it may.

    Source: T. Wagner, H. Trautmann and B. Naujoks, OCD: Online Convergence Detection for Evolutionary
        Multi-Objective Algorithms, EMO 2009 (a window of a quality indicator; there with a test of its
        variance, here with the noise taken out first).
    """

    def __init__(self, store: Store, race: Refinement) -> None:
        self._store, self._race = store, race
        self._next = LEAST
        self.reason = ""

    def __call__(self) -> bool:
        """Look, if it is time to."""
        known = self._store.known
        names = [name for name in self._race.counts if self._race.usable(name)]
        if len(names) < self._next:
            return False
        self._next = len(names) + STEP
        early = round((1 - WINDOW) * len(names))
        before, now = self._volumes(sorted(names, key=lambda name: known[name].number), early)
        if now - before > TOLERANCE * now:
            return False
        self.reason = (
            f"converged: the last {len(names) - early} of {len(names)} evaluations added "
            f"{(now - before) / now if now else 0:.1%} to the hypervolume"
        )
        return True

    def _volumes(self, names: list[str], early: int) -> tuple[float, float]:
        """Hypervolume of the first points and of all, by what is expected of them.

        Args:
            names: keys of the points, by number.
            early: how many are the first.
        """
        import moocore
        import numpy as np

        race = self._race
        points = [
            replace(entry, objectives=first_of(entry.objectives, race.counts[name]), validated=None)
            for name in names
            if isinstance(entry := self._store.known[name], Evaluation)
        ]
        values = worth_of(points, race.objectives)
        allowed = np.array([max(race.excesses(name).values(), default=0.0) <= 0 for name in names])
        if not allowed.any():
            return 0.0, 0.0
        front = values[allowed][non_dominated(values[allowed])]
        corner = front.max(axis=0) + 0.1 * np.ptp(front, axis=0)
        first = values[:early][allowed[:early]]
        before = float(moocore.hypervolume(first, ref=corner)) if len(first) else 0.0
        return before, float(moocore.hypervolume(values[allowed], ref=corner))
