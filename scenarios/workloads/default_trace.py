"""The trace of scenarios that name none: a public excerpt where it is at hand, else a generated workload."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gridtune.scenarios.trace_files import TraceError, TraceJob, find_trace, read_trace
from gridtune.scenarios.traces import embedded_jobs

AUTOMATIC = "auto"
DEFAULT_TRACE = "excerpt-lpc-egee-busy-week.swf.gz"
# About a third of a day of work for a hundred servers, so that shipped scenarios have contention here too.
EMBEDDED: dict[str, Any] = {"jobs": 1500, "users": 12, "length": 21600.0}


def logged_jobs(trace: str, rng: np.random.Generator) -> Sequence[TraceJob]:
    """The jobs of a trace, by submission.

    Args:
        trace: a file, or `auto`.
        rng: source of the generated workload.

    Raises:
        TraceError: a file that was asked for cannot be found or read.
    """
    if trace != AUTOMATIC:
        return read_trace(find_trace(trace)).jobs
    try:
        path = find_trace(DEFAULT_TRACE)
    except TraceError:
        return embedded_jobs(rng, **EMBEDDED)
    return read_trace(path).jobs


def origin(trace: str) -> str:
    """Where those jobs come from, in words.

    Raises:
        TraceError: a file that was asked for cannot be found.
    """
    if trace != AUTOMATIC:
        return f"the trace {find_trace(trace)}"
    try:
        return f"the trace {find_trace(DEFAULT_TRACE)}"
    except TraceError:
        missing = f"{DEFAULT_TRACE} was not found; GRIDTUNE_DATA may name its folder"
        return f"a small generated workload ({missing})"
