"""Sessions of GridRPC clients from a trace of batch jobs: what a user submits in one go is one session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from gridtune.agents.gridrpc.client import Session
from gridtune.model.streams import Streams
from gridtune.scenarios.fields.observed import TraceFile
from gridtune.scenarios.fields.table import number
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
    gap: float = number(300.0, "s", "s; longest pause between two jobs of a burst", ge=0)
    max_requests: int = number(1000, "count", "number of requests of a session, at most", ge=1)
    mandatory_share: float = number(
        0.25, "0 to 1", "mandatory share of the requests of a session", ge=0, le=1
    )
    slack: float = number(3.0, "ratio", "time allowed over the least time needed", gt=0)
    parallelism: int = number(10, "count", "servers that a user may count on", ge=1)
    min_deadline: float = number(600.0, "s", "s that a session is allowed at least", gt=0)

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
