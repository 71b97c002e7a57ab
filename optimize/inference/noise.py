"""Noise of runs: what a replication does to all configurations, to similar ones, and to each alone.

The model is that of `gaussian_process`. The noise has one variance. In a replication, it is the more alike
the more alike the configurations are.

Arrays of one objective, configurations x replications: `runs` and `seen` of `by_objective`, and `rest`, the
residuals that `explained` gives.

Sources: X. Chen, B. Ankenman and B. Nelson, The Effects of Common Random Numbers on Stochastic Kriging
Metamodels, ACM TOMACS 22(2), 2012 (noise of similar configurations); H. Patterson and R. Thompson, Recovery
of Inter-Block Information when Block Sizes are Unequal, Biometrika 58(3), 1971 (likelihood of what means and
effects do not explain); F. Satterthwaite, An Approximate Distribution of Estimates of Variance Components,
Biometrics Bulletin 2(6), 1946; A. Aitken, On Least Squares and Linear Combination of Observations, 1936.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import beta

from gridtune.optimize.replication.compare import SINGULAR, Array, explained

SHARES = (0.1, 0.3, 0.5, 0.7, 0.9, 0.98)  # of their noise that equal configurations would have in common
PRIOR = beta(3, 2)  # of that share
LEAST_SHOWN = 1e-6  # of the noise of a run, that all residuals show
LEAST_SHARED, MOST_SHARED = 1e-9, 1e6  # variance of replication effects, in that of a run


def noise_of(rest: Array, means: Array, seen: Array, similar: Array) -> tuple[Array, float]:
    """Covariance of the noise of configurations in a replication, and its size's degrees of freedom.

    Its size is how much runs differ where configurations were run again. How much of it
    configurations share that are `similar` (prior correlation of means) makes these differences most likely.
    """
    again = np.flatnonzero(seen.sum(axis=1) > 1)
    tried = []
    for share in SHARES:
        alike = share * similar + (1 - share) * np.eye(len(means))
        beyond = beyond_effects(seen, alike)
        covariance = alike * variance(rest, means, seen, beyond)
        likelihood = _likelihood(rest[again], seen[again], covariance[np.ix_(again, again)])
        tried.append((likelihood + PRIOR.logpdf(share), covariance, degrees_of_freedom(beyond)))
    return max(tried, key=lambda one: one[0])[1:]


def beyond_effects(seen: Array, alike: Array) -> list[tuple[Array, Array]]:
    """Who was run in each replication and in another, and their noise's covariance around its mean."""
    repeated = seen & (seen.sum(axis=1) > 1)[:, None]
    made = []
    for ran in repeated.T[repeated.sum(axis=0) > 1]:
        at = np.flatnonzero(ran)
        some = alike[np.ix_(at, at)]
        made.append((at, some - some.mean(axis=0) - some.mean(axis=1)[:, None] + some.mean()))
    return made


def degrees_of_freedom(beyond: Sequence[tuple[Array, Array]]) -> float:
    """By which the size of the noise is known: fewer where the noise of configurations is alike.

    Without that they are n - k - m + 1, for n runs of k configurations in m replications.
    """
    if len(beyond) < 2:
        return 1.0
    whole = sum(np.trace(common) for _, common in beyond)
    squares = sum((common**2).sum() for _, common in beyond)
    ran = np.concatenate([at for at, _ in beyond])
    left = (len(ran) - len(np.unique(ran)) - len(beyond) + 1) / (len(ran) - len(beyond))
    return max(float(whole**2 / squares) * left, 1.0)


def variance(rest: Array, means: Array, seen: Array, beyond: Sequence[tuple[Array, Array]]) -> float:
    """Variance of a run, by the residuals; `beyond` is as `beyond_effects` gives it."""
    shown, counts = np.zeros(len(rest)), seen.sum(axis=1)
    for at, common in beyond:
        shown[at] += np.diag(common)
    # The rest of the noise is in the means and the effects.
    whole = max(float(shown @ (1 - 1 / counts)), LEAST_SHOWN)
    # What never varies has no noise; a little keeps the arithmetic going.
    least = max(1e-10 * means.var(), (1e-9 * np.abs(means).max()) ** 2) or 1e-30
    return float((rest**2).sum() / whole + least)


def least_squares(runs: Array, seen: Array, noise: Array) -> tuple[Array, Array]:
    """Means of configurations and their covariance, by generalised least squares, given that of the noise.

    Replication effects are random. The level, which nothing says, is that of `explained`.
    """
    size = noise[0, 0]
    effects, level, _ = explained(runs, seen)
    common = np.clip(effects.var(), LEAST_SHARED * size, MOST_SHARED * size)
    off = np.where(seen, runs - level[:, None], 0.0)
    precision, pulled, _ = _joined(off, seen, noise, common)
    # The level is left out before inverting: where the effects vary much it is hardly known at all.
    known = precision.sum(axis=1)
    every = np.full_like(precision, 1 / len(noise))
    covariance = np.linalg.inv(precision - np.outer(known, known) / known.sum() + every) - every
    return level + covariance @ (pulled - known * (pulled.sum() / known.sum())), covariance


def _likelihood(rest: Array, seen: Array, noise: Array) -> float:
    """Logarithm of the likelihood of residuals, whatever the means and the replication effects are."""
    precision, pulled, misfit = _joined(rest, seen, noise, np.inf)
    sizes, axes = np.linalg.eigh(precision)
    known = sizes > SINGULAR * sizes[-1]
    pull = (axes.T @ pulled)[known] ** 2 / sizes[known]
    return -0.5 * float(misfit - pull.sum() + np.log(sizes[known]).sum())


def _joined(runs: Array, seen: Array, noise: Array, common: float) -> tuple[Array, Array, float]:
    """Precision of the configurations' means, that times the means, and -2 times the log-likelihood at 0.

    `common` is the variance of the replication effects.
    """
    precision, pulled, misfit = np.zeros_like(noise), np.zeros(len(noise)), 0.0
    for column, ran in zip(runs.T, seen.T, strict=True):
        at = np.flatnonzero(ran)
        pairs = np.ix_(at, at)
        weights = np.linalg.inv(noise[pairs])
        sums = weights.sum(axis=0)
        whole = sums.sum() + 1 / common
        weights -= np.outer(sums, sums) / whole
        weights = (weights + weights.T) / 2
        precision[pairs] += weights
        pulled[at] += weights @ column[at]
        misfit += column[at] @ weights @ column[at] + np.linalg.slogdet(noise[pairs])[1] + np.log(whole)
    return precision, pulled, misfit
