"""Heterogeneous jobs of Slurm, whose parts start together: rows of accounting that are one job."""

from __future__ import annotations

from collections.abc import Iterable

from gridtune.scenarios.trace_files.records import TraceJob, TraceReport

PART = "part of a heterogeneous job, whose processors are added to its first part"


def together(rows: Iterable[tuple[int, TraceJob]], report: TraceReport) -> list[TraceJob]:
    """The jobs, with the parts of each heterogeneous one as a single job, where its first part stands.

    It holds the processors of all its parts, for as long as the longest of them. A requeued job has several
    executions: parts belong together where they started together.

    Args:
        rows: jobs, each with the number of its line, in the order of the file.
        report: in which every further part counts as left out.
    """
    made: list[TraceJob] = []
    places: dict[tuple[str, float], int] = {}
    for line, job in rows:
        if job.part_of is None or not job.part_of.endswith("+"):
            made.append(job)
            continue
        place = places.setdefault((job.part_of, job.submit + (job.wait or 0.0)), len(made))
        if place == len(made):
            made.append(job)
            continue
        first = made[place]
        limits = [limit for limit in (first.estimate, job.estimate) if limit is not None]
        made[place] = first._replace(
            processors=first.processors + job.processors,
            runtime=max(first.runtime, job.runtime),
            estimate=max(limits, default=None),
        )
        report.kept -= 1
        report.drop(PART, line)
    return made
