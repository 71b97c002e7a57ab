"""The trace of scenarios that name none: a public excerpt where it is at hand, else a generated workload."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gridtune.scenarios.trace_files import Trace, TraceError, TraceJob, find_trace, read_trace
from gridtune.scenarios.traces.differences import differences
from gridtune.scenarios.traces.embedded import embedded_jobs

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


def read_log(trace: str) -> Trace | None:
    """The trace that `logged_jobs` takes its jobs from; None where they are generated.

    Raises:
        TraceError: a file that was asked for cannot be found or read.
    """
    try:
        path = find_trace(DEFAULT_TRACE if trace == AUTOMATIC else trace)
    except TraceError:
        if trace == AUTOMATIC:
            return None
        raise
    return read_trace(path)


def departures(trace: str, what: str) -> Iterator[str]:
    """How a workload made from a trace differs from what was logged, a line each.

    Args:
        trace: a file, or `auto`.
        what: what becomes of each job, to say that it has one processor.

    Raises:
        TraceError: a file that was asked for cannot be found or read.
    """
    log = read_log(trace)
    if log is None:
        return
    yield from differences(log)
    wide = sum(job.processors > 1 for job in log.jobs)
    if wide:
        yield f"{wide:,} of {len(log.jobs):,} jobs held several processors; {what}"
    requested = sum(job.estimate is not None for job in log.jobs)
    if requested:
        asked = f"{requested:,} of {len(log.jobs):,} jobs"
        yield f"{asked} have a requested time: ignored, nobody heeds promises here"


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
