"""Noise of runs: what a replication does to all configurations, and each one's own noise.

Run b of configuration i gives, in an objective, theta_i + beta_b + epsilon_ib. beta_b is the effect of the
replication, whose random numbers all configurations share. The variance of epsilon_ib is the configuration's
own, shrunk towards that of all. Arrays of runs are configurations x replications, of one objective.

Source: C. Morris, Parametric Empirical Bayes Inference, JASA 78, 1983 (variances of few runs).
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, polygamma

from gridtune.optimize.replication.compare import Array

MOST_ALIKE = 100.0  # prior degrees of freedom of a configuration's noise variance, at most
ENOUGH = 5  # configurations from which is told how much their variances differ
ROUNDING = 1e-9  # of the common variance: sums of squares of configurations without noise
LEAST_SHARED, MOST_SHARED = 1e-9, 1e6  # variance of replication effects, in that of a run


def explained(runs: Array, seen: Array, precision: Array) -> tuple[Array, Array, Array]:
    """Replication effects, means of configurations without them, and residuals.

    The effects are weighted least squares, 0 in the mean over replications.

    Args:
        runs: what each run gave; 0 where there is none.
        seen: which configuration was run in which replication.
        precision: weights of the configurations.
    """
    counts = seen.sum(axis=1)
    weights = seen * precision[:, None]
    off = np.where(seen, runs - (runs.sum(axis=1) / counts)[:, None], 0.0)
    normal = np.diag(weights.sum(axis=0)) - (weights / counts[:, None]).T @ seen
    effects = np.linalg.pinv(normal, hermitian=True) @ (off.T @ precision)
    effects -= effects.mean()
    rest = np.where(seen, runs - effects, 0.0)
    means = rest.sum(axis=1) / counts
    return effects, means, np.where(seen, rest - means[:, None], 0.0)


def degrees_of_freedom(seen: Array) -> float:
    """By which the size of the noise is known: runs beyond those that tell means and replication effects."""
    repeated = seen[seen.sum(axis=1) > 1]
    return max(float(repeated.sum() - len(repeated) - (repeated.any(axis=0).sum() - 1)), 1.0)


def variances(rest: Array, means: Array, seen: Array) -> Array:
    """Variance of a run of each configuration, by its residuals, shrunk towards what all have in common."""
    own, free = (rest**2).sum(axis=1), seen.sum(axis=1) - 1
    # What never varies has no noise; a little keeps the arithmetic going.
    least = max(1e-10 * means.var(), (1e-9 * np.abs(means).max()) ** 2, 1e-30)
    common = own.sum() / degrees_of_freedom(seen) + least
    alike = _prior_freedom(own / common, free)
    return np.asarray((alike * common + own) / (alike + free))


def _prior_freedom(own: Array, free: Array) -> float:
    """Prior degrees of freedom of a configuration's noise variance, by how alike the variances are.

    Few would trust configurations by their own few runs, and those that look best are among those whose noise
    looks least. Many would give noise to those that have none.

    Args:
        own: sums of squared residuals, by configuration.
        free: their degrees of freedom.

    Source: G. Smyth, Linear Models and Empirical Bayes Methods, Statistical Applications in Genetics and
        Molecular Biology 3(1), 2004 (moments of the logarithms of variances).
    """
    known = (free > 1) & (own > ROUNDING)
    if known.sum() < ENOUGH:
        return MOST_ALIKE
    half = free[known] / 2
    noise = polygamma(1, half)  # what logarithms of variances differ by where the configurations are alike
    logs = np.log(own[known]) - digamma(half)
    off = (logs - np.average(logs, weights=1 / noise)) ** 2 * len(half) / (len(half) - 1) - noise
    more = np.average(off, weights=1 / noise)
    if more <= polygamma(1, MOST_ALIKE / 2):
        return MOST_ALIKE
    return 2 * float(brentq(lambda half: polygamma(1, half) - more, 1e-3, MOST_ALIKE))


def least_squares(runs: Array, seen: Array, noise: Array) -> tuple[Array, Array]:
    """Means of configurations and their covariance, by generalised least squares.

    Replication effects are random. Only differences of configurations are known; the level is that of
    `explained`.

    Args:
        runs: what each run gave; 0 where there is none.
        seen: which configuration was run in which replication.
        noise: variance of a run, by configuration.

    Source: A. Aitken, On Least Squares and Linear Combination of Observations, 1936; H. Patterson and R.
        Thompson, Recovery of Inter-Block Information when Block Sizes are Unequal, Biometrika 58(3), 1971.
    """
    effects, level, _ = explained(runs, seen, 1 / noise)
    weights = seen / noise[:, None]
    common = np.clip(effects.var(), LEAST_SHARED * noise.min(), MOST_SHARED * noise.min())
    shared = weights / (weights.sum(axis=0) + 1 / common)
    precision = np.diag(weights.sum(axis=1)) - shared @ weights.T
    precision = (precision + precision.T) / 2
    off = np.where(seen, runs - level[:, None], 0.0)
    pulled = (weights * off).sum(axis=1) - shared @ (weights * off).sum(axis=0)
    # The level is left out before inverting: where the effects vary much it is hardly known at all.
    known = precision.sum(axis=1)
    every = np.full_like(precision, 1 / len(noise))
    covariance = np.linalg.inv(precision - np.outer(known, known) / known.sum() + every) - every
    return level + covariance @ (pulled - known * (pulled.sum() / known.sum())), covariance
