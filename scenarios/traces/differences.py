"""How a replay of a trace differs from what was logged, in words."""

from __future__ import annotations

from collections.abc import Iterator

from gridtune.scenarios.trace_files.records import Trace


def differences(trace: Trace, *, dependent: bool = False) -> Iterator[str]:
    """What reading did to the rows, and what of them a replay does not keep to, a line each.

    Args:
        trace: that is replayed.
        dependent: whether jobs come when those have ended that they follow.
    """
    report = trace.report
    for reason, tally in report.dropped.items():
        yield f"{tally.count:,} of {report.rows:,} rows of the log are left out: {reason}"
    for reason, tally in report.repairs.items():
        yield f"{tally.count:,} of {report.rows:,} rows of the log are repaired: {reason}"
    for reason, tally in report.links.items():
        rows = f"{tally.count:,} of {report.rows:,} rows"
        kept = "kept, such jobs come so long after that one has ended here, if it is replayed, too"
        yield f"{rows} of the log name {reason}: {kept if dependent else 'ignored, jobs come when logged'}"
    withdrawn = sum(job.withdrawn is not None for job in trace.jobs)
    if withdrawn:
        yield (
            f"{withdrawn:,} of {report.rows:,} jobs were cancelled while they waited: they wait here as "
            "long at most, run for the requested time (if there is one) if their turn comes before, and "
            "count in no metric"
        )
    ended = sum(job.status in (0, 5) and job.withdrawn is None for job in trace.jobs)
    if ended:
        yield (
            f"{ended:,} of {report.kept:,} jobs failed or were cancelled in the log; they run as long as "
            "they did and count as completed"
        )


def estimates(trace: Trace) -> Iterator[str]:
    """What is wrong with the requested times as promises."""
    jobs = trace.jobs
    missing = sum(job.estimate is None for job in jobs)
    if missing:
        yield (
            f"{missing:,} of {len(jobs):,} jobs have no requested time: their run time stands for it, as if "
            "their owners knew it; `estimate` and `estimate_factor` of the workload give them another"
        )
    above = sum(job.estimate is not None and job.runtime > job.estimate for job in jobs)
    if above:
        yield (
            f"{above:,} of {len(jobs):,} jobs ran longer than they requested: `overrun` of the site says "
            "whether they are left to run"
        )
