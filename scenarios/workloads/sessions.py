"""Workloads of GridRPC clients: who comes when, with how much work, until when."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from gridtune.agents.gridrpc.client import Session
from gridtune.model.streams import Streams
from gridtune.scenarios.fields.laws import Law
from gridtune.scenarios.fields.table import Switchable

# Calzarossa & Serazzi 1985: arrivals per minute over a working day (t from -0.5 at 8:30 to 0.5 at 18:00).
DIURNAL = np.polynomial.Polynomial((3.1, -8.5, 24.7, 130.8, 107.7, -804.2, -2038.5, 1856.8, 4618.6))


class SessionWorkload(Switchable):
    """What workloads of sessions have in common."""

    name: str = "workload"

    @abstractmethod
    def sessions(self, streams: Streams) -> list[Session]:
        """The sessions of one run, by arrival."""


class GeneratedSessions(SessionWorkload):
    """Sessions of users who all want the same, at times that a rule gives."""

    n_min: int = Field(ge=0, description="mandatory requests of each user")
    n_max: int = Field(ge=1, description="requests in all that are useful to each user")
    deadline: float = Field(gt=0, description="s after the user's entry")
    runtime: Law = Field(description="s at speed 1; drawn once for each user")

    @model_validator(mode="after")
    def _counts(self) -> GeneratedSessions:
        if self.n_min > self.n_max:
            raise ValueError(f"n_min ({self.n_min}) must not be more than n_max ({self.n_max})")
        return self

    @abstractmethod
    def entries(self, rng: np.random.Generator) -> Sequence[float]:
        """When users enter, s, in ascending order."""

    def sessions(self, streams: Streams) -> list[Session]:
        """The sessions of one run, by arrival."""
        rng = streams.stream(f"workload:{self.name}")
        entries = self.entries(rng)
        runtimes = self.runtime.draw(rng, len(entries))
        return [
            Session(f"{self.name}-{k:03}", t0, t0 + self.deadline, self.n_min, self.n_max, (float(runtime),))
            for k, (t0, runtime) in enumerate(zip(entries, runtimes, strict=True))
        ]


class RegularSessions(GeneratedSessions):
    """Users that enter one after the other at a constant interval (RR-7959, sections 5.1.1 to 5.1.3)."""

    kind: Literal["regular"]
    count: int = Field(ge=1, description="users")
    interval: float = Field(default=0.0, ge=0, description="s between two entries")

    def entries(self, rng: np.random.Generator) -> Sequence[float]:
        """Multiples of the interval."""
        return [k * self.interval for k in range(self.count)]


class DiurnalSessions(GeneratedSessions):
    """Users whose arrivals follow a working day (RR-7959, section 5.1.4).

    At each second t of the day a user enters with probability P(t / length - 1/2) / divisor.
    """

    kind: Literal["diurnal"]
    length: int = Field(default=100, ge=1, description="s that the working day is normalised to")
    divisor: float = Field(default=10.0, gt=0, description="of the polynomial's value")

    def entries(self, rng: np.random.Generator) -> Sequence[float]:
        """The seconds at which a user enters."""
        seconds = np.arange(self.length)
        probability = DIURNAL(seconds / self.length - 0.5) / self.divisor
        return [float(t) for t in seconds[rng.random(self.length) < probability]]


class PoissonSessions(GeneratedSessions):
    """Users that enter independently of each other."""

    kind: Literal["poisson"]
    count: int = Field(ge=1, description="users")
    rate: float = Field(gt=0, description="users per s")

    def entries(self, rng: np.random.Generator) -> Sequence[float]:
        """Sums of exponential gaps."""
        return [float(t) for t in np.cumsum(rng.exponential(1.0 / self.rate, self.count))]
