"""A tree-structured Parzen estimator that thinks quickly: the sorting of points is done once per batch."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heapreplace

import numpy as np
from numpy.typing import NDArray

from optimize.archive import Objective
from optimize.samplers.base import Result, Sampler, register
from optimize.samplers.parzen import Axis, Floats
from optimize.space import Point, Space, key

STARTUP = 10  # points at random before the first model
CANDIDATES = 24  # values looked at for each parameter
GOOD_SHARE = 0.1  # of the points count as good
RECENT = 25  # of the others count in full


@register(
    "parzen",
    "tree-structured Parzen estimator that proposes a point in 1 to 3 ms: for less than 1,000 evaluations",
)
class TreeParzen(Sampler):
    """Multi-objective TPE, one model per parameter, so that conditions cost it nothing.

    The best tenth of the points known are good; the others, and those that are under way, are not. For each
    parameter it draws some values from the density of the good ones, and takes that whose density under the
    good exceeds that under the others most. Good are the fronts of non-dominated points, one after the other,
    and of the last the points that add most to the hypervolume. Of the others the older ones count less.

    Source: Y. Ozaki et al., Multiobjective Tree-Structured Parzen Estimator, 2022; J. Bergstra et al.,
    Algorithms for Hyper-Parameter Optimization, 2011, section 4.
    """

    def __init__(self, space: Space, objectives: Sequence[Objective], seed: int, batch: int) -> None:
        super().__init__(space, objectives, seed, batch)
        self._rng = np.random.default_rng(seed)
        self._signs = np.array([1.0 if o.direction == "minimize" else -1.0 for o in objectives])
        self._axes = [Axis(parameter) for parameter in space]
        self._asked: list[Point] = []
        self._seen: set[str] = set()
        self._costs: list[Floats] = []
        self._known: list[Floats] = []  # where points are on each axis; nan where they are not

    @classmethod
    def batch_for(cls, budget: int) -> int:
        """Few, so that a proposal knows of most results."""
        return max(1, min(8, budget))

    def ask(self) -> list[Point]:
        """The next batch."""
        if len(self._costs) < STARTUP:
            shares = self._rng.random((self.batch, len(self.space))).tolist()
            self._asked = [self.space.at(share) for share in shares]
            return self._asked
        known = np.array(self._known)
        chosen = np.zeros(len(known) + self.batch, dtype=bool)
        chosen[_good(np.array(self._costs), int(np.ceil(GOOD_SHARE * len(known))))] = True
        places = np.vstack([known, np.full((self.batch, len(self._axes)), np.nan)])
        self._asked = []
        for row in range(len(known), len(places)):
            point = self._propose(places, chosen)
            places[row] = self._place(point)
            self._asked.append(point)
        return self._asked

    def tell(self, results: Sequence[Result]) -> None:
        """Learn from the batch."""
        for point, result in zip(self._asked, results, strict=True):
            if result is not None and key(point) not in self._seen:
                self._seen.add(key(point))
                self._costs.append(np.asarray(result) * self._signs)
                self._known.append(self._place(point))

    def _propose(self, places: Floats, chosen: NDArray[np.bool_]) -> Point:
        point: Point = {}
        for at, axis in enumerate(self._axes):
            if not axis.parameter.exists(point):
                continue
            there = ~np.isnan(places[:, at])
            best, others = places[there & chosen, at], places[there & ~chosen, at]
            good = axis.density(best, np.ones(len(best)))
            other = axis.density(others, _fading(len(others)))
            values = good.sample(self._rng, CANDIDATES)
            gain = good.log_density(values) - other.log_density(values)
            point[axis.parameter.path] = axis.value(float(values[np.argmax(gain)]))
        return point

    def _place(self, point: Point) -> Floats:
        return np.array(
            [
                axis.number(point[axis.parameter.path]) if axis.parameter.path in point else np.nan
                for axis in self._axes
            ]
        )


def _fading(count: int) -> Floats:
    """Weights of points from the oldest to the latest."""
    old = max(0, count - RECENT)
    return np.concatenate([np.linspace(1 / max(1, count), 1, num=old), np.ones(count - old)])


def _good(costs: Floats, count: int) -> list[int]:
    """Rows of the best points: front by front, and of the last front those that add most to the volume."""
    import moocore

    left = np.arange(len(costs))
    good: list[int] = []
    while len(good) < count:
        stay = moocore.is_nondominated(costs[left], keep_weakly=True)
        front, left = left[stay], left[~stay]
        room = count - len(good)
        good += front.tolist() if len(front) <= room else front[_spread(costs[front], room)].tolist()
    return good


def _spread(front: Floats, count: int) -> list[int]:
    """Rows of a front that cover much of its hypervolume: each adds the most to those before it.

    What a point adds only shrinks as others are taken, so that most sums need not be made again.
    """
    import moocore

    span = np.ptp(front, axis=0)
    front = (front - front.min(axis=0)) / np.where(span > 0, span, 1.0)
    corner = np.full(front.shape[1], 1.1)
    heap = [(-float(gain), row, 0) for row, gain in enumerate(np.prod(corner - front, axis=1))]
    heapify(heap)
    taken: list[int] = []
    covered = 0.0
    while len(taken) < count:
        gain, row, when = heap[0]
        if when == len(taken):
            taken.append(row)
            covered -= gain
            heapreplace(heap, (np.inf, row, -1))
        else:
            volume = moocore.hypervolume(front[[*taken, row]], ref=corner)
            heapreplace(heap, (covered - float(volume), row, len(taken)))
    return taken
