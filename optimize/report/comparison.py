"""Two studies or two runs side by side: differences with their intervals.

Under common random numbers (the same scenario and seed) values are compared pair by pair, so that the
replication effect cancels; else as two samples with unequal variances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gridtune.optimize.front.front import Front
from gridtune.optimize.front.hypervolume import hypervolume
from gridtune.optimize.records.difference import INTERVAL, ROUNDING, difference
from gridtune.optimize.records.evaluations import Objective, side_by_side


@dataclass(frozen=True)
class Row:
    """One quantity in both, in its unit.

    Attributes:
        difference: `b` minus `a`.
        low, high: 95 % interval of the difference; None where it is not known.
        paired: whether the interval is over common replications.
        better: whether the second is better; None if equal, or neither way is.
    """

    name: str
    unit: str
    a: float
    b: float
    difference: float
    low: float | None = None
    high: float | None = None
    paired: bool = False
    better: bool | None = None


def compared(
    metric: Objective, first: Sequence[float], second: Sequence[float], *, common: bool, name: str = ""
) -> Row:
    """One metric in both, with one value per replication.

    Args:
        common: whether replications of the same number share random numbers.
        name: of the row; that of the metric if left out.
    """
    if common:  # over the replications that both have
        gap = difference(second, first, metric.resolution)
        mean, low, high = gap.mean, gap.low, gap.high
        start = float(np.mean(first[: gap.pairs]))
    else:
        start = float(np.mean(first))
        mean = float(np.mean(second)) - start
        low, high = _welch(first, second)
    better = None if not mean else (mean > 0) == (metric.direction == "maximize")
    return Row(name or metric.name, metric.unit, start, start + mean, mean, low, high, common, better)


def _welch(first: Sequence[float], second: Sequence[float]) -> tuple[float, float] | tuple[None, None]:
    """The interval of a difference of means, by Welch's test; none of single values."""
    from scipy.stats import ttest_ind

    if min(len(first), len(second)) < 2:
        return None, None
    size = max(map(abs, (*first, *second)))
    if max(np.ptp(first), np.ptp(second)) <= ROUNDING * size:
        gap = float(np.mean(second) - np.mean(first))
        return gap, gap
    interval = ttest_ind(second, first, equal_var=False).confidence_interval(INTERVAL)
    return float(interval.low), float(interval.high)


def compared_fronts(a: Front, b: Front, *, common: bool) -> list[Row]:
    """The fronts of two studies with the same objectives: hypervolume, and the best of each objective.

    Hypervolumes are those of estimated means, both with the reference point of the first. Their difference
    has no interval: other seeds of the sampler would change it, too. The best of an objective are compared
    by their runs.

    Args:
        a, b: fronts with members.
        common: whether replications of the same number share random numbers.
    """
    first, second = (hypervolume(one.costs(one.on_front), a.objectives, a.reference) for one in (a, b))
    gap = second - first
    here, there = (float(len(front.on_front)) for front in (a, b))
    rows = [
        Row("hypervolume", "", first, second, gap, better=gap > 0 if gap else None),
        Row("configurations on the front", "", here, there, there - here),
    ]
    for at, objective in enumerate(a.objectives):
        best = [front.on_front[front.costs(front.on_front)[:, at].argmin()] for front in (a, b)]
        known = side_by_side(best) if common else [one.estimates for one in best]
        values = [one[objective.name].values for one in known]
        rows.append(compared(objective, *values, common=common, name=f"best {objective.name}"))
    return rows
