"""The platform of sequential tasks: machines and links whose performance changes in time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

from gridtune.model.job import Job


class Steps:
    """A positive, piecewise-constant function of time, drawn only as far as it is asked for.

    Args:
        changes: pairs (time in s, value from then on), the first at time 0, times ascending.

    Raises:
        ValueError: (when it gets there) a value that is not positive, or a time that does not ascend.
    """

    __slots__ = ("_ahead", "_last", "_source", "_times", "_value", "_values")

    def __init__(self, changes: Iterable[tuple[float, float]]) -> None:
        self._source = iter(changes)
        self._times: list[float] = []
        self._values: list[float] = []
        self._last = self._value = 0.0  # the last of these two
        self._ahead = next(self._source, (inf, 1.0))
        if self._ahead[0] != 0.0:
            raise ValueError("a course of values must begin at 0 s")
        self._reach(0.0)

    @classmethod
    def constant(cls, value: float) -> Steps:
        """The same value for ever."""
        return cls([(0.0, value)])

    @property
    def is_constant(self) -> bool:
        """Whether it has a single value for ever."""
        return len(self._times) == 1 and self._ahead[0] == inf

    def at(self, time: float) -> float:
        """Value at a time in s (from the change on, where it changes at that time)."""
        if time >= self._ahead[0]:
            self._reach(time)
        if time >= self._last:
            return self._value
        return self._values[bisect_right(self._times, time) - 1]

    def until(self, time: float) -> float:
        """Time of the next change after `time`, s; infinite if there is none."""
        if time >= self._ahead[0]:
            self._reach(time)
        k = bisect_right(self._times, time)
        return self._times[k] if k < len(self._times) else self._ahead[0]

    def elapsed(self, start: float, amount: float) -> float:
        """Seconds from `start` (s) until the integral reaches an amount (value times s)."""
        rate, end = self.at(start), self.until(start)
        if amount <= rate * (end - start):
            return amount / rate  # not end minus start: what never changes is exact
        passed = 0.0
        while amount > rate * (end - start):
            amount -= rate * (end - start)
            passed += end - start
            start = end
            rate, end = self.at(start), self.until(start)
        return passed + amount / rate

    def _reach(self, time: float) -> None:
        while self._ahead[0] <= time:
            when, value = self._ahead
            if not value > 0:
                raise ValueError(f"a course of values must stay above 0, not {value} at {when} s")
            self._times.append(when)
            self._values.append(value)
            self._last, self._value = when, value
            self._ahead = next(self._source, (inf, value))
            if not self._ahead[0] > when:
                raise ValueError(f"a course of values must go forward in time: {self._ahead[0]} s, {when} s")


@dataclass(frozen=True, slots=True)
class Task:
    """What a sequential task moves and needs, beside its run time and deadline (kept in `Job.data`).

    Attributes:
        input, output: bytes sent to the server and received from it (W_send, W_recv).
        memory: bytes that a server must have.
        disk: bytes of disk space that a server must have.
        software: that a server must have installed, "" for none.
        expected: s of computation at speed 1 as far as forecasts know; None if they know the run time.
        times: s of computation on each named server when it is free; where given, no other server can
            do the task, and its run time and the servers' speeds are not used.
        client: whose links its data take.
    """

    input: float = 0.0
    output: float = 0.0
    memory: float = 0.0
    disk: float = 0.0
    software: str = ""
    expected: float | None = None
    times: Mapping[str, float] | None = None
    client: str = ""


class Link(NamedTuple):
    """What data take between a client and a server.

    Attributes:
        bandwidth: bytes per second in either direction.
        latency: s that each transfer takes on top.
    """

    bandwidth: Steps = Steps.constant(inf)
    latency: float = 0.0

    def transfer(self, start: float, size: float) -> float:
        """Seconds that so many bytes take from `start` (s) on; nothing takes none."""
        return self.latency + self.bandwidth.elapsed(start + self.latency, size) if size else 0.0


class Service(NamedTuple):
    """Seconds that the phases of one execution take."""

    send: float
    compute: float
    receive: float


@dataclass(frozen=True, slots=True)
class Machine:
    """A server's hardware and the links that lead to it.

    Attributes:
        name: of the server.
        speed: run time at speed 1 over run time here, when free of other load.
        availability: share of the processor that background load leaves, in (0, 1].
        link: to clients that have none of their own.
        links: to each other client (RR-5335, section 4.1: P_send from the client to the server).
        memory: bytes.
        disk: bytes of disk space.
        software: installed.
    """

    name: str
    speed: float = 1.0
    availability: Steps = field(default_factory=lambda: Steps.constant(1.0))
    link: Link = Link()
    links: Mapping[str, Link] = field(default_factory=dict)
    memory: float = inf
    disk: float = inf
    software: frozenset[str] = frozenset()

    def can_do(self, task: Task) -> bool:
        """Whether the machine has what a task needs (RR-5335, section 4.1, `can_do`)."""
        return (
            task.memory <= self.memory
            and task.disk <= self.disk
            and (not task.software or task.software in self.software)
            and (task.times is None or self.name in task.times)
        )

    def dedicated(self, job: Job, task: Task) -> float:
        """Seconds of computation if nothing else used the machine."""
        return job.runtime / self.speed if task.times is None else task.times[self.name]

    def service(self, job: Job, task: Task, start: float) -> Service:
        """How long the phases of an execution that starts at `start` (s) really take.

        Data are sent, worked on and fetched one after the other, and the server does nothing else
        meanwhile: T = W_send / P_send + W / P + W_recv / P_recv (RR-5335, section 4.1).
        """
        link = self.link_to(task.client)
        send = link.transfer(start, task.input)
        compute = self.availability.elapsed(start + send, self.dedicated(job, task))
        receive = link.transfer(start + send + compute, task.output)
        return Service(send, compute, receive)

    def link_to(self, client: str) -> Link:
        """The link between the server and a client."""
        return self.links.get(client, self.link)
