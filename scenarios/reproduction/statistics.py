"""Intervals of what was measured over replications, and what they say about an expectation.

Every interval is one of 95 %. An expectation is met if all of the interval agrees with it, not met if none
of it does, and undecided otherwise, or if there are less than ten runs of what chance decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, nan
from statistics import fmean
from typing import Any, Literal

from gridtune.scenarios.results.intervals import LEVEL, half_width

Outcome = Literal["met", "not met", "undecided"]

FEWEST = 10  # runs from which anything is decided where chance plays a part
RARE = 0.05  # share of runs: what happens more often cannot be said never to happen


@dataclass(frozen=True)
class Estimate:
    """A statistic over replications with its interval.

    Attributes:
        statistic: its name, e.g. `mean`.
        value: estimated from all runs.
        low: lower end of the interval.
        high: upper end of the interval.
        runs: replications that it is made of; None for what chance has no part in.
    """

    statistic: str
    value: float
    low: float
    high: float
    runs: int | None

    def __str__(self) -> str:
        if self.low == self.high:
            return brief(self.value)
        return f"{brief(self.value)} [{brief(self.low)}, {brief(self.high)}]"


@dataclass(frozen=True)
class Finding:
    """An estimate held against an expectation.

    Attributes:
        what: the measured quantity, in words.
        estimate: its statistic and interval.
        low: least value that is expected.
        high: greatest value that is expected.
        strict: whether the ends themselves are not as expected.
    """

    what: str
    estimate: Estimate
    low: float = -inf
    high: float = inf
    strict: bool = False

    @property
    def outcome(self) -> Outcome:
        """What the interval says."""
        found = self.estimate
        if not isfinite(found.value) or (found.runs is not None and found.runs < FEWEST):
            return "undecided"
        if self._agrees(found.low) and self._agrees(found.high):
            return "met"
        if self.strict:
            outside = found.high <= self.low or found.low >= self.high
        else:
            outside = found.high < self.low or found.low > self.high
        return "not met" if outside else "undecided"

    def _agrees(self, value: float) -> bool:
        return self.low < value < self.high if self.strict else self.low <= value <= self.high

    @property
    def expected(self) -> str:
        """The expectation, in words."""
        name = f"{self.what} ({self.estimate.statistic})" if self.estimate.statistic else self.what
        if self.low == self.high:
            return f"{name}: {self.low:g}"
        if self.low == -inf:
            return f"{name}: {'below' if self.strict else 'at most'} {self.high:g}"
        if self.high == inf:
            return f"{name}: {'above' if self.strict else 'at least'} {self.low:g}"
        return f"{name}: {self.low:g} to {self.high:g}"

    @property
    def measured(self) -> str:
        """What came out, in words."""
        return str(self.estimate)

    def to_dict(self) -> dict[str, Any]:
        """As claims are written to JSON; ends that nothing bounds are null."""
        found = self.estimate
        numbers = {"value": found.value, "low": found.low, "high": found.high}
        bounds = {"at_least": self.low, "at_most": self.high}
        return {
            "what": self.what,
            "statistic": found.statistic,
            **{name: value if isfinite(value) else None for name, value in {**numbers, **bounds}.items()},
            "runs": found.runs,
            "outcome": self.outcome,
        }


def brief(value: float) -> str:
    """A number with the digits that a reader needs."""
    return f"{value:.0f}" if 1000 <= abs(value) < inf else f"{value:.3g}"


def overall(findings: Sequence[Finding]) -> Outcome:
    """What several findings say together: met if all are, not met if one is not, else undecided."""
    outcomes = {finding.outcome for finding in findings}
    if "not met" in outcomes:
        return "not met"
    return "undecided" if "undecided" in outcomes else "met"


def exactly(value: float) -> Estimate:
    """What chance has no part in: one run, or arithmetic."""
    return Estimate("", value, value, value, None)


def mean(values: Sequence[float], statistic: str = "mean") -> Estimate:
    """A mean, with the interval of Student's t; nan if there are no values."""
    if not values:
        return Estimate(statistic, nan, -inf, inf, 0)
    centre = fmean(values)
    if len(values) < 2:
        return Estimate(statistic, centre, -inf, inf, len(values))
    half = half_width(values)
    return Estimate(statistic, centre, centre - half, centre + half, len(values))


def difference(first: Sequence[float], second: Sequence[float]) -> Estimate:
    """The mean of first minus second, run by run: both had common random numbers.

    Raises:
        ValueError: not as many of one as of the other.
    """
    return mean([a - b for a, b in zip(first, second, strict=True)], "mean difference")


def ratio(first: Sequence[float], second: Sequence[float]) -> Estimate:
    """First over second, as a ratio of means whose runs belong together (interval by linearisation).

    Source: W. G. Cochran, Sampling Techniques, 3rd edition, 1977, chapter 6.
    """
    below = fmean(second)
    if below == 0:
        return Estimate("ratio", nan, -inf, inf, len(second))
    value = fmean(first) / below
    if len(first) < 2:
        return Estimate("ratio", value, -inf, inf, len(first))
    half = half_width([a - value * b for a, b in zip(first, second, strict=True)]) / abs(below)
    return Estimate("ratio", value, value - half, value + half, len(first))


def quantile(values: Sequence[float], q: float = 0.5) -> Estimate:
    """A quantile, with the interval between two of the sorted values (of any distribution).

    The k-th smallest of n lies below the quantile with a binomial probability; ends that no value bounds
    are infinite.

    Source: H. A. David and H. N. Nagaraja, Order Statistics, 2003, section 7.1.
    """
    import numpy as np
    from scipy.stats import binom

    ordered = sorted(values)
    tail = (1 - LEVEL) / 2
    k = np.arange(len(ordered) + 1)
    below = binom.cdf(k, len(ordered), q)  # P(at most k values lie below the quantile)
    first = int(np.searchsorted(below, tail, side="right"))  # values that may all lie below it
    last = int(np.searchsorted(below, 1 - tail, side="left")) + 1
    low = ordered[first - 1] if first > 0 else -inf
    high = ordered[last - 1] if last <= len(ordered) else inf
    name = "median" if q == 0.5 else f"{q:.0%} quantile"
    return Estimate(name, float(np.quantile(ordered, q)), low, high, len(ordered))


def share(holds: Sequence[bool]) -> Estimate:
    """The share of runs in which something holds, with the interval of Clopper and Pearson."""
    from scipy.stats import binomtest

    found = binomtest(sum(holds), len(holds)).proportion_ci(LEVEL, method="exact")
    return Estimate("share of runs", sum(holds) / len(holds), float(found.low), float(found.high), len(holds))


@dataclass(frozen=True)
class Always(Finding):
    """Something expected of every run; `estimate` is the share of runs in which it holds.

    Met if no run is an exception, not met if significantly more than one run in twenty is, else undecided: no
    number of runs could show that there is no exception at all.
    """

    @property
    def outcome(self) -> Outcome:
        """What the interval says."""
        if self.estimate.runs is not None and self.estimate.runs < FEWEST:
            return "undecided"
        if self.estimate.value == 1:
            return "met"
        return "not met" if self.estimate.high < 1 - RARE else "undecided"

    @property
    def expected(self) -> str:
        """The expectation, in words."""
        return f"in every run: {self.what}"

    @property
    def measured(self) -> str:
        """What came out, in words."""
        runs = self.estimate.runs or 0
        return f"in {round(self.estimate.value * runs)} of {runs} runs"


def always(what: str, holds: Sequence[bool]) -> Always:
    """Something expected of every run."""
    return Always(what, share(holds))
