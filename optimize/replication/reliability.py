"""Whether an objective tells configurations apart, by replications that they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

DOUBT = 0.05  # probability of differences as large by chance, above which an objective tells nothing


@dataclass(frozen=True)
class Reliability:
    """How much of what configurations differ by in an objective is their own.

    Attributes:
        share: of the variance of the means that the configurations explain; 0 if chance explains all, 1 if
            none.
        doubt: probability that the means differ as much if all configurations are equal.
    """

    share: float
    doubt: float

    @property
    def tells(self) -> bool:
        """Whether the configurations differ beyond noise."""
        return self.doubt <= DOUBT


def reliability(values: Sequence[Sequence[float]]) -> Reliability | None:
    """Analysis of variance of configurations by streams; None where there are not two of each, or no chance.

    Args:
        values: of each configuration, one per replication; replication k has the same streams for all.

    Source: P. Shrout and J. Fleiss, Intraclass Correlations: Uses in Assessing Rater Reliability,
        Psychological Bulletin 86, 1979: ICC(3, k), and its F-test.
    """
    import numpy as np
    from scipy.special import fdtrc

    count = min((len(row) for row in values), default=0)
    if len(values) < 2 or count < 2:
        return None
    table = np.array([row[:count] for row in values], dtype=float)
    means, streams = table.mean(axis=1, keepdims=True), table.mean(axis=0, keepdims=True)
    rest = table - means - streams + table.mean()
    free = (len(table) - 1) * (count - 1)
    noise, signal = (rest**2).sum() / free, count * float(means.var(ddof=1))
    if noise <= 1e-20 * (table**2).mean():
        return None
    ratio = float(signal / noise)
    return Reliability(max(0.0, 1 - 1 / ratio) if ratio else 0.0, float(fdtrc(len(table) - 1, free, ratio)))
