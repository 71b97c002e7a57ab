"""The posterior of a search's configurations: a Gaussian process over all their runs.

Run b of configuration i gives y_ib = theta_i + beta_b + epsilon_ib, with an entry per objective (`noise`).
theta_i is the configuration's mean; a priori it is a Gaussian process over the parameters
(`surrogate_model`). beta_b is the effect of the replication, whose random numbers all configurations share.
Runs of the search and validation runs count alike: what made a configuration be looked at again is no bias
where the runs that did are part of the data and its mean has a prior.

Sources: B. Ankenman, B. Nelson and J. Staum, Stochastic Kriging for Simulation Metamodeling, Operations
Research 58(2), 2010; X. Chen, B. Ankenman and B. Nelson, The Effects of Common Random Numbers on Stochastic
Kriging Metamodels, ACM TOMACS 22(2), 2012; D. Rubin, Inference and Missing Data, Biometrika 63, 1976.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from gridtune.optimize.inference.noise import explained, least_squares, spread
from gridtune.optimize.inference.posterior import Posterior
from gridtune.optimize.inference.surrogate_model import (
    LEARNED,
    Surrogate,
    coordinates_of,
    distances,
    surrogates,
)
from gridtune.optimize.records.evaluations import Evaluation, Objective, Value
from gridtune.optimize.replication.compare import Array, non_dominated, signs

DRAWS = 1000
SURROGATES = 8  # drawn at most, as the sizes of a surrogate's terms are uncertain
REPLAYS, REPLAYED = 5, 200  # studies that are simulated, and draws of each
JOINT = 400  # configurations that are modelled, at most: the best ones, layer by layer
ALIKE = 1e-5  # of the range of an objective: draws that differ by less are a tie
LEAST_VARIANCE = 1e-9  # of that of the means: keeps the matrices regular


def posterior_means(evaluations: Sequence[Evaluation], objectives: Sequence[Objective]) -> Array:
    """Posterior mean of each configuration, to be minimised; plain means where noise cannot be estimated."""
    values = runs_of(evaluations, objectives)
    means = _adjusted_means(values)
    chosen = best_layers(values)
    found = fit(values[chosen], [evaluations[at].values for at in chosen], draws=1)
    if found is not None:
        # Those that are left out are as far from the front as they look.
        means += found.means[0] - means[chosen[0]]
        means[chosen] = found.means
    return np.asarray(means)


def runs_of(evaluations: Sequence[Evaluation], objectives: Sequence[Objective]) -> Array:
    """Values of each run, to be minimised, configurations x objectives x replications; the search's first."""
    searched = max(evaluation.replications for evaluation in evaluations)
    validated = max(evaluation.validation_replications for evaluation in evaluations)
    values = np.full((len(evaluations), len(objectives), searched + validated), np.nan)
    for at, evaluation in enumerate(evaluations):
        for column, objective in enumerate(objectives):
            first = evaluation.objectives[objective.name].values
            values[at, column, : len(first)] = first
            if evaluation.validated:
                more = evaluation.validated[objective.name].values
                values[at, column, searched : searched + len(more)] = more
    return np.asarray(values * signs(objectives)[:, None])


def best_layers(runs: Array, always: Sequence[int] = ()) -> list[int]:
    """Positions of the configurations that may be on the front, at most `JOINT`, and some that always are."""
    means = _adjusted_means(runs)
    chosen = set(always)
    left = [at for at in range(len(means)) if at not in chosen]
    while left and len(chosen) < JOINT:
        layer = [left[at] for at in non_dominated(means[left])]
        chosen.update(layer[: JOINT - len(chosen)])
        left = [at for at in left if at not in chosen]
    return sorted(chosen)


def _adjusted_means(runs: Array) -> Array:
    """Mean-adjusted values: configurations x objectives, without the effect of each replication."""
    seen = np.asarray(np.isfinite(runs).all(axis=1))
    return explained(np.where(seen[:, None, :], runs, 0.0), seen, np.ones(runs.shape[:2]))[1]


