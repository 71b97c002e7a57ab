"""Sessions of GridRPC clients from a trace of batch jobs: what a user submits in one go is one session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from agents.client import Session
from model.streams import Streams
from scenarios.trace_file import TraceFile
from scenarios.traces import TraceError, TraceJob, embedded_jobs, find_trace, read_trace, sessions_from_jobs
from scenarios.workloads import SessionWorkload

AUTOMATIC = "auto"
DEFAULT_TRACE = "excerpt-lpc-egee-busy-week.swf.gz"
# About a third of a day of work for a hundred servers, so that the shipped scenario has contention here too.
EMBEDDED: dict[str, Any] = {"jobs": 1500, "users": 12, "length": 21600.0}


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
    gap: float = Field(default=300.0, ge=0, description="s; longest pause between two jobs of a burst")
    max_requests: int = Field(default=1000, ge=1, description="requests of a session")
    mandatory_share: float = Field(default=0.25, ge=0, le=1, description="of the requests of a session")
    slack: float = Field(default=3.0, gt=0, description="time allowed over the least time needed")
    parallelism: int = Field(default=10, ge=1, description="servers that a user may count on")
    min_deadline: float = Field(default=600.0, gt=0, description="s that a session is allowed at least")

    def sessions(self, streams: Streams) -> list[Session]:
        """One session for each burst.

        Raises:
            TraceError: the trace cannot be found or read.
        """
        return sessions_from_jobs(
            self._jobs(streams),
            gap=self.gap,
            max_requests=self.max_requests,
            mandatory_share=self.mandatory_share,
            slack=self.slack,
            parallelism=self.parallelism,
            min_deadline=self.min_deadline,
        )

    def provenance(self) -> str:
        """What the sessions are made from, in words."""
        if self.trace != AUTOMATIC:
            return f"the trace {find_trace(self.trace)}"
        try:
            return f"the trace {find_trace(DEFAULT_TRACE)}"
        except TraceError:
            missing = f"{DEFAULT_TRACE} was not found; GRIDTUNE_DATA may name its folder"
            return f"a small generated workload ({missing})"

    def _jobs(self, streams: Streams) -> Sequence[TraceJob]:
        if self.trace != AUTOMATIC:
            return read_trace(find_trace(self.trace)).jobs
        try:
            path = find_trace(DEFAULT_TRACE)
        except TraceError:
            return embedded_jobs(streams.stream(f"workload:{self.name}"), **EMBEDDED)
        return read_trace(path).jobs
