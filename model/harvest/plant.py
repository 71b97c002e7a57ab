"""First-order plants: identified from a run, and controlled with gains placed for a wanted response."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, exp, log, pi
from typing import NamedTuple

import numpy as np


class Gains(NamedTuple):
    """Of a positional PI controller u = kp e + ki sum(e), in jobs per unit of error."""

    kp: float
    ki: float


class FirstOrder(NamedTuple):
    """A plant y(k+1) = a y(k) + b u(k), k in cycles.

    Attributes:
        a: what is left of the measured value after a cycle.
        b: what a submitted job adds to it.
    """

    a: float
    b: float

    @property
    def gain(self) -> float:
        """Measured value per job submitted in each cycle, once settled: b / (1 - a)."""
        return self.b / (1.0 - self.a) if self.a != 1.0 else float("inf")


def pole_placement(a: float, b: float, settling: float, overshoot: float) -> Gains:
    """Gains of a PI controller for the plant y(k+1) = a y(k) + b u(k).

    With r = exp(-4 / settling) and theta = pi ln r / ln overshoot, the closed loop gets the poles
    r exp(+-i theta): kp = (a - r^2) / b, ki = (1 - 2 r cos theta + r^2) / b.

    Args:
        a, b: plant coefficients, per cycle (b in measured units per job submitted).
        settling: cycles until the step response stays within 2 %; more than 0.
        overshoot: fraction by which a system with these poles and without zeros exceeds its reference, less
            than r. The controller adds a zero, so that the measure exceeds it by more.

    Raises:
        ValueError: b is 0, or settling or overshoot is out of range.

    Source: PI control of CiGri's submissions by its authors (ICSTCC 2021, 10.1109/ICSTCC52150.2021.9607292).
    """
    if b == 0:
        raise ValueError("b is 0: a plant that does not answer to its input cannot be controlled")
    if not settling > 0:
        raise ValueError(f"settling must be more than 0 cycles, not {settling}")
    r = exp(-4.0 / settling)
    if not 0 < overshoot < r:
        raise ValueError(f"overshoot must be between 0 and {r:.3g} (exp(-4 / settling)), not {overshoot:g}")
    theta = pi * log(r) / log(overshoot)
    return Gains((a - r * r) / b, (1.0 - 2.0 * r * cos(theta) + r * r) / b)


def fit_first_order(measured: Sequence[float], inputs: Sequence[float]) -> FirstOrder:
    """The plant that explains a run best in the sense of least squares.

    Args:
        measured: y(0) … y(n), one per cycle, in units of the sensor.
        inputs: u(0) … u(n-1) or longer, jobs submitted in each cycle after measuring.

    Raises:
        ValueError: fewer than three cycles, or signals that do not identify a and b (constant ones).

    Source: the normal equations of y(k+1) = a y(k) + b u(k), as in the authors' identification of CiGri.
    """
    steps = len(measured) - 1
    if steps < 2 or len(inputs) < steps:
        raise ValueError(f"identification needs 3 cycles and an input for each, not {len(measured)} cycles")
    y, after = np.asarray(measured[:-1], dtype=float), np.asarray(measured[1:], dtype=float)
    u = np.asarray(inputs[:steps], dtype=float)
    yy, uy, uu = float(y @ y), float(u @ y), float(u @ u)
    determinant = yy * uu - uy * uy
    if not determinant > 1e-9 * max(yy * uu, 1e-300):
        raise ValueError("the signals do not identify a and b; let the input step further or run longer")
    y_after, u_after = float(y @ after), float(u @ after)
    return FirstOrder(
        (uu * y_after - uy * u_after) / determinant, (yy * u_after - uy * y_after) / determinant
    )
