"""Noise of runs: what a replication does to all configurations, and each one's own noise.

Run b of configuration i gives, in each objective, theta_i + beta_b + epsilon_ib. beta_b is the effect of the
replication, whose random numbers all configurations share. The variance of epsilon_ib is larger where means
are larger (`variance_function`), and each configuration's own, shrunk towards that. Arrays of runs are
configurations x objectives x replications.

Sources: C. Morris, Parametric Empirical Bayes Inference, JASA 78, 1983 (variances of few runs); M. Davidian
and R. Carroll, Variance Function Estimation, JASA 82(400), 1987.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import brentq, minimize
from scipy.special import digamma, polygamma

from gridtune.optimize.replication.compare import Array

MOST_ALIKE = 100.0  # prior degrees of freedom of a variance, at most
ENOUGH = 5  # configurations from which is told how much their variances differ
SURE = 1e3  # precision of the common level, relative to that of differences
SLOPE = 0.5  # standard error of the prior on slopes of the variance function
MOST_FACTOR = 2.5  # logarithms of variances that means may add or take
ROUNDING = 1e-9  # of what is expected: sums of squares of configurations without noise


def explained(runs: Array, seen: Array, precision: Array) -> tuple[Array, Array, Array]:
    """Replication effects, means of configurations without them (x objectives), and residuals.

    Args:
        runs: what each run gave; 0 where there is none.
        seen: which configuration was run in which replication.
        precision: weights of the configurations, configurations x objectives.
    """
    effects = _replication_effects(runs, seen, precision)
    rest = np.where(seen[:, None, :], runs - effects.T, 0.0)
    means = rest.sum(axis=2) / seen.sum(axis=1)[:, None]
    return effects, means, np.where(seen[:, None, :], rest - means[:, :, None], 0.0)


def _replication_effects(runs: Array, seen: Array, precision: Array) -> Array:
    """Weighted least squares of replication effects, replications x objectives; 0 in the mean over them."""
    present = seen.astype(float)
    counts = present.sum(axis=1)
    off = np.where(seen[:, None, :], runs - (runs.sum(axis=2) / counts[:, None])[:, :, None], 0.0)
    made = []
    for weight, gaps in zip(precision.T, np.moveaxis(off, 1, 0), strict=True):
        normal = np.diag(present.T @ weight) - (present * (weight / counts)[:, None]).T @ present
        found = np.linalg.pinv(normal, hermitian=True) @ (gaps.T @ weight)
        made.append(found - found.mean())
    return np.array(made).T


def spread(rest: Array, means: Array, seen: Array) -> tuple[Array, Array, float]:
    """Covariance of noise, factors of configurations' variances, and degrees of freedom of the former.

    The factor of a configuration in an objective is that of the variance function, shrunk towards its own
    runs.

    Args:
        rest: residuals.
        means: of the configurations, configurations x objectives.
        seen: which configuration was run in which replication.
    """
    counts = seen.sum(axis=1)
    repeated = counts > 1
    free = max(float((counts[repeated] - 1).sum()) - (seen[repeated].any(axis=0).sum() - 1), 1.0)
    noise = np.einsum("ihb,igb->hg", rest[repeated], rest[repeated]) / free
    # What never varies has no noise; a little keeps the arithmetic going.
    least = np.maximum(1e-10 * means.var(axis=0), np.square(1e-9 * means).max(axis=0))
    noise += np.diag(np.maximum(least, 1e-30))
    own = (rest**2).sum(axis=2) / np.diag(noise)
    expected = _variance_function(own, counts - 1, means)
    alike = np.array([_prior_freedom(*one, counts - 1) for one in zip(own.T, expected.T, strict=True)])
    return noise, (alike * expected + own) / (alike + (counts - 1)[:, None]), free


def _variance_function(own: Array, free: Array, means: Array) -> Array:
    """Factor by which noise is expected to have more variance, by configuration and objective.

    Its logarithm is linear in the means of all objectives: jobs that wait longer wait more unevenly, also
    where a configuration was run once. `own` are sums of squared residuals by configuration and objective,
    scaled so that each of their `free` degrees of freedom is 1 on average.

    Source: M. Davidian and R. Carroll, Variance Function Estimation, JASA 82(400), 1987 (by the likelihood of
        gamma laws, with a normal prior on the slopes).
    """
    size = means.std(axis=0)
    places = np.divide(means - means.mean(axis=0), size, out=np.zeros_like(means), where=size > 0)
    terms = np.column_stack([np.ones(len(means)), places])

    def misfit(slopes: Array, sums: Array) -> tuple[float, Array]:
        logs = terms @ slopes
        left = sums * np.exp(-logs)
        prior = slopes[1:] / SLOPE**2
        pull = (free - left) / 2 @ terms
        return float((free * logs + left).sum() / 2 + prior @ slopes[1:] / 2), pull + np.r_[0.0, prior]

    found = []
    for sums in own.T:
        start, bounds = np.zeros(terms.shape[1]), [(-MOST_FACTOR, MOST_FACTOR)] * terms.shape[1]
        made = minimize(misfit, start, (sums,), jac=True, method="L-BFGS-B", bounds=bounds).x
        found.append(np.exp((terms @ made).clip(-MOST_FACTOR, MOST_FACTOR)))
    return np.array(found).T


def _prior_freedom(own: Array, expected: Array, free: Array) -> float:
    """Prior degrees of freedom of the noise variance, by how alike configurations are.

    A fixed number would trust configurations by their own few runs, and those that look best are among those
    whose noise looks least.

    Source: G. Smyth, Linear Models and Empirical Bayes Methods, Statistical Applications in Genetics and
        Molecular Biology 3(1), 2004 (moments of the logarithms of variances).
    """
    known = (free > 1) & (own > ROUNDING * expected)
    if known.sum() < ENOUGH:
        return MOST_ALIKE
    half = free[known] / 2
    noise = polygamma(1, half)  # what logarithms of variances differ by where the configurations are alike
    logs = np.log(own[known] / expected[known]) - digamma(half)
    middle = np.average(logs, weights=1 / noise)
    off = (logs - middle) ** 2 * len(half) / (len(half) - 1) - noise
    more = float(np.average(off, weights=1 / noise))
    if more <= polygamma(1, MOST_ALIKE / 2):
        return MOST_ALIKE
    return 2 * float(brentq(lambda half: polygamma(1, half) - more, 1e-3, MOST_ALIKE))


def least_squares(runs: Array, seen: Array, moved: Array, noise: Array, level: Array) -> tuple[Array, Array]:
    """Means of configurations, configurations x objectives, and their covariance (objectives first) squared.

    These are generalised least squares, in which replication effects are random.

    Args:
        runs: what each run gave.
        seen: which configuration was run in which replication.
        moved: variance of replication effects, by objective.
        noise: covariance of a run's noise at all configurations, (objectives x configurations) squared.
        level: means of configurations on the level that they are to have, as only differences are known.

    Source: A. Aitken, On Least Squares and Linear Combination of Observations, 1936; H. Patterson and R.
        Thompson, Recovery of Inter-Block Information when Block Sizes are Unequal, Biometrika 58(3), 1971.
    """
    configurations, objectives, _ = runs.shape
    flat = np.repeat(np.diag(np.sqrt(moved)), configurations, axis=0)
    precision, pulled = np.zeros_like(noise), np.zeros(len(noise))
    for here, some in _patterns(seen):
        at = (np.arange(objectives)[:, None] * configurations + here).ravel()
        factor = cho_factor(noise[np.ix_(at, at)], lower=True)
        moving = cho_solve(factor, flat[at])
        known = np.eye(objectives) + flat[at].T @ moving
        part = cho_solve(factor, np.eye(len(at))) - moving @ np.linalg.solve(known, moving.T)
        precision[np.ix_(at, at)] += len(some) * (part + part.T) / 2
        pulled[at] += part @ (runs[here][:, :, some] - level[here, :, None]).sum(axis=2).T.ravel()
    for k in range(objectives):
        own = precision[k * configurations :, k * configurations :][:configurations, :configurations]
        own += SURE * np.trace(own) / configurations
    covariance = cho_solve(cho_factor(precision, lower=True), np.eye(len(precision)))
    means = level + (covariance @ pulled).reshape(objectives, configurations).T
    return means, (covariance + covariance.T) / 2


def _patterns(seen: Array) -> list[tuple[Array, list[int]]]:
    """Positions of configurations that were run in the same replications, and of these replications."""
    found: dict[bytes, list[int]] = {}
    for at, column in enumerate(seen.T):
        if column.any():
            found.setdefault(column.tobytes(), []).append(at)
    return [(np.flatnonzero(seen[:, some[0]]), some) for some in found.values()]
