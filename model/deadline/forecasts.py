"""Forecasts of what changes in a platform, and the correction of forecast run times."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from gridtune.model.deadline.memories import Competing, Memories, Memory, Separate
from gridtune.model.deadline.timetable import Floats
from gridtune.model.policy import Policy, parameter, register

MANY = 12  # series from which on they are seen to at once


class LastValue:
    """The future is like the present."""

    __slots__ = ("_last",)

    def __init__(self, initial: float) -> None:
        self._last = initial

    def observe(self, value: float) -> None:
        """Take in a measurement."""
        self._last = value

    def forecast(self) -> float:
        """The last measurement."""
        return self._last


class RunningMean:
    """The mean of all measurements."""

    __slots__ = ("_count", "_mean")

    def __init__(self, initial: float) -> None:
        self._mean = initial
        self._count = 0

    def observe(self, value: float) -> None:
        """Take in a measurement."""
        self._count += 1
        # Not mean + (value - mean) / count: an infinite start would stay.
        self._mean = value if self._count == 1 else self._mean + (value - self._mean) / self._count

    def forecast(self) -> float:
        """The mean so far."""
        return self._mean


class SlidingMedian:
    """The median of the last measurements, deaf to single outliers."""

    __slots__ = ("_initial", "_latest", "_sorted")

    def __init__(self, initial: float, window: int) -> None:
        self._initial = initial
        self._latest: deque[float] = deque(maxlen=window)
        self._sorted: list[float] = []

    def observe(self, value: float) -> None:
        """Take in a measurement and let go of the oldest."""
        if len(self._latest) == self._latest.maxlen:
            del self._sorted[bisect_left(self._sorted, self._latest[0])]
        self._latest.append(value)
        insort(self._sorted, value)

    def forecast(self) -> float:
        """The median of the window."""
        ordered, count = self._sorted, len(self._sorted)
        if not count:
            return self._initial
        return (ordered[(count - 1) // 2] + ordered[count // 2]) / 2


class Autoregression:
    """Each measurement as a + b times the one before, by least squares over all of them."""

    __slots__ = ("_count", "_last", "_sum_x", "_sum_xx", "_sum_xy", "_sum_y")

    def __init__(self, initial: float) -> None:
        self._last = initial
        self._count = -1
        self._sum_x = self._sum_y = self._sum_xx = self._sum_xy = 0.0

    def observe(self, value: float) -> None:
        """Take in a measurement, paired with the one before."""
        if self._count >= 0:
            self._sum_x += self._last
            self._sum_y += value
            self._sum_xx += self._last * self._last
            self._sum_xy += self._last * value
        self._count += 1
        self._last = value

    def forecast(self) -> float:
        """The line through the pairs, at the last measurement; that itself while there is no line."""
        spread = self._count * self._sum_xx - self._sum_x**2
        if self._count < 2 or spread <= 1e-12 * self._sum_xx:
            return self._last
        slope = (self._count * self._sum_xy - self._sum_x * self._sum_y) / spread
        return (self._sum_y + slope * (self._count * self._last - self._sum_x)) / self._count


class BestSoFar:
    """Several forecasters in competition: the one with the least cumulative squared error speaks.

    Ties go to the first. Forecasts are kept within the range of the measurements, since a line through
    few measurements may lead anywhere.

    Args:
        initial: expected before anything is measured.
        rivals: the forecasters.
    """

    __slots__ = ("_errors", "_expected", "_high", "_initial", "_low", "_rivals")

    def __init__(self, initial: float, rivals: Sequence[Memory]) -> None:
        self._initial = initial
        self._rivals = rivals
        self._errors = [0.0] * len(rivals)
        self._expected: list[float] = []  # by the rivals, of the next measurement
        self._low, self._high = inf, -inf

    def observe(self, value: float) -> None:
        """Judge every rival by what it expected, then let it take in the measurement."""
        errors = self._errors
        for k, expected in enumerate(self._expected):
            errors[k] += (expected - value) ** 2
        for rival in self._rivals:
            rival.observe(value)
        self._expected = [rival.forecast() for rival in self._rivals]
        if value < self._low:
            self._low = value
        if value > self._high:
            self._high = value

    @property
    def best(self) -> Memory:
        """The rival with the least error so far."""
        return self._rivals[self._best]

    @property
    def _best(self) -> int:
        return self._errors.index(min(self._errors))

    def forecast(self) -> float:
        """What the best rival expects."""
        if not self._expected:
            return self._initial
        return min(max(self._expected[self._best], self._low), self._high)


@dataclass(frozen=True)
class Forecast(Policy, family="forecast"):
    """A forecast expects run times; every kind can be made wrong on purpose, to study errors.

    Attributes:
        oracle: whether it is fed the present truth at each decision, not what sensors saw.
        bias: the factor on the unbiased forecast of every run time.
        spread: the standard deviation of the logarithm of a further bias, drawn once for each server.
        noise: the standard deviation of the logarithm of an error drawn for each forecast.

    Example:
        >>> class Largest:
        ...     def __init__(self, initial):
        ...         self.largest = initial
        ...     def observe(self, value):
        ...         self.largest = max(self.largest, value)
        ...     def forecast(self):
        ...         return self.largest
        >>> @gt.policies.register("forecast", "largest")
        ... @dataclass(frozen=True)
        ... class LargestSeen(gt.policies.Forecast):
        ...     "The largest measurement so far."
        ...     def memory(self, initial):
        ...         return Largest(initial)
        >>> memory = LargestSeen().memory(1.0)
        >>> memory.observe(3.0)
        >>> memory.forecast()
        3.0
    """

    oracle: ClassVar[bool] = False

    bias: float = parameter(
        1.0,
        help="forecast over unbiased forecast of every run time",
        unit="ratio",
        low=0.5,
        high=2.0,
        log=True,
        minimum=0.0,
        exclusive=True,
    )
    spread: float = parameter(
        0.0,
        help="standard deviation of the logarithm of a further bias, drawn once for each server",
        unit="none",
        low=0.0,
        high=1.0,
        minimum=0.0,
    )
    noise: float = parameter(
        0.0,
        help="standard deviation of the logarithm of an error drawn for each forecast",
        unit="none",
        low=0.0,
        high=1.0,
        minimum=0.0,
    )

    @abstractmethod
    def memory(self, initial: float) -> Memory:
        """Make an object that forecasts one series of measurements.

        Args:
            initial: the value that is expected before any measurement, in the unit of the series.

        Returns:
            An object with the methods `observe(value)` and `forecast()`.
        """

    def memories(self, initials: Sequence[float]) -> Memories:
        """Make an object that forecasts several series that are measured together.

        Args:
            initials: the value of each series that is expected before any measurement.

        Returns:
            An object with the method `observe(values)`, which returns what is expected next of each series.

        Example:
            >>> LargestSeen().memories([1.0, 2.0]).observe([3.0, 1.0])
            [3.0, 2.0]
        """
        return Separate([self.memory(initial) for initial in initials])

    def lasting_error(self, rng: np.random.Generator, servers: int) -> Floats:
        """Draw the error of each server that lasts for the whole run.

        Args:
            rng: the agent's own stream.
            servers: the number of servers.

        Returns:
            The factors on the forecast times; an array with an entry for each server.

        Example:
            >>> LargestSeen(bias=2.0).lasting_error(np.random.default_rng(1), servers=3).tolist()
            [2.0, 2.0, 2.0]
        """
        return self.bias * np.exp(self.spread * rng.standard_normal(servers))

    def passing_error(self, rng: np.random.Generator, servers: int) -> Floats | float:
        """Draw the error of the forecast times of one task.

        Args:
            rng: the agent's own stream.
            servers: the number of servers.

        Returns:
            The factors on the forecast times; an array with an entry for each server, or 1 for no error.

        Example:
            >>> LargestSeen().passing_error(np.random.default_rng(1), servers=3)
            1.0
        """
        return np.exp(self.noise * rng.standard_normal(servers)) if self.noise else 1.0


@register("forecast", "perfect", source="RR-5335, section 4.1 (exact present values)")
@dataclass(frozen=True)
class Perfect(Forecast):
    """The true performance at the moment of the decision is known, without sensors in between."""

    oracle: ClassVar[bool] = True

    def memory(self, initial: float) -> Memory:
        """The value it is told."""
        return LastValue(initial)


@register("forecast", "measured", source="RR-5335, section 4.1")
@dataclass(frozen=True)
class Measured(Forecast):
    """The last measurement is what is expected."""

    def memory(self, initial: float) -> Memory:
        """The last measurement."""
        return LastValue(initial)


@register("forecast", "nws", source="RR-5335, section 3; Wolski et al. 1999")
@dataclass(frozen=True)
class NetworkWeatherService(Forecast):
    """Running mean, median and autoregression compete; the one with the least error so far is used."""

    window: int = parameter(
        21, help="measurements in the sliding median", unit="measurements", low=3, high=51, minimum=1
    )

    def memory(self, initial: float) -> Memory:
        """The three in competition."""
        rivals = (RunningMean(initial), SlidingMedian(initial, self.window), Autoregression(initial))
        return BestSoFar(initial, rivals)

    def memories(self, initials: Sequence[float]) -> Memories:
        """The three in competition in each series."""
        if len(initials) < MANY:
            return super().memories(initials)
        return Competing(len(initials), self.window)


class Correction:
    """Mean ratio of actual to forecast run times at one server, in percent (RR-5335, algorithm 2).

    Attributes:
        percent: CorrecFAST; 100 before anything was executed.
        executions: nb_exec.
    """

    __slots__ = ("executions", "percent")

    def __init__(self) -> None:
        self.percent = 100.0
        self.executions = 0

    def learn(self, actual: float, forecast: float) -> None:
        """Take in an execution.

        Args:
            actual: T_r, s.
            forecast: T_aS, s; more than 0.
        """
        n = self.executions
        self.percent = (n * self.percent + 100.0 * actual / forecast) / (n + 1)
        self.executions = n + 1
