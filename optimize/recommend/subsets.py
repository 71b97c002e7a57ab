"""Changes of a configuration to the baseline: which matter most, and configurations with some of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property

import numpy as np

from gridtune.optimize.front.front import Front
from gridtune.optimize.inference.surrogate_model import Distances, Fitted, joint_draws
from gridtune.optimize.records.recommendation import Value
from gridtune.optimize.search_space.parameter import among
from gridtune.optimize.search_space.settings import Settings
from gridtune.optimize.search_space.space import Configuration, key
from gridtune.scenarios.document.path_meaning import meaning
from gridtune.scenarios.errors import ScenarioError

DIGITS = 2  # of recommended numbers
KNOWN = 200  # configurations that the surrogate model learns from
DRAWS = 64


class Subsets:
    """Takes configurations apart, and orders their changes by a surrogate model of all runs.

    Without a change, a parameter has the baseline's value, or its default where the baseline lacks it.
    """

    def __init__(self, front: Front, settings: Settings) -> None:
        self._front, self._space, self._seed = front, settings.space, settings.seed
        self._baseline: Configuration = {} if settings.baseline is None else settings.baseline.values
        self._scenario = settings.run_in[0].scenario
        self._defaults: dict[tuple[str, str], Value | None] = {}  # by path and what it exists due to

    def kept(self, configuration: Configuration) -> set[str]:
        """Parameters of a configuration that are as if nobody had set them."""
        before = self._unset(configuration)
        return {path for path, value in configuration.items() if before[path] == value}

    def before(self, configuration: Configuration, path: str) -> Value | None:
        """What the baseline has for a changed parameter; None where it is another policy's."""
        value = self._baseline.get(path)
        return None if value == configuration[path] else value

    def changed(self, configuration: Configuration) -> list[str]:
        """Parameters of a configuration that could be left as they are without it."""
        before = self._fallback(configuration)
        return [path for path, value in configuration.items() if before[path] != value]

    def together(self, configuration: Configuration) -> dict[str, list[str]]:
        """Changed parameters by the one that they exist because of; that is the first."""
        changed, found = set(self.changed(configuration)), dict[str, list[str]]()
        owners: dict[str, str] = {}
        for parameter in self._space:
            path = parameter.path
            above = [owners[one] for one in parameter.when if one in owners]
            if path in changed and (path in self._baseline or not above):
                above = [path]
            if path in configuration and above:
                owners[path] = above[0]
            if path in changed:
                found.setdefault(owners[path], []).append(path)
        return found

    def combined(self, configuration: Configuration, paths: Collection[str]) -> Configuration:
        """The baseline, or what is nearest to it in the space, with some changes of a configuration."""
        some = {path: configuration[path] for path in paths}
        return self._space.active(self._fallback(some) | some)

    def _fallback(self, configuration: Configuration) -> Configuration:
        """What stands where a configuration sets nothing, as near as the space allows."""
        before = self._unset(configuration)
        return {one.path: one.nearest(before[one.path]) for one in self._space}

    def _unset(self, configuration: Configuration) -> dict[str, Value | None]:
        """What stands where a configuration sets nothing, be it in the space or not; None if nothing does.

        That is what the baseline has, or the default of a policy that only the configuration chooses.
        """
        before, found = self._baseline, dict[str, Value | None]()
        chosen: dict[str, Configuration] = {}  # due to which a parameter exists
        for parameter in self._space:
            path, chosen[parameter.path] = parameter.path, {}
            for one, allowed in parameter.when.items():
                value = configuration.get(one, found[one])
                fitting = allowed[0] if value is None or not among(value, allowed) else value
                chosen[path] |= {**chosen[one], one: fitting}
            stays = path in before and all(before.get(one) == value for one, value in chosen[path].items())
            found[path] = before[path] if stays else self._default(path, chosen[path])
        return found

    def _default(self, path: str, chosen: Configuration) -> Value | None:
        at = path, key(chosen)
        if at not in self._defaults:
            try:
                self._defaults[at] = meaning(self._scenario.override(chosen), path).value
            except ScenarioError:  # a policy that takes no defaults
                self._defaults[at] = None
        return self._defaults[at]

    def rounded(self, configuration: Configuration) -> Configuration:
        """The configuration with its changed numbers rounded to `DIGITS` digits, within their ranges."""
        found, before = dict(configuration), self._fallback(configuration)
        for parameter in self._space:
            value = configuration.get(parameter.path)
            if value is None or parameter.choices or before[parameter.path] == value:
                continue
            found[parameter.path] = parameter.nearest(float(f"{float(value):.{DIGITS}g}"))
        return found

    def ordered(self, configuration: Configuration) -> list[str]:
        """Its changed parameters, each the one that adds most to those before it."""
        left, chosen = self.changed(configuration), list[str]()
        while left:
            made = {one: self.combined(configuration, [*chosen, one]) for one in left}
            able = [one for one in left if one in made[one]]  # others need choices that come first
            kept = self._share_kept([made[one] for one in able], configuration)
            chosen.append(able[int(kept.argmax())])
            left.remove(chosen[-1])
        return chosen

    def enough(self, paths: Sequence[str], whole: Configuration, share: float) -> int:
        """How many of the changes are expected to keep that share of what all of them gain."""
        made = [self.combined(whole, paths[: k + 1]) for k in range(len(paths))]
        kept = self._share_kept(made, whole)
        enough = np.flatnonzero(kept >= share * max(float(kept[-1]), 1e-9))
        return int(enough[0]) + 1 if len(enough) else len(paths)

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
        front = self._front
        stands = {one.number: front.stand(one.number) for one in front.archive.evaluations if one.values}
        known = [one for one in front.archive.evaluations if stands.get(one.number) in front.means][:KNOWN]
        places = [one.values for one in known]
        logs, paths = self._space.logarithmic, self._space.paths
        values = np.array([front.means[stands[one.number]] for one in known])
        near = Distances.of(places, logs, paths)
        models = [Fitted.of(near, column, self._seed) for column in values.T]

        def predict(configurations: Sequence[Configuration]) -> np.ndarray:
            apart = Distances.of([*places, *configurations], logs, paths)
            which = range(len(places), len(places) + len(configurations))
            rng = np.random.default_rng([self._seed, len(places)])
            return np.asarray(joint_draws(models, apart, values, which, DRAWS, rng).mean(axis=0))

        return predict
