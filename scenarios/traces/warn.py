"""What to mind before using a trace, in words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gridtune.plain_text import counted
from gridtune.scenarios.trace_files.records import Trace
from gridtune.scenarios.trace_files.rows import PARTS, UNSORTED
from gridtune.scenarios.traces.columns import Columns, early

_FAR_ABOVE = 2.0  # processors of the header over those in use at once
_CLIPPED_JOBS, _CLIPPED_SHARE = 20, 0.001  # jobs at exactly the longest run time that make it look like a cut


def warnings_of(trace: Trace, columns: Columns) -> list[str]:
    """Everything about a trace that could mislead who replays it, a sentence each.

    Args:
        trace: read with run times as in the file.
        columns: of its jobs.
    """
    of_jobs = (source(columns) for source in (_early, _waits, _estimates, _runtimes))
    sources = (_rows(trace), *of_jobs, _size(trace, columns))
    return [warning for source in sources for warning in source] + list(_people(trace))


def _early(columns: Columns) -> Iterator[str]:
    if count := early(columns.submit):
        yield (
            f"{counted(count, 'job')} came over a week before all others: left out by `calibrate`, and by "
            f"`first` = {count + 1} of a workload"
        )


def _rows(trace: Trace) -> Iterator[str]:
    report = trace.report
    for reason, tally in report.dropped.items():
        share = _percent(tally.count / report.rows)
        yield f"{tally.count} of {report.rows} rows ({share}) left out: {reason}"
    for reason, tally in report.links.items():
        yield (
            f"{tally.count} of {report.rows} rows name {reason}: replays keep to that only with "
            '`dependencies` = "keep"'
        )
    if report.missing:
        yield f"columns that are not there: {', '.join(report.missing)}"
    announced = trace.header.integer("MaxRecords") or trace.header.integer("MaxJobs")
    if announced and announced != report.rows:
        yield f"the header announces {announced} rows, the file has {report.rows}: it was cut or filtered"
    if UNSORTED in report.repairs:
        yield f"{report.repairs[UNSORTED].count} rows are out of submit order"
    repeated = len(trace.jobs) - len({job.id for job in trace.jobs})
    if repeated:
        yield f"{repeated} rows repeat the id of another: parts of one job, or logs put together"


def _waits(columns: Columns) -> Iterator[str]:
    missing = float(np.isnan(columns.wait).mean())
    if missing == 1:
        yield (
            "no job has a wait: submit times may really be start times, so the queueing that took place "
            "would be hidden in a replay"
        )
    elif missing:
        yield f"{_percent(missing)} of the jobs have no wait"


def _estimates(columns: Columns) -> Iterator[str]:
    known = columns.estimate[~np.isnan(columns.estimate)]
    missing = 1 - len(known) / len(columns.estimate)
    if missing == 1:
        yield "no job has a requested time: policies that need an estimate must be given one"
        return
    if missing:
        yield f"{_percent(missing)} of the jobs have no requested time"
    above = columns.above_estimate
    if len(known) > 1 and np.ptp(known) == 0:
        yield f"every job requests the same time ({known[0]:g} s): a default, not an estimate"
    elif not above and np.isnan(columns.wait).all():
        yield (
            "requested times may be synthetic: no wait was recorded, yet jobs have requests and none runs "
            "longer than its own"
        )
    if above:
        yield (
            f"{_percent(above)} of the jobs run longer than they requested: to kill them there or to let "
            "them run is a choice of policy"
        )


def _runtimes(columns: Columns) -> Iterator[str]:
    zero = int((columns.runtime == 0).sum())
    if zero:
        yield f"{zero} jobs have a run time of 0 s (under half a second)"
    longest = float(columns.runtime.max())
    at_longest = int((columns.runtime == longest).sum())
    if longest and at_longest >= max(_CLIPPED_JOBS, _CLIPPED_SHARE * len(columns.runtime)):
        yield f"{at_longest} jobs run exactly {longest:g} s, the longest time: run times seem to be cut there"


def _size(trace: Trace, columns: Columns) -> Iterator[str]:
    size, peak = trace.header.processors, columns.peak()
    if size is None:
        yield f"the header does not say how many processors there were; {peak} were in use at once"
    elif size > _FAR_ABOVE * peak:
        yield (
            f"the header's {size} processors are far above the {peak} in use at once: scale the capacity or "
            "the load before studying contention"
        )
    elif size < peak:
        yield f"{peak} processors were in use at once, more than the header's {size}"


def _people(trace: Trace) -> Iterator[str]:
    jobs = trace.jobs
    nobody = sum(job.user is None for job in jobs)
    if nobody:
        yield f"{_percent(nobody / len(jobs))} of the jobs have no user"
    if all(job.status is None for job in jobs):
        yield "no job has a status: failed jobs cannot be told from completed ones"
    parts = sum(job.status in PARTS for job in jobs)
    if parts:
        yield f"{parts} jobs have a status of 2 to 4: by the format, parts of jobs stopped and resumed"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.2g} %"
