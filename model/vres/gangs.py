"""Jobs of several processors in virtual slots: what they hold, and how fast they advance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gridtune.model.job import Job


class Strand:
    """One processor's part of what a gang computes.

    Attributes:
        turn: number of it on its processor; 0 once it is over.
        begun: what an execution that was always active there had got when it began.
    """

    __slots__ = ("begun", "turn")

    def __init__(self) -> None:
        self.turn = 0
        self.begun = 0.0


class Gang:
    """A job that holds a slot of its class on each of several processors.

    Attributes:
        job: what runs.
        slot_class: whose slots it holds.
        units: index of the shared unit of each of its processors.
        idle: those of them that compute nothing.
        works: what it computes.
        limit: handle of the event that ends it at its limit; 0 if there is none.
    """

    __slots__ = ("idle", "job", "limit", "slot_class", "units", "works")

    def __init__(self, job: Job, slot_class: Any, units: Sequence[int]) -> None:
        self.job = job
        self.slot_class = slot_class
        self.units = list(units)
        self.idle = list(units)
        self.works: list[GangWork] = []
        self.limit = 0


class GangWork:
    """What some processors of a gang compute together, at the rate of the slowest of them.

    All of them stay active: those that are ahead wait for the slowest without leaving their processors to
    others, as processes of a parallel program do between two exchanges.

    Args:
        gang: that computes.
        task: what is computed: the gang's own job, or one that it brought along.
        then: called with the task when it is done; None where it is the job itself.
        units: of the processors that compute.
        work: s at speed 1 that each of them computes.
        now: s.

    Attributes:
        strands: one for each unit.
        work: to be done by each, s at speed 1; `left` is still to be done.
        rate: work per s of each: that of the slowest.
        event: handle of its end in the agenda; 0 if there is none.
        waited: work that processors could have done while they waited for the slowest, s at speed 1.
    """

    __slots__ = (
        "_got",
        "_since",
        "event",
        "gang",
        "left",
        "rate",
        "strands",
        "task",
        "then",
        "units",
        "waited",
        "work",
    )

    def __init__(
        self,
        gang: Gang,
        task: Job,
        then: Callable[[Job], object] | None,
        units: Sequence[int],
        work: float,
        now: float,
    ) -> None:
        self.gang = gang
        self.task = task
        self.then = then
        self.units = units
        self.strands = [Strand() for _ in units]
        self.work = self.left = work
        self.rate = self.waited = 0.0
        self.event = 0
        self._got = 0.0
        self._since = now

    def advance(self, now: float) -> None:
        """Count what has been done since the last time."""
        passed = now - self._since
        self.left -= passed * self.rate
        self.waited += passed * (self._got - self.rate * len(self.units))
        self._since = now

    def set_rates(self, rates: Sequence[float]) -> None:
        """What each of its processors gives it from now on, work per s."""
        self.rate = min(rates)
        self._got = sum(rates)

    def done(self, now: float) -> float:
        """Work that each processor has done by now, s at speed 1. To read it changes nothing."""
        return self.work - self.left + (now - self._since) * self.rate

    def end(self, now: float) -> float:
        """When it is done if no rate changes, s."""
        return now + self.left / self.rate if self.left > 0 else now
