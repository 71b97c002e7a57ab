"""Accounting as `sacct -a -X -P` prints it, of a trace that is repeated until it has enough jobs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count, islice
from math import ceil, isfinite
from pathlib import Path

from gridtune.scenarios.trace_files.accounting import FORMAT
from gridtune.scenarios.trace_files.reading import Trace, read_trace
from gridtune.scenarios.trace_files.records import TraceJob

BEGIN = datetime(2025, 1, 6, tzinfo=UTC).timestamp()  # of the log: a Monday
WEEK = 7 * 86400.0
STATES = {0: "FAILED", 5: "CANCELLED by 1000"}


def write_sacct(trace: Path, jobs: int, path: Path) -> None:
    """Write the accounting of so many jobs; each repetition begins a whole number of weeks later."""
    rows = [FORMAT.replace(",", "|"), *islice(_rows(read_trace(trace)), jobs)]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def _rows(trace: Trace) -> Iterator[str]:
    length = max(job.submit for job in trace.jobs) - min(job.submit for job in trace.jobs)
    number = count(1)
    for repetition in count():
        later = repetition * ceil(length / WEEK) * WEEK
        for job in trace.jobs:
            yield _row(next(number), job, BEGIN + later)


def _row(number: int, job: TraceJob, begin: float) -> str:
    submit = begin + job.submit
    start = submit + (job.wait or 0.0)
    minutes = "UNLIMITED" if job.estimate is None or not isfinite(job.estimate) else ceil(job.estimate / 60)
    # Eligible at once.
    times = (_moment(one) for one in (submit, submit, start, start + job.runtime))
    state = STATES.get(1 if job.status is None else job.status, "COMPLETED")
    cells = (number, number, *times, job.processors, job.processors, minutes, state)
    names = (f"user{job.user}", f"g{job.group or 0}", f"q{job.queue or 0}", "normal", "")
    return "|".join(map(str, (*cells, *names)))


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(round(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%S")
