"""Sensitivity of the simulator itself: a design of configurations, their simulations, and what they say.

Each coordinate of SALib's points in the unit cube becomes the value of one parameter: a range is crossed on
its own scale (logarithmic or not), and choices own equal slices. A parameter whose conditions do not hold is
dropped, so that moving it changes nothing: its effect there is zero.

A trajectory of Morris knows only two levels of each parameter. Of choices and a few whole numbers, each
trajectory gets two, drawn so that all pairs come up equally often. The effect of choices is that of a switch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import nan
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import bootstrap, norm

from gridtune.optimize.importance.sensitivity import METHODS, Sensitivity, constant, ranked
from gridtune.optimize.records.difference import INTERVAL
from gridtune.optimize.records.evaluations import Objective, Value
from gridtune.optimize.replication.compare import Array
from gridtune.optimize.report.progress import Progress
from gridtune.optimize.runs.blocks import Block
from gridtune.optimize.search_space.parameter import Parameter
from gridtune.optimize.search_space.settings import Settings
from gridtune.optimize.search_space.space import Configuration, Space, key
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.execution.replicate import Metrics, Task, metrics_of
from gridtune.scenarios.workers.pool import Pool

LEVELS = 4  # of Morris' grid
RESAMPLES = 1000  # behind the confidence intervals
SAMPLES = {"morris": 20, "sobol": 128}  # usual numbers


@dataclass(frozen=True)
class Design:
    """Configurations to be evaluated, in blocks that count only as a whole."""

    method: str  # a key of `METHODS`
    space: Space
    blocks: list[list[Configuration]]  # of each trajectory or base sample
    cube: Array  # the same in the unit cube, by block, configuration and parameter
    seed: int  # of the sample, of the intervals and of the workloads

    def effects(self, outcomes: Array, blocks: Sequence[int]) -> pd.DataFrame:
        """The numbers of each parameter; columns are those of `Ranking.effects`.

        Of Morris: `mu_star` is the mean absolute effect of moving a parameter across its whole range, or
        between two choices; `mu` has signs (choices have none), and `sigma` is the standard deviation.
        Of Sobol: shares of the variance, about in [0, 1], alone (`S1`) or in any interaction (`ST`).
        Outcomes are those of the configurations of these blocks, in their order; not all equal.
        """
        from SALib.analyze import sobol

        draws = np.random.default_rng([self.seed, 2])
        if self.method == "sobol":
            how = {"num_resamples": RESAMPLES, "conf_level": INTERVAL, "seed": draws}
            made = sobol.analyze(_problem(self.space), outcomes, calc_second_order=False, **how)
            numbers = {name: made[name] for name in METHODS["sobol"].columns}
        else:
            changes = self._changes(outcomes, blocks)
            sizes = np.abs(changes)
            again = bootstrap((sizes,), np.mean, n_resamples=RESAMPLES, method="percentile", rng=draws)
            numbers = {
                "mu_star": sizes.mean(axis=0),
                "mu_star_conf": norm.ppf((1 + INTERVAL) / 2) * again.standard_error,
                "mu": np.where(self._listed, nan, changes.mean(axis=0)),
                "sigma": changes.std(axis=0, ddof=1),
            }
        return pd.DataFrame({"path": self.space.paths, **numbers, "active": self._active(blocks)})

    @property
    def _listed(self) -> list[bool]:
        """Whether each parameter is moved between choices rather than across a range."""
        return [bool(one.choices) for one in self.space]

    def _changes(self, outcomes: Array, blocks: Sequence[int]) -> Array:
        """What the outcome changes by with each parameter, trajectories x parameters.

        It is scaled from the step, of whole numbers the one that was made, to the whole range. A switch
        between two choices is as it is, from the earlier to the later one.
        """
        moved = np.diff(self.cube[list(blocks)], axis=1) != 0
        rises = np.diff(outcomes.reshape(len(blocks), -1), axis=1)[:, :, None]
        places = np.array([[_places(self.space, one) for one in self.blocks[k]] for k in blocks])
        steps = (np.diff(places, axis=1) * moved).sum(axis=1)
        steps = np.where(self._listed, np.sign(steps), steps)
        rise = (rises * moved).sum(axis=1)
        return np.asarray(np.divide(rise, steps, out=np.zeros_like(rise), where=steps != 0))

    def _active(self, blocks: Sequence[int]) -> list[int]:
        """In how many of the blocks each parameter existed before or after it moved."""
        counts = [0] * len(self.space)
        for k in blocks:
            moved = np.diff(self.cube[k], axis=0).astype(bool).argmax(axis=0).tolist()
            for at, path in enumerate(self.space.paths):
                steps = (moved[at], moved[at] + 1) if self.method == "morris" else (0, 1 + at)
                counts[at] += any(path in self.blocks[k][step] for step in steps)
        return counts


def design(method: str, space: Space, samples: int | None, seed: int) -> Design:
    """A design by the name of its method.

    Args:
        method: `morris`, trajectories in which every parameter moves once, by two thirds of its range or to
            another choice; or `sobol`, pairs of samples and, for each parameter, one with the other's value.
        samples: trajectories, at least 2, or base samples, a power of 2; `SAMPLES` if left out.

    Raises:
        ScenarioError: no such method, or an unsuitable number of samples.
    """
    if method not in SAMPLES:
        raise ScenarioError(f"--method {method}: no such method; there are {', '.join(SAMPLES)}")
    count = SAMPLES[method] if samples is None else samples
    if method == "morris" and count < 2:
        raise ScenarioError(f"--samples {count}: Morris' method needs at least 2 trajectories")
    if method == "sobol" and (count < 2 or count & (count - 1)):
        below = max(2, 1 << (count.bit_length() - 1))
        raise ScenarioError(
            f"--samples {count}: Sobol's sequence needs a power of 2; {below} or {2 * below} would be"
        )
    from SALib.sample import morris, sobol

    draws = np.random.default_rng([seed, 1])
    if method == "morris":
        cube = morris.sample(_problem(space), count, num_levels=LEVELS, seed=draws)
        shares = _switched(cube, space, count, draws)
    else:
        cube = shares = sobol.sample(_problem(space), count, calc_second_order=False, seed=draws)
    blocks = [[space.at(row) for row in block] for block in shares.reshape(count, -1, len(space)).tolist()]
    return Design(method, space, blocks, cube.reshape(count, -1, len(space)), seed)


def simulated_sensitivity(
    scenario: Scenario,
    plan: Design,
    objectives: Sequence[Objective],
    *,
    replications: int = 1,
    pool: Pool,
    progress: Progress | None = None,
    work: Callable[[Task], Metrics] = metrics_of,
) -> Sensitivity:
    """Which parameters matter, by simulating a design of configurations under common random numbers.

    Samples with a configuration that fails are left out; a `ScenarioError` if that leaves less than two.
    """
    settings = Settings(
        scenario, plan.space, tuple(objectives), plan.method, len(plan.blocks[0]), plan.seed, replications
    )
    runs = Block.apart(settings, range(replications), pool, progress, work)
    visited = {key(one): one for block in plan.blocks for one in block}
    runs.run_all(list(visited.values()))
    samples = [runs.run(block) for block in plan.blocks]
    blocks = [number for number, block in enumerate(samples) if None not in block]
    notes = _notes(plan, visited, runs.failures, len(blocks)) if runs.failures else ()
    rows = [one.evaluation.objectives for number in blocks for one in samples[number] if one]
    rankings = []
    for objective in objectives:
        outcomes = np.array([row[objective.name].mean for row in rows])
        none = constant(objective, outcomes, "at every configuration")
        rankings.append(none or ranked(objective, plan.effects(outcomes, blocks), plan.method))
    counts = len(blocks), len(visited), len(visited) * replications
    return Sensitivity(scenario.name, plan.method, tuple(rankings), *counts, plan.seed, notes)


def _notes(
    plan: Design, visited: Mapping[str, Configuration], failures: Mapping[str, str], left: int
) -> tuple[str, ...]:
    """What failures leave of a design: so many blocks. Configurations and their failures are by key."""
    counted, (first, reason) = METHODS[plan.method].counted, next(iter(failures.items()))
    where, every = ", ".join(f"{path} = {value}" for path, value in visited[first].items()), len(plan.blocks)
    if left < 2:
        raise ScenarioError(
            f"{len(failures)} of {len(visited)} configurations failed, which leaves {left} {counted}; "
            f"the first, {where}: {reason}"
        )
    return (
        f"{len(failures)} configurations failed, so {every - left} of {every} {counted} are left "
        f"out: the numbers hold where the scenario can be run. The first failure, {where}: {reason}",
    )


def _switched(cube: Array, space: Space, samples: int, draws: np.random.Generator) -> Array:
    """Trajectories in the unit cube with two choices, or of few whole numbers two, of its own for each."""
    shares = cube.copy()
    for j, parameter in enumerate(space):
        if parameter.choices or 0 < len(parameter.values()) <= LEVELS:
            places = np.array([parameter.share(value) for value in parameter.values()])
            pairs = places[_pairs(len(places), samples, draws)]
            column = cube[:, j].reshape(samples, -1)
            shares[:, j] = np.where(column == column[:, :1], pairs[:, :1], pairs[:, 1:]).ravel()
    return shares


def _problem(space: Space) -> dict[str, Any]:
    """A space in SALib's terms."""
    return {"num_vars": len(space), "names": list(space.paths), "bounds": [[0.0, 1.0]] * len(space)}


def _places(space: Space, configuration: Configuration) -> list[float]:
    """Where each parameter stands, from 0 to 1; those that do not exist at 0."""
    return [_place(one, configuration[one.path]) if one.path in configuration else 0.0 for one in space]


def _place(parameter: Parameter, value: Value) -> float:
    if parameter.choices:
        return parameter.share(value)
    low, high = parameter.share(parameter.low), parameter.share(parameter.high)
    return (parameter.share(value) - low) / (high - low)


def _pairs(count: int, samples: int, draws: np.random.Generator) -> Array:
    """For each trajectory the positions of two of so many; all ordered pairs come up equally often."""
    ordered = list(permutations(range(count), 2)) or [(0, 0)]
    rounds = [draws.permutation(len(ordered)) for _ in range(-(-samples // len(ordered)))]
    return np.array(ordered)[np.concatenate(rounds)[:samples]]
