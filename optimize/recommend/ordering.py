"""Which changes of a configuration matter most, by a surrogate model of all runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from gridtune.optimize.front.front import Front
from gridtune.optimize.inference.surrogate_model import NoisySurrogate, coordinates_of, distances
from gridtune.optimize.recommend.subsets import Unit, combined
from gridtune.optimize.search_space.space import Configuration, Space

KNOWN = 200  # configurations that the surrogate model learns from
DRAWS = 64


class Ordering:
    """Orders changes to the baseline.

    Args:
        front: whose means the model learns.
        space: what is searched.
        baseline: the baseline's values, by path.
        seed: of the model.
    """

    def __init__(self, front: Front, space: Space, baseline: Configuration, seed: int) -> None:
        self._front, self._space, self._baseline, self._seed = front, space, baseline, seed

    def ordered(self, units: Sequence[Unit], whole: Configuration) -> list[Unit]:
        """The changes of a configuration, each the one that adds most to those before it."""
        left, chosen = list(units), list[Unit]()
        while left:
            made = [combined(self._space, self._baseline, [*chosen, one]) for one in left]
            able = [at for at, configuration in enumerate(made) if configuration is not None]
            if not able:
                break
            kept = self._share_kept([made[at] or {} for at in able], whole)
            chosen.append(left.pop(able[int(kept.argmax())]))
        return [*chosen, *left]

    def enough(self, units: Sequence[Unit], whole: Configuration, share: float) -> int:
        """How many of the changes are expected to keep that share of what all of them gain."""
        space, before = self._space, self._baseline
        made = [combined(space, before, units[: k + 1]) or before for k in range(len(units))]
        kept = self._share_kept(made, whole)
        enough = np.flatnonzero(kept >= share * max(float(kept[-1]), 1e-9))
        return int(enough[0]) + 1 if len(enough) else len(units)

    def _share_kept(self, configurations: Sequence[Configuration], whole: Configuration) -> np.ndarray:
        """Share of the whole one's improvement that each is expected to keep, mean over the objectives."""
        start, end = self._predict([self._baseline, whole])
        some = start > end
        if not some.any():
            return np.zeros(len(configurations))
        first, *values = self._predict([self._baseline, *configurations])
        kept = (first - values)[:, some] / (start - end)[some]
        return np.asarray(kept.clip(-1.0, 1.0).mean(axis=1))

    @cached_property
    def _predict(self) -> Callable[[Sequence[Configuration]], np.ndarray]:
        """Predicts objectives of configurations, to be minimised."""
        numbers = {one.number: one for one in self._front.archive.evaluations}
        known = [numbers[number] for number in self._front.means if number in numbers]
        known = [one for one in known if one.values][:KNOWN]
        places, paths = [one.values for one in known], self._space.paths
        values = np.array([self._front.means[one.number] for one in known])
        fitted = NoisySurrogate.of(distances(coordinates_of(places, paths)), values, self._seed)

        def predict(configurations: Sequence[Configuration]) -> np.ndarray:
            apart = distances(coordinates_of([*places, *configurations], paths))
            which = range(len(places), len(places) + len(configurations))
            rng = np.random.default_rng([self._seed, len(places)])
            return np.asarray(fitted.draws(apart, values, which, DRAWS, rng).mean(axis=0))

        return predict
