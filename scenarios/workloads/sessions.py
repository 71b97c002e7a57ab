"""Workloads of GridRPC clients: who comes when, with how much work, until when."""

from __future__ import annotations

import csv
from abc import abstractmethod
from collections.abc import Sequence
from io import TextIOWrapper
from typing import Literal

import numpy as np
from pydantic import Field, ValidationError, model_validator

from gridtune.agents.gridrpc.client import Session
from gridtune.model.streams import Streams
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.fields.laws import Constant, Law, PositiveLaw
from gridtune.scenarios.fields.table import Name, Switchable, Table, number
from gridtune.scenarios.regular_files import open_regular

# Calzarossa & Serazzi 1985: arrivals per minute over a working day (t from -0.5 at 8:30 to 0.5 at 18:00).
DIURNAL = np.polynomial.Polynomial((3.1, -8.5, 24.7, 130.8, 107.7, -804.2, -2038.5, 1856.8, 4618.6))


class SessionWorkload(Switchable):
    """What workloads of sessions have in common."""

    name: Name = "workload"
    client: str = Field(default="", description="[[client]] that acts for the users; the first if left out")
    service: str = Field(
        default="", description="service that the requests are of; some [[sed]] must offer it"
    )
    request_bytes: Law = number(
        Constant(value=0.0), "bytes", "bytes that go to the server with each request; drawn for each user"
    )
    result_bytes: Law = number(
        Constant(value=0.0), "bytes", "bytes that come back from each request; drawn for each user"
    )

    @abstractmethod
    def sessions(self, streams: Streams) -> list[Session]:
        """The sessions of one run, by arrival."""


class GeneratedSessions(SessionWorkload):
    """Sessions of users who all want the same, at times that a rule gives."""

    n_min: Law = number(
        ..., "count", "mandatory requests of each user; drawn values are rounded, n_max at most"
    )
    n_max: int = number(..., "count", "requests in all that are useful to each user", ge=1)
    deadline: PositiveLaw = number(..., "s", "s after the user's entry; drawn for each user")
    runtime: Law = number(..., "s", "s at speed 1; drawn once for each user")

    @model_validator(mode="after")
    def _counts(self) -> GeneratedSessions:
        if isinstance(self.n_min, Constant):
            wanted = self.n_min.value
            if wanted > self.n_max:
                raise ValueError(f"n_min ({wanted:g}) must not be more than n_max ({self.n_max})")
            if not wanted.is_integer():
                raise ValueError(f"n_min ({wanted:g}) must be a whole number")
        return self

    @abstractmethod
    def entries(self, rng: np.random.Generator) -> Sequence[float]:
        """When users enter, s, in ascending order."""

    def sessions(self, streams: Streams) -> list[Session]:
        """The sessions of one run, by arrival."""
        rng = streams.stream(f"workload:{self.name}")
        entries = self.entries(rng)
        runtimes = self.runtime.draw(rng, len(entries))
        deadlines = self.deadline.draw(streams.stream(f"deadline:{self.name}"), len(entries))
        needed = self.n_min.draw(streams.stream(f"n_min:{self.name}"), len(entries))
        return [
            Session(
                f"{self.name}-{k:03}",
                t0,
                t0 + float(deadline),
                min(round(n_min), self.n_max),
                self.n_max,
                (runtime,),
            )
            for k, (t0, runtime, deadline, n_min) in enumerate(
                zip(entries, runtimes.tolist(), deadlines.tolist(), needed.tolist(), strict=True)
            )
        ]


class RegularSessions(GeneratedSessions):
    """Users that enter one after the other at a constant interval (RR-7959, sections 5.1.1 to 5.1.3)."""

    kind: Literal["regular"]
    count: int = number(..., "count", "number of users", ge=1)
    interval: float = number(0.0, "s", "s between two entries", ge=0)

    def entries(self, rng: np.random.Generator) -> Sequence[float]:
        """Multiples of the interval."""
        return [k * self.interval for k in range(self.count)]


