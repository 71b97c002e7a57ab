"""What happens to an objective from one configuration to another under common random numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import copysign, exp, hypot, log
from typing import Any, Literal

from scipy.special import stdtr, stdtrit

from gridtune.model.metrics.labels import label
from gridtune.scenarios.execution.replicate import Summary

INTERVAL = 0.95
ROUNDING = 1e-12  # of the values: differences below are none


@dataclass(frozen=True)
class Objective:
    """A metric that is traded off."""

    name: str
    direction: Literal["minimize", "maximize"]  # which way is better
    unit: str = ""
    resolution: float = 0.0  # least difference that means anything, in the unit; 0 if any does

    @property
    def logarithm(self) -> bool:
        """Whether its values are decimal logarithms."""
        return label(self.name).detail.startswith("log10")


@dataclass(frozen=True)
class Difference:
    """Mean of paired differences; of a single pair nothing else is known."""

    mean: float
    standard_error: float | None  # of the mean
    low: float | None  # end of the 95 % interval of the mean
    high: float | None
    p_value: float | None  # two-sided, against no difference
    pairs: int  # replications that both configurations have; 0 where they are compared as two samples

    @classmethod
    def of(cls, mean: float, error: float, freedom: float, pairs: int) -> Difference:
        """By Student's t from a mean, its standard error, and the degrees of freedom behind that."""
        if error == 0:  # it is certain
            return cls(mean, 0.0, mean, mean, 0.0 if mean else 1.0, pairs)
        half = float(stdtrit(freedom, 0.5 + INTERVAL / 2)) * error
        p_value = 2 * float(stdtr(freedom, -abs(mean) / error))
        return cls(mean, error, mean - half, mean + half, p_value, pairs)

    def times(self, uncertain: float) -> Difference:
        """With an interval that allows for a factor around 1; whether it holds 0 does not change.

        Args:
            uncertain: half of the 95 % interval of the factor's logarithm.
        """
        if self.low is None or self.high is None or not uncertain:
            return self
        low, high = (self._beyond(end, side, uncertain) for end, side in ((self.low, -1), (self.high, 1)))
        return replace(self, low=low, high=high)

    def _beyond(self, end: float, side: int, uncertain: float) -> float:
        """An end of the interval, further out: errors of the mean and the factor add up by their squares."""
        if end * self.mean <= 0:
            return end * exp(uncertain)
        off = hypot(log(end / self.mean), uncertain)
        return self.mean * exp(copysign(off, side * self.mean))

    @property
    def half(self) -> float | None:
        """Half of the interval, which stands behind ±; None where there is none.

        It is at most the mean if the interval leaves 0 out, which is to be seen though its ends may be
        unequally far.
        """
        if self.low is None or self.high is None:
            return None
        half = (self.high - self.low) / 2
        return min(half, abs(self.mean)) if self.low * self.high > 0 else half

    @property
    def equal(self) -> bool:
        """Whether the values are equal in every pair."""
        return self.mean == 0 and not self.standard_error


def difference(to: Sequence[float], start: Sequence[float], step: float = 0.0) -> Difference:
    """What changes from one configuration to another, over the replications that both have.

    The interval is that of a paired t-test under common random numbers. The replication effect cancels.

    Args:
        to, start: values, one per replication, in their order.
        step: resolution of the values: where they differ by less, they are equal.

    Raises:
        ValueError: no common replication.

    Source: Student, The Probable Error of a Mean, Biometrika 6, 1908.
    """
    pairs = list(zip(to, start, strict=False))
    if not pairs:
        raise ValueError("two configurations without a common replication cannot be compared")
    size = max(abs(value) for pair in pairs for value in pair)
    gaps = [0.0 if abs(a - b) <= max(ROUNDING * size, step * (1 - 1e-9)) else a - b for a, b in pairs]
    found, count = Summary.of(gaps), len(gaps)
    if count == 1:
        return Difference(found.mean, None, None, None, None, 1)
    error = found.standard_error or 0.0
    return Difference.of(found.mean, error if error > ROUNDING * size else 0.0, count - 1, count)


@dataclass(frozen=True)
class Change:
    """What happens to a metric."""

    metric: Objective
    start: float  # mean over the paired replications
    to: float  # the same afterwards
    difference: Difference  # `to` minus `start`

    def __repr__(self) -> str:
        return f"Change({self.metric.name!r}, {self.start:.6g} to {self.to:.6g})"

    @property
    def better(self) -> bool:
        """True if the mean gets better."""
        return self.difference.mean * (1 if self.metric.direction == "maximize" else -1) > 0

    @property
    def significant(self) -> bool:
        """True if the mean is not 0 and its interval leaves 0 out; a single pair has no interval."""
        gap = self.difference
        return bool(gap.mean) and (gap.low is None or gap.high is None or gap.low > 0 or gap.high < 0)

    @property
    def beyond_noise(self) -> bool:
        """Whether it is told, and by an interval."""
        return self.significant and self.difference.half is not None

    @property
    def relative(self) -> float:
        """Size of the difference as a share of the larger of the two means."""
        size = max(abs(self.start), abs(self.to))
        return abs(self.difference.mean) / size if size else 0.0

    def as_json(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "metric": self.metric.name,
            "direction": self.metric.direction,
            "unit": self.metric.unit,
            "from": self.start,
            "to": self.to,
            "better": self.better if self.difference.mean else None,
            "significant": None if self.difference.half is None else self.significant,
            "difference": asdict(self.difference),
        }
