"""Services that take time: requests wait until one of the service's threads is free."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from math import nan
from typing import Any

import mesa

from gridtune.model.agenda import ARRIVAL, Action
from gridtune.model.grid import Grid
from gridtune.model.metrics.registry import SHARE, define

define("service_wait_mean", "s", "minimize", "mean wait of requests for a thread of their service")
define(
    "service_load",
    "",
    "minimize",
    "of the busiest service: share of time that its threads were busy",
    within=SHARE,
)

Request = tuple[float, Action, Any]


def nothing(_: object) -> None:
    """What a request wants whose cost is all that matters."""


def none_waiting() -> int:
    """Of a service that keeps no jobs."""
    return 0


class Service(mesa.Agent):
    """A service of the grid: broker, match-maker, information system, head node.

    Its requests are served first come, first served, each by one of its threads: with Poisson requests, one
    thread and exponential times it is the M/M/1 queue, with constant times the M/D/1 queue.

    Args:
        grid: where it lives.
        name: by which its signals are called: `name.requests`.
        time: of a thread for one request, drawn for each, s.
        per_waiting: s of a thread on top for each job that the service keeps waiting when a request begins:
            what it costs to look through them (the match-maker's O(n): RR-5576, section 3.1).
        waiting: counts the jobs that it keeps waiting.
        threads: requests that are served at once.

    Attributes:
        begun: number of requests that a thread has begun.
        waited: s that these waited for it in all.
    """

    def __init__(
        self,
        grid: Grid,
        name: str,
        time: Callable[[], float],
        *,
        per_waiting: float = 0.0,
        waiting: Callable[[], int] = none_waiting,
        threads: int = 1,
    ) -> None:
        super().__init__(grid)
        self.name = name
        self.begun = 0
        self.waited = self._busy = 0.0
        self.threads = threads
        self._agenda = grid.agenda
        self._time = time
        self._per_waiting = per_waiting
        self._waiting = waiting
        self._working = self._halts = 0
        self._since = grid.now  # when a request began or ended last
        self._queue: deque[Request] = deque()
        grid.record.probe(f"{name}.requests", lambda: self.requests)
        grid.record.measures.setdefault("service_wait_mean", lambda: wait_mean(services(grid)))
        grid.record.measures.setdefault("service_load", lambda: load(services(grid), grid.now))

    @property
    def requests(self) -> int:
        """Requests that wait or are served."""
        return len(self._queue) + self._working

    def serve(self, action: Action, argument: Any = None) -> None:
        """Take a request: `action` is called with `argument` when it has been served."""
        if self._working < self.threads and not self._halts:
            self._begin((self._agenda.now, action, argument))
        else:
            self._queue.append((self._agenda.now, action, argument))

    def halt(self) -> None:
        """The service is down: no request begins until it is up again as often as it went down."""
        self._halts += 1

    def resume(self) -> None:
        """One of the reasons why the service is down is over."""
        self._halts -= 1
        while self._queue and self._working < self.threads and not self._halts:
            self._begin(self._queue.popleft())

    def charge(self, requests: int = 1) -> None:
        """Take requests of which nobody hears again: their cost is what matters."""
        for _ in range(requests):
            self.serve(nothing)

    @property
    def busy(self) -> float:
        """Seconds that threads have been busy with requests so far."""
        return self._busy + self._working * (self._agenda.now - self._since)

    def _begin(self, request: Request) -> None:
        since, action, argument = request
        now = self._agenda.now
        duration = self._time() + self._per_waiting * self._waiting()
        self.begun += 1
        self.waited += now - since
        self._works(1)
        self._agenda.after(duration, self._served, (action, argument), ARRIVAL)

    def _works(self, more: int) -> None:
        """So many more threads are busy from now on."""
        self._busy, self._since = self.busy, self._agenda.now
        self._working += more

    def _served(self, request: tuple[Action, Any]) -> None:
        action, argument = request
        self._works(-1)
        # The next one goes first: what this one wants may ask for the same service again.
        if self._queue and not self._halts:
            self._begin(self._queue.popleft())
        action(argument)


def services(grid: Grid) -> list[Service]:
    """All services of a grid that take time."""
    return [agent for agent in grid.agents if isinstance(agent, Service)]


def wait_mean(all_services: list[Service]) -> float:
    """Mean wait over all requests of some services, s; nan without requests."""
    begun = sum(service.begun for service in all_services)
    return sum(service.waited for service in all_services) / begun if begun else nan


def load(all_services: list[Service], now: float) -> float:
    """Busy time over all time of the threads of the service that is busiest; nan at time 0."""
    if now <= 0:
        return nan
    return max(min(1.0, service.busy / (service.threads * now)) for service in all_services)
