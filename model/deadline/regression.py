"""What a routine needs, by polynomial regression on benchmarks (FAST; RR-5335, section 3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def polynomial(coefficients: Sequence[float], sizes: Floats) -> Floats:
    """Values of c0 + c1 n + c2 n^2 + … at some sizes n."""
    made: Floats = np.polynomial.polynomial.polyval(sizes, np.asarray(coefficients, dtype=float))
    return made


def fitted(sizes: Floats, values: Floats, degree: int) -> list[float]:
    """Coefficients of the polynomial of a degree whose relative errors have the least sum of squares.

    Args:
        sizes: at which the routine was benchmarked; more distinct ones than the degree.
        values: what was measured there, above 0.
        degree: of the polynomial.

    Source: RR-5335, section 3 (an extensive benchmark followed by a polynomial regression).
    """
    scale = float(np.abs(sizes).max()) or 1.0  # powers of sizes in the thousands differ too much
    found = np.polynomial.polynomial.polyfit(sizes / scale, values, degree, w=1.0 / values)
    return [float(value) / scale**power for power, value in enumerate(found)]
