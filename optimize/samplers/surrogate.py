"""A sampler that knows noise: a Gaussian process over mixed spaces, and the hypervolume that points promise.

Each objective has a response surface (`optimize.inference.response_surface`): parameters act alone or
together, one that does not exist stands in the middle, and what a point shares with no other is taken for
luck. A batch is what adds most to the hypervolume of the points so far, in the mean over joint draws of the
worth of these and of candidates: random points, and points of the front with some parameters changed; then,
round after round, the most promising of them, and these with some parameters changed.

Source: S. Daulton, M. Balandat and E. Bakshy, Parallel Bayesian Optimization of Multiple Noisy Objectives
with Expected Hypervolume Improvement, NeurIPS 2021 (there with candidates optimised by gradients).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gridtune.optimize.inference.response_surface import Fitted, coordinates_of, distances, fitted
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.replication.compare import non_dominated, signs
from gridtune.optimize.replication.shortlist import promising
from gridtune.optimize.samplers.base import Result, Sampler, register
from gridtune.optimize.search_space.constraints import Excesses
from gridtune.optimize.search_space.space import Point, Space, key

FIRST, EACH = 16, 1.5  # points at random before there is a model, at least, and for each parameter
KNOWN = 300  # points that the model rests on, at most: the best, and others at random
RANDOM, CHANGED = 100, 150  # candidates of each kind
ROUNDS, PARENTS = 4, 20  # in which candidates are made of the most promising ones, and of how many
DRAWS, ROUGH = 64, 16  # of the worth of candidates; where parents of others are chosen
AGAIN = 1.3  # growth of the number of points after which sizes are learned anew
REACH = 0.15  # standard deviation of a change of a parameter, as a share of its range
OUTLIER = 3.0  # interquartile ranges beyond the quartiles: values are cut there


@register("surrogate", "Gaussian processes that know noise: takes 35 to 85 ms to propose a point")
class Surrogate(Sampler):
    """Noisy expected hypervolume improvement over candidates."""

    def __init__(self, space: Space, objectives: Sequence[Objective], seed: int, batch: int) -> None:
        super().__init__(space, objectives, seed, batch)
        self._rng = np.random.default_rng([seed, 5])
        self._asked: list[Point] = []
        self._points: dict[str, Point] = {}
        self._values: dict[str, list[float]] = {}
        self._learned = 0
        self._sizes: list[Fitted] = []

    @classmethod
    def batch_for(cls, budget: int) -> int:
        """Few, so that a proposal knows of most results."""
        return max(1, min(8, budget))

    def ask(self) -> list[Point]:
        """The next batch."""
        first = max(FIRST, EACH * len(self.space))
        self._asked = self._random(self.batch) if len(self._values) < first else self._chosen()
        return self._asked

    def tell(self, results: Sequence[Result]) -> None:
        """Learn from the batch."""
        self._take(self._asked, results)

    def inform(
        self, points: Sequence[Point], results: Sequence[Result], excesses: Sequence[Excesses]
    ) -> None:
        """Learn from points that were not asked for."""
        self._take(points, self._penalty.told(results, excesses) if any(excesses) else results)

    def revise(self, means: Mapping[str, Sequence[float]]) -> None:
        """Take better means."""
        for name, row in means.items():
            if name in self._values:
                self._values[name] = [float(value) for value in row]

    def _take(self, points: Sequence[Point], results: Sequence[Result]) -> None:
        for point, result in zip(points, results, strict=True):
            if result is not None:
                self._points[key(point)] = point
                self._values[key(point)] = [float(value) for value in result]

    def _random(self, count: int) -> list[Point]:
        shares = self._rng.random((count, len(self.space)))
        return [self.space.at(row) for row in shares.tolist()]

    def _chosen(self) -> list[Point]:
        """Candidates that promise most."""
        names = list(self._values)
        values = np.array([self._values[name] for name in names]) * signs(self.objectives)
        low, high = np.quantile(values, [0.25, 0.75], axis=0)
        wide = np.where(high > low, OUTLIER * (high - low), np.inf)  # where most are equal, nothing is cut
        values = values.clip(low - wide, high + wide)
        front = non_dominated(values)
        kept = self._kept(len(names), front)
        known = [self._points[names[at]] for at in kept]
        if not self._sizes or len(names) >= AGAIN * self._learned:
            apart = distances(coordinates_of(known))
            self._sizes = [fitted(apart, values[kept, k], self.seed) for k in range(values.shape[1])]
            self._learned = len(names)
        base = [kept.index(at) for at in front]
        candidates = self._new([*self._random(RANDOM), *self._changes([known[at] for at in base])])
        for _ in range(ROUNDS):
            best = self._best(candidates, PARENTS, known, values[kept], base, ROUGH)
            candidates = self._new([*best, *self._changes(best)])
        return self._best(candidates, self.batch, known, values[kept], base)

    def _best(
        self,
        candidates: Sequence[Point],
        count: int,
        known: Sequence[Point],
        values: np.ndarray[Any, np.dtype[Any]],
        base: Sequence[int],
        draws: int = DRAWS,
    ) -> list[Point]:
        """Candidates that together add most to the hypervolume of the front.

        Args:
            candidates: to choose from.
            count: of the choice.
            known: points that the model rests on.
            values: that these gave.
            base: positions of those on the front.
            draws: of the worth of points.
        """
        apart = distances(coordinates_of([*known, *candidates]))
        which = [*base, *range(len(known), len(known) + len(candidates))]
        worth = np.stack(
            [
                one.draws(apart, column, which, draws, self._rng)
                for one, column in zip(self._sizes, values.T, strict=True)
            ],
            axis=2,
        )
        places = promising(worth, range(len(base), len(which)), count, range(len(base)))
        return [candidates[place - len(base)] for place in places]

    def _kept(self, count: int, front: Sequence[int]) -> list[int]:
        """Positions of points that the model rests on."""
        if count <= KNOWN:
            return list(range(count))
        others = np.setdiff1d(np.arange(count), front)
        more = self._rng.choice(others, max(0, KNOWN - len(front)), replace=False)
        return sorted([*front, *more.tolist()])

    def _new(self, points: Sequence[Point]) -> list[Point]:
        """Points that were not evaluated, each once; random ones if there are none."""
        found = {key(point): point for point in points if key(point) not in self._points}
        return list(found.values()) or self._random(self.batch)

    def _changes(self, points: Sequence[Point]) -> list[Point]:
        """Some of the points, each with some parameters changed."""
        return [self._changed(points[int(self._rng.integers(len(points)))]) for _ in range(CHANGED)]

    def _changed(self, point: Point) -> Point:
        """A point with one parameter or a few changed; a new kind brings its own at random."""
        wanted = 1 + int(self._rng.geometric(0.6))
        names = [parameter.path for parameter in self.space if parameter.path in point]
        some = set(self._rng.choice(names, min(wanted, len(names)), replace=False).tolist())
        flat: Point = {}
        for parameter in self.space:
            path = parameter.path
            if path not in point or (path in some and parameter.choices):
                flat[path] = parameter.at(float(self._rng.random()))
            elif path in some:
                share = parameter.share(point[path]) + REACH * float(self._rng.normal())
                flat[path] = parameter.at(min(max(share, 0.0), 1.0))
            else:
                flat[path] = point[path]
        return self.space.active(flat)
