"""Submission rules without a reference: batches, CiGri's tap, and steps for identification."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan
from typing import ClassVar, NamedTuple

from gridtune.model.harvest.control import Control, Decision, Memory, Reading
from gridtune.model.policy import parameter, register

TAP = "CiGri v3, runner"


def _initial() -> int:
    value: int = parameter(
        3, help="jobs of the first submission", unit="jobs", low=1, high=100, minimum=1, source=TAP
    )
    return value


def _factor() -> float:
    value: float = parameter(
        1.5, help="growth of the submissions", unit="ratio", low=1.0, high=4.0, minimum=1.0, source=TAP
    )
    return value


def _maximum() -> int:
    value: int = parameter(
        100,
        help="jobs of one submission at most",
        unit="jobs",
        low=10,
        high=2000,
        log=True,
        minimum=1,
        source=TAP,
    )
    return value


@register("control", "wait-batch", source="BatCiGri, section 2.2")
@dataclass(frozen=True)
class WaitBatch(Control):
    """The harvester submits a batch, waits for the completion of all its jobs, and submits a larger one."""

    initial: int = _initial()
    factor: float = _factor()
    maximum: int = _maximum()

    def decide(self, reading: Reading, memory: Memory) -> Decision:
        """The next batch once nothing waits or runs; its size is remembered."""
        size = self.initial if memory is None else memory
        outstanding = reading.waiting + reading.running
        if outstanding:
            return Decision(0.0, size, nan, outstanding)
        return Decision(float(size), min(self.maximum, int(size * self.factor)), nan, 0.0)


class Flow(NamedTuple):
    """Memory of the tap: jobs per submission, and since when (s) it is closed, if it is."""

    rate: int
    closed: float | None


@register("control", "tap", source=TAP)
@dataclass(frozen=True)
class Tap(Control):
    """As CiGri does, each campaign has a tap, which is closed while any of its jobs waits.

    While open, `rate` jobs are submitted in each cycle and the rate grows. Once the grace period since its
    closing is over, each cycle after a closed one begins by dividing the rate by the factor: the cycle that
    reopens the tap does so, too.
    """

    initial: int = _initial()
    factor: float = _factor()
    maximum: int = _maximum()
    grace: float = parameter(
        60.0,
        help="time from the closing of the tap from which its rate falls in every cycle",
        unit="s",
        low=0.0,
        high=600.0,
        minimum=0.0,
        source=TAP,
    )

    by_campaign: ClassVar[bool] = True

    def decide(self, reading: Reading, memory: Memory) -> Decision:
        """What all taps give; without distinct campaigns there is one tap."""
        if not reading.campaigns:
            return self._flow(reading, memory)
        memories: dict[str, Flow] = dict(memory or ())
        given = []
        for name, waiting, left in reading.campaigns:
            own = reading._replace(waiting=waiting, left=left)
            decision = self._flow(own, memories.get(name))
            memories[name] = decision.memory
            given.append((name, int(decision.jobs)))
        total = float(sum(jobs for _, jobs in given))
        return Decision(total, tuple(memories.items()), nan, reading.waiting, tuple(given))

    def _flow(self, reading: Reading, memory: Flow | None) -> Decision:
        """Nothing while own jobs wait, else the present rate."""
        rate, closed = memory or Flow(min(self.initial, self.maximum), None)
        if closed is not None and reading.time - closed >= self.grace:
            rate = max(min(self.initial, self.maximum), int(rate / self.factor))
        if reading.waiting:
            return Decision(0.0, Flow(rate, reading.time if closed is None else closed), nan, reading.waiting)
        submitted = min(rate, reading.left)
        following = rate
        if rate < submitted * self.factor + 1:
            following = min(self.maximum, int(rate * self.factor))
        return Decision(float(submitted), Flow(following, None), nan, 0.0)


@register("control", "step", source="identification of CiGri (ICSTCC 2021)")
@dataclass(frozen=True)
class Step(Control):
    """In open loop, a constant submission steps to another value, to identify the plant."""

    low: float = parameter(0.0, help="submission before the step", unit="jobs per cycle", minimum=0.0)
    high: float = parameter(10.0, help="submission after the step", unit="jobs per cycle", minimum=0.0)
    at: float = parameter(0.0, help="time of the step", unit="s", minimum=0.0)
    until: float = parameter(inf, help="time at which submission ends", unit="s", minimum=0.0)

    def decide(self, reading: Reading, memory: Memory) -> Decision:
        """Nothing is measured."""
        if reading.time >= self.until:
            return Decision(0.0, None)
        return Decision(self.high if reading.time >= self.at else self.low, None)

    def settled(self, reading: Reading, before: Memory, decision: Decision) -> bool:
        """Only once no step is to come."""
        stepped = reading.time >= min(self.at, self.until) or self.at == inf
        return decision.jobs < 1.0 and (stepped or (self.low < 1.0 and self.high < 1.0))
