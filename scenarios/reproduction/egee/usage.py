"""What logs of EGEE and of LCG show of the use of grids, and the law that stands in for them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from gridtune.model.streams import Streams
from gridtune.scenarios.document.scenario import load
from gridtune.scenarios.trace_files.find import find_trace
from gridtune.scenarios.trace_files.reading import read_trace
from gridtune.scenarios.trace_files.records import Trace, TraceError, TraceJob
from gridtune.scenarios.workloads.jobs import GeneratedJobs

LPC = "LPC-EGEE-2004-1.2-cln.swf.gz"
LCG = "LCG-2005-1.swf.gz"
LAW = "law (median 2 s, sigma 2.9)"
DAY = 86400.0
CLASSES = {"below 10 s": 10.0, "10 s to 5 min": 300.0, "5 min to 1 h": 3600.0, "1 h to 1 d": DAY}
LONGEST = "above 1 d"
COMPLETED = (None, 1)  # status of jobs that ran to completion, or of which the log does not say


class Usage(NamedTuple):
    """Completed jobs of a log, or draws of the law.

    Attributes:
        name: of the log, for a legend.
        runtimes: s.
        waits: s in the queue of the site, of the same jobs; empty where the log has none.
        months: year and month of submission of each, e.g. 2005-01; empty where unknown.
    """

    name: str
    runtimes: list[float]
    waits: list[float]
    months: list[str]


def logged(file: str, name: str) -> Usage | None:
    """The completed jobs of a log; None if it is in none of the places where traces are kept."""
    try:
        path = find_trace(file)
    except TraceError:
        return None
    trace = read_trace(path)
    jobs = [job for job in trace.jobs if job.status in COMPLETED]
    waits = [job.wait for job in jobs if job.wait is not None]
    return Usage(
        name, [job.runtime for job in jobs], waits if len(waits) == len(jobs) else [], _months(trace, jobs)
    )


def _months(trace: Trace, jobs: Sequence[TraceJob]) -> list[str]:
    start = trace.header.integer("UnixStartTime")
    if start is None:
        return []
    first = start + trace.origin
    return [f"{datetime.fromtimestamp(first + job.submit, UTC):%Y-%m}" for job in jobs]


def lawful(seed: int, count: int = 50_000) -> Usage:
    """Draws of the law of run times in `egee/plain`, as many as the broker of section 2.2 had jobs."""
    broker = load("egee/plain").spec.workload[0]
    assert isinstance(broker, GeneratedJobs)
    stream = Streams(seed).stream(f"workload:{broker.name}:runtime")
    return Usage(LAW, broker.runtime.draw(stream, count).tolist(), [], [])


def by_class(usage: Usage) -> dict[str, dict[str, int]]:
    """Jobs of each month (one row named after the log where months are unknown) in classes of run time."""
    counts: dict[str, dict[str, int]] = {}
    rows = usage.months or [usage.name] * len(usage.runtimes)
    for month, runtime in zip(rows, usage.runtimes, strict=True):
        row = counts.setdefault(month, dict.fromkeys((*CLASSES, LONGEST), 0))
        row[next((name for name, end in CLASSES.items() if runtime < end), LONGEST)] += 1
    return dict(sorted(counts.items()))


def below(runtimes: Sequence[float], limit: float) -> float:
    """Share of run times below a limit (s)."""
    return sum(runtime < limit for runtime in runtimes) / len(runtimes)
