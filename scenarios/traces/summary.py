"""What is in a trace: the numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any

import numpy as np

from gridtune.scenarios.trace_files.header import TraceHeader
from gridtune.scenarios.trace_files.reading import read_trace
from gridtune.scenarios.trace_files.records import Keep, Tally, Trace
from gridtune.scenarios.traces.columns import Columns, Floats
from gridtune.scenarios.traces.warn import warnings_of

SHORT = 300.0  # s: jobs below it count as short
_QUANTILES = {"min": 0.0, "5%": 0.05, "25%": 0.25, "50%": 0.5, "75%": 0.75, "95%": 0.95, "max": 1.0}
_FACTS = (
    *("Version", "Computer", "Installation", "Acknowledge", "StartTime", "EndTime", "TimeZoneString"),
    *("UnixStartTime", "MaxJobs", "MaxNodes", "MaxProcs", "Processors", "MaxRuntime", "Preemption"),
)


@dataclass(frozen=True, slots=True)
class TraceSummary:
    """What is in a trace and what is wrong with it. Shares are fractions of the kept jobs, 0 to 1.

    Attributes:
        file: path.
        format: `SWF` or `GWF`.
        header: facts of the header by key.
        rows, kept: rows in the file, and those that are jobs.
        dropped, repairs: by reason.
        submit_span: s from the first to the last submission.
        span: s from the first submission to the last end.
        users, groups, queues, sites: how many occur.
        processors_header: of the whole system by the header; None if it does not say.
        processors_largest: of the largest job.
        processors_peak: in use at once at most (jobs without a wait taken to start when submitted).
        runtime, wait: quantiles, s; wait is None if no job has one.
        work: processor-seconds.
        utilisation: work over what the header's processors could do from the first submission to the last
            end; None without them.
        load: the same up to the last submission only: the demand for each processor.
        short_jobs, short_work: share of jobs under 5 min, by count and by processor-seconds.
        with_wait, with_estimate, with_user: share of jobs that have one.
        above_estimate: share of the jobs with an estimate that run longer; None without estimates.
        states, qos: jobs by state and by QOS, as accounting has them, the most first.
        reserved, arrays: jobs that ran in a reservation, and tasks of arrays.
        warnings: what to mind before using the trace, a sentence each.
    """

    file: str
    format: str
    header: dict[str, str]
    rows: int
    kept: int
    dropped: dict[str, Tally]
    repairs: dict[str, Tally]
    submit_span: float
    span: float
    users: int
    groups: int
    queues: int
    sites: int
    processors_header: int | None
    processors_largest: int
    processors_peak: int
    runtime: dict[str, float]
    wait: dict[str, float] | None
    work: float
    utilisation: float | None
    load: float | None
    short_jobs: float
    short_work: float
    with_wait: float
    with_estimate: float
    with_user: float
    above_estimate: float | None
    states: dict[str, int]
    qos: dict[str, int]
    reserved: int
    arrays: int
    warnings: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return asdict(self)


def summarise(path: str | PathLike[str]) -> TraceSummary:
    """Sum up a trace in SWF or GWF.

    Times are those of the file: run times of 0 stay 0 and submit times are not shifted.

    Raises:
        TraceError: the file cannot be read, is neither SWF nor GWF, or has no usable job.
    """
    trace = read_trace(path, keep=Keep(minimum_runtime=0.0, shift=False))
    jobs, report, size = trace.jobs, trace.report, trace.header.processors
    columns = Columns.of(jobs)
    runtime, work, waits = columns.runtime, columns.work, columns.wait[~np.isnan(columns.wait)]
    total, short = float(work.sum()), runtime < SHORT
    submit_span = float(columns.submit[-1] - columns.submit[0])
    span = float(columns.end.max() - columns.submit[0])
    return TraceSummary(
        file=str(trace.path),
        format=trace.format,
        header=_facts(trace.header),
        rows=report.rows,
        kept=report.kept,
        dropped=report.dropped,
        repairs=report.repairs,
        submit_span=submit_span,
        span=span,
        users=_distinct(job.user for job in jobs),
        groups=_distinct(job.group for job in jobs),
        queues=_distinct(job.queue for job in jobs),
        sites=_distinct(job.site for job in jobs),
        processors_header=size,
        processors_largest=int(columns.processors.max()),
        processors_peak=columns.peak(),
        runtime=_quantiles(runtime),
        wait=_quantiles(waits) if len(waits) else None,
        work=total,
        utilisation=_ratio(total, size, span),
        load=_ratio(total, size, submit_span),
        short_jobs=float(short.mean()),
        short_work=float(work[short].sum()) / total if total else 0.0,
        with_wait=len(waits) / len(jobs),
        with_estimate=_share(trace, "estimate"),
        with_user=_share(trace, "user"),
        above_estimate=columns.above_estimate,
        states=_tallied(job.state for job in jobs),
        qos=_tallied(job.qos for job in jobs),
        reserved=sum(job.reservation is not None for job in jobs),
        arrays=sum(job.part_of is not None and job.part_of.endswith("_") for job in jobs),
        warnings=warnings_of(trace, columns),
    )


def _ratio(work: float, processors: int | None, seconds: float) -> float | None:
    return work / (processors * seconds) if processors and seconds else None


def _share(trace: Trace, attribute: str) -> float:
    """Share of the jobs that have a value."""
    return sum(getattr(job, attribute) is not None for job in trace.jobs) / len(trace.jobs)


def _tallied(names: Iterable[str | None]) -> dict[str, int]:
    return dict(Counter(name for name in names if name is not None).most_common())


def _distinct(names: Iterable[str | None]) -> int:
    return len(set(names) - {None})


def _quantiles(values: Floats) -> dict[str, float]:
    return dict(zip(_QUANTILES, np.quantile(values, list(_QUANTILES.values())).tolist(), strict=True))


def _facts(header: TraceHeader) -> dict[str, str]:
    return {key: header[key] for key in _FACTS if header.get(key)}
