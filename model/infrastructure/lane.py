"""Work that all advances at one rate: progress is counted together, only the first end is an event."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from math import inf
from typing import Any, NamedTuple, Protocol

from gridtune.model.agenda import COMPLETION, Action, Agenda


class Timer(Protocol):
    """Fires an action once work is done: the agenda itself where nothing slows work down."""

    def after(self, delay: float, action: Action, argument: Any = None, order: int = COMPLETION) -> int:
        """Fire after `delay` seconds of work; a handle for `cancel`."""

    def cancel(self, handle: int) -> None:
        """Take back what has not fired."""


class Entry(NamedTuple):
    """Work in a lane: the progress at which it is done, an order among equals, and what to do then."""

    end: float
    handle: int
    action: Action
    argument: Any
    order: int


_entry = tuple.__new__  # one is made for each piece of work: half the cost of a call of the class


class Lane:
    """A timer of work that all advances at one rate.

    Args:
        agenda: of the grid.
        changed: called when work has come or gone; it may `turn` this lane and others.

    Attributes:
        active: what is at work, each by its weight.
        rate: progress per s.
    """

    def __init__(self, agenda: Agenda, changed: Callable[[], object]) -> None:
        self.agenda = agenda
        self.active = 0
        self.rate = 1.0
        self._changed = changed
        self._anchor = (0.0, 0.0)  # time, progress
        self._heap: list[Entry] = []
        self._live: dict[int, Entry] = {}
        self._handle = 0
        self._event: tuple[float, int] | None = None

    def weight(self, argument: Any) -> int:
        """How much a piece of work counts in `active`."""
        return 1

    def after(self, delay: float, action: Action, argument: Any = None, order: int = COMPLETION) -> int:
        """Fire after so much progress; a handle for `cancel`."""
        self._handle += 1
        time, progress = self._anchor
        end = progress + (self.agenda.now - time) * self.rate + delay
        entry = _entry(Entry, (end, self._handle, action, argument, order))
        heappush(self._heap, entry)
        self._live[self._handle] = entry
        self._shift(self.weight(argument))
        return self._handle

    def cancel(self, handle: int) -> None:
        """Take out work that has not ended."""
        self._shift(-self.weight(self._live.pop(handle).argument))

    def left(self, handle: int) -> float:
        """Progress, in s at full rate, that work which has not ended still needs."""
        time, progress = self._anchor
        return self._live[handle].end - progress - (self.agenda.now - time) * self.rate

    def turn(self, rate: float) -> None:
        """From now on, advance at another rate; 0 to stand still."""
        now = self.agenda.now
        time, progress = self._anchor
        self._anchor = (now, progress + (now - time) * self.rate)
        self.rate = rate
        self._announce()

    def rest(self) -> None:
        """Nothing is at work: stand still, and count progress from 0 again."""
        self._anchor = (self.agenda.now, 0.0)
        self.rate = 0.0
        self._heap.clear()

    def _shift(self, weight: int) -> None:
        self.active += weight
        self._changed()
        self._announce()

    def _announce(self) -> None:
        """Keep one event in the agenda, at the end of what ends first."""
        heap, live, agenda = self._heap, self._live, self.agenda
        while heap and heap[0][1] not in live:
            heappop(heap)
        time = inf
        if heap and self.rate > 0:
            since, progress = self._anchor
            time = since + (heap[0][0] - progress) / self.rate
            if time < agenda.now:
                time = agenda.now
        if self._event is not None:
            if self._event[0] == time:
                return
            agenda.cancel(self._event[1])
            self._event = None
        if time < inf:
            self._event = (time, agenda.at(time, self._fire, None, heap[0].order))

    def _fire(self, _: object) -> None:
        self._event = None
        entry = heappop(self._heap)
        del self._live[entry.handle]
        self._shift(-self.weight(entry.argument))
        entry.action(entry.argument)