def fit(
    values: Array, configurations: Sequence[Mapping[str, Value]], *, draws: int = DRAWS, seed: int = 1
) -> Posterior | None:
    """The Gaussian process of all runs of a search; None where no configuration was run twice.

    Args:
        values: of each run, to be minimised, configurations x objectives x replications; nan where a
            configuration was not run.
        configurations: their settings, all different.
        draws: samples to take.
        seed: of the samples.
    """
    seen = np.asarray(np.isfinite(values).all(axis=1))
    counts = seen.sum(axis=1)
    if not len(values) or counts.max(initial=0) < 2 or counts.min() < 1:
        return None
    raw = np.where(seen[:, None, :], values, 0.0)
    equal = np.ones(raw.shape[:2])
    _, plain, rest = explained(raw, seen, equal)
    noise, factors, free = spread(rest, plain, seen)
    unit = np.sqrt(np.diag(noise))
    runs = raw / unit[:, None]  # noise is now 1 in size
    effects, means, _ = explained(runs, seen, 1 / factors)
    apart = distances(coordinates_of(configurations))
    alone = _independent(noise / np.outer(unit, unit), np.sqrt(factors))
    means, around = least_squares(runs, seen, effects.var(axis=0), alone, means)
    # Sizes are drawn the less often, the more configurations there are to tell them.
    count = min(draws, max(2, SURROGATES * LEARNED // max(len(configurations), LEARNED)))
    made = [Conditioned(one, around) for one in surrogates(apart, means, around, count, seed)]
    expected_each = [one.mean(means) for one in made]
    means = np.mean(expected_each, axis=0)
    rng = np.random.default_rng([seed, *means.shape])
    # Of each objective apart: one without noise is of quite another size here.
    own = np.diag(made[0].surrogate.covariance).reshape(means.T.shape)
    least = LEAST_VARIANCE * np.repeat(own.mean(axis=1), len(configurations))
    anew = means + _sample(around, least, REPLAYS, rng, len(configurations))
    samples, replays = [], []
    for one, mean in zip(made, expected_each, strict=True):
        rest = _sample(one.covariance(), least, draws // count, rng, len(configurations))
        samples.append(mean + rest)
        again = np.array([one.mean(some) for some in anew])
        replays.append(again[:, None] + rest[: REPLAYED // count])
    found = rng.permutation(np.concatenate(samples))
    repeated = np.concatenate(replays, axis=1)
    tie = _unit(plain)
    for drawn in (found, repeated):
        drawn[..., unit <= tie] = means[:, unit <= tie]  # noise that is less than a tie is none
    return Posterior(means * unit, found * unit, tie, repeated * unit, free)


def _independent(alike: Array, sizes: Array) -> Array:
    """Covariance of noise that no two configurations share, (quantities x configurations) squared."""
    configurations, quantities = sizes.shape
    found = np.zeros((quantities, configurations, quantities, configurations))
    here = np.arange(configurations)
    found[:, here, :, here] = alike * sizes[:, :, None] * sizes[:, None, :]
    return found.reshape(quantities * configurations, quantities * configurations)


def _unit(means: Array) -> Array:
    """The difference of each objective that is a tie; infinite where it does not vary at all."""
    ranges, size = np.ptp(means, axis=0), np.abs(means).max(axis=0)
    return np.where(ranges > 1e-9 * size, ALIKE * ranges, np.inf)


class Conditioned:
    """A surrogate, conditioned on noisy observations of its configurations.

    Args:
        surrogate: the prior.
        noise: covariance of observed around true means, (quantities x configurations) squared.
    """

    def __init__(self, surrogate: Surrogate, noise: Array) -> None:

        self.surrogate = surrogate
        self._root = cholesky(surrogate.covariance + noise, lower=True)
        self._half = solve_triangular(self._root, surrogate.covariance, lower=True)

    def mean(self, seen: Array) -> Array:
        """Posterior means, configurations x quantities, after these observations."""
        off = (seen - self.surrogate.means).T
        found = self._half.T @ solve_triangular(self._root, off.ravel(), lower=True)
        return np.asarray(found.reshape(off.shape).T + self.surrogate.means)

    def covariance(self) -> Array:
        """Posterior covariance, (quantities x configurations) squared; the same for all observations."""
        return self.surrogate.covariance - self._half.T @ self._half


def _sample(
    covariance: Array, least: Array, count: int, rng: np.random.Generator, configurations: int
) -> Array:
    """Samples with that covariance and, as it may be singular, least variances; see `Posterior.draws`."""
    root = np.linalg.cholesky((covariance + covariance.T) / 2 + np.diag(least))
    drawn = rng.normal(size=(count, len(root))) @ root.T
    return np.asarray(np.moveaxis(drawn.reshape(count, -1, configurations), 1, 2))
