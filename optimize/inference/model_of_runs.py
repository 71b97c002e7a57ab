"""The model of all runs of a search: what each point is worth, what streams do, and luck.

Run b of point i gives y_ib = theta_i + s_i beta_b + epsilon_ib, with an entry per objective (`luck`). theta_i
is what the point is worth; a priori it is a Gaussian process over the settings (`response_surface`), so that
points learn from similar ones and err together with them. beta_b is what stream b does to the points (the
luck of its workload); it is estimated, and drops out of comparisons where it does the same to all. Luck is of
a size that is pooled over all points that were run more than once, and of a point's own, shrunk towards that;
similar points share a part of it. Runs of the search and fresh ones count alike: what made a point be looked
at again is no bias where the runs that did are part of the data and a point's worth has a prior.

Sources: B. Ankenman, B. Nelson and J. Staum, Stochastic Kriging for Simulation Metamodeling, Operations
Research 58(2), 2010; X. Chen, B. Ankenman and B. Nelson, The Effects of Common Random Numbers on Stochastic
Kriging Metamodels, ACM TOMACS 22(2), 2012 (hence streams are taken out first); D. Rubin, Inference and
Missing Data, Biometrika 63, 1976.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gridtune.optimize.inference.luck import (
    even_means,
    explained,
    luck_of_means,
    point_means,
    slopes_at,
    spread,
    steepness,
    widening,
)
from gridtune.optimize.inference.posterior import Posterior
from gridtune.optimize.inference.response_surface import coordinates_of, learn
from gridtune.optimize.records.evaluations import Evaluation, Objective, Value
from gridtune.optimize.replication.compare import non_dominated, signs

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]

DRAWS = 1000
REPLAYS, REPLAYED = 5, 200  # studies that are simulated, and draws of each
JOINT = 800  # points that are modelled, at most: the best ones, layer by layer
ALIKE = 1e-5  # of the span of an objective: draws that differ by less are a tie
LEAST_SCALE = 0.1  # of all differences in an objective, beside what the streams seen say of it


def worth_of(evaluations: Sequence[Evaluation], objectives: Sequence[Objective]) -> Array:
    """What the model expects of each point, to be minimised; means where it cannot tell luck from worth."""
    import numpy as np

    values = runs_of(evaluations, objectives)
    means = _levelled(values)
    chosen = best_layers(values)
    found = fit(values[chosen], [evaluations[at].values for at in chosen], draws=1)
    if found is not None:
        # Those that are left out are as far from the front as they look.
        means += found.means[0] - means[chosen[0]]
        means[chosen] = found.means
    return np.asarray(means)


def runs_of(evaluations: Sequence[Evaluation], objectives: Sequence[Objective]) -> Array:
    """What each run gave, to be minimised: points x objectives x streams, those of the search first."""
    import numpy as np

    searched = max(evaluation.replications for evaluation in evaluations)
    fresh = max(evaluation.fresh_replications for evaluation in evaluations)
    values = np.full((len(evaluations), len(objectives), searched + fresh), np.nan)
    for at, evaluation in enumerate(evaluations):
        for column, objective in enumerate(objectives):
            first = evaluation.objectives[objective.name].values
            values[at, column, : len(first)] = first
            if evaluation.validated:
                more = evaluation.validated[objective.name].values
                values[at, column, searched : searched + len(more)] = more
    return np.asarray(values * signs(objectives)[:, None])


def best_layers(runs: Array, always: Sequence[int] = ()) -> list[int]:
    """Positions of the points that may be on the front, at most `JOINT`: layer after layer of the front.

    Args:
        runs: see `runs_of`.
        always: positions of points that are among them anyway.
    """
    means = _levelled(runs)
    chosen = set(always)
    left = [at for at in range(len(means)) if at not in chosen]
    while left and len(chosen) < JOINT:
        layer = [left[at] for at in non_dominated(means[left])]
        chosen.update(layer[: JOINT - len(chosen)])
        left = [at for at in left if at not in chosen]
    return sorted(chosen)


def _levelled(runs: Array) -> Array:
    """Means of points, points x objectives, without what each stream did to all."""
    import numpy as np

    seen = np.asarray(np.isfinite(runs).all(axis=1))
    filled = np.where(seen[:, None, :], runs, 0.0)
    return even_means(filled, seen)


def fit(
    values: Array, points: Sequence[Mapping[str, Value]], *, draws: int = DRAWS, seed: int = 1
) -> Posterior | None:
    """The model of all runs of a search; None where no point has two runs to tell luck from worth by.

    Args:
        values: what each run gave, to be minimised: points x objectives x streams; nan where a point was not
            run.
        points: their settings, all different.
        draws: samples to take.
        seed: of the samples.
    """
    import numpy as np

    seen = np.asarray(np.isfinite(values).all(axis=1))
    counts = seen.sum(axis=1)
    if not len(values) or counts.max(initial=0) < 2 or counts.min() < 1:
        return None
    raw = np.where(seen[:, None, :], values, 0.0)
    steep, error, middle = steepness(raw, seen)
    slopes = slopes_at(even_means(raw, seen), steep, middle)
    _, plain, rest = explained(raw, seen, slopes, np.ones(raw.shape[:2]))
    noise, factors = spread(rest, plain, seen)
    unit = np.sqrt(np.diag(noise))
    runs = raw / unit[:, None]  # luck is now 1 in size
    streams, means, rest = explained(runs, seen, slopes, 1 / factors)
    places = coordinates_of(points)
    surface = learn(places, means, [np.diag(some) for some in (factors / counts[:, None]).T], seed)
    luck = luck_of_means(rest, seen, noise / np.outer(unit, unit), surface)
    # What near points share of luck looks like worth, until it is known.
    blocks = luck.reshape(means.shape[1], len(points), -1, len(points))
    surface = learn(places, means, [blocks[k, :, k] for k in range(len(blocks))], seed)
    for _ in range(2):  # once more when it is known which points were lucky in which streams
        off = point_means(runs, seen, streams, slopes) - surface.means
        mean, covariance = _condition(surface.covariance, off.T.ravel(), luck)
        means = mean.reshape(off.T.shape).T + surface.means
        left = np.where(seen[:, None, :], runs - means[:, :, None], 0.0)
        weights = seen[:, None, :] / factors[:, :, None]
        pulls = (left * weights * slopes[:, :, None]).sum(axis=0)
        streams = (pulls / (weights * slopes[:, :, None] ** 2).sum(axis=0)).T
        streams -= streams.mean(axis=0)
    least = 1e-9 * float(np.trace(surface.covariance)) / means.size
    rng = np.random.default_rng([seed, *means.shape])
    rest = np.moveaxis(_sample(covariance, least, draws, rng).reshape(draws, *means.T.shape), 1, 2)
    seen_anew = (means - surface.means).T.ravel() + _sample(luck, least, REPLAYS, rng)
    found = surface.covariance @ _solved(surface.covariance, seen_anew.T, luck)
    anew = np.moveaxis(found.T.reshape(REPLAYS, *means.T.shape), 1, 2) + surface.means
    centre = middle / unit
    scales = _scales(streams, steep * unit, error * unit, draws, rng)
    return Posterior(
        means * unit,
        (centre + (rest + means - centre) * scales[:, None]) * unit,
        streams * unit,
        _unit(plain),
        (rest[:REPLAYED] + anew[:, None]) * unit,
        np.sqrt(factors)[:, :, None] * np.linalg.cholesky(noise),
    )


def _scales(streams: Array, steep: Array, error: Array, draws: int, rng: np.random.Generator) -> Array:
    """How much larger differences are in the long run than under the streams seen, draws x objectives.

    Where streams move points the more these are worth, the mean of other streams would stretch or shrink what
    points differ by; who beats whom stays. How far that mean may be from the one seen is as in Student's t.
    """
    import numpy as np

    count = len(streams)
    wide = widening(count) / np.sqrt(count * (count - 1))
    moved = wide * rng.normal(size=(draws, count)) @ (streams - streams.mean(axis=0))
    steeper = steep + error * rng.normal(size=moved.shape)
    return np.asarray((1 + steeper * moved).clip(LEAST_SCALE))


def _unit(means: Array) -> Array:
    """The difference of each objective that is a tie; infinite where it does not vary at all."""
    import numpy as np

    span, size = np.ptp(means, axis=0), np.abs(means).max(axis=0)
    return np.where(span > 1e-9 * size, ALIKE * span, np.inf)


def _solved(covariance: Array, off: Array, noise: Array) -> Array:
    """What was seen under noise, times the inverse of its covariance."""
    import numpy as np
    from scipy.linalg import cho_factor, cho_solve

    return np.asarray(cho_solve(cho_factor(covariance + noise, lower=True), off))


def _condition(covariance: Array, off: Array, noise: Array) -> tuple[Array, Array]:
    """Mean and covariance of a Gaussian process at its points, once they were seen under noise."""
    import numpy as np
    from scipy.linalg import cholesky, solve_triangular

    root = cholesky(covariance + noise, lower=True)
    half = solve_triangular(root, np.column_stack([off, covariance]), lower=True)
    known = half[:, 1:]
    return known.T @ half[:, 0], covariance - known.T @ known


def _sample(covariance: Array, least: float, count: int, rng: np.random.Generator) -> Array:
    """Draws x points with that covariance and, as it may be singular, a least variance of each."""
    import numpy as np

    root = np.linalg.cholesky((covariance + covariance.T) / 2 + least * np.eye(len(covariance)))
    return np.asarray(rng.normal(size=(count, len(root))) @ root.T)
