"""Sessions of GridRPC clients from a trace of batch jobs: what a user submits in one go is one session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from gridtune.agents.gridrpc.client import Session
from gridtune.model.streams import Streams
from gridtune.scenarios.fields.observed import TraceFile
from gridtune.scenarios.fields.table import says
from gridtune.scenarios.traces.bursts import sessions_from_jobs
from gridtune.scenarios.workloads.default_trace import (
    AUTOMATIC,
    DEFAULT_TRACE,
    departures,
    logged_jobs,
    origin,
)
from gridtune.scenarios.workloads.sessions import SessionWorkload


class BurstSessions(SessionWorkload):
    """Bursts of jobs of one user become sessions with mandatory and optional requests and a deadline.

    No trace has deadlines or optional work: both are generated from the trace by a rule without chance,
    see `scenarios.traces.sessions_from_jobs`.
    """

    kind: Literal["bursts"]
    trace: TraceFile = Field(
        default=AUTOMATIC,
        description=f"file in SWF or GWF, plain or compressed; auto: {DEFAULT_TRACE} where it is found, else "
        "a small generated workload",
    )
    gap: float = Field(
        default=300.0,
        ge=0,
        json_schema_extra=says("s"),
        description="s; longest pause between two jobs of a burst",
    )
    max_requests: int = Field(
        default=1000, ge=1, json_schema_extra=says("count"), description="requests of a session"
    )
    mandatory_share: float = Field(
        default=0.25,
        ge=0,
        le=1,
        json_schema_extra=says("0 to 1"),
        description="mandatory share of the requests of a session",
    )
    slack: float = Field(
        default=3.0,
        gt=0,
        json_schema_extra=says("ratio"),
        description="time allowed over the least time needed",
    )
    parallelism: int = Field(
        default=10, ge=1, json_schema_extra=says("count"), description="servers that a user may count on"
    )
    min_deadline: float = Field(
        default=600.0, gt=0, json_schema_extra=says("s"), description="s that a session is allowed at least"
    )

    def sessions(self, streams: Streams) -> list[Session]:
        """One session for each burst.

        Raises:
            TraceError: the trace cannot be found or read.
        """
        return sessions_from_jobs(
            logged_jobs(self.trace, streams.stream(f"workload:{self.name}")),
            gap=self.gap,
            max_requests=self.max_requests,
            mandatory_share=self.mandatory_share,
            slack=self.slack,
            parallelism=self.parallelism,
            min_deadline=self.min_deadline,
        )

    def provenance(self) -> str:
        """What the sessions are made from, in words."""
        return origin(self.trace)

    def differences(self) -> Iterator[str]:
        """How the sessions differ from what was logged, a line each."""
        return departures(self.trace, "each becomes a request on one server")
