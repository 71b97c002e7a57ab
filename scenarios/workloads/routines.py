"""Workloads of routines whose time and memory follow from a parameter, and what benchmarks tell of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import Literal, Self

import numpy as np
from pydantic import model_validator

from gridtune.model.deadline.regression import fitted, polynomial
from gridtune.model.streams import Streams
from gridtune.scenarios.fields.laws import Floats, PositiveLaw
from gridtune.scenarios.fields.table import Table, number
from gridtune.scenarios.workloads.tasks import Arrival, GeneratedTasks

LEAST = 1e-6  # s; a polynomial may go below 0 beyond its benchmarks


class RoutineSpec(Table):
    """What a routine takes for a parameter n, e.g. the order of its matrices."""

    time: list[float] = number(..., "s", "s at speed 1: c0, c1, … of c0 + c1 n + c2 n^2 + …", min_length=1)
    memory: list[float] = number([0.0], "bytes", "bytes: coefficients by powers of n", min_length=1)
    fits: float = number(inf, "none", "parameter n up to which its data fit into the cache", gt=0)
    slower: float = number(1.0, "ratio", "factor on its time for larger n", ge=1)

    def takes(self, sizes: Floats) -> Floats:
        """Seconds at speed 1, really."""
        return polynomial(self.time, sizes) * np.where(sizes > self.fits, self.slower, 1.0)


class BenchmarkSpec(Table):
    """How FAST learns what a routine takes (RR-5335, section 3)."""

    sizes: list[float] = number(
        ..., "none", "parameters n at which the routine is run", min_length=1, bounds={"exclusiveMinimum": 0}
    )
    repeats: int = number(1, "count", "number of runs at each size", ge=1)
    noise: float = number(0.0, "ratio", "relative deviation of measured times", ge=0, le=0.5)
    degree: int = number(3, "none", "degree of the polynomial that is fitted to the times", ge=0, le=8)

    @model_validator(mode="after")
    def _determined(self) -> Self:
        if len(set(self.sizes)) <= self.degree:
            raise ValueError(f"sizes: a polynomial of degree {self.degree} needs {self.degree + 1} of them")
        if not min(self.sizes) > 0:
            raise ValueError(f"sizes: {min(self.sizes):g} must be more than 0")
        return self


class RoutineTasks(GeneratedTasks):
    """Calls of one routine: the agent plans with what a regression says, servers take what they take.

    The memory of a call is what the regression says: it decides which servers can do it.
    """

    kind: Literal["routine-tasks"]
    count: int = number(..., "count", "number of calls", ge=1)
    window: float = number(0.0, "s", "s over which they arrive; 0: all at once", ge=0)
    users: int = number(10, "count", "owners, to whom calls are dealt in turn", ge=1)
    size: PositiveLaw = number(..., "none", "parameter n of a call")
    routine: RoutineSpec
    benchmark: BenchmarkSpec

    @model_validator(mode="after")
    def _takes_time(self) -> Self:
        if not self.routine.takes(np.array(self.benchmark.sizes)).min() > 0:
            raise ValueError("routine.time: the routine takes no time at some size of its benchmark")
        return self

    def arrivals(self, streams: Streams) -> Sequence[Arrival]:
        """The calls of one run, by time."""
        rng = streams.stream(f"workload:{self.name}")
        sizes = self.size.draw(rng, self.count)
        times = np.sort(rng.uniform(0.0, self.window, self.count)) if self.window else np.zeros(self.count)
        users = [f"{self.name}-{k % self.users:03}" for k in range(self.count)]
        expected, memory = self.regression(streams, sizes)
        runtimes = np.maximum(self.routine.takes(sizes), LEAST)
        known = zip(np.maximum(expected, LEAST).tolist(), np.maximum(memory, 0.0).tolist(), strict=True)
        return [
            arrival._replace(
                task=replace(arrival.task, expected=time, memory=arrival.task.memory + need),
            )
            for arrival, (time, need) in zip(self.tasks(streams, times, runtimes, users), known, strict=True)
        ]

    def regression(self, streams: Streams, sizes: Floats) -> tuple[Floats, Floats]:
        """Time (s at speed 1) and memory (B) of calls as the regression on benchmarks has them."""
        spec, rng = self.benchmark, streams.stream(f"workload:{self.name}:benchmark")
        measured = np.repeat(np.array(spec.sizes, dtype=float), spec.repeats)
        noise = np.clip(1 + spec.noise * rng.standard_normal(len(measured)), 0.05, None)
        time = fitted(measured, self.routine.takes(measured) * noise, spec.degree)
        memory = np.maximum(polynomial(self.routine.memory, measured), 1.0)
        return polynomial(time, sizes), polynomial(fitted(measured, memory, spec.degree), sizes)
