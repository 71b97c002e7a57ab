"""What forecasts remember of many series that are measured together: all are seen to at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from math import inf
from typing import Protocol

import numpy as np

from gridtune.model.deadline.timetable import Floats


class Memory(Protocol):
    """A memory keeps what a forecast needs of one series of measurements."""

    def observe(self, value: float) -> None:
        """Take in a measurement."""

    def forecast(self) -> float:
        """What the next measurement is expected to be."""


class Memories(Protocol):
    """Memories keep what a forecast needs of series that are always measured at the same time."""

    def observe(self, values: Sequence[float]) -> Sequence[float] | Floats:
        """Take in a measurement of each; what the next one of each is expected to be."""


class Separate:
    """A memory of each series."""

    def __init__(self, memories: Sequence[Memory]) -> None:
        self._memories = memories

    def observe(self, values: Sequence[float]) -> Sequence[float]:
        """Take in a measurement of each; what the next one of each is expected to be."""
        expected = []
        for memory, value in zip(self._memories, values, strict=True):
            memory.observe(value)
            expected.append(memory.forecast())
        return expected


class Competing:
    """Running mean, sliding median and autoregression of each series, of which the best so far speaks.

    To the last bit what `BestSoFar` makes of the three; see `model.deadline.forecasts`.

    Args:
        series: how many there are.
        window: measurements in the sliding median.
    """

    def __init__(self, series: int, window: int) -> None:
        self._count = 0
        self._mean = np.zeros(series)
        self._latest = np.zeros((window, series))
        self._last = np.zeros(series)
        self._sum_x = np.zeros(series)
        self._sum_y = np.zeros(series)
        self._sum_xx = np.zeros(series)
        self._sum_xy = np.zeros(series)
        self._errors = np.zeros((3, series))
        self._expected = np.zeros((3, series))
        self._low, self._high = np.full(series, inf), np.full(series, -inf)
        self._series = np.arange(series)

    def observe(self, values: Sequence[float]) -> Floats:
        """Judge every rival by what it expected, then let it take in the measurements; what is expected."""
        measured = np.array(values)
        if self._count:
            self._errors += _squares(self._expected - measured)
        self._count += 1
        self._expected[0] = self._running_mean(measured)
        self._expected[1] = self._median(measured)
        self._expected[2] = self._line(measured)
        np.minimum(self._low, measured, out=self._low)
        np.maximum(self._high, measured, out=self._high)
        best: Floats = self._expected[self._errors.argmin(axis=0), self._series]
        within: Floats = np.minimum(np.maximum(best, self._low), self._high)
        return within

    def _running_mean(self, measured: Floats) -> Floats:
        self._mean = measured if self._count == 1 else self._mean + (measured - self._mean) / self._count
        return self._mean

    def _median(self, measured: Floats) -> Floats:
        window = len(self._latest)
        self._latest[(self._count - 1) % window] = measured
        held = min(self._count, window)
        ordered = np.sort(self._latest[:held], axis=0)
        median: Floats = (ordered[(held - 1) // 2] + ordered[held // 2]) / 2
        return median

    def _line(self, measured: Floats) -> Floats:
        """The line through pairs of a measurement and the next; the last one while there is no line."""
        pairs = self._count - 1
        last, self._last = self._last, measured
        if pairs:
            self._sum_x += last
            self._sum_y += measured
            self._sum_xx += last * last
            self._sum_xy += last * measured
        if pairs < 2:
            return measured
        spread = pairs * self._sum_xx - _squares(self._sum_x)
        with np.errstate(all="ignore"):  # where there is no line
            slope = (pairs * self._sum_xy - self._sum_x * self._sum_y) / spread
            line = (self._sum_y + slope * (pairs * measured - self._sum_x)) / pairs
        return np.where(spread <= 1e-12 * self._sum_xx, measured, line)


def _squares(values: Floats) -> Floats:
    """Squares as `x**2` of a number gives them, which is not always `x * x` to the last bit."""
    return np.array(list(map(pow, values.ravel().tolist(), repeat(2)))).reshape(values.shape)
