"""The probability that a configuration is on the front: a paired bootstrap over the replications."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from gridtune.optimize.records.evaluations import Constraint, Estimate, Objective
from gridtune.optimize.replication.compare import Array, common_scale, level, padded, replications, signs
from gridtune.optimize.search_space.constraints import Cases, bounded

RESAMPLES = 2000
FEWEST = 5  # runs of each configuration, below which shares of bootstrap samples are no probabilities


class Chance(NamedTuple):
    """Shares of bootstrap samples for a configuration; None if there are too few replications."""

    non_dominated: float | None  # it is feasible, and no other configuration that is dominates it
    feasible: float | None  # it keeps the constraints


def chances(
    estimates: Sequence[dict[str, Estimate]],
    objectives: Sequence[Objective],
    constraints: Sequence[Constraint],
    cases: Sequence[Cases],
    *,
    seed: int = 1,
    resamples: int = RESAMPLES,
) -> list[Chance]:
    """Probability that each configuration keeps the constraints, and is then non-dominated.

    The configurations share their random numbers, so each sample draws replications with replacement for all
    configurations and cases at once, and what they have in common cancels.

    Args:
        estimates: objectives by name, one dict per configuration; replication k has the same seed in each.
            Those that only some configurations have are drawn apart; configurations are compared on those
            that they share (see `optimize.replication.compare.common_scale`).
        objectives: what is traded off.
        constraints: what is to be kept, in every case.
        cases: of each configuration, estimates of the constrained metrics by case.
        seed, resamples: of the samples drawn, and their number; 0 say nothing.

    Returns:
        Shares of the samples per configuration; None for all if there are fewer than two common replications.

    Source: B. Efron and R. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 8.
    """
    import moocore

    counts = np.array([replications(row) for row in estimates])
    if not len(counts) or counts.min() < 2 or not resamples:
        return [Chance(None, None)] * len(estimates)
    # Every constraint with each case and metric that must keep it at any of the configurations.
    every = dict.fromkeys(
        (one, known.case, known.metric) for row in cases for one in constraints for known in bounded(one, row)
    )
    turned = [1.0 if one.upper else -1.0 for one, _, _ in every]
    each = [
        [row[one.name].values for one in objectives]
        # Of a class that a configuration does not have, what it has of all jobs.
        + [known[case].get(metric, known[case][one.metric]).values for one, case, metric in every]
        for row, known in zip(estimates, cases, strict=True)
    ]
    sign = np.array([*signs(objectives), *turned])
    values = padded(each, len(sign)) * sign[:, None]
    most = np.array([one.bound for one, _, _ in every]) * turned
    strictly = [one.relation in ("<", ">") for one, _, _ in every]
    bounds = np.where(strictly, np.nextafter(most, -np.inf), most)
    steps = [one.resolution for one in objectives]
    draws = np.random.default_rng([seed, len(estimates), int(counts.min())])
    wins, keeps = np.zeros(len(estimates)), np.zeros(len(estimates))
    for means in _resampled_means(values, counts, resamples, draws):
        feasible = np.flatnonzero((means[:, len(objectives) :] <= bounds).all(axis=1))
        keeps[feasible] += 1
        if len(feasible):
            wins[feasible] += moocore.is_nondominated(
                level(means[feasible, : len(objectives)], steps), keep_weakly=True
            )
    return [Chance(*shares) for shares in (np.stack([wins, keeps], axis=1) / resamples).tolist()]


def _resampled_means(
    values: Array, counts: Array, resamples: int, draws: np.random.Generator
) -> Iterator[Array]:
    """Bootstrap samples of the means, configurations x columns; see `chances`."""
    bounds = [0, *np.unique(counts).tolist()]
    sizes = np.diff(bounds)
    weights = np.hstack([draws.multinomial(n, np.full(n, 1 / n), size=resamples) for n in sizes])
    for drawn in weights:
        if len(sizes) == 1:
            yield values @ drawn / bounds[-1]  # means, for constraints are about them
        else:
            yield common_scale(values[:, :, np.repeat(np.arange(bounds[-1]), drawn)], counts)
