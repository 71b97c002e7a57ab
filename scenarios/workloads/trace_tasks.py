"""Tasks from a trace of batch jobs, with deadlines and priorities that are generated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from gridtune.model.streams import Streams
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.fields.observed import TraceFile
from gridtune.scenarios.fields.table import number
from gridtune.scenarios.workloads.default_trace import (
    AUTOMATIC,
    DEFAULT_TRACE,
    departures,
    logged_jobs,
    origin,
)
from gridtune.scenarios.workloads.tasks import Arrival, GeneratedTasks


class TraceTasks(GeneratedTasks):
    """Logged jobs as sequential tasks: submission, run time and owner are real, all else is generated.

    A job that held several processors becomes one task of its run time.
    """

    kind: Literal["trace-tasks"]
    trace: TraceFile = Field(
        default=AUTOMATIC,
        description=f"file in SWF or GWF, plain or compressed; auto: {DEFAULT_TRACE} where it is found, else "
        "a small generated workload",
    )
    start: float = number(0.0, "s", "s into the trace; earlier submissions are left out", ge=0)
    end: float = number(inf, "s", "s into the trace; later submissions are left out", gt=0)
    compression: float = number(
        1.0, "ratio", "factor by which submissions come closer: the load grows by it", gt=0
    )

    @model_validator(mode="after")
    def _window(self) -> TraceTasks:
        if self.end <= self.start:
            raise ValueError(f"end ({self.end}) must be more than start ({self.start})")
        return self

    def arrivals(self, streams: Streams) -> Sequence[Arrival]:
        """The tasks of one run; it starts with the chosen part of the trace.

        Raises:
            TraceError: the trace cannot be found or read.
            ScenarioError: nothing was submitted between start and end.
        """
        logged = logged_jobs(self.trace, streams.stream(f"workload:{self.name}"))
        chosen = [job for job in logged if self.start <= job.submit < self.end]
        if not chosen:
            raise ScenarioError(
                f"workload.{self.name}: nothing of {self.trace} was submitted between start and end "
                f"({self.start:g} s and {self.end:g} s)"
            )
        times = (np.array([job.submit for job in chosen]) - self.start) / self.compression
        runtimes = np.array([job.runtime for job in chosen])
        return self.tasks(streams, times, runtimes, [job.user or "unknown" for job in chosen])

    def provenance(self) -> str:
        """What the tasks are made from, in words."""
        return f"{origin(self.trace)}; deadlines, priorities and data sizes are generated"

    def differences(self) -> Iterator[str]:
        """How the tasks differ from what was logged, a line each."""
        return departures(self.trace, "each becomes one task of its run time on one server")
