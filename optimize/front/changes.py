"""What happens to metrics from one configuration to another, under common random numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gridtune.model.metrics.registry import METRICS
from gridtune.optimize.records.evaluations import Objective, of_class
from gridtune.optimize.replication.paired import Difference, difference

OTHERS = 5  # metrics beside the objectives that are shown
IDLE = {"events"}  # metrics that say nothing about a policy

Runs = Mapping[str, tuple[float, ...]]  # values by metric, one per replication


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


def change(metric: Objective, start: Sequence[float], to: Sequence[float]) -> Change:
    """What happens to one metric, over the replications that both configurations have."""
    pairs = min(len(start), len(to))
    gap = difference(to, start, metric.resolution)
    return Change(metric, sum(start[:pairs]) / pairs, sum(to[:pairs]) / pairs, gap)


def changes(objectives: Sequence[Objective], start: Runs, to: Runs) -> tuple[Change, ...]:
    """What happens to each objective that both configurations have."""
    return tuple(change(o, start[o.name], to[o.name]) for o in objectives if o.name in start and o.name in to)


def other_changes(
    objectives: Sequence[Objective], start: Runs, to: Runs, units: Mapping[str, str]
) -> tuple[Change, ...]:
    """Clear changes of metrics that are no objectives, the relatively largest first, at most `OTHERS`.

    Many metrics are looked at, so each must be the surer (Bonferroni).

    Args:
        objectives: not to be repeated.
        start, to: the configurations.
        units: of the metrics.
    """
    known = {o.name for o in objectives} | IDLE
    found = [
        change(_metric(name, units.get(name, "")), start[name], to[name])
        for name in start
        if name in to and name not in known and not of_class(name)
    ]
    clear = [one for one in found if one.difference.corrected(len(found)) == "clearly"]
    return tuple(sorted(clear, key=lambda one: (-one.relative, one.metric.name))[:OTHERS])


def _metric(name: str, unit: str) -> Objective:
    return Objective(name, METRICS[name].direction if name in METRICS else "minimize", unit)
