"""Changes of a configuration to the baseline: which matter most, and configurations with some of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import floor, log10

import numpy as np

from gridtune.optimize.front.front import Front
from gridtune.optimize.inference.surrogate_model import coordinates_of, distances, joint_draws, surrogates
from gridtune.optimize.search_space.space import Configuration, Space

DIGITS = 2  # of recommended numbers
KNOWN = 200  # configurations that the surrogate model learns from
DRAWS = 64


@dataclass(frozen=True)
class Unit:
    """Parameters that are changed together: one that the baseline has, and those that come with it.

    Attributes:
        path: of the parameter; where only parameters that the baseline lacks differ, of the first of them.
        values: what is set, by path.
    """

    path: str
    values: Configuration


class Subsets:
    """Takes configurations apart, and orders their changes by a surrogate model of all runs.

    Args:
        front: whose means the model learns.
        space: what is searched.
        baseline: the baseline's values, by path, as far as the parameters exist there.
        seed: of the model.
    """

    def __init__(self, front: Front, space: Space, baseline: Configuration, seed: int) -> None:
        self._front, self._space, self._baseline, self._seed = front, space, baseline, seed

    def units(self, configuration: Configuration) -> list[Unit]:
        """The changes of a configuration, each with the parameters that exist because of it."""
        baseline = self._baseline
        found: dict[str, Configuration] = {}
        owner: dict[str, str] = {}
        for parameter in self._space:
            path = parameter.path
            if path not in configuration:
                continue
            parents = [owner[one] for one in parameter.when if one in owner]
            same = path in baseline and baseline[path] == configuration[path]
            if same and not parents:
                continue
            own = not parents or (path in baseline and not same)
            owner[path] = path if own else parents[0]
            found.setdefault(owner[path], {})[path] = configuration[path]
        return [Unit(path, values) for path, values in found.items()]

    def combined(self, units: Sequence[Unit]) -> Configuration | None:
        """The baseline with some changes; None where a parameter would exist that nobody gives a value."""
        flat = dict(self._baseline)
        for unit in units:
            flat |= unit.values
        try:
            return self._space.active(flat)
        except KeyError:
            return None

    def rounded(self, configuration: Configuration) -> Configuration:
        """The configuration with its changed numbers rounded to `DIGITS` digits, within their ranges."""
        found = dict(configuration)
        for parameter in self._space:
            value = configuration.get(parameter.path)
            if value is None or parameter.choices or self._baseline.get(parameter.path) == value:
                continue
            number = float(value)
            digits = DIGITS - 1 - floor(log10(abs(number))) if number else 0
            near = min(max(round(number, digits), parameter.low), parameter.high)
            found[parameter.path] = round(near) if parameter.whole else float(near)
        return found

    def ordered(self, configuration: Configuration) -> list[Unit]:
        """The changes of a configuration, each the one that adds most to those before it."""
        left, chosen = self.units(configuration), list[Unit]()
        while left:
            made = [(at, self.combined([*chosen, one])) for at, one in enumerate(left)]
            able = {at: found for at, found in made if found is not None}
            if not able:
                break
            kept = self._share_kept(list(able.values()), configuration)
            chosen.append(left.pop(list(able)[int(kept.argmax())]))
        return [*chosen, *left]

    def enough(self, units: Sequence[Unit], whole: Configuration, share: float) -> int:
        """How many of the changes are expected to keep that share of what all of them gain."""
        made = [self.combined(units[: k + 1]) or self._baseline for k in range(len(units))]
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
        models = surrogates(distances(coordinates_of(places, paths)), values, self._seed)

        def predict(configurations: Sequence[Configuration]) -> np.ndarray:
            apart = distances(coordinates_of([*places, *configurations], paths))
            which = range(len(places), len(places) + len(configurations))
            rng = np.random.default_rng([self._seed, len(places)])
            return np.asarray(joint_draws(models, apart, values, which, DRAWS, rng).mean(axis=0))

        return predict
