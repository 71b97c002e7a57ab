"""What is to happen to the nodes of a site, whether it has work or is empty."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import Any, Protocol

from gridtune.model.agenda import ARRIVAL
from gridtune.model.grid import Grid
from gridtune.model.metrics.registry import define

define("node_failures", "failures", "minimize", "nodes that failed")
define("killed_by_failure", "kills", "minimize", "executions that ended with their node")
define("failed_jobs", "jobs", "minimize", "jobs that a site lost with a node, as often requeued as may be")
define("unavailable", "s", "minimize", "slot-seconds in which nodes were lost or drained", 1.0)


class Working(Protocol):
    """A site as its timeline sees it.

    Attributes:
        grid: where it lives.
        empty: whether no job is there, waiting or running.
        stuck: whether jobs wait, and none runs.
    """

    grid: Grid
    name: str

    @property
    def empty(self) -> bool:
        """See above."""

    @property
    def stuck(self) -> bool:
        """See above."""


class Timeline(ABC):
    """When nodes of a site are lost, drained and back.

    What is to happen is entered by `at`; it happens after jobs have ended and come in at that time, before
    the scheduler is asked. While a site is empty, it happens in passing, when somebody looks: nothing keeps
    a run from ending.

    Args:
        site: whose nodes.

    Attributes:
        time: s up to which everything has happened.
        failures: nodes that have failed.
    """

    def __init__(self, site: Working) -> None:
        self.place = site
        self.time = 0.0
        self.failures = 0
        self._due: list[tuple[float, int, Callable[[Any], object], Any]] = []
        self._numbers = count(1)
        self._at_start: list[Callable[[Any], object]] = []
        self._event: tuple[float, int] | None = None
        self._happening = False
        self._unavailable = 0.0
        record = site.grid.record
        for counter in ("killed_by_failure", "failed_jobs"):
            record.counters[counter] += 0
        record.add_to_measure("node_failures", lambda: self._read().failures)
        record.add_to_measure("unavailable", lambda: self._read()._unavailable)
        record.probe(f"{site.name}.unavailable", lambda: self._read().out_slots)

    @property
    @abstractmethod
    def out_slots(self) -> int:
        """Slots of nodes that are lost or drained."""

    @abstractmethod
    def lose(self, nodes: Iterable[int], cause: str, until: float = inf) -> None:
        """Nodes fail: what runs there is lost, and they are out until `open`.

        Args:
            nodes: by number.
            cause: which `open` names.
            until: when the scheduler expects them back, s; infinite if it does not know.
        """

    @abstractmethod
    def shut(self, nodes: Iterable[int], cause: str, until: float = inf) -> None:
        """Nothing starts on some nodes until `open`; jobs that run there go on; see `lose`."""

    @abstractmethod
    def open(self, nodes: Iterable[int], cause: str) -> None:
        """One of the causes for which nodes are out is over."""

    def at(self, time: float, action: Callable[[Any], object], argument: Any = None) -> None:
        """Have something happen at a time (s); not before now."""
        heappush(self._due, (time, next(self._numbers), action, argument))

    def after(self, delay: float, action: Callable[[Any], object], argument: Any = None) -> None:
        """Have something happen some time (s) after what happens now."""
        self.at(self.time + delay, action, argument)

    def catch_up(self) -> None:
        """See `Keeper`."""
        if self._happening:
            return
        self._happening = True
        due, now = self._due, self.place.grid.now
        while due and due[0][0] <= now:
            time, _, action, argument = heappop(due)
            self._account(time)
            action(argument)
        self._account(now)
        self._happening = False

    def when_job_starts(self, action: Callable[[Any], object]) -> None:
        """Have something happen when the next job starts."""
        self._at_start.append(action)

    def started(self) -> None:
        """See `Keeper`."""
        if self._at_start:
            self._account(self.place.grid.now)
            waiting, self._at_start = self._at_start, []
            for action in waiting:
                action(None)
            self._enter()

    def work_came(self) -> None:
        """See `Keeper`."""
        self.catch_up()
        self._enter()

    def rest(self, empty: bool) -> None:
        """Enter nothing in the agenda while the site is empty."""
        if empty and self._event is not None:
            self.place.grid.agenda.cancel(self._event[1])
            self._event = None

    def _enter(self) -> None:
        """Keep one event in the agenda, that of what is due first."""
        agenda = self.place.grid.agenda
        time = self._due[0][0] if self._due else inf
        if self._event is not None:
            if self._event[0] == time:
                return
            agenda.cancel(self._event[1])
            self._event = None
        if time < inf:
            self._event = time, agenda.at(time, self._fire, None, ARRIVAL)

    def _fire(self, _: object) -> None:
        self._event = None
        self.catch_up()
        if not self.place.empty:
            self._enter()

    def _account(self, time: float) -> None:
        """Count what was missing up to a time (s)."""
        self._unavailable += self.out_slots * max(0.0, time - self.time)
        self.time = max(self.time, time)

    def _read(self) -> Timeline:
        self.catch_up()
        return self