class DiurnalSessions(GeneratedSessions):
    """Users whose arrivals follow a working day (RR-7959, section 5.1.4).

    At each second t of the day a user enters with probability P(t / length - 1/2) / divisor.
    """

    kind: Literal["diurnal"]
    length: int = number(100, "s", "s that the working day is normalised to", ge=1)
    divisor: float = number(10.0, "none", "number by which the value of the polynomial is divided", gt=0)

    def entries(self, rng: np.random.Generator) -> Sequence[float]:
        """The seconds at which a user enters."""
        seconds = np.arange(self.length)
        probability = DIURNAL(seconds / self.length - 0.5) / self.divisor
        return [float(t) for t in seconds[rng.random(self.length) < probability]]


class PoissonSessions(GeneratedSessions):
    """Users that enter independently of each other."""

    kind: Literal["poisson"]
    count: int = number(..., "count", "number of users", ge=1)
    rate: float = number(..., "1/s", "users that arrive per s, on average", gt=0)

    def entries(self, rng: np.random.Generator) -> Sequence[float]:
        """Sums of exponential gaps."""
        return [float(t) for t in np.cumsum(rng.exponential(1.0 / self.rate, self.count))]


class SessionEntry(Table):
    """One session of a list."""

    user: str = Field(description="name of the user")
    arrival: float = number(..., "s", "s at which the user enters", ge=0)
    deadline: float = number(..., "s", "s after the user's entry", gt=0)
    n_min: int = number(..., "count", "number of mandatory requests", ge=0)
    n_max: int = number(..., "count", "requests in all that are useful", ge=1)
    runtime: float = number(..., "s", "s of each request at speed 1", gt=0)

    @model_validator(mode="after")
    def _counts(self) -> SessionEntry:
        if self.n_min > self.n_max:
            raise ValueError(f"n_min ({self.n_min}) must not be more than n_max ({self.n_max})")
        return self


class ListedSessions(SessionWorkload):
    """Sessions that are written out one by one, here or in a CSV file with a header of the same names."""

    kind: Literal["session-list"]
    session: list[SessionEntry] = Field(default_factory=list, description="the sessions, one after the other")
    file: str = Field(default="", description="CSV file with further ones, beside the scenario")

    @model_validator(mode="after")
    def _some(self) -> ListedSessions:
        if not self.session and not self.file:
            raise ValueError("a session-list needs `session` or `file`")
        return self

    def sessions(self, streams: Streams) -> list[Session]:
        """The sessions, by arrival.

        Raises:
            ScenarioError: the file cannot be read, or a row of it makes no sense.
        """
        entries = [*self.session, *(_read_sessions(self.file) if self.file else ())]
        made = [
            Session(one.user, one.arrival, one.arrival + one.deadline, one.n_min, one.n_max, (one.runtime,))
            for one in entries
        ]
        return sorted(made, key=lambda session: session.arrival)


def _read_sessions(name: str) -> list[SessionEntry]:
    """The sessions of a CSV file."""
    made = []
    try:
        with TextIOWrapper(open_regular(name), "utf-8", newline="") as file:
            for line, row in enumerate(csv.DictReader(file), 2):
                try:
                    numbers = {key: float(value) for key, value in row.items() if key != "user"}
                    made.append(SessionEntry.model_validate({"user": row.get("user"), **numbers}))
                except (TypeError, ValueError) as error:
                    why = (
                        str(error).splitlines()[0]
                        if not isinstance(error, ValidationError)
                        else (
                            f"{error.errors()[0]['loc'][0]}: {error.errors()[0]['msg']}"
                            if error.errors()[0]["loc"]
                            else error.errors()[0]["msg"]
                        )
                    )
                    raise ScenarioError(f"{name}: line {line}: {why}") from None
    except OSError as error:
        raise ScenarioError(f"{name}: cannot be read: {error.strerror or error}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise ScenarioError(f"{name}: cannot be read as CSV: {error}") from None
    if not made:
        raise ScenarioError(f"{name}: holds no session")
    return made
