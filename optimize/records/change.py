"""What happens to a metric from one configuration to another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gridtune.optimize.records.difference import Difference
from gridtune.optimize.records.objective import Objective


@dataclass(frozen=True)
class Change:
    """What happens to a metric.

    Attributes:
        metric: which, and which way is better.
        start, to: means over the paired replications.
        difference: `to` minus `start`.
    """

    metric: Objective
    start: float
    to: float
    difference: Difference

    def __repr__(self) -> str:
        return f"Change({self.metric.name!r}, {self.start:.6g} to {self.to:.6g}: {self.difference.verdict})"

    @property
    def better(self) -> bool:
        """Whether the mean gets better."""
        return self.difference.mean * (1 if self.metric.direction == "maximize" else -1) > 0

    @property
    def significant(self) -> bool:
        """Whether the mean is not 0 and its interval leaves 0 out; a single pair has no interval."""
        low, high = self.difference.low, self.difference.high
        return bool(self.difference.mean) and (low is None or high is None or low > 0 or high < 0)

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
            "difference": self.difference.as_json(),
        }
