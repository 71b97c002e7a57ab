"""The agenda of a grid: events in continuous time, fired in one reproducible order."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum
from heapq import heapify, heappop, heappush, merge
from itertools import chain
from math import inf, isnan, nan
from operator import itemgetter
from typing import Any

Action = Callable[[Any], object]
Arrival = tuple[float, Action, Any]
Event = tuple[float, int, int, Action, Any]


class Order(IntEnum):
    """Rank of simultaneous events: what ends comes first, what only looks comes last."""

    COMPLETION = 0
    ARRIVAL = 1
    DECISION = 2
    OBSERVATION = 3


# Plain integers: comparing members of an enumeration would cost more than the heap itself.
COMPLETION, ARRIVAL, DECISION, OBSERVATION = (int(order) for order in Order)

MANY = 1_000  # cancelled events that stay in the heap at most, unless more than as many are still to come
_NEVER: Arrival = (inf, lambda _: None, None)


class Agenda:
    """The agenda is a clock and a heap of events `(time, order, sequence, action, argument)`.

    Events at one instant fire by `order`, then in the order in which they were entered, so a run
    never depends on chance or on hashing. A sorted stream of arrivals may be merged from outside
    the heap (`feed`), which keeps the heap as small as the work in progress.

    Attributes:
        now: current simulated time in seconds.
        fired: number of events fired so far.
        last: time of the last event fired that is no recurring observation, in seconds; the clock may have
            gone on from there.
        until: time up to which events are fired at present, in seconds.
    """

    __slots__ = (
        "_before",
        "_cancelled",
        "_fed",
        "_firing",
        "_heap",
        "_next",
        "_over",
        "_recurring",
        "_sequence",
        "_stream",
        "fired",
        "last",
        "now",
        "until",
    )

    def __init__(self) -> None:
        self.now = self.last = 0.0
        self.until = inf
        self.fired = 0
        self._heap: list[Event] = []
        self._sequence = 0
        self._fed: list[Iterator[Arrival]] = []
        self._firing = False
        self._stream: Iterator[Arrival] = iter(())
        self._next: Arrival = _NEVER
        self._cancelled: set[int] = set()
        self._recurring = 0
        self._before = 0.0  # s, of the event before the present one
        self._over = nan  # s, the last event, where only recurring ones fired since then

    def at(self, time: float, action: Action, argument: Any = None, order: int = DECISION) -> int:
        """Enter an event and return a handle for `cancel`.

        Args:
            time: when to fire, in seconds; not before `now`.
            action: called with `argument`.
            argument: handed to the action.
            order: rank among events at the same time.

        Raises:
            ValueError: the time has passed (or is not a number).
        """
        if not time >= self.now:
            raise ValueError(f"an event at {time} s cannot be entered at {self.now} s")
        self._sequence = sequence = self._sequence + 1
        heappush(self._heap, (time, order, sequence, action, argument))
        return sequence

    def after(self, delay: float, action: Action, argument: Any = None, order: int = DECISION) -> int:
        """Enter an event `delay` seconds from now; see `at`."""
        if not delay >= 0:
            raise ValueError(f"an event cannot be entered {delay} s from now")
        # As `at` does, but half of all events come this way: one call less for each.
        self._sequence = sequence = self._sequence + 1
        heappush(self._heap, (self.now + delay, order, sequence, action, argument))
        return sequence

    def poll(self, time: float, action: Action, argument: Any = None, order: int = DECISION) -> None:
        """Enter an event of somebody who only looks whether anything has happened: it does not count as
        something that is still to happen; see `at`.
        """

        def look(argument: Any) -> None:
            self._recurring -= 1
            self._observe(action, argument)

        self.at(time, look, argument, order)
        self._recurring += 1

    def cancel(self, handle: int) -> None:
        """Take back an event that is still to come; a handle must not be used after its event fired."""
        cancelled = self._cancelled
        cancelled.add(handle)
        if len(cancelled) > MANY and 2 * len(cancelled) > len(self._heap):
            # Those that lie far ahead, as ends at limits do, would make the heap ever larger and slower.
            self._heap[:] = [event for event in self._heap if event[2] not in cancelled]
            heapify(self._heap)
            cancelled.clear()

    def feed(self, arrivals: Iterable[Arrival]) -> None:
        """Merge a stream of `(time, action, argument)`, sorted by time, lazily into the agenda.

        Its events have the order ARRIVAL. At one instant they come before arrivals that were entered, and
        those of several streams come in the order in which the streams were fed.

        Raises:
            ValueError: (when the stream gets there) its times decrease.
        """
        self._fed.append(iter(arrivals))
        if self._firing:
            self._merge()

    def _merge(self) -> None:
        """Let the streams that were fed since the last time flow into one."""
        if not self._fed:
            return
        if self._next is not _NEVER:
            self._fed.insert(0, chain((self._next,), self._stream))
        self._stream = merge(*self._fed, key=itemgetter(0)) if len(self._fed) > 1 else self._fed[0]
        self._fed = []
        self._next = next(self._stream, _NEVER)
        if not self._next[0] >= self.now:
            raise _unsorted(self._next[0], self.now)

    def every(
        self,
        period: float,
        action: Action,
        argument: Any = None,
        start: float = 0.0,
        order: int = OBSERVATION,
    ) -> None:
        """Fire every `period` seconds from `start`, for as long as anything else is still to happen.

        Raises:
            ValueError: the period is not positive.
        """
        if not period > 0:
            raise ValueError(f"a period must be more than 0 s, not {period}")
        self._recurring += 1
        self.at(max(start, self.now), self._tick, (1, start, period, action, argument, order), order)

    def _tick(self, what: tuple[int, float, float, Action, Any, int]) -> None:
        """A recurring event is due, and is entered again for as long as anything else is still to happen."""
        count, start, period, action, argument, order = what
        self._recurring -= 1
        if self._observe(action, argument):
            self._recurring += 1
            # Multiples of the period, not sums of it: no rounding creeps in.
            self.at(start + count * period, self._tick, (count + 1, *what[1:]), order)

    def _observe(self, action: Action, argument: Any) -> bool:
        """Fire a recurring event; whether anything else is still to happen.

        Where nothing is, it does not count as the end of what happened.
        """
        if not self.busy and isnan(self._over):
            self._over = self._before
        action(argument)
        if busy := self.busy:
            self._over = nan
        return busy

    @property
    def busy(self) -> bool:
        """Whether anything other than recurring observations is still to happen."""
        return self.busy_beyond(0)

    def busy_beyond(self, known: int) -> bool:
        """Whether anything is still to happen other than recurring observations and so many known events."""
        return self.streaming or len(self._heap) - len(self._cancelled) > self._recurring + known

    @property
    def streaming(self) -> bool:
        """Whether arrivals of a stream are still to come."""
        self._merge()
        return self._next is not _NEVER

    @property
    def entered(self) -> int:
        """The number of events that have been entered so far."""
        return self._sequence

    def awaits(self, entered: int) -> bool:
        """Whether one of the first events, so many of which were `entered` then, is still to come."""
        return any(event[2] <= entered and event[2] not in self._cancelled for event in self._heap)

    @property
    def next_time(self) -> float:
        """Time of the next event in seconds; infinity if there is none."""
        self._merge()
        heap = self._heap
        while heap and heap[0][2] in self._cancelled:
            self._cancelled.discard(heappop(heap)[2])
        return min(heap[0][0] if heap else inf, self._next[0])

    def let_go(self) -> None:
        """Forget all that is still to happen."""
        self._heap.clear()
        self._fed.clear()
        self._stream, self._next = iter(()), _NEVER

    def run(self, until: float = inf, most: int = sys.maxsize) -> bool:
        """Fire everything due up to and including `until` (s); the clock ends at the `last` event.

        With a finite `until` the clock ends exactly there.

        Args:
            most: number of events after which it stops, whatever is still to happen.

        Returns:
            Whether it is done; else `run` goes on.
        """
        heap, cancelled, pop = self._heap, self._cancelled, heappop
        self._merge()
        self.until = until
        self._firing = True
        fired, before = 0, self.last
        try:
            while fired < most:
                arrival = self._next
                due = arrival[0]
                if heap and ((time := heap[0][0]) < due or (time == due and heap[0][1] < ARRIVAL)):
                    if time > until:
                        break
                    _, _, handle, action, argument = pop(heap)
                    if cancelled and handle in cancelled:
                        cancelled.discard(handle)
                        continue
                    self._before, before = before, time
                    self.now = time
                    fired += 1
                    action(argument)
                else:
                    if due > until or arrival is _NEVER:
                        break
                    _, action, argument = arrival
                    self._next = following = next(self._stream, _NEVER)
                    if not following[0] >= due:
                        raise _unsorted(following[0], due)
                    self._before, before = before, due
                    self.now = due
                    fired += 1
                    # Called here and above: the interpreter adapts to what is called at each place.
                    action(argument)
        finally:
            self._firing = False
            self.fired += fired
            if fired:
                self.last = self.now if isnan(self._over) else self._over
        if fired >= most:
            return False
        if until == inf:
            self.now = self.last
        elif until > self.now:
            self.now = until
        return True


def _unsorted(time: float, last: float) -> ValueError:
    return ValueError(f"arrivals must be sorted by time: {time} s comes after {last} s")
