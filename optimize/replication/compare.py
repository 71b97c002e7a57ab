"""Values to be minimised on one scale, of configurations with different numbers of replications.

Replication k has the same random numbers for every configuration. So configurations are only compared on
replications that they share: the others may have been easier.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from gridtune.optimize.records.evaluations import Estimate, Objective, replications

Array = np.ndarray[Any, np.dtype[Any]]


def costs(estimates: Sequence[dict[str, Estimate]], objectives: Sequence[Objective]) -> Array:
    """Means as a matrix to be minimised, a row per configuration and a column per objective.

    Maximised objectives are negated. Values are rounded to the objective's resolution, and where it has none
    differences below 1e-12 of its size are a tie. Where numbers of replications differ, the means are
    adjusted to the replications of the configuration that has most; see `common_scale`.
    """
    means = np.array([[row[o.name].mean for o in objectives] for row in estimates], dtype=float)
    turned = signs(objectives)
    means = means.reshape(len(estimates), len(objectives)) * turned
    counts = np.array([replications(row) for row in estimates])
    if len(estimates) and counts.min() < counts.max():
        each = [[row[objective.name].values for objective in objectives] for row in estimates]
        means = common_scale(padded(each, len(objectives)) * turned[:, None], counts)
    return level(means, [objective.resolution for objective in objectives])


def common_scale(values: Array, counts: Array) -> Array:
    """Mean-adjusted values, configurations x objectives, as if all had equally many replications.

    From k replications to the next larger number l that any configuration has, the configurations with at
    least l show how much the further replications change a mean; the means over k are shifted by the average
    of that. This is the usual estimate for monotone missing data, with additive effects of replications and
    configurations. Two configurations are thus compared on the replications that both have.

    Args:
        values: configurations x objectives x replications; what is beyond a configuration's number does not
            count.
        counts: replications of each configuration, at least 1.

    Source: R. Little and D. Rubin, Statistical Analysis with Missing Data, 3rd edition, 2019, chapter 7.
    """
    mask = np.arange(values.shape[2]) < counts[:, None]
    means = np.where(mask[:, None, :], values, 0.0).sum(axis=2) / counts[:, None]
    for few, more in pairwise(np.unique(counts).tolist()):
        longer = values[counts >= more]
        step = longer[:, :, :more].mean(axis=2) - longer[:, :, :few].mean(axis=2)
        means[counts <= few] += step.mean(axis=0)
    return np.asarray(means)


def padded(each: Sequence[Sequence[Sequence[float]]], columns: int) -> Array:
    """Single values, configurations x columns x replications; 0 where a configuration has no more."""
    most = max((len(known) for row in each for known in row), default=0)
    filled = [[[*known, *[0.0] * (most - len(known))] for known in row] for row in each]
    return np.array(filled, dtype=float).reshape(len(each), columns, most)


def non_dominated(values: Array) -> list[int]:
    """Rows that no other row dominates; equal rows are all kept."""
    import moocore

    if not len(values):
        return []
    return np.flatnonzero(moocore.is_nondominated(values, keep_weakly=True)).tolist()


def shares(values: Array) -> Array:
    """How far values are from the best, in shares of their range in each objective.

    Args:
        values: to be minimised, configurations x objectives; where all are equal in an objective, the
            distance is 0.
    """
    return np.asarray((values - values.min(axis=0)) / ranges(values))


def ranges(values: Array) -> Array:
    """Ranges of the columns of a matrix; 1 where all its rows are equal, or there are none."""
    found = np.ptp(values, axis=0) if len(values) else np.zeros(values.shape[1])
    return np.asarray(np.where(found > 0, found, 1.0))


def signs(objectives: Sequence[Objective]) -> Array:
    """1 for each objective to be minimised, -1 for each to be maximised."""
    return np.array([1.0 if objective.direction == "minimize" else -1.0 for objective in objectives])


def level(values: Array, steps: Sequence[float] = ()) -> Array:
    """Values (configurations x objectives) rounded to each column's step, or to 1e-12 of its largest."""
    if not values.size:
        return values
    size = np.abs(values).max(axis=0)
    unit = 10.0 ** np.floor(np.log10(np.where(size > 0, size, 1.0)) - 12)
    unit = np.maximum(unit, np.array(steps or np.zeros(values.shape[1])))
    return np.asarray(np.round(values / unit) * unit)
