"""Designs of sensitivity analyses: SALib's points in the unit cube as configurations of a space.

Each coordinate becomes the value of one parameter, deterministically: a range is crossed from its low to its
high end, on its own scale (logarithmic or not), and choices own equal slices. A parameter whose conditions do
not hold is dropped, so that moving it changes nothing: its effect there is zero.

A trajectory of Morris knows only two levels of each parameter. Mapped to slices, they would compare the same
pairs of choices again and again and never visit some of them. So each trajectory gets two choices of its own,
drawn so that all pairs come up equally often, and the effect is that of a switch between two choices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gridtune.optimize.importance.sensitivity import LEVEL
from gridtune.optimize.search_space.parameter import Parameter
from gridtune.optimize.search_space.space import Configuration, Space
from gridtune.scenarios.errors import ScenarioError

Array = np.ndarray[Any, np.dtype[np.float64]]

LEVELS = 4  # of Morris' grid
RESAMPLES = 1000  # behind the confidence intervals
SAMPLES = {"morris": 20, "sobol": 128}  # usual numbers


@dataclass(frozen=True)
class Design:
    """Configurations to be evaluated, in blocks that count only as a whole.

    Attributes:
        method: a key of `optimize.importance.sensitivity.METHODS`.
        space: whose configurations they are.
        samples: number of blocks.
        block: configurations per block.
        cube: the configurations in the unit cube.
        configurations: in the order of the design, block after block.
        seed: of the sample and of the intervals.
    """

    method: str
    space: Space
    samples: int
    block: int
    cube: Array
    configurations: list[Configuration]
    seed: int

    def of_block(self, block: int) -> list[Configuration]:
        """The configurations of a block."""
        return self.configurations[block * self.block : (block + 1) * self.block]

    def active(self, parameter: int, blocks: Sequence[int]) -> int:
        """In how many of the blocks the parameter existed before or after it moved."""
        path = self.space.parameters[parameter].path
        count = 0
        for block in blocks:
            some = self.of_block(block)
            before, after = 0, 1 + parameter
            if self.method == "morris":
                column = self.cube[block * self.block : (block + 1) * self.block, parameter]
                before = int(np.flatnonzero(np.diff(column))[0])
                after = before + 1
            count += path in some[before] or path in some[after]
        return count

    def analyse(self, outcomes: Array, blocks: Sequence[int]) -> list[dict[str, float | None]]:
        """The numbers of each parameter.

        Args:
            outcomes: of the configurations of the blocks, in their order; not all equal.
            blocks: which blocks they are.
        """
        draws = np.random.default_rng([self.seed, 2])
        if self.method == "sobol":
            return self._shares(outcomes, draws)
        cube = self.cube.reshape(self.samples, self.block, -1)[list(blocks)].reshape(len(outcomes), -1)
        return self._effects(cube, outcomes, draws)

    def _effects(
        self, cube: Array, outcomes: Array, draws: np.random.Generator
    ) -> list[dict[str, float | None]]:
        """Of Morris: effects of moving a parameter across its whole range, or between two choices.

        `mu_star` is the mean absolute effect, `mu` has signs (None for choices, which have no direction).
        `sigma`, the standard deviation of the effects, is large if the effect depends on the other parameters
        or on where the step starts.

        Source: M. Morris, Technometrics 33, 1991; F. Campolongo et al., Environmental Modelling & Software
        22, 2007.
        """
        from SALib.analyze.morris import analyze

        made = analyze(
            _problem(self.space), cube, outcomes,
            num_resamples=RESAMPLES, conf_level=LEVEL, num_levels=LEVELS, seed=draws,
        )  # fmt: skip
        # SALib scales a step to the whole range; a switch between two choices is whole already.
        step = LEVELS / (2 * (LEVELS - 1))
        numbers: list[dict[str, float | None]] = []
        for j, parameter in enumerate(self.space):
            scale = step if _listed(parameter) else 1.0
            row = {name: scale * float(made[name][j]) for name in ("mu_star", "mu_star_conf", "sigma")}
            numbers.append({**row, "mu": None if _listed(parameter) else float(made["mu"][j])})
        return numbers

    def _shares(self, outcomes: Array, draws: np.random.Generator) -> list[dict[str, float | None]]:
        """Of Sobol: shares of the variance, which may lie a little outside [0, 1].

        `S1` is what the parameter explains alone, `ST` that in which it takes part in any way.

        Source: I. Sobol', Mathematics and Computers in Simulation 55, 2001; A. Saltelli et al., Computer
        Physics Communications 181, 2010.
        """
        from SALib.analyze.sobol import analyze

        made = analyze(
            _problem(self.space), outcomes,
            calc_second_order=False, num_resamples=RESAMPLES, conf_level=LEVEL, seed=draws,
        )  # fmt: skip
        names = ("ST", "ST_conf", "S1", "S1_conf")
        return [{name: float(made[name][j]) for name in names} for j in range(len(self.space))]


def design(method: str, space: Space, samples: int | None, seed: int) -> Design:
    """A design by the name of its method.

    Args:
        method: `morris`, trajectories in which every parameter moves once, by two thirds of its range or to
            another choice; or `sobol`, two independent points and, for each parameter, the first with the
            second's value.
        samples: trajectories, at least 2, or base samples, a power of 2; `SAMPLES` if left out.
        seed: of random starts and orders, or of the scrambling.

    Raises:
        ScenarioError: no such method, or an unsuitable number of samples.
    """
    if method not in SAMPLES:
        raise ScenarioError(f"--method {method}: no such method; there are {', '.join(SAMPLES)}")
    count = SAMPLES[method] if samples is None else samples
    draws = np.random.default_rng([seed, 1])
    if method == "morris":
        cube, shares = _morris(space, count, draws)
    else:
        cube = shares = _sobol(space, count, draws)
    configurations = [space.at(row) for row in shares.tolist()]
    return Design(method, space, count, len(cube) // count, cube, configurations, seed)


def _morris(space: Space, samples: int, draws: np.random.Generator) -> tuple[Array, Array]:
    """Trajectories in the unit cube, and the same with two choices of its own for each."""
    from SALib.sample.morris import sample

    if samples < 2:
        raise ScenarioError(f"--samples {samples}: Morris' method needs at least 2 trajectories")
    cube = sample(_problem(space), samples, num_levels=LEVELS, seed=draws)
    shares = cube.copy()
    for j, parameter in enumerate(space):
        if _listed(parameter):
            pairs = _pairs(parameter.size or 1, samples, draws)
            column = cube[:, j].reshape(samples, -1)
            shares[:, j] = np.where(column == column[:, :1], pairs[:, :1], pairs[:, 1:]).ravel()
    return cube, shares


def _sobol(space: Space, samples: int, draws: np.random.Generator) -> Array:
    """Saltelli's sample in the unit cube."""
    from SALib.sample.sobol import sample

    if samples < 2 or samples & (samples - 1):
        below = max(2, 1 << (samples.bit_length() - 1))
        raise ScenarioError(
            f"--samples {samples}: Sobol's sequence needs a power of 2; {below} or {2 * below} would be"
        )
    return np.asarray(sample(_problem(space), samples, calc_second_order=False, seed=draws))


def _problem(space: Space) -> dict[str, Any]:
    """A space in SALib's terms."""
    names = [parameter.path for parameter in space]
    return {"num_vars": len(space), "names": names, "bounds": [[0.0, 1.0]] * len(space)}


def _listed(parameter: Parameter) -> bool:
    """Whether a parameter is moved from one value to another rather than across a range."""
    return bool(parameter.choices) or (parameter.size or LEVELS + 1) <= LEVELS


def _pairs(count: int, samples: int, draws: np.random.Generator) -> Array:
    """For each trajectory the shares of two of `count` choices; all ordered pairs come up equally often."""
    ordered = [(a, b) for a in range(count) for b in range(count) if a != b] or [(0, 0)]
    rounds = [draws.permutation(len(ordered)) for _ in range(-(-samples // len(ordered)))]
    chosen = np.array(ordered, dtype=float)[np.concatenate(rounds)[:samples]]
    return np.asarray((chosen + 0.5) / count)
