"""Whether an objective differs significantly between configurations, by replications that they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

SIGNIFICANCE = 0.05  # level of the F-test


@dataclass(frozen=True)
class Reliability:
    """Analysis of variance of an objective over configurations and replications.

    Attributes:
        share: of the variance of the means that the configurations explain; 0 if chance explains all, 1 if
            none.
        p: probability that the means differ as much if all configurations are equal.
    """

    share: float
    p: float

    @property
    def significant(self) -> bool:
        """Whether the configurations differ significantly."""
        return self.p <= SIGNIFICANCE


def reliability(values: Sequence[Sequence[float]]) -> Reliability | None:
    """Analysis of variance of configurations by replications; None without two of each, or without noise.

    Args:
        values: of each configuration, one per replication; replication k has the same random numbers for all.

    Source: P. Shrout and J. Fleiss, Intraclass Correlations: Uses in Assessing Rater Reliability,
        Psychological Bulletin 86, 1979: ICC(3, k), and its F-test.
    """
    import numpy as np
    from scipy.special import fdtrc

    count = min((len(row) for row in values), default=0)
    if len(values) < 2 or count < 2:
        return None
    table = np.array([row[:count] for row in values], dtype=float)
    means, effects = table.mean(axis=1, keepdims=True), table.mean(axis=0, keepdims=True)
    rest = table - means - effects + table.mean()
    free = (len(table) - 1) * (count - 1)
    noise, signal = (rest**2).sum() / free, count * float(means.var(ddof=1))
    if noise <= 1e-20 * (table**2).mean():
        return None
    ratio = float(signal / noise)
    return Reliability(max(0.0, 1 - 1 / ratio) if ratio else 0.0, float(fdtrc(len(table) - 1, free, ratio)))
