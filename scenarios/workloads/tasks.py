"""Workloads of sequential tasks with deadlines and priorities (RR-5335)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from math import inf
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from gridtune.model.deadline.platform import Task
from gridtune.model.streams import Streams
from gridtune.scenarios.fields.laws import Constant, Floats, Law, PositiveLaw
from gridtune.scenarios.fields.table import Name, Switchable, Table, number


class Arrival(NamedTuple):
    """A task that arrives.

    Attributes:
        time: s.
        user: owner.
        runtime: s of computation at speed 1.
        priority: the larger number wins.
        deadline: absolute, s.
        task: what it moves and needs.
    """

    time: float
    user: str
    runtime: float
    priority: int
    deadline: float
    task: Task


class Levels(Table):
    """Whole numbers from low to high, each as likely."""

    low: int = number(..., "none", "least priority that a task may have")
    high: int = number(..., "none", "greatest priority that a task may have")

    @model_validator(mode="after")
    def _ordered(self) -> Levels:
        if self.high < self.low:
            raise ValueError(f"high ({self.high}) must not be less than low ({self.low})")
        return self


class BySize(Table):
    """Whole numbers from low to high in the order of sizes or of deadlines, as many tasks to each."""

    by: Literal["runtime", "deadline"] = Field(description="what tasks are ordered by")
    first: Literal["small", "large"] = Field(
        default="small", description="which go first: a larger number wins"
    )
    low: int = number(1, "none", "least priority that a task may have")
    high: int = number(10, "none", "greatest priority that a task may have")

    @model_validator(mode="after")
    def _ordered(self) -> BySize:
        if self.high < self.low:
            raise ValueError(f"high ({self.high}) must not be less than low ({self.low})")
        return self

    def of(self, values: Floats) -> NDArray[np.int64]:
        """The priority of each task, from its run time or time allowed."""
        ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable")
        if self.first == "small":
            ranks = len(values) - 1 - ranks
        made: NDArray[np.int64] = self.low + ranks * (self.high - self.low + 1) // max(1, len(values))
        return made


class TaskWorkload(Switchable):
    """A workload of tasks."""

    name: Name = "workload"
    role: str = Field(default="task", description="what its tasks are called in results (column `kind`)")

    @abstractmethod
    def arrivals(self, streams: Streams) -> Sequence[Arrival]:
        """The tasks of one run, by time."""


class GeneratedTasks(TaskWorkload):
    """What tasks have in common whose deadlines and priorities are generated."""

    priority: int | Levels | BySize = number(
        Levels(low=1, high=10),
        "none",
        "priority of every task, {low, high} to draw it from, or {by, first, low, high} for a function of "
        "run time or deadline",
    )
    deadline_factor: PositiveLaw = number(
        Constant(value=5.0), "ratio", "deadline, relative to arrival, over the run time at speed 1"
    )
    input: Law = number(0.0, "bytes", "bytes sent to the server", validate_default=True)
    output: Law = number(0.0, "bytes", "bytes that are sent back at the end", validate_default=True)
    memory: Law = number(0.0, "bytes", "bytes that a server must have", validate_default=True)
    disk: Law = number(0.0, "bytes", "bytes of disk space that a server must have", validate_default=True)
    software: str = Field(default="", description="software that a server must have")

    def tasks(self, streams: Streams, times: Floats, runtimes: Floats, users: Sequence[str]) -> list[Arrival]:
        """Tasks with the given times of arrival, run times and owners, and all else drawn."""
        count = len(times)
        # Streams of their own: priorities and sizes never change what arrives when, nor each other.
        rng = streams.stream(f"workload:{self.name}:priority")
        factors = self.deadline_factor.draw(streams.stream(f"workload:{self.name}:deadline"), count)
        if isinstance(self.priority, Levels):
            priorities = rng.integers(self.priority.low, self.priority.high + 1, count)
        elif isinstance(self.priority, BySize):
            priorities = self.priority.of(runtimes if self.priority.by == "runtime" else factors * runtimes)
        else:
            priorities = np.full(count, self.priority)
        rng = streams.stream(f"workload:{self.name}:sizes")
        sizes = [law.draw(rng, count).tolist() for law in (self.input, self.output, self.memory, self.disk)]
        return [
            Arrival(
                time,
                user,
                runtime,
                int(priority),
                time + factor * runtime,
                Task(sent, returned, memory, disk, self.software, client=self.name),
            )
            for time, user, runtime, priority, factor, sent, returned, memory, disk in zip(
                times.tolist(), users, runtimes.tolist(), priorities, factors.tolist(), *sizes, strict=True
            )
        ]


class DrawnTasks(GeneratedTasks):
    """Tasks whose sizes are drawn and whose arrivals are spread evenly at random over a window."""

    kind: Literal["tasks"]
    count: int = number(..., "count", "number of tasks", ge=1)
    window: float = number(0.0, "s", "s over which they arrive; 0: all at once", ge=0)
    users: int = number(10, "count", "owners, to whom tasks are dealt in turn", ge=1)
    runtime: Law = number(..., "s", "s of computation at speed 1")

    def arrivals(self, streams: Streams) -> Sequence[Arrival]:
        """The tasks of one run, by time."""
        rng = streams.stream(f"workload:{self.name}")
        runtimes = self.runtime.draw(rng, self.count)
        times = np.sort(rng.uniform(0.0, self.window, self.count)) if self.window else np.zeros(self.count)
        users = [f"{self.name}-{k % self.users:03}" for k in range(self.count)]
        return self.tasks(streams, times, runtimes, users)


class ListedTask(Table):
    """One task, given by the times that it takes on each server (RR-5335, table 1)."""

    arrival: float = number(0.0, "s", "s at which it comes", ge=0)
    user: str = Field(default="", description="owner; left out, one of its own")
    priority: int = number(0, "none", "priority; the larger number wins")
    deadline: float = number(inf, "s", "s after its arrival", gt=0)
    times: dict[str, float] = number(
        ..., "s", "s of computation by server; no other server can do it", min_length=1
    )
    input: float = number(0.0, "bytes", "bytes sent to the server", ge=0)
    output: float = number(0.0, "bytes", "bytes that are sent back at the end", ge=0)


class ListedTasks(TaskWorkload):
    """Tasks written one by one; at equal times they arrive in the order of the list."""

    kind: Literal["task-list"]
    tasks: list[ListedTask] = Field(min_length=1)

    def arrivals(self, streams: Streams) -> Sequence[Arrival]:
        """The tasks, by time; the run time of each is the mean of its times."""
        return [
            Arrival(
                task.arrival,
                task.user or f"{self.name}-{k}",
                sum(task.times.values()) / len(task.times),
                task.priority,
                task.arrival + task.deadline,
                Task(task.input, task.output, times=task.times, client=self.name),
            )
            for k, task in sorted(enumerate(self.tasks, 1), key=lambda item: item[1].arrival)
        ]
