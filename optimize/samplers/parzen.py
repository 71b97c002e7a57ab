"""Parzen estimators: densities of one parameter, a kernel around each value that was observed."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from optimize.archive import Value
from optimize.space import Parameter

Floats = NDArray[np.float64]

NARROWEST = 100  # kernels are at least this part of the range wide


class Density(Protocol):
    """A probability over the values of a parameter, as numbers; see `numbers`."""

    def sample(self, rng: np.random.Generator, count: int) -> Floats:
        """Independent values."""

    def log_density(self, values: Floats) -> Floats:
        """Logarithm of the density, or of the probability of a choice or whole number."""


class ChoiceDensity:
    """Shares of choices among those observed, each counted once more than it was.

    Args:
        count: of choices.
        observed: positions of those observed.
        weights: of each.
    """

    def __init__(self, count: int, observed: Floats, weights: Floats) -> None:
        counts = 1.0 + np.bincount(observed.astype(int), weights, minlength=count)
        self._shares = counts / counts.sum()

    def sample(self, rng: np.random.Generator, count: int) -> Floats:
        """Independent positions."""
        return rng.choice(len(self._shares), count, p=self._shares).astype(float)

    def log_density(self, values: Floats) -> Floats:
        """Logarithm of the probability."""
        return np.asarray(np.log(self._shares[values.astype(int)]))


class RangeDensity:
    """Normal kernels cut to a range: one around each value observed, one over the whole range.

    A kernel is as wide as the larger of the gaps to its neighbours.

    Args:
        low, high: of the range; of whole numbers half a unit more.
        observed: values, in any order.
        weights: of each; that of the whole range is 1.
        cells: gives the bounds of the cells that values stand for; None for a continuous range.

    Source: J. Bergstra et al., Algorithms for Hyper-Parameter Optimization, 2011, section 4.
    """

    def __init__(self, low: float, high: float, observed: Floats, weights: Floats, cells: Any = None) -> None:
        from scipy.special import ndtr

        self._low, self._high, self._cells = low, high, cells
        order = np.argsort(observed, kind="stable")
        means = observed[order]
        shares = np.append(weights[order], 1.0)
        self._shares = shares / shares.sum()
        gaps = np.diff(means, prepend=low, append=high)
        if len(means) > 1:
            gaps[0], gaps[-1] = gaps[1], gaps[-2]  # the ends of the range are no neighbours
        span = high - low
        least = span / min(NARROWEST, 2 + len(means))
        widths = np.clip(np.maximum(gaps[:-1], gaps[1:]), least, span)
        self._means, self._widths = np.append(means, (low + high) / 2), np.append(widths, span)
        means, widths = self._means, self._widths
        self._below = ndtr((low - means) / widths)
        self._mass = ndtr((high - means) / widths) - self._below

    def sample(self, rng: np.random.Generator, count: int) -> Floats:
        """Independent values, not rounded."""
        from scipy.special import ndtri

        kernel = rng.choice(len(self._means), count, p=self._shares)
        share = self._below[kernel] + rng.random(count) * self._mass[kernel]
        values = self._means[kernel] + self._widths[kernel] * ndtri(share)
        return np.asarray(np.clip(values, self._low, self._high))

    def log_density(self, values: Floats) -> Floats:
        """Logarithm of the density, or of the probability of a cell."""
        from scipy.special import ndtr

        if self._cells is None:
            distance = (values[:, None] - self._means) / self._widths
            kernels = np.exp(-0.5 * distance**2) / (self._widths * np.sqrt(2 * np.pi))
        else:
            low, high = self._cells(values)
            kernels = ndtr((high[:, None] - self._means) / self._widths)
            kernels -= ndtr((low[:, None] - self._means) / self._widths)
        return np.asarray(np.log(kernels @ (self._shares / self._mass) + 1e-300))


class Axis:
    """A parameter as a line of numbers, on which densities live.

    Choices are their positions, numbers of a logarithmic range their logarithms.

    Args:
        parameter: of a space.
    """

    def __init__(self, parameter: Parameter) -> None:
        self.parameter = parameter
        half = 0.5 if parameter.whole else 0.0
        ends = (parameter.low - half, parameter.high + half)
        self._low, self._high = (log(ends[0]), log(ends[1])) if parameter.log else ends

    def number(self, value: Value) -> float:
        """Where a value is."""
        parameter = self.parameter
        if parameter.choices:
            return float(_position(parameter.choices, value))
        return log(float(value)) if parameter.log else float(value)

    def value(self, number: float) -> Value:
        """What is there."""
        parameter = self.parameter
        if parameter.choices:
            return parameter.choices[int(number)]
        plain = float(np.exp(number)) if parameter.log else float(number)
        clipped = min(max(round(plain) if parameter.whole else plain, parameter.low), parameter.high)
        return int(clipped) if parameter.whole else float(clipped)

    def density(self, observed: Floats, weights: Floats) -> Density:
        """Of values around those observed, each with its weight."""
        if self.parameter.choices:
            return ChoiceDensity(len(self.parameter.choices), observed, weights)
        return RangeDensity(
            self._low, self._high, observed, weights, self._cells if self.parameter.whole else None
        )

    def _cells(self, values: Floats) -> tuple[Floats, Floats]:
        """Bounds of what is rounded to the same whole numbers as the values."""
        if not self.parameter.log:
            return np.round(values) - 0.5, np.round(values) + 0.5
        whole = np.clip(np.round(np.exp(values)), self.parameter.low, self.parameter.high)
        return np.log(whole - 0.5), np.log(whole + 0.5)


def _position(choices: Sequence[Value], value: Value) -> int:
    # True and 1 are equal in Python, not in a scenario.
    return next(
        at
        for at, one in enumerate(choices)
        if one == value and isinstance(one, bool) == isinstance(value, bool)
    )
