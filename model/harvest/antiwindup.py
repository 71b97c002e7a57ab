"""The positional law of PI and PID control, and what keeps its integral from winding up."""

from __future__ import annotations

from typing import Literal, NamedTuple

from gridtune.model.harvest.plant import Gains

AntiWindup = Literal["none", "conditional", "clamping", "back-calculation"]


class Sums(NamedTuple):
    """Memory of the controllers: the sum of all errors so far, and the last one."""

    total: float
    last: float


def positional(
    error: float,
    before: Sums | None,
    gains: Gains,
    kd: float,
    most: float,
    anti_windup: AntiWindup,
    tracking: float,
) -> tuple[float, Sums]:
    """The positional law u = kp e + ki sum(e) + kd (e - last e), for an input between 0 and `most`.

    No job can be taken back, and none submitted that is not there. While u lies outside, the integral of
    the plain law goes on growing and must be worked off later; conditional integration leaves out errors
    that would drive u further out; clamping keeps the integral term within the limits of the input;
    back-calculation feeds the part of u that could not be applied back into the integral.

    Args:
        error: of this cycle.
        before: memory of the cycle before; None in the first.
        gains: kp and ki, in jobs per unit of error (and cycle).
        kd: derivative gain, in jobs per change of error in a cycle.
        most: jobs that can be submitted at most.
        anti_windup: how the integral is kept from winding up.
        tracking: tracking time of back-calculation, cycles.

    Returns:
        The jobs wanted, which may lie outside of the limits, and the next memory.

    Source: Astrom and Hagglund, Advanced PID Control (2006), section 3.5.
    """
    total, last = before or Sums(0.0, error)
    kp, ki = gains
    outside = kp * error + kd * (error - last)
    if not ki:  # a sum that nothing depends on is no state
        return outside, Sums(total, error)
    # In the order of the plain law: nothing is rounded differently where nothing is kept from winding up.
    wanted = kp * error + ki * (total + error) + kd * (error - last)
    if anti_windup == "conditional" and ((wanted < 0 and error < 0) or (wanted > most and error > 0)):
        return outside + ki * total, Sums(total, error)
    total += error
    if anti_windup == "clamping":
        total = min(max(total, 0.0), most / ki)
        wanted = outside + ki * total
    elif anti_windup == "back-calculation":
        applied = min(max(wanted, 0.0), most)
        total += (applied - wanted) / (ki * tracking)
    return wanted, Sums(total, error)
