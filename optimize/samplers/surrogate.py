"""A sampler that knows noise: a Gaussian process over mixed spaces, and the hypervolume that points promise.

The first points are a Latin hypercube: each part of a range and each kind is seen equally often. Then the
objectives have response surfaces (`optimize.inference.noisy_surface`): parameters act alone or together, one
that does not exist stands in the middle, and what a point shares with no other is taken for luck. A batch is
what adds most to the hypervolume of the points so far, in the mean over joint draws of the worth of these and
of candidates: random points, and points of the front with some parameters changed; then, round after round,
the most promising of them, and these with some parameters changed. The last of a batch is of a kind that was
hardly looked at, if there is one: few points in the wrong places do not tell what it is worth in the right.

Sources: M. McKay, R. Beckman and W. Conover, A Comparison of Three Methods for Selecting Values of Input
Variables, Technometrics 21(2), 1979; S. Daulton, M. Balandat and E. Bakshy, Parallel Bayesian Optimization of
Multiple Noisy Objectives with Expected Hypervolume Improvement, NeurIPS 2021 (there with candidates optimised
by gradients).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from gridtune.optimize.inference.noisy_surface import NoisySurface
from gridtune.optimize.inference.response_surface import coordinates_of, distances
from gridtune.optimize.records.evaluations import Objective, Value
from gridtune.optimize.replication.compare import non_dominated, signs
from gridtune.optimize.replication.shortlist import promising
from gridtune.optimize.samplers.base import Result, Sampler, register
from gridtune.optimize.search_space.constraints import Excesses
from gridtune.optimize.search_space.space import Point, Space, key

FIRST, EACH = 16, 1.5  # points before there is a model, at least, and for each parameter
KNOWN = 300  # points that the model rests on, at most: the best, and others at random
RANDOM, CHANGED = 100, 150  # candidates of each sort
ROUNDS, PARENTS = 4, 20  # in which candidates are made of the most promising ones, and of how many
DRAWS, ROUGH = 64, 16  # of the worth of candidates; where parents of others are chosen
AGAIN = 1.3  # growth of the number of points after which sizes are learned anew
REACH = 0.15  # standard deviation of a change of a parameter, as a share of its range
OUTLIER = 3.0  # interquartile ranges beyond the quartiles: values are cut there
NEGLECTED = 0.3  # of its even share of the points: a kind that has less is looked at


@dataclass(frozen=True)
class Seen:
    """What the model rests on.

    Attributes:
        surface: of the objectives.
        points: that were evaluated.
        values: that they gave, to be minimised, points x objectives.
        front: positions of those that no other beats in these.
    """

    surface: NoisySurface
    points: Sequence[Point]
    values: np.ndarray[Any, np.dtype[Any]]
    front: Sequence[int]


@register("surrogate", "Gaussian processes that know noise: takes 55 to 140 ms to propose a point")
class Surrogate(Sampler):
    """Noisy expected hypervolume improvement over candidates."""

    def __init__(self, space: Space, objectives: Sequence[Objective], seed: int, batch: int) -> None:
        from scipy.stats.qmc import LatinHypercube

        super().__init__(space, objectives, seed, batch)
        self._rng = np.random.default_rng([seed, 5])
        first = max(FIRST, ceil(EACH * len(space)))
        self._first = [
            space.at(row) for row in LatinHypercube(len(space), rng=self._rng).random(first).tolist()
        ]
        self._least = first
        self._asked: list[Point] = []
        self._tried: list[Point] = []  # those that failed, too
        self._points: dict[str, Point] = {}
        self._values: dict[str, list[float]] = {}
        self._learned = 0
        self._surface: NoisySurface | None = None

    @classmethod
    def batch_for(cls, budget: int) -> int:
        """Few, so that a proposal knows of most results."""
        return max(1, min(8, budget))

    def ask(self) -> list[Point]:
        """The next batch."""
        self._asked = self._spread() if len(self._values) < self._least else self._chosen()
        return self._asked

    def tell(self, results: Sequence[Result]) -> None:
        """Learn from the batch."""
        self._take(self._asked, results)

    def inform(
        self, points: Sequence[Point], results: Sequence[Result], excesses: Sequence[Excesses]
    ) -> None:
        """Learn from points that were not asked for."""
        self._take(points, self._penalty.told(results, excesses) if any(excesses) else results)

    def _take(self, points: Sequence[Point], results: Sequence[Result]) -> None:
        self._tried += points
        for point, result in zip(points, results, strict=True):
            if result is not None:
                self._points[key(point)] = point
                self._values[key(point)] = [float(value) for value in result]

    def _spread(self) -> list[Point]:
        """The next of the first points, and random ones where some of them failed."""
        batch, self._first = self._first[: self.batch], self._first[self.batch :]
        return [*batch, *self._random(self.batch - len(batch))]

    def _random(self, count: int) -> list[Point]:
        shares = self._rng.random((count, len(self.space)))
        return [self.space.at(row) for row in shares.tolist()]

    def _chosen(self) -> list[Point]:
        """Candidates that promise most."""
        seen = self._seen()
        candidates = self._new(self._candidates(seen))
        for _ in range(ROUNDS):
            best = self._best(candidates, PARENTS, seen, ROUGH)
            candidates = self._new([*best, *self._changes(best)])
        chosen = self._best(candidates, self.batch, seen)
        return [*chosen[:-1], *(self._of_neglected(chosen, seen) or chosen[-1:])]

    def _seen(self) -> Seen:
        """What the model rests on; sizes are learned anew where there is much more of it than there was."""
        names = list(self._values)
        values = np.array([self._values[name] for name in names]) * signs(self.objectives)
        low, high = np.quantile(values, [0.25, 0.75], axis=0)
        wide = np.where(high > low, OUTLIER * (high - low), np.inf)  # where most are equal, nothing is cut
        values = values.clip(low - wide, high + wide)
        front = non_dominated(values)
        kept = self._kept(len(names), front)
        known = [self._points[names[at]] for at in kept]
        if self._surface is None or len(names) >= AGAIN * self._learned:
            self._surface = NoisySurface.of(distances(coordinates_of(known)), values[kept], self.seed)
            self._learned = len(names)
        return Seen(self._surface, known, values[kept], [kept.index(at) for at in front])

    def _candidates(self, seen: Seen) -> list[Point]:
        """Random points, and those of the front with some parameters changed."""
        return [*self._random(RANDOM), *self._changes([seen.points[at] for at in seen.front])]

    def _best(self, candidates: Sequence[Point], count: int, seen: Seen, draws: int = DRAWS) -> list[Point]:
        """Candidates that together add most to the hypervolume of the front.

        Args:
            candidates: to choose from.
            count: of the choice.
            seen: what the model rests on.
            draws: of the worth of points.
        """
        apart = distances(coordinates_of([*seen.points, *candidates]))
        base, known = len(seen.front), len(seen.points)
        which = [*seen.front, *range(known, known + len(candidates))]
        worth = seen.surface.draws(apart, seen.values, which, draws, self._rng)
        places = promising(worth, range(base, len(which)), count, range(base))
        return [candidates[place - base] for place in places]

    def _of_neglected(self, chosen: Sequence[Point], seen: Seen) -> list[Point]:
        """The most promising point of the kind that is neglected; none if there is none, or the batch has it.

        Args:
            chosen: the batch.
            seen: what the model rests on.
        """
        neglected = self._neglected()
        if neglected is None:
            return []
        path, kind = neglected
        if any(path in point and point[path] == kind for point in chosen):
            return []
        some = self._candidates(seen)
        candidates = self._new([self._with(path, kind, point) for point in some if path in point])
        return self._best(candidates, 1, seen)

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

    def _neglected(self) -> tuple[str, Value] | None:
        """Where the kind stands that has the least share of the points that could have it, and this kind."""
        least, found = NEGLECTED, None
        for parameter in self.space:
            tried = Counter(point[parameter.path] for point in self._tried if parameter.path in point)
            for kind in parameter.choices if tried else ():
                share = tried[kind] * len(parameter.choices) / tried.total()
                if share < least:
                    least, found = share, (parameter.path, kind)
        return found

    def _with(self, path: str, kind: Value, point: Point) -> Point:
        """A point with another kind there; what that brings is at random."""
        shares = self._rng.random(len(self.space)).tolist()
        random = {
            parameter.path: parameter.at(share) for parameter, share in zip(self.space, shares, strict=True)
        }
        return self.space.active({**random, **point, path: kind})
