"""Controllers of control theory: proportional, integral and derivative action, and model-free control."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from gridtune.model.harvest.control import Feedback, Memory, Reading
from gridtune.model.harvest.plant import Gains, pole_placement
from gridtune.model.policy import PolicyError, parameter, register

AUTHORS = "PI control of CiGri (ICSTCC 2021)"
MODEL_FREE = "Fliess and Join 2013, arXiv 1305.7085; CCTA 2022, hal-03663273"


def _kp() -> float:
    value: float = parameter(
        0.551,
        help="proportional gain",
        unit="jobs per unit of error",
        low=0.01,
        high=2.0,
        log=True,
        minimum=0.0,
    )
    return value


def _ki() -> float:
    value: float = parameter(
        0.225,
        help="integral gain",
        unit="jobs per unit of error and cycle",
        low=0.001,
        high=1.0,
        log=True,
        minimum=0.0,
    )
    return value


class Sums(NamedTuple):
    """Memory of the controllers: the sum of all errors so far, and the last one."""

    total: float
    last: float


@register("control", "p", source=AUTHORS)
@dataclass(frozen=True)
class P(Feedback):
    """Proportional: u = kp e; settles below the reference, since jobs that end must be replaced."""

    kp: float = _kp()

    def law(self, error: float, reading: Reading, memory: Memory) -> tuple[float, Memory]:
        """Nothing is remembered."""
        return self.kp * error, None


@register("control", "pi", source=AUTHORS)
@dataclass(frozen=True)
class PI(Feedback):
    """Proportional and integral: u = kp e + ki sum(e), without any limit on the sum."""

    kp: float = _kp()
    ki: float = _ki()

    def law(self, error: float, reading: Reading, memory: Memory) -> tuple[float, Memory]:
        """The sum of errors is remembered."""
        return _positional(error, memory, Gains(self.kp, self.ki), 0.0)


@register("control", "pid", source=AUTHORS)
@dataclass(frozen=True)
class PID(Feedback):
    """Proportional, integral and derivative: u = kp e + ki sum(e) + kd (e - last e)."""

    kp: float = _kp()
    ki: float = _ki()
    kd: float = parameter(
        0.0,
        help="derivative gain",
        unit="jobs per change of error in a cycle",
        low=0.0,
        high=2.0,
        minimum=0.0,
    )

    def law(self, error: float, reading: Reading, memory: Memory) -> tuple[float, Memory]:
        """The sum of errors and the last one are remembered."""
        return _positional(error, memory, Gains(self.kp, self.ki), self.kd)


@register("control", "pole-placement", source=AUTHORS)
@dataclass(frozen=True)
class PolePlacement(Feedback):
    """PI whose gains follow from a wanted response of an identified plant y(k+1) = a y(k) + b u(k)."""

    settling: float = parameter(
        10.0,
        help="cycles until a step response has settled",
        unit="cycles",
        low=4.0,
        high=60.0,
        log=True,
        minimum=0.0,
        exclusive=True,
        source=AUTHORS,
    )
    overshoot: float = parameter(
        0.05,
        help="of the step response",
        unit="fraction",
        low=0.001,
        high=0.3,
        log=True,
        minimum=0.0,
        maximum=0.99,
        exclusive=True,
        source=AUTHORS,
    )
    a: float = parameter(1.0, help="what is left of the measured value after a cycle")
    b: float = parameter(1.0, help="what a submitted job adds to the measured value")

    def __post_init__(self) -> None:
        if self.b == 0:
            raise PolicyError("pole-placement.b: 0 means a plant that does not answer; `identify` finds b")

    @cached_property
    def gains(self) -> Gains:
        """Of the PI law."""
        return pole_placement(self.a, self.b, self.settling, self.overshoot)

    def law(self, error: float, reading: Reading, memory: Memory) -> tuple[float, Memory]:
        """As PI."""
        return _positional(error, memory, self.gains, 0.0)


@register("control", "mfc", source=MODEL_FREE)
@dataclass(frozen=True)
class ModelFree(Feedback):
    """Model-free control: intelligent P or PI on the ultra-local model dy/dt = F + alpha u.

    F is estimated from the last cycle, so that u(k) = u(k-1) + (e(k) - e(k-1)) / (alpha h) +
    (kp e(k) + ki sum(e)) / alpha with the cycle h and errors relative to `scale`.
    """

    alpha: float = parameter(
        0.01,
        help="assumed effect of a job on the rate of change of the relative sensor",
        unit="per job and s",
        low=1e-4,
        high=1.0,
        log=True,
        minimum=0.0,
        exclusive=True,
        source=MODEL_FREE,
    )
    kp: float = parameter(
        0.1, help="gain of the intelligent P", low=1e-4, high=1.0, log=True, minimum=0.0, source=MODEL_FREE
    )
    ki: float = parameter(
        0.0, help="integral gain; 0 for an intelligent P", low=0.0, high=0.1, minimum=0.0, source=MODEL_FREE
    )
    scale: float = parameter(
        8.0,
        help="value of the sensor that counts as 1",
        unit="as the sensor",
        low=1.0,
        high=4096.0,
        log=True,
        minimum=0.0,
        exclusive=True,
        source=MODEL_FREE,
    )

    def law(self, error: float, reading: Reading, memory: Memory) -> tuple[float, Memory]:
        """The last input, the last error and the sum of errors are remembered."""
        error /= self.scale
        jobs, last, total = memory or (0.0, error, 0.0)
        total += error
        jobs += (error - last) / (self.alpha * reading.cycle) + (
            self.kp * error + self.ki * total
        ) / self.alpha
        # What could not be applied must not be believed to have acted.
        jobs = max(0.0, jobs)
        return jobs, (jobs, error, total)


def _positional(error: float, memory: Memory, gains: Gains, kd: float) -> tuple[float, Sums]:
    """The positional law, with no anti-windup: an integral that has grown too large must be worked off."""
    before: Sums = memory or Sums(0.0, error)
    total = before.total + error
    jobs = gains.kp * error + gains.ki * total + kd * (error - before.last)
    return jobs, Sums(total, error)
