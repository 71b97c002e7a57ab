"""The difference between two configurations under common random numbers, with its interval."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Verdict = Literal["equal", "clearly", "probably", "unsure", "unknown"]

CLEARLY, PROBABLY = 0.99, 0.90  # two-sided confidence that a difference has its sign
INTERVAL = 0.95
ROUNDING = 1e-12  # of the values: differences below are none


@dataclass(frozen=True)
class Difference:
    """Mean of paired differences.

    Attributes:
        mean: over the pairs.
        standard_error: of the mean; None for a single pair.
        low, high: 95 % interval of the mean; None for a single pair.
        confidence: that the difference is not 0, two-sided; None for a single pair.
        pairs: replications that both configurations have; 0 where they are compared as two samples.
    """

    mean: float
    standard_error: float | None
    low: float | None
    high: float | None
    confidence: float | None
    pairs: int

    @classmethod
    def of(cls, mean: float, error: float, freedom: float, pairs: int) -> Difference:
        """By Student's t; a difference without error is certain.

        Args:
            mean: of the differences.
            error: standard error of the mean.
            freedom: degrees of freedom by which the error is known.
            pairs: see `Difference`.
        """
        from scipy.special import stdtr, stdtrit

        if error == 0:
            return cls(mean, 0.0, mean, mean, 1.0 if mean else 0.0, pairs)
        half = float(stdtrit(freedom, 0.5 + INTERVAL / 2)) * error
        confidence = 1 - 2 * float(stdtr(freedom, -abs(mean) / error))
        return cls(mean, error, mean - half, mean + half, confidence, pairs)

    @property
    def half(self) -> float | None:
        """Half of the interval, which stands behind ±; None where there is none."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    @property
    def verdict(self) -> Verdict:
        """`equal` in every pair, `clearly` or `probably` different, `unsure`, or `unknown` from one pair."""
        return self.corrected()

    def corrected(self, tests: int = 1) -> Verdict:
        """The verdict if this is one of several tests (Bonferroni)."""
        if self.mean == 0 and not self.standard_error:
            return "equal"
        if self.confidence is None:
            return "unknown"
        p = (1 - self.confidence) * tests
        return "clearly" if p <= 1 - CLEARLY else "probably" if p <= 1 - PROBABLY else "unsure"

    def as_json(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self) | {"verdict": self.verdict}
