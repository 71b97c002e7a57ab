"""A sampler for noisy objectives: a Gaussian process over mixed spaces, and expected hypervolume improvement.

The first configurations are a Latin hypercube: each part of a range and each category comes equally often.
Then the objectives have surrogate models (`optimize.inference.surrogate_model`): parameters act alone or
together, one that does not exist stands in the middle, and a configuration's own deviation is noise. A batch
adds most to the hypervolume of the configurations so far, in the mean over joint posterior draws, each
objective on the scale of its surrogate. Candidates are random configurations, and those on the front with
some parameters changed; then, round after round, the most promising ones, and these with some parameters
changed. The last of a batch has a category that was rarely tried, if there is one: few configurations in the
wrong region do not show its value in the right one.

How much a configuration breaks constraints has a surrogate model of its own. In a draw in which it breaks
them, a candidate adds nothing. Objectives of such configurations count as no better than the median of those
that keep the constraints, and as no worse than the worst of these. As long as none keeps them, the least
excess is searched.

Sources: M. McKay, R. Beckman and W. Conover, A Comparison of Three Methods for Selecting Values of Input
Variables, Technometrics 21(2), 1979; S. Daulton, M. Balandat and E. Bakshy, Parallel Bayesian Optimization of
Multiple Noisy Objectives with Expected Hypervolume Improvement, NeurIPS 2021 (there beside all configurations
so far, and with candidates optimised by gradients); M. Gelbart, J. Snoek and R. Adams, Bayesian Optimization
with Unknown Constraints, UAI 2014.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import ceil
from typing import ClassVar

import numpy as np
from scipy.stats.qmc import LatinHypercube

from gridtune.optimize.inference.surrogate_model import Distances, Fitted, joint_draws, surrogates
from gridtune.optimize.records.evaluations import Value
from gridtune.optimize.replication.compare import Array, non_dominated, promising, signs
from gridtune.optimize.samplers.base import Result, Sampler, register
from gridtune.optimize.search_space.constraints import Excesses
from gridtune.optimize.search_space.space import Configuration, key

FIRST, EACH = 16, 1.5  # configurations before there is a model, at least, and for each parameter
KNOWN = 300  # configurations that the model rests on, at most: the front, and others at random
RANDOM, CHANGED = 100, 150  # candidates of each sort
ROUNDS, PARENTS = 4, 20  # in which candidates are made of the most promising ones, and of how many
DRAWS, ROUGH = 64, 16  # of the means of candidates; where parents of others are chosen
AGAIN = 1.3  # growth of the number of configurations after which sizes are learned anew
REACH = 0.15  # standard deviation of a change of a parameter, as a share of its range
OUTLIER = 3.0  # interquartile ranges beyond the quartiles: values are cut there
RARE = 0.3  # of its even share of the configurations: a category that has less is tried


@register(
    "surrogate", "Gaussian processes model noise, too; a proposal takes 0.1 s, for four objectives 0.4 s"
)
class Surrogate(Sampler):
    """Noisy expected hypervolume improvement over candidates."""

    most_batch: ClassVar[int] = 8

    def __post_init__(self) -> None:
        super().__post_init__()
        self._rng = np.random.default_rng([self.seed, 5])
        self._least = max(FIRST, ceil(EACH * len(self.space)))
        rows = LatinHypercube(len(self.space), rng=self._rng).random(self._least).tolist()
        self._first = list(map(self.space.at, rows))
        self._asked: list[Configuration] = []
        self._tried: list[Configuration] = []  # those that failed, too
        self._results: dict[str, tuple[Configuration, Sequence[float], Sequence[float]]] = {}
        # What the models rest on: configurations, their values to be minimised, and the places of the best.
        # Last is what they break, if any breaks a constraint.
        self._models: list[Fitted] = []
        self._learned = 0
        self._known: list[Configuration] = []
        self._values: Array = np.empty(0)
        self._front: list[int] = []

    def ask(self) -> list[Configuration]:
        """The next batch."""
        if len(self._results) >= self._least:
            self._asked = self._chosen()
        else:  # random configurations where some of the first failed
            batch, self._first = self._first[: self.batch], self._first[self.batch :]
            self._asked = [*batch, *self.space.random(self.batch - len(batch), self._rng)]
        return self._asked

    def learn(self, results: Sequence[Result], excesses: Sequence[Excesses]) -> None:
        """Learn from the batch, and from what it breaks."""
        self.inform(self._asked, results, excesses)

    def inform(
        self, configurations: Sequence[Configuration], results: Sequence[Result], excesses: Sequence[Excesses]
    ) -> None:
        """Learn from configurations, whether asked for or not."""
        self._tried += configurations
        for one, result, broken in zip(configurations, results, excesses, strict=True):
            if result is not None:
                self._results[key(one)] = one, result, tuple(broken.values())

    def _chosen(self) -> list[Configuration]:
        """Candidates that promise most."""
        self._fit()
        candidates = self._new(self._candidates())
        for _ in range(ROUNDS):
            best = self._best(candidates, PARENTS, ROUGH)
            candidates = self._new([*best, *self._changes(best)])
        chosen = self._best(candidates, self.batch)
        return [*chosen[:-1], *(self._of_rarest(chosen) or chosen[-1:])]

    def _fit(self) -> None:
        """Model what is known; sizes are learned anew where there is much more of it than there was."""
        configurations, results, excesses = zip(*self._results.values(), strict=True)
        values = np.array(results, dtype=float) * signs(self.objectives)
        low, high = np.quantile(values, [0.25, 0.75], axis=0)
        wide = np.where(high > low, OUTLIER * (high - low), np.inf)  # where most are equal, nothing is cut
        values = values.clip(low - wide, high + wide)
        each = [margins_of(column) for column in zip(*excesses, strict=True)]
        margins = np.max([np.full(len(values), -1.0), *each], axis=0)
        able, broken = np.flatnonzero(margins <= 0), np.flatnonzero(margins > 0)
        if not len(able):  # first of all, one that keeps the constraints
            values, able = margins[:, None], np.arange(len(values))
        elif len(broken):
            values[broken] = values[broken].clip(np.median(values[able], axis=0), values[able].max(axis=0))
            values = np.column_stack([values, margins])
        front = [int(able[at]) for at in non_dominated(values[able, : len(self.objectives)])]
        used = list(range(len(values)))
        if len(used) > KNOWN:
            if len(front) > KNOWN:
                front = sorted(self._rng.choice(front, KNOWN, replace=False).tolist())
            others = np.setdiff1d(used, front)
            more = self._rng.choice(others, KNOWN - len(front), replace=False)
            used = sorted([*front, *more.tolist()])
        self._known, self._values = [configurations[at] for at in used], values[used]
        self._front = [used.index(at) for at in front]
        fits = len(self._models) == values.shape[1] and all(
            one.holds(column) for one, column in zip(self._models, self._values.T, strict=True)
        )
        if not fits or len(values) >= AGAIN * self._learned:
            apart, most = self._apart(self._known), len(self.objectives)
            self._models = surrogates(apart, self._values[:, :most], self.seed)
            self._models += [Fitted.of(apart, column, self.seed) for column in self._values.T[most:]]
            self._learned = len(values)

    def _apart(self, configurations: Sequence[Configuration]) -> Distances:
        """Distances in all parameters of the space, so that a model fits configurations it has not seen."""
        return Distances.of(configurations, self.space.logarithmic, self.space.paths)

    def _candidates(self) -> list[Configuration]:
        """Random configurations, and those of the front with some parameters changed."""
        front = [self._known[at] for at in self._front]
        return [*self.space.random(RANDOM, self._rng), *self._changes(front)]

    def _best(
        self, candidates: Sequence[Configuration], count: int, draws: int = DRAWS
    ) -> list[Configuration]:
        """So many candidates that together add most to the hypervolume of the front."""
        apart = self._apart([*self._known, *candidates])
        base, known = len(self._front), len(self._known)
        which = [*self._front, *range(known, known + len(candidates))]
        means = joint_draws(self._models, apart, self._values, which, draws, self._rng)
        if means.shape[2] > len(self.objectives):
            means, margins = means[:, :, :-1], means[:, base:, -1]
            means[:, base:][margins > 0] = np.inf
        places = promising(means, range(base, len(which)), count, range(base))
        return [candidates[place - base] for place in places]

    def _of_rarest(self, chosen: Sequence[Configuration]) -> list[Configuration]:
        """The most promising configuration of the rarest category, if there is one and not in the batch."""
        rarest = self._rarest()
        if rarest is None or any(rarest in one.items() for one in chosen):
            return []
        path, category = rarest
        some = [self._with(path, category, one) for one in self._candidates() if path in one]
        return self._best(self._new(some), 1)

    def _new(self, configurations: Sequence[Configuration]) -> list[Configuration]:
        """Configurations that were not evaluated, each once; random ones if there are none."""
        found = {key(one): one for one in configurations if key(one) not in self._results}
        return list(found.values()) or self.space.random(self.batch, self._rng)

    def _changes(self, configurations: Sequence[Configuration]) -> list[Configuration]:
        """Some of the configurations, each with some parameters changed."""
        count = len(configurations)
        return [self._changed(configurations[int(self._rng.integers(count))]) for _ in range(CHANGED)]

    def _changed(self, configuration: Configuration) -> Configuration:
        """A configuration with one parameter or a few changed; a new category brings its own at random."""
        wanted = 1 + int(self._rng.geometric(0.6))
        names = [path for path in self.space.paths if path in configuration]
        some = set(self._rng.choice(names, min(wanted, len(names)), replace=False).tolist())
        flat = dict(configuration)
        for parameter in self.space:
            path = parameter.path
            if path not in configuration or (path in some and parameter.choices):
                flat[path] = parameter.at(self._rng.random())
            elif path in some:
                share = parameter.share(configuration[path]) + REACH * self._rng.normal()
                flat[path] = parameter.at(min(max(share, 0.0), 1.0))
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
        others = {one.path: one.at(self._rng.random()) for one in self.space}
        return self.space.active({**others, **configuration, path: category})


def margins_of(excesses: Sequence[float]) -> Array:
    """Excesses of a constraint on a scale from -1 to 1: above 0.5 where it is broken, else below -0.5.

    Half of each side lies within half of that side's range.
    """
    values = np.nan_to_num(excesses)
    made = np.empty_like(values)
    for side, way in ((values > 0, 1.0), (values <= 0, -1.0)):
        size = np.abs(values[side])
        middle = np.median(size) if size.any() else 1.0
        made[side] = way * (0.5 + 0.5 * size / (size + (middle or 1.0)))
    return made
