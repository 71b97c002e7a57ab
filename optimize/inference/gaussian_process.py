"""The posterior of a search's configurations: a Gaussian process over all their runs.

Run b of configuration i gives y_ib = theta_i + beta_b + epsilon_ib in each objective, apart (`noise`).
theta_i is the configuration's mean; a priori it is a Gaussian process over the parameters
(`surrogate_model`). beta_b is the effect of the replication, whose random numbers all configurations share.
Runs of the search and validation runs count alike: what made a configuration be looked at again is no bias
where the runs that did are part of the data and its mean has a prior.

Sources: B. Ankenman, B. Nelson and J. Staum, Stochastic Kriging for Simulation Metamodeling, Operations
Research 58(2), 2010; X. Chen, B. Ankenman and B. Nelson, The Effects of Common Random Numbers on Stochastic
Kriging Metamodels, ACM TOMACS 22(2), 2012; D. Rubin, Inference and Missing Data, Biometrika 63, 1976.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from gridtune.optimize.inference.noise import explained, least_squares, noise_of
from gridtune.optimize.inference.posterior import Posterior, StudyPosterior
from gridtune.optimize.inference.surrogate_model import (
    Distances,
    Fitted,
    conditioned,
    coordinates_of,
    distances,
    sampled,
)
from gridtune.optimize.records.evaluations import Evaluation, Objective, Value, replications
from gridtune.optimize.replication.compare import Array, non_dominated, signs
from gridtune.threads import one_thread

ENOUGH = 20  # configurations below which nothing can be learned from similar ones
DRAWS = 1000
REPLAYS, REPLAYED = 5, 200  # studies that are simulated, and draws of each
JOINT = 400  # configurations that are modelled, at most: the best ones, layer by layer
ALIKE = 1e-5  # of the range of an objective: draws that differ by less are a tie
VAGUE = 1e4  # prior variance of the baseline, in that of the noise and the squared range
LEAST_VARIANCE = 1e-9  # of that of the means: keeps the matrices regular


@one_thread()
def posterior_of(
    evaluations: Sequence[Evaluation],
    objectives: Sequence[Objective],
    seed: int = 1,
    *,
    rivals: Collection[int] | None = None,
    values: Mapping[int, Mapping[str, Value]] | None = None,
    baseline: int | None = None,
) -> StudyPosterior | None:
    """What all runs of a search say of its configurations; None where that cannot be told.

    That takes `ENOUGH` configurations, and one that was run twice. Of very many configurations the hopeless
    are left out.

    Args:
        evaluations: all that there are, each configuration once.
        objectives: what is traded off.
        seed: of the samples drawn.
        rivals: numbers of those that may be on the front; all if left out.
        values: settings by number, of configurations whose evaluation does not hold them.
        baseline: number of the configuration whose mean is inferred from its runs alone, if any.
    """
    if len(evaluations) < ENOUGH:
        return None
    runs = runs_of(evaluations, objectives)
    chosen = best_layers(runs, [at for at, one in enumerate(evaluations) if one.validated or one.confirmed])
    numbers = [evaluations[at].number for at in chosen]
    configurations = [(values or {}).get(evaluations[at].number, evaluations[at].values) for at in chosen]
    apart = numbers.index(baseline) if baseline in numbers else None
    found = fit(runs[chosen], configurations, seed=seed, apart=apart)
    if found is None:
        return None
    return StudyPosterior(found, numbers, numbers if rivals is None else rivals, objectives)


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
    parts = []
    for each in zip(*((one.objectives, one.validated, one.confirmed) for one in evaluations), strict=True):
        most = max(replications(known or {}) for known in each)
        values = np.full((len(evaluations), len(objectives), most), np.nan)
        for at, known in enumerate(each):
            for column, objective in enumerate(objectives if known else ()):
                some = known[objective.name].values
                values[at, column, : len(some)] = some
        parts.append(values)
    return np.asarray(np.concatenate(parts, axis=2) * signs(objectives)[:, None])


def best_layers(runs: Array, always: Sequence[int] = ()) -> list[int]:
    """Positions of the configurations that may be on the front, at most `JOINT`, and some that always are."""
    means = _adjusted_means(runs)
    chosen = set(always)
    while len(chosen) < JOINT and (left := [at for at in range(len(means)) if at not in chosen]):
        layer = [left[at] for at in non_dominated(means[left])]
        chosen.update(layer[: JOINT - len(chosen)])
    return sorted(chosen)


def _adjusted_means(runs: Array) -> Array:
    """Mean-adjusted values: configurations x objectives, without the effect of each replication."""
    seen, columns = _columns(runs)
    return np.stack([explained(column, seen)[1] for column in columns], axis=1)


def _columns(runs: Array) -> tuple[Array, Array]:
    """Which configuration was run in which replication, and runs by objective, 0 where there is none."""
    seen = np.asarray(np.isfinite(runs).all(axis=1))
    return seen, np.moveaxis(np.where(seen[:, None, :], runs, 0.0), 1, 0)


def fit(
    values: Array,
    configurations: Sequence[Mapping[str, Value]],
    *,
    draws: int = DRAWS,
    seed: int = 1,
    apart: int | None = None,
) -> Posterior | None:
    """The Gaussian processes of all runs of a search; None where no configuration was run twice.

    Args:
        values: of each run, to be minimised, configurations x objectives x replications; nan where a
            configuration was not run.
        configurations: their settings, all different.
        draws: samples to take.
        seed: of the samples.
        apart: position of a configuration whose mean is inferred from its own runs alone.
    """
    seen, columns = _columns(values)
    counts = seen.sum(axis=1)
    if not len(values) or counts.max() < 2 or counts.min() < 1:
        return None
    places = distances(coordinates_of(configurations))
    rng = np.random.default_rng([seed, *values.shape[:2]])
    made = [_objective(column, seen, places, apart, draws, seed, rng) for column in columns]
    means, found, replays, units, freedom = (np.stack(parts, axis=-1) for parts in zip(*made, strict=True))
    return Posterior(means, found, units, replays, freedom)


def _objective(
    runs: Array,
    seen: Array,
    places: Distances,
    apart: int | None,
    draws: int,
    seed: int,
    rng: np.random.Generator,
) -> tuple[Array, Array, Array, float, float]:
    """Means, draws, replays, unit and freedom of an objective, as `Posterior` has them."""
    _, plain, rest = explained(runs, seen)
    alike = [at for at in range(len(plain)) if at != apart]
    similar = Fitted.of(places.among(alike), plain[alike], seed).correlation(places)
    unit, noise = _unit(plain), noise_of(rest, plain, seen, similar)
    size = float(np.sqrt(noise.covariance[0, 0]))  # what follows is in sizes of the noise
    observed, around = least_squares(runs / size, seen, noise.covariance / size**2)
    prior = Fitted.of(places.among(alike), observed[alike], seed, around[np.ix_(alike, alike)])
    cover, nugget = prior.covariance(places)
    cover += nugget * np.eye(len(cover))
    if apart is not None:
        cover[apart, apart] += VAGUE * (1.0 + float(np.ptp(observed)) ** 2)
    gain, left = conditioned(cover + around, cover, cover)
    means = prior.mean + gain @ (observed - prior.mean)
    if size <= unit:  # noise that is less than a tie is none
        off, again = np.zeros((draws, len(means))), np.tile(means, (REPLAYS, 1))
    else:
        least = LEAST_VARIANCE * float(np.diag(cover)[alike].mean())
        off = sampled(left, least, draws, rng)
        anew = means + sampled(around, least, REPLAYS, rng)
        again = prior.mean + (anew - prior.mean) @ gain.T
    replays = again[:, None] + off[:REPLAYED]
    return means * size, (means + off) * size, replays * size, unit, noise.freedom


def _unit(means: Array) -> float:
    """The difference that is a tie; infinite where the means do not vary at all."""
    varies = float(np.ptp(means))
    return ALIKE * varies if varies > 1e-9 * np.abs(means).max() else np.inf
