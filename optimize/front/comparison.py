"""Two studies or two runs side by side: what changes from one to the other, and how surely.

Where both ran under the same streams (the same scenario and seed) values are compared pair by pair, so that
what the streams do to both cancels; else as two samples with unequal spreads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gridtune.optimize.front.front import Front, Member, hypervolume
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.replication.compare import signs
from gridtune.optimize.replication.paired import (
    INTERVAL,
    difference,
    unpaired_difference,
)

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float64]]

RESAMPLES = 400  # of streams, behind the interval of a difference of hypervolumes


@dataclass(frozen=True)
class Row:
    """One quantity in both.

    Attributes:
        name: of the quantity.
        unit: of it.
        first, second: what it is in each; None where one has none.
        low, high: 95 % interval of `second` minus `first`; None where it is not known.
        paired: whether the interval is over common streams.
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
        common: whether replications of the same number ran under the same streams.
        name: of the row; that of the metric if left out.
    """
    gap = difference(second, first, metric.resolution) if common else unpaired_difference(second, first)
    means = sum(first) / len(first), sum(second) / len(second)
    if common:  # over the replications that both have
        pairs = min(len(first), len(second))
        means = sum(first[:pairs]) / pairs, sum(second[:pairs]) / pairs
    better = None if not gap.mean else (gap.mean > 0) == (metric.direction == "maximize")
    return Row(name or metric.name, metric.unit, *means, gap.low, gap.high, common, better)


def compared_fronts(a: Front, b: Front, *, common: bool) -> list[Row]:
    """The fronts of two studies with the same objectives: hypervolume, and the best of each objective.

    Values are means on the streams that both have, where they have any in common, so that equal points are
    equal; what each front says of its own points (`optimize.front.worth`) is on streams of its own.
    Both hypervolumes have the reference point of the first. Their interval is that of Student's t with the
    bootstrap's error over the streams on which the members were compared, the same for both where they are
    common: of few streams percentiles are too narrow.

    Args:
        a, b: fronts with members.
        common: whether replications of the same number ran under the same streams.
    """
    runs = [_values(front) for front in (a, b)]
    if common:  # the streams that all members of both have
        count = min(part.shape[2] for part in runs)
        runs = [part[:, :, :count] for part in runs]
    first, second = (hypervolume(part.mean(axis=2), a.objectives, a.reference) for part in runs)
    low, high = _interval(runs, a.objectives, a.reference, common=common)
    better = None if first == second else second > first
    rows = [
        Row("hypervolume", "", first, second, low, high, common, better),
        Row("points on the front", "", float(len(a.kept)), float(len(b.kept))),
    ]
    for objective in a.objectives:
        best = [_best(front, objective) for front in (a, b)]
        values = [member.estimates[objective.name].values for member in best]
        rows.append(compared(objective, *values, common=common, name=f"best {objective.name}"))
    return rows


def _best(front: Front, objective: Objective) -> Member:
    costs: list[float] = front.costs(front.kept, [objective])[:, 0].tolist()
    return front.kept[costs.index(min(costs))]


def _values(front: Front) -> Array:
    """What each member gave, to be minimised: members x objectives x streams that all members have."""
    import numpy as np

    count = min(len(e.values) for member in front.kept for e in member.estimates.values())
    rows = [[member.estimates[o.name].values[:count] for o in front.objectives] for member in front.kept]
    return np.asarray(np.array(rows, dtype=float) * signs(front.objectives)[:, None])


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
        streams = [draw.integers(0, count, count) for count in counts]
        if common:
            streams = [streams[0], streams[0]]
        first, second = (
            hypervolume(part[:, :, chosen].mean(axis=2), objectives, reference)
            for part, chosen in zip(values, streams, strict=True)
        )
        gaps.append(second - first)
    count = min(counts)
    error = float(np.std(gaps)) * (count / (count - 1)) ** 0.5  # the bootstrap's is of count - 1 streams
    half = error * float(stdtrit(count - 1, (1 + INTERVAL) / 2))
    first, second = (hypervolume(part.mean(axis=2), objectives, reference) for part in values)
    return second - first - half, second - first + half
