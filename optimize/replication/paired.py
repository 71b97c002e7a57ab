"""The difference of two configurations under common random numbers, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from gridtune.optimize.records.difference import ROUNDING, Difference


def difference(to: Sequence[float], start: Sequence[float], step: float = 0.0) -> Difference:
    """What changes from one configuration to another, over the replications that both have.

    The interval is that of a paired t-test. The replication effect cancels.

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
    count = len(gaps)
    mean = sum(gaps) / count
    if count == 1:
        return Difference(mean, None, None, None, None, 1)
    error = sqrt(sum((gap - mean) ** 2 for gap in gaps) / (count - 1) / count)
    return Difference.of(mean, error if error > ROUNDING * size else 0.0, count - 1, count)
