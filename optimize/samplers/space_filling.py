"""Samplers that learn nothing: at random, or everything there is."""

from __future__ import annotations

from itertools import islice

import numpy as np

from gridtune.optimize.samplers.base import Sampler, register
from gridtune.optimize.search_space.space import Configuration
from gridtune.scenarios.errors import ScenarioError


@register("random", "configurations are random and independent: the reference for all other samplers")
class RandomPoints(Sampler):
    """Uniform over the unit cube of the space."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._rng = np.random.default_rng(self.seed)

    def ask(self) -> list[Configuration]:
        """The next batch."""
        return self.space.random(self.batch, self._rng)


@register("exhaustive", "every configuration of a space without continuous ranges is tried once")
class AllPoints(Sampler):
    """Lists the space in a random order: a budget too small for all of it is not spent in a corner."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.space.size() is None:
            raise ScenarioError("the sampler exhaustive needs a space of choices and whole numbers only")
        configurations = list(self.space.configurations())
        order = np.random.default_rng(self.seed).permutation(len(configurations))
        self._left = iter([configurations[index] for index in order])

    def ask(self) -> list[Configuration]:
        """The next batch."""
        return list(islice(self._left, self.batch))
