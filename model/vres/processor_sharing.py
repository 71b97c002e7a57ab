"""A processor, or the processors of a node, shared by all executions that are active on it."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from math import inf
from typing import Any

from gridtune.model.job import Job
from gridtune.model.vres.gangs import Strand


class Execution:
    """A job in its slot.

    Attributes:
        job: what runs.
        slot_class: whose slot it holds.
        unit: index of the shared processor.
        turn: number of what it computes there; 0 while it holds its slot without computing.
        begun: what an execution that was always active there had got when it began.
        limit: handle of the event that ends it at its limit; 0 if there is none.
        task: what the job computes, if that is not itself.
        then: called with that task when it is done.
    """

    __slots__ = ("begun", "job", "limit", "slot_class", "task", "then", "turn", "unit")

    def __init__(self, job: Job, slot_class: Any, unit: int) -> None:
        self.job = self.task = job
        self.slot_class = slot_class
        self.unit = unit
        self.turn = 0
        self.begun = 0.0
        self.limit = 0
        self.then: Callable[[Job], object] | None = None


class SharedProcessor:
    """Exact processor sharing in virtual time: the work that one active execution has got so far.

    All active executions progress at the same rate, so the one that will end first is the one with the
    least virtual end, whatever comes and goes in between: nothing is sliced, nothing recomputed.

    Args:
        capacity: processors; an execution uses at most one.
        speed: work per s of each.

    Attributes:
        active: executions that compute.
        event: handle of the next end in the agenda; 0 if there is none.
    """

    __slots__ = ("_ends", "_since", "_turn", "_virtual", "active", "capacity", "event", "rate", "speed")

    def __init__(self, capacity: int, speed: float) -> None:
        self.capacity = capacity
        self.speed = speed
        self.active = 0
        self.rate = speed
        self.event = 0
        self._virtual = 0.0
        self._since = 0.0
        self._turn = 0
        self._ends: list[tuple[float, int, Execution | Strand]] = []

    def begin(self, now: float, execution: Execution | Strand, work: float) -> None:
        """Let an execution compute `work` s at speed 1; one without end stays until it is stopped."""
        if self.active == 0:
            self._virtual = 0.0  # no rounding gathers over a long run
            self._since = now
            self._ends.clear()
        else:
            self._advance(now)
        self._turn += 1
        execution.turn = self._turn
        execution.begun = self._virtual
        if work < inf:
            heappush(self._ends, (self._virtual + work, self._turn, execution))
        self._count(self.active + 1)

    def done(self, now: float, execution: Execution | Strand) -> float:
        """Work that an active execution has got by now, s at speed 1. To read it changes nothing."""
        return self._virtual + (now - self._since) * self.rate - execution.begun

    def stop(self, now: float, execution: Execution | Strand) -> None:
        """Take an execution out before its end."""
        self._advance(now)
        execution.turn = 0
        self._count(self.active - 1)

    def finish(self, now: float) -> Execution | Strand:
        """Take out the execution whose end has come."""
        end, turn, execution = self._ends[0]
        while execution.turn != turn:
            heappop(self._ends)
            end, turn, execution = self._ends[0]
        heappop(self._ends)
        self._virtual, self._since = end, now
        execution.turn = 0
        self._count(self.active - 1)
        return execution

    def next_end(self, now: float) -> float:
        """When the next execution ends if nothing comes or goes, s; infinite if none is active."""
        ends = self._ends
        while ends and ends[0][2].turn != ends[0][1]:
            heappop(ends)
        if not ends:
            return inf
        left = ends[0][0] - self._virtual - (now - self._since) * self.rate
        return now + left / self.rate if left > 0 else now

    def _advance(self, now: float) -> None:
        self._virtual += (now - self._since) * self.rate
        self._since = now

    def _count(self, active: int) -> None:
        self.active = active
        self.rate = self.speed if active <= self.capacity else self.speed * self.capacity / active
