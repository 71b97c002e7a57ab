"""Two studies or two runs side by side: differences with their intervals.

Under common random numbers (the same scenario and seed) values are compared pair by pair, so that the
replication effect cancels; else as two samples with unequal variances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gridtune.optimize.front.front import Front, Member
from gridtune.optimize.records.evaluations import Objective

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float64]]

ROUNDING = 1e-12  # of the values: differences below are none
INTERVAL = 0.95
RESAMPLES = 400  # of replications, behind the interval of a difference of hypervolumes


@dataclass(frozen=True)
class Row:
    """One quantity in both.

    Attributes:
        name: of the quantity.
        unit: of it.
        first, second: what it is in each; None where one has none.
        low, high: 95 % interval of `second` minus `first`; None where it is not known.
        paired: whether the interval is over common replications.
        better: whether the second is better; None if equal, or neither way is.
    """

    name: str
    unit: str
    first: float | None
    second: float | None
    low: float | None = None
    high: float | None = None
    paired: bool = False
    better: bool | None = None

    @property
    def difference(self) -> float | None:
        """`second` minus `first`."""
        return None if self.first is None or self.second is None else self.second - self.first

    def as_json(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "name": self.name,
            "unit": self.unit,
            "a": self.first,
            "b": self.second,
            "difference": self.difference,
            "low": self.low,
            "high": self.high,
            "paired": self.paired,
            "better": self.better,
        }


def compared(
    metric: Objective, first: Sequence[float], second: Sequence[float], *, common: bool, name: str = ""
) -> Row:
    """One metric in both.

    Args:
        metric: which.
        first, second: values, one per replication.
        common: whether replications of the same number share random numbers.
        name: of the row; that of the metric if left out.
    """
    import numpy as np

    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if common:  # over the replications that both have
        pairs = min(len(a), len(b))
        a, b = a[:pairs], b[:pairs]
        least = max(ROUNDING * np.abs([a, b]).max(), metric.resolution * (1 - 1e-9))
        b = np.where(np.abs(b - a) <= least, a, b)
    low, high = _mean_interval(a, b, common=common)
    gap = float(b.mean() - a.mean())
    better = None if not gap else (gap > 0) == (metric.direction == "maximize")
    return Row(name or metric.name, metric.unit, float(a.mean()), float(b.mean()), low, high, common, better)


def _mean_interval(a: Array, b: Array, *, common: bool) -> tuple[float | None, float | None]:
    """Of the difference of means: of a paired t-test, or of Welch's; none of single values."""
    import numpy as np
    from scipy.stats import ttest_ind, ttest_rel

    if min(len(a), len(b)) < 2:
        return None, None
    spread = [np.ptp(b - a)] if common else [np.ptp(a), np.ptp(b)]
    if not any(one > ROUNDING * max(np.abs(a).max(), np.abs(b).max()) for one in spread):
        gap = float(b.mean() - a.mean())
        return gap, gap
    found = ttest_rel(b, a) if common else ttest_ind(b, a, equal_var=False)
    interval = found.confidence_interval(INTERVAL)
    return float(interval.low), float(interval.high)


def compared_fronts(a: Front, b: Front, *, common: bool) -> list[Row]:
    """The fronts of two studies with the same objectives: hypervolume, and the best of each objective.

    Values are means over the replications that both have, if there are any, so that equal configurations are
    equal; each front by itself uses all of its own replications. Both hypervolumes have the reference point
    of the first. Their interval is that of Student's t with the bootstrap's error over the replications of
    the members, the same for both where they are common: with few replications percentiles are too narrow.

    Args:
        a, b: fronts with members.
        common: whether replications of the same number share random numbers.
    """
    runs = [_values(front) for front in (a, b)]
    if common:  # the replications that all members of both have
        count = min(part.shape[2] for part in runs)
        runs = [part[:, :, :count] for part in runs]
    first, second = (_hypervolume(part.mean(axis=2), a.objectives, a.reference) for part in runs)
    low, high = _interval(runs, a.objectives, a.reference, common=common)
    better = None if first == second else second > first
    rows = [
        Row("hypervolume", "", first, second, low, high, common, better),
        Row("configurations on the front", "", float(len(a.on_front)), float(len(b.on_front))),
    ]
    for objective in a.objectives:
        best = [_best(front, objective) for front in (a, b)]
        values = [member.estimates[objective.name].values for member in best]
        rows.append(compared(objective, *values, common=common, name=f"best {objective.name}"))
    return rows


def _best(front: Front, objective: Objective) -> Member:
    sign = 1 if objective.direction == "minimize" else -1
    return min(front.on_front, key=lambda member: sign * front.value(member.evaluation.number, objective))


def _values(front: Front) -> Array:
    """Values to be minimised: members x objectives x replications that all members have."""
    import numpy as np

    count = min(len(e.values) for member in front.on_front for e in member.estimates.values())
    rows = [[member.estimates[o.name].values[:count] for o in front.objectives] for member in front.on_front]
    return np.asarray(np.array(rows, dtype=float) * _signs(front.objectives)[:, None])


def _signs(objectives: Sequence[Objective]) -> Array:
    import numpy as np

    return np.array([1.0 if one.direction == "minimize" else -1.0 for one in objectives])


def _hypervolume(rows: Array, objectives: Sequence[Objective], reference: Sequence[float]) -> float:
    import moocore
    import numpy as np

    return float(moocore.hypervolume(rows, ref=np.array(reference) * _signs(objectives)))


def _interval(
    values: Sequence[Array], objectives: Sequence[Objective], reference: Sequence[float], *, common: bool
) -> tuple[float | None, float | None]:
    import numpy as np
    from scipy.special import stdtrit

    counts = [part.shape[2] for part in values]
    if min(counts) < 2:
        return None, None
    draw = np.random.default_rng(1)
    gaps = []
    for _ in range(RESAMPLES):
        resampled = [draw.integers(0, count, count) for count in counts]
        if common:
            resampled = [resampled[0], resampled[0]]
        first, second = (
            _hypervolume(part[:, :, chosen].mean(axis=2), objectives, reference)
            for part, chosen in zip(values, resampled, strict=True)
        )
        gaps.append(second - first)
    count = min(counts)
    error = float(np.std(gaps)) * (count / (count - 1)) ** 0.5  # the bootstrap's is of count - 1
    half = error * float(stdtrit(count - 1, (1 + INTERVAL) / 2))
    first, second = (_hypervolume(part.mean(axis=2), objectives, reference) for part in values)
    return second - first - half, second - first + half
