"""A shared file system: its load, and how it slows down the jobs of a site when too many use it."""

from __future__ import annotations

from heapq import heappop, heappush
from math import exp, inf
from typing import Any, NamedTuple, Protocol

from gridtune.model.agenda import COMPLETION, Action, Agenda
from gridtune.model.job import Job


class Timer(Protocol):
    """Fires an action once work is done: the agenda itself where nothing slows work down."""

    def after(self, delay: float, action: Action, argument: Any = None, order: int = COMPLETION) -> int:
        """Fire after `delay` seconds of work; a handle for `cancel`."""

    def cancel(self, handle: int) -> None:
        """Take back what has not fired."""


class FileSystem:
    """A file server that serves up to `threads` processes at full speed.

    A process that would spend the share f of its time on the file system, if it were alone, advances at the
    rate 1 / (1 - f + f s), where s >= 1 is the common slow-down that makes all demands together fit:
    sum of f / (1 - f + f s) over all processes = `threads`, or s = 1 where they fit anyway.

    The load is that of the server's operating system: the number n of processes in I/O through a first-order
    filter, L' = (n - L) / time_constant. It answers to a job submitted per cycle as the plant
    that CiGri's authors identified (a = exp(-cycle / time_constant)).

    Args:
        agenda: of the grid.
        threads: processes served at once; more than 0, infinite for no slow-down.
        time_constant: s; 60 for the load average over a minute.
    """

    def __init__(self, agenda: Agenda, threads: float, time_constant: float = 60.0) -> None:
        self.agenda = agenda
        self.threads = threads
        self.time_constant = time_constant
        self.slow_down = 1.0
        self._lanes: list[Lane] = []
        self._in_io = 0.0
        self._load = 0.0
        self._since = 0.0

    @property
    def load(self) -> float:
        """Load average now."""
        faded = exp(-(self.agenda.now - self._since) / self.time_constant)
        return self._in_io + (self._load - self._in_io) * faded

    def lane(self, share: float) -> Timer:
        """The timer of processes that alone would spend that share of their time in I/O."""
        if share == 0.0:
            return self.agenda
        for lane in self._lanes:
            if lane.share == share:
                return lane
        lane = Lane(self, share)
        self._lanes.append(lane)
        return lane

    def changed(self) -> None:
        """Processes have begun or ended."""
        lanes = self._lanes
        self._load, self._since = self.load, self.agenda.now
        demand = 0.0
        for lane in lanes:
            demand += lane.active * lane.share
        # The slow-down is solved for only where there is one: usually there is none.
        self.slow_down = slow = 1.0 if demand <= self.threads else self._solve()
        self._in_io = 0.0
        for lane in lanes:
            rate = 1.0 / (1.0 - lane.share + lane.share * slow) if slow > 1.0 else 1.0
            self._in_io += lane.active * lane.share * slow * rate
            if rate != lane.rate:
                lane.turn(rate)

    def _solve(self) -> float:
        """The slow-down at which all demands fit, by Newton's method from below (the demand is convex)."""
        slow = 1.0
        for _ in range(60):
            excess, slope = -self.threads, 0.0
            for lane in self._lanes:
                rate = 1.0 / (1.0 - lane.share + lane.share * slow)
                excess += lane.active * lane.share * rate
                slope -= lane.active * lane.share * lane.share * rate * rate
            step = -excess / slope
            slow += step
            if step <= 1e-12 * slow:
                break
        return slow


class Entry(NamedTuple):
    """Work in a lane: the progress at which it is done, an order among equals, and what to do then."""

    end: float
    handle: int
    action: Action
    job: Job
    order: int


class Lane:
    """Jobs that all advance at one rate: progress is counted together, and only its first end is an event."""

    def __init__(self, system: FileSystem, share: float) -> None:
        self.system = system
        self.share = share
        self.active = 0
        self.rate = 1.0
        self._anchor = (0.0, 0.0)  # time, progress
        self._heap: list[Entry] = []
        self._live: dict[int, Entry] = {}
        self._handle = 0
        self._event: tuple[float, int] | None = None

    def after(self, delay: float, action: Action, argument: Any = None, order: int = COMPLETION) -> int:
        """Let a job work for `delay` seconds of progress; all its processors use the file system."""
        self._handle += 1
        time, progress = self._anchor
        end = progress + (self.system.agenda.now - time) * self.rate + delay
        entry = Entry(end, self._handle, action, argument, order)
        heappush(self._heap, entry)
        self._live[self._handle] = entry
        self._shift(argument.processors)
        return self._handle

    def cancel(self, handle: int) -> None:
        """Take out a job that has not ended."""
        self._shift(-self._live.pop(handle).job.processors)

    def turn(self, rate: float) -> None:
        """From now on, advance at another rate."""
        now = self.system.agenda.now
        time, progress = self._anchor
        self._anchor = (now, progress + (now - time) * self.rate)
        self.rate = rate
        self._announce()

    def _shift(self, processors: int) -> None:
        self.active += processors
        self.system.changed()
        self._announce()

    def _announce(self) -> None:
        """Keep one event in the agenda, at the end of what ends first."""
        heap, agenda = self._heap, self.system.agenda
        while heap and heap[0].handle not in self._live:
            heappop(heap)
        if heap:
            since, progress = self._anchor
            time = max(agenda.now, since + (heap[0].end - progress) / self.rate)
        else:
            time = inf
        if self._event is not None:
            if self._event[0] == time:
                return
            agenda.cancel(self._event[1])
            self._event = None
        if heap:
            self._event = (time, agenda.at(time, self._fire, None, heap[0].order))

    def _fire(self, _: object) -> None:
        self._event = None
        entry = heappop(self._heap)
        del self._live[entry.handle]
        self._shift(-entry.job.processors)
        entry.action(entry.job)
