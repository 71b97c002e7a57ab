"""Confidence intervals of means over replications."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

LEVEL = 0.95


def half_width(values: Sequence[float]) -> float:
    """Of the 95 % confidence interval of a mean, by Student's t; nan for less than two values."""
    import numpy as np
    from scipy.stats import t

    runs = len(values)
    if runs < 2:
        return float("nan")
    return float(t.ppf((1 + LEVEL) / 2, runs - 1) * np.std(values, ddof=1) / sqrt(runs))


def paired_half_widths(rows: Sequence[Sequence[float]]) -> list[float]:
    """The same for configurations that share their replications, without what they have in common.

    Each replication's mean over all configurations is taken out, so that a workload that makes each of them
    look good or bad widens nothing: intervals that are apart belong to configurations that differ.

    Args:
        rows: the values of each configuration, replication k at place k; as many in each.

    Returns:
        A half-width for each configuration; nan for less than two configurations or replications.

    Source: D. Cousineau 2005, with the correction of R. D. Morey 2008 (Tutorials in Quantitative Methods for
    Psychology 1 and 4).
    """
    import numpy as np

    values = np.asarray(rows, dtype=float)
    configurations, runs = values.shape
    if configurations < 2 or runs < 2:
        return [float("nan")] * configurations
    left = values - values.mean(axis=0)
    return [half_width(row) * sqrt(configurations / (configurations - 1)) for row in left]
