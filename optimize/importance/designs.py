"""Designs of sensitivity analyses: SALib's points in the unit cube as configurations of a space.

Each coordinate becomes the value of one parameter, deterministically: a range is crossed from its low to its
high end, on its own scale (logarithmic or not), and choices own equal slices. A parameter whose conditions do
not hold is dropped, so that moving it changes nothing: its effect there is zero.

A trajectory of Morris knows only two levels of each parameter. Mapped to slices, they would compare the same
pairs of choices again and again and never visit some of them. So each trajectory gets two choices of its own,
drawn so that all pairs come up equally often, and the effect is that of a switch between two choices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from gridtune.optimize.importance.sensitivity import LEVEL
from gridtune.optimize.search_space.parameter import Parameter
from gridtune.optimize.search_space.space import Configuration, Space
from gridtune.scenarios.errors import ScenarioError

Array = np.ndarray[Any, np.dtype[np.float64]]

LEVELS = 4  # of Morris' grid
RESAMPLES = 1000  # behind the confidence intervals


class Design(Protocol):
    """Configurations to be evaluated, in blocks that count only as a whole.

    Attributes:
        method: a key of `optimize.importance.sensitivity.METHODS`.
    """

    method: ClassVar[str]

    @property
    def space(self) -> Space:
        """Whose configurations they are."""

    @property
    def samples(self) -> int:
        """Number of blocks."""

    @property
    def configurations(self) -> list[Configuration]:
        """In the order of the design, block after block."""

    @property
    def block(self) -> int:
        """Configurations per block."""

    def active(self, parameter: int, blocks: list[int]) -> int:
        """In how many of the blocks moving a parameter could have an effect."""

    def analyse(self, outcomes: Array, blocks: list[int]) -> list[dict[str, float | None]]:
        """The numbers of each parameter.

        Args:
            outcomes: of the configurations of the blocks, in their order; not all equal.
            blocks: which blocks they are.
        """


@dataclass(frozen=True)
class Morris:
    """Trajectories in which every parameter moves once, by two thirds of its range or to another choice.

    Numbers: `mu_star`, the mean absolute effect of moving the parameter across its whole range (or switching
    between two choices), `mu` with signs (None for choices, which have no direction), `sigma`, the standard
    deviation of the effects: large if the effect depends on the other parameters or on where the step starts.

    Source: M. Morris, Technometrics 33, 1991; F. Campolongo et al., Environmental Modelling & Software 22,
    2007.
    """

    method: ClassVar[str] = "morris"

    space: Space
    samples: int
    configurations: list[Configuration]
    block: int
    cube: Array
    seed: int

    @classmethod
    def of(cls, space: Space, samples: int, seed: int) -> Morris:
        """A design.

        Args:
            space: what is varied.
            samples: trajectories, at least 2.
            seed: of their random starts and orders.

        Raises:
            ScenarioError: too few trajectories.
        """
        from SALib.sample.morris import sample

        if samples < 2:
            raise ScenarioError(f"--samples {samples}: Morris' method needs at least 2 trajectories")
        draws = np.random.default_rng([seed, 1])
        cube = sample(_problem(space), samples, num_levels=LEVELS, seed=draws)
        block = len(space) + 1
        shares = cube.copy()
        for j, parameter in enumerate(space):
            if _listed(parameter):
                pairs = _pairs(parameter.size or 1, samples, draws)
                column = cube[:, j].reshape(samples, block)
                shares[:, j] = np.where(column == column[:, :1], pairs[:, :1], pairs[:, 1:]).ravel()
        return cls(space, samples, [space.at(row) for row in shares.tolist()], block, cube, seed)

    def active(self, parameter: int, blocks: list[int]) -> int:
        """In how many of the trajectories the parameter existed when it moved."""
        path = self.space.parameters[parameter].path
        count = 0
        for b in blocks:
            column = self.cube[b * self.block : (b + 1) * self.block, parameter]
            step = next(k for k in range(self.block - 1) if column[k] != column[k + 1])
            first = b * self.block + step
            count += path in self.configurations[first] or path in self.configurations[first + 1]
        return count

    def analyse(self, outcomes: Array, blocks: list[int]) -> list[dict[str, float | None]]:
        """See `Design`."""
        from SALib.analyze.morris import analyze

        cube = np.concatenate([self.cube[b * self.block : (b + 1) * self.block] for b in blocks])
        made = analyze(
            _problem(self.space),
            cube,
            outcomes,
            num_resamples=RESAMPLES,
            conf_level=LEVEL,
            num_levels=LEVELS,
            seed=np.random.default_rng([self.seed, 2]),
        )
        # SALib scales a step to the whole range; a switch between two choices is whole already.
        step = LEVELS / (2 * (LEVELS - 1))
        numbers: list[dict[str, float | None]] = []
        for j, parameter in enumerate(self.space):
            scale = step if _listed(parameter) else 1.0
            row = {name: scale * float(made[name][j]) for name in ("mu_star", "mu_star_conf", "sigma")}
            mu = None if _listed(parameter) else float(made["mu"][j])
            numbers.append({**row, "mu": mu})
        return numbers


@dataclass(frozen=True)
class Sobol:
    """Saltelli's sample: two independent points and, for each parameter, the first with the second's value.

    Numbers: `S1`, the share of the variance that the parameter explains alone, and `ST`, the share in which
    it takes part in any way. Estimates may lie a little outside [0, 1].

    Source: I. Sobol', Mathematics and Computers in Simulation 55, 2001; A. Saltelli et al., Computer Physics
    Communications 181, 2010.
    """

    method: ClassVar[str] = "sobol"

    space: Space
    samples: int
    configurations: list[Configuration]
    block: int
    seed: int

    @classmethod
    def of(cls, space: Space, samples: int, seed: int) -> Sobol:
        """A design.

        Args:
            space: what is varied.
            samples: base samples, a power of 2.
            seed: of the scrambling.

        Raises:
            ScenarioError: not a power of 2.
        """
        from SALib.sample.sobol import sample

        if samples < 2 or samples & (samples - 1):
            below = max(2, 1 << (samples.bit_length() - 1))
            raise ScenarioError(
                f"--samples {samples}: Sobol's sequence needs a power of 2; {below} or {2 * below} would be"
            )
        cube = sample(
            _problem(space), samples, calc_second_order=False, seed=np.random.default_rng([seed, 1])
        )
        return cls(space, samples, [space.at(row) for row in cube.tolist()], len(space) + 2, seed)

    def active(self, parameter: int, blocks: list[int]) -> int:
        """In how many of the base samples the parameter existed before or after its move."""
        path = self.space.parameters[parameter].path
        first = [b * self.block for b in blocks]
        return sum(
            path in self.configurations[k] or path in self.configurations[k + 1 + parameter] for k in first
        )

    def analyse(self, outcomes: Array, blocks: list[int]) -> list[dict[str, float | None]]:
        """See `Design`."""
        from SALib.analyze.sobol import analyze

        made = analyze(
            _problem(self.space),
            outcomes,
            calc_second_order=False,
            num_resamples=RESAMPLES,
            conf_level=LEVEL,
            seed=np.random.default_rng([self.seed, 2]),
        )
        names = ("ST", "ST_conf", "S1", "S1_conf")
        return [{name: float(made[name][j]) for name in names} for j in range(len(self.space))]


DESIGNS: Mapping[str, tuple[type[Morris] | type[Sobol], int]] = {
    "morris": (Morris, 20),
    "sobol": (Sobol, 128),
}


def design(method: str, space: Space, samples: int | None, seed: int) -> Design:
    """A design by the name of its method, with as many samples as suit it if none are given.

    Raises:
        ScenarioError: no such method, or an unsuitable number of samples.
    """
    if method not in DESIGNS:
        raise ScenarioError(f"--method {method}: no such method; there are {', '.join(DESIGNS)}")
    kind, usual = DESIGNS[method]
    return kind.of(space, usual if samples is None else samples, seed)


def _problem(space: Space) -> dict[str, Any]:
    """A space in SALib's terms."""
    return {
        "num_vars": len(space),
        "names": [parameter.path for parameter in space],
        "bounds": [[0.0, 1.0]] * len(space),
    }


def _listed(parameter: Parameter) -> bool:
    """Whether a parameter is moved from one value to another rather than across a range."""
    return bool(parameter.choices) or (parameter.size or LEVELS + 1) <= LEVELS


def _pairs(count: int, samples: int, draws: np.random.Generator) -> Array:
    """For each trajectory the shares of two of `count` choices; all ordered pairs come up equally often."""
    ordered = [(a, b) for a in range(count) for b in range(count) if a != b] or [(0, 0)]
    rounds = [draws.permutation(len(ordered)) for _ in range(-(-samples // len(ordered)))]
    chosen = np.array(ordered, dtype=float)[np.concatenate(rounds)[:samples]]
    return np.asarray((chosen + 0.5) / count)
