"""Controllers of control theory: proportional, integral and derivative action, and model-free control."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gridtune.model.harvest.antiwindup import AntiWindup, positional
from gridtune.model.harvest.control import Feedback, Memory, Reading
from gridtune.model.harvest.plant import Gains, pole_placement
from gridtune.model.policy import PolicyError, parameter, register

AUTHORS = "PI control of CiGri (ICSTCC 2021)"
ASTROM = "Astrom and Hagglund, Advanced PID Control (2006), section 3.5"
MODEL_FREE = "Fliess and Join 2013, arXiv 1305.7085; CCTA 2022, hal-03663273"


def _gain(default: float, kind: str, per: str, low: float, high: float) -> Any:
    """A gain, in jobs per `per`, to be searched between two bounds on a logarithmic scale."""
    return parameter(
        default, help=f"{kind} gain", unit=f"jobs per {per}", low=low, high=high, log=True, minimum=0.0
    )


def _kp() -> Any:
    return _gain(0.551, "proportional", "unit of error", 0.01, 2.0)


def _ki() -> Any:
    return _gain(0.225, "integral", "unit of error and cycle", 0.001, 1.0)


def _anti_windup() -> Any:
    return parameter(
        "none",
        help="what keeps the integral from growing while the wanted input cannot be applied: `none` (as "
        "published), `conditional` integration, `clamping` of the integral term, or `back-calculation`",
        source=ASTROM,
    )


def _tracking() -> Any:
    return parameter(
        2.5,
        help="tracking time of back-calculation",
        unit="cycles",
        low=1.0,
        high=20.0,
        log=True,
        minimum=1.0,
        source=ASTROM,
    )


@register("control", "p", source=AUTHORS)
@dataclass(frozen=True)
class P(Feedback):
    """P control sets u = kp e; with a small gain it settles below the reference: ended jobs are replaced."""

    kp: float = _kp()

    def law(self, error: float, reading: Reading, memory: Memory) -> tuple[float, Memory]:
        """Nothing is remembered."""
        return self.kp * error, None


@register("control", "pi", source=AUTHORS)
@dataclass(frozen=True)
class PI(Feedback):
    """PI control sets u = kp e + ki sum(e), by default without any limit on the sum."""

    kp: float = _kp()
    ki: float = _ki()
    anti_windup: AntiWindup = _anti_windup()
    tracking: float = _tracking()

    def law(self, error: float, reading: Reading, memory: Memory) -> tuple[float, Memory]:
        """The sum of errors is remembered."""
        return positional(
            error, memory, Gains(self.kp, self.ki), 0.0, reading.left, self.anti_windup, self.tracking
        )


@register("control", "pid", source=AUTHORS)
@dataclass(frozen=True)
class PID(Feedback):
    """PID control sets u = kp e + ki sum(e) + kd (e - last e)."""

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
    anti_windup: AntiWindup = _anti_windup()
    tracking: float = _tracking()

    def law(self, error: float, reading: Reading, memory: Memory) -> tuple[float, Memory]:
        """The sum of errors and the last one are remembered."""
        return positional(
            error, memory, Gains(self.kp, self.ki), self.kd, reading.left, self.anti_windup, self.tracking
        )


@register("control", "pole-placement", source=AUTHORS)
@dataclass(frozen=True)
class PolePlacement(Feedback):
    """PI gains follow from a wanted response of an identified plant y(k+1) = a y(k) + b u(k)."""

    settling: float = parameter(
        10.0,
        help="cycles until a step response stays within 2 %",
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
        help="overshoot that the closed loop's poles alone would have, as a share of the step; less than "
        "exp(-4 / settling)",
        unit="ratio",
        low=0.001,
        high=0.3,
        log=True,
        minimum=0.0,
        maximum=0.99,
        exclusive=True,
        source=AUTHORS,
    )
    a: float = parameter(
        1.0, help="share of the measured value that is left a cycle later; of this `cycle`", unit="ratio"
    )
    b: float = parameter(
        1.0,
        help="rise of the measured value a cycle later with each submitted job; of this `cycle`; not 0",
        unit="as the sensor, per job",
    )
    anti_windup: AntiWindup = _anti_windup()
    tracking: float = _tracking()

    def __post_init__(self) -> None:
        if self.b == 0:
            raise PolicyError("pole-placement.b: 0 means a plant that does not answer; `identify` finds b")
        try:
            pole_placement(self.a, self.b, self.settling, self.overshoot)
        except ValueError as error:
            raise PolicyError(f"pole-placement: {error}") from None

    @cached_property
    def gains(self) -> Gains:
        """Of the PI law."""
        return pole_placement(self.a, self.b, self.settling, self.overshoot)

    def law(self, error: float, reading: Reading, memory: Memory) -> tuple[float, Memory]:
        """As PI."""
        return positional(error, memory, self.gains, 0.0, reading.left, self.anti_windup, self.tracking)


@register("control", "mfc", source=MODEL_FREE)
@dataclass(frozen=True)
class ModelFree(Feedback):
    """Model-free control acts as an intelligent P or PI on the ultra-local model dy/dt = F + alpha u.

    F is estimated from the last cycle, so that u(k) = u(k-1) + (e(k) - e(k-1)) / (alpha h) +
    (kp e(k) + ki sum(e)) / alpha with the cycle h and errors relative to `scale`.
    """

    alpha: float = parameter(
        0.01,
        help="assumed effect of a job on the rate of change of the relative sensor",
        unit="1/s per job",
        low=1e-4,
        high=1.0,
        log=True,
        minimum=0.0,
        exclusive=True,
        source=MODEL_FREE,
    )
    kp: float = parameter(
        0.1,
        help="gain of the intelligent P",
        unit="1/s",
        low=1e-4,
        high=1.0,
        log=True,
        minimum=0.0,
        source=MODEL_FREE,
    )
    ki: float = parameter(
        0.0,
        help="integral gain; 0 for an intelligent P",
        unit="1/s",
        low=0.0,
        high=0.1,
        minimum=0.0,
        source=MODEL_FREE,
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
        if self.ki:  # a sum that nothing depends on is no state
            total += error
        jobs += (error - last) / (self.alpha * reading.cycle) + (
            self.kp * error + self.ki * total
        ) / self.alpha
        # What could not be applied must not be believed to have acted.
        jobs = max(0.0, jobs)
        return jobs, (jobs, error, total)
