"""A sampler for noisy objectives: a Gaussian process over mixed spaces, and expected hypervolume improvement.

The first configurations are a Latin hypercube: each part of a range and each category comes equally often.
Then the objectives have surrogate models (`optimize.inference.surrogate_model`): parameters act alone or
together, one that does not exist stands in the middle, and a configuration's own deviation is noise. A batch
adds most to the hypervolume of the configurations so far, in the mean over joint posterior draws. Candidates
are random configurations, and those on the front with some parameters changed; then, round after round, the
most promising ones, and these with some parameters changed. The last of a batch has a category that was
rarely tried, if there is one: few configurations in the wrong region do not show its value in the right one.

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
from typing import ClassVar

import numpy as np

from gridtune.optimize.inference.surrogate_model import Distances, NoisySurrogate, coordinates_of, distances
from gridtune.optimize.records.evaluations import Objective, Value
from gridtune.optimize.replication.compare import Array, non_dominated, signs
from gridtune.optimize.replication.shortlist import promising
from gridtune.optimize.samplers.base import Result, Sampler, register
from gridtune.optimize.search_space.constraints import Excesses
from gridtune.optimize.search_space.space import Configuration, Space, key

FIRST, EACH = 16, 1.5  # configurations before there is a model, at least, and for each parameter
KNOWN = 300  # configurations that the model rests on, at most: the best, and others at random
RANDOM, CHANGED = 100, 150  # candidates of each sort
ROUNDS, PARENTS = 4, 20  # in which candidates are made of the most promising ones, and of how many
DRAWS, ROUGH = 64, 16  # of the means of candidates; where parents of others are chosen
AGAIN = 1.3  # growth of the number of configurations after which sizes are learned anew
REACH = 0.15  # standard deviation of a change of a parameter, as a share of its range
OUTLIER = 3.0  # interquartile ranges beyond the quartiles: values are cut there
RARE = 0.3  # of its even share of the configurations: a category that has less is tried


@dataclass(frozen=True)
class Seen:
    """What the model rests on.

    Attributes:
        model: of the objectives.
        configurations: that were evaluated.
        values: that they gave, to be minimised, configurations x objectives.
        front: positions of the non-dominated ones.
    """

    model: NoisySurrogate
    configurations: Sequence[Configuration]
    values: Array
    front: Sequence[int]


@register("surrogate", "Gaussian processes that know noise: takes 55 to 140 ms to propose a configuration")
class Surrogate(Sampler):
    """Noisy expected hypervolume improvement over candidates."""

    most_batch: ClassVar[int] = 8

    def __init__(self, space: Space, objectives: Sequence[Objective], seed: int, batch: int) -> None:
        from scipy.stats.qmc import LatinHypercube

        super().__init__(space, objectives, seed, batch)
        self._rng = np.random.default_rng([seed, 5])
        self._least = max(FIRST, ceil(EACH * len(space)))
        rows = LatinHypercube(len(space), rng=self._rng).random(self._least).tolist()
        self._first = [space.at(row) for row in rows]
        self._asked: list[Configuration] = []
        self._tried: list[Configuration] = []  # those that failed, too
        self._configurations: dict[str, Configuration] = {}
        self._values: dict[str, list[float]] = {}
        self._learned = 0
        self._model: NoisySurrogate | None = None

    def ask(self) -> list[Configuration]:
        """The next batch."""
        self._asked = self._spread() if len(self._values) < self._least else self._chosen()
        return self._asked

    def tell(self, results: Sequence[Result]) -> None:
        """Learn from the batch."""
        self._take(self._asked, results)

    def inform(
        self, configurations: Sequence[Configuration], results: Sequence[Result], excesses: Sequence[Excesses]
    ) -> None:
        """Learn from configurations that were not asked for."""
        self._take(configurations, self._penalty.penalised(results, excesses) if any(excesses) else results)

    def _take(self, configurations: Sequence[Configuration], results: Sequence[Result]) -> None:
        self._tried += configurations
        for configuration, result in zip(configurations, results, strict=True):
            if result is not None:
                self._configurations[key(configuration)] = configuration
                self._values[key(configuration)] = [float(value) for value in result]

    def _spread(self) -> list[Configuration]:
        """The next of the first configurations, and random ones where some of them failed."""
        batch, self._first = self._first[: self.batch], self._first[self.batch :]
        return [*batch, *self._random(self.batch - len(batch))]

    def _random(self, count: int) -> list[Configuration]:
        shares = self._rng.random((count, len(self.space)))
        return [self.space.at(row) for row in shares.tolist()]

    def _chosen(self) -> list[Configuration]:
        """Candidates that promise most."""
        seen = self._seen()
        candidates = self._new(self._candidates(seen))
        for _ in range(ROUNDS):
            best = self._best(candidates, PARENTS, seen, ROUGH)
            candidates = self._new([*best, *self._changes(best)])
        chosen = self._best(candidates, self.batch, seen)
        return [*chosen[:-1], *(self._of_rarest(chosen, seen) or chosen[-1:])]

    def _seen(self) -> Seen:
        """What the model rests on; sizes are learned anew where there is much more of it than there was."""
        names = list(self._values)
        values = np.array([self._values[name] for name in names]) * signs(self.objectives)
        low, high = np.quantile(values, [0.25, 0.75], axis=0)
        wide = np.where(high > low, OUTLIER * (high - low), np.inf)  # where most are equal, nothing is cut
        values = values.clip(low - wide, high + wide)
        front = non_dominated(values)
        used = self._used(len(names), front)
        known = [self._configurations[names[at]] for at in used]
        if self._model is None or len(names) >= AGAIN * self._learned:
            self._model = NoisySurrogate.of(self._apart(known), values[used], self.seed)
            self._learned = len(names)
        return Seen(self._model, known, values[used], [used.index(at) for at in front])

    def _apart(self, configurations: Sequence[Configuration]) -> Distances:
        """Distances in all parameters of the space, so that a model fits configurations it has not seen."""
        return distances(coordinates_of(configurations, self.space.paths))

    def _candidates(self, seen: Seen) -> list[Configuration]:
        """Random configurations, and those of the front with some parameters changed."""
        return [*self._random(RANDOM), *self._changes([seen.configurations[at] for at in seen.front])]

    def _best(
        self, candidates: Sequence[Configuration], count: int, seen: Seen, draws: int = DRAWS
    ) -> list[Configuration]:
        """So many candidates that together add most to the hypervolume of the front."""
        apart = self._apart([*seen.configurations, *candidates])
        base, known = len(seen.front), len(seen.configurations)
        which = [*seen.front, *range(known, known + len(candidates))]
        means = seen.model.draws(apart, seen.values, which, draws, self._rng)
        places = promising(means, range(base, len(which)), count, range(base))
        return [candidates[place - base] for place in places]

    def _of_rarest(self, chosen: Sequence[Configuration], seen: Seen) -> list[Configuration]:
        """The most promising configuration of the rarest category, if there is one and not in the batch."""
        rarest = self._rarest()
        if rarest is None:
            return []
        path, category = rarest
        if any(path in one and one[path] == category for one in chosen):
            return []
        some = self._candidates(seen)
        candidates = self._new([self._with(path, category, one) for one in some if path in one])
        return self._best(candidates, 1, seen)

    def _used(self, count: int, front: Sequence[int]) -> list[int]:
        """Positions of configurations that the model rests on."""
        if count <= KNOWN:
            return list(range(count))
        others = np.setdiff1d(np.arange(count), front)
        more = self._rng.choice(others, max(0, KNOWN - len(front)), replace=False)
        return sorted([*front, *more.tolist()])

    def _new(self, configurations: Sequence[Configuration]) -> list[Configuration]:
        """Configurations that were not evaluated, each once; random ones if there are none."""
        found = {key(one): one for one in configurations if key(one) not in self._configurations}
        return list(found.values()) or self._random(self.batch)

    def _changes(self, configurations: Sequence[Configuration]) -> list[Configuration]:
        """Some of the configurations, each with some parameters changed."""
        return [
            self._changed(configurations[int(self._rng.integers(len(configurations)))])
            for _ in range(CHANGED)
        ]

    def _changed(self, configuration: Configuration) -> Configuration:
        """A configuration with one parameter or a few changed; a new category brings its own at random."""
        wanted = 1 + int(self._rng.geometric(0.6))
        names = [parameter.path for parameter in self.space if parameter.path in configuration]
        some = set(self._rng.choice(names, min(wanted, len(names)), replace=False).tolist())
        flat: Configuration = {}
        for parameter in self.space:
            path = parameter.path
            if path not in configuration or (path in some and parameter.choices):
                flat[path] = parameter.at(float(self._rng.random()))
            elif path in some:
                share = parameter.share(configuration[path]) + REACH * float(self._rng.normal())
                flat[path] = parameter.at(min(max(share, 0.0), 1.0))
            else:
                flat[path] = configuration[path]
        return self.space.active(flat)

    def _rarest(self) -> tuple[str, Value] | None:
        """The path and the category with the least share of the configurations that could have it."""
        least, found = RARE, None
        for parameter in self.space:
            tried = Counter(one[parameter.path] for one in self._tried if parameter.path in one)
            for category in parameter.choices if tried else ():
                share = tried[category] * len(parameter.choices) / tried.total()
                if share < least:
                    least, found = share, (parameter.path, category)
        return found

    def _with(self, path: str, category: Value, configuration: Configuration) -> Configuration:
        """A configuration with another category there; the parameters it brings are random."""
        shares = self._rng.random(len(self.space)).tolist()
        random = {one.path: one.at(share) for one, share in zip(self.space, shares, strict=True)}
        return self.space.active({**random, **configuration, path: category})
