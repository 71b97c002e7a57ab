"""Reading traces of either format: streamed, or whole and sorted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from operator import itemgetter
from os import PathLike
from pathlib import Path

from gridtune import limits
from gridtune.model.garbage_collection import without_garbage_collection
from gridtune.scenarios.trace_files.accounting import check_columns, recognised
from gridtune.scenarios.trace_files.gwf import GWF
from gridtune.scenarios.trace_files.header import TraceHeader
from gridtune.scenarios.trace_files.heterogeneous import together
from gridtune.scenarios.trace_files.records import Keep, Trace, TraceError, TraceJob, TraceReport
from gridtune.scenarios.trace_files.rows import PART, PARTS, UNREADABLE, UNSORTED, Layout, RowParser
from gridtune.scenarios.trace_files.source import head, opened
from gridtune.scenarios.trace_files.swf import SWF

_COMPRESSED = {".gz", ".bz2", ".xz"}
_FORMATS = {".swf": SWF, ".gwf": GWF}
_OPTION = re.compile(r"(ClusterName|NodeName|PartitionName|SchedulerType|PriorityType)=", re.IGNORECASE)
MANY = 4  # separators in a row of sacct, at least
_BY_SUBMIT = itemgetter(TraceJob._fields.index("submit"), TraceJob._fields.index("id"))


def detect_format(path: Path) -> Layout:
    """The format of a trace: by its suffix (`.swf`, `.gwf`, compressed or not), else by its first lines.

    Raises:
        TraceError: the file cannot be read or looks like neither.
    """
    text = head(path)
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in _COMPRESSED]
    if suffixes and suffixes[-1] in _FORMATS:
        return _FORMATS[suffixes[-1]]
    lines = [line for line in map(str.strip, text.splitlines()) if line]
    line = next((line for line in lines if line[0] != "#"), "")  # of GWF the first row
    if accounting := recognised(line):
        return accounting
    check_columns(line, path)
    if line.startswith(";") or SWF.needed <= len(line.split()) < GWF.width:
        return SWF
    if len(GWF.split(line)) == GWF.width:
        return GWF
    if line.count("|") > MANY:
        raise TraceError(f"{path}: its first line names no columns; if it is of sacct, leave out -n")
    if any(_OPTION.match(line) for line in lines):
        raise TraceError(f"{path}: is no log; a slurm.conf goes to `gridtune calibrate LOG --slurm FILE`")
    raise TraceError(
        f"{path}: is neither SWF (18 fields, comments with ;) nor GWF (29 fields, comments with #), nor has "
        "it the columns of sacct, OAR or CSV; if it is one of the former, name it .swf or .gwf"
    )


class TraceStream:
    """The jobs of a trace one after the other, in the order of the file.

    Memory does not grow with the file. `header` and `report` fill while the jobs are read and are complete
    after the last; each iteration reads the file anew.

    Args:
        path: of the file.
        keep: which rows to keep; its `shift` does not matter here.

    Raises:
        TraceError: the file cannot be read, is neither SWF nor GWF, or (after its last row) has no usable
            job.
    """

    def __init__(self, path: str | PathLike[str], keep: Keep) -> None:
        self.path = Path(path)
        self.keep = keep
        self.layout = detect_format(self.path)
        self.header = TraceHeader()
        self.report = TraceReport()

    @property
    def format(self) -> str:
        """`SWF` or `GWF`."""
        return self.layout.name

    def __iter__(self) -> Iterator[TraceJob]:
        return (job for _, job in self.numbered())

    def numbered(self) -> Iterator[tuple[int, TraceJob]]:
        """The jobs, each with the number of its line."""
        self.header, self.report = TraceHeader(), TraceReport(missing=self.layout.missing)
        parse, split = RowParser(self.layout, self.keep, self.report).parse, self.layout.split
        rows = kept = passed = 0
        with opened(self.path) as stream:
            for line, text in enumerate(stream, 1):
                fields = split(text)
                lead = fields[0][:1] if fields else ""
                if not fields or lead == ";" or lead == "#":
                    passed += 1
                    if passed > limits.COMMENTS:
                        most = f"{limits.COMMENTS:,} comments and blank lines"
                        raise TraceError(f"{self.path}: more than {most}; is it a trace?")
                    if fields:
                        self.header.add(text)
                    continue
                rows += 1
                job = parse(fields, line)
                if job is not None:
                    kept += 1
                    yield line, job
                elif rows == limits.UNREADABLE and self._unreadable(rows):
                    break
        self.report.rows, self.report.kept = rows, kept
        if not kept:
            raise TraceError(self._nothing())

    def _unreadable(self, rows: int) -> bool:
        """Whether no row so far could be read: then it is no trace, and the rest is left alone."""
        tally = self.report.dropped.get(UNREADABLE)
        return tally is not None and tally.count == rows

    def _nothing(self) -> str:
        report = self.report
        if not report.rows:
            return f"{self.path}: has no rows, only comments or blank lines; fetch the file again"
        if report.dropped.keys() == {UNREADABLE}:
            first = report.dropped[UNREADABLE].first_line
            return (
                f"{self.path}: none of its {report.rows} rows is readable as {self.format} (first on line "
                f"{first}); check that the file is a trace in that format"
            )
        reasons = ", ".join(f"{tally.count} {reason}" for reason, tally in report.dropped.items())
        return f"{self.path}: none of its {report.rows} rows is a usable job: {reasons}; use another trace"


def iter_trace(path: str | PathLike[str], *, keep: Keep = Keep()) -> TraceStream:  # noqa: B008 (immutable)
    """The jobs of a trace that is too long to hold, in the order of the file; see `TraceStream`."""
    return TraceStream(path, keep)


def read_trace(path: str | PathLike[str], *, keep: Keep = Keep()) -> Trace:  # noqa: B008 (immutable)
    """A whole trace, sorted by submit time.

    Read once in each process: a second call for an unchanged file returns the same object.

    Args:
        path: of a trace in SWF or GWF, plain or compressed by gzip, bzip2 or xz.
        keep: which rows to keep and as what.

    Raises:
        TraceError: the file cannot be read, is neither SWF nor GWF, or has no usable job.
    """
    found = Path(path)
    try:
        resolved = found.resolve()
        state = resolved.stat()
    except OSError:  # a missing file and the like: opening it gives the error in words
        return _read(found, keep)
    return _read_once(found, resolved, state.st_mtime_ns, state.st_size, keep)


@lru_cache(maxsize=4)
def _read_once(path: Path, resolved: Path, modified: int, size: int, keep: Keep) -> Trace:
    """`_read`, remembered for as long as the file is the same."""
    return _read(path, keep)


def _read(path: Path, keep: Keep) -> Trace:
    stream = TraceStream(path, keep)
    jobs: list[TraceJob] = []
    lines: list[int] = []
    unsorted: list[int] = []
    last = 0.0
    with without_garbage_collection():
        for line, job in stream.numbered():
            if job.submit < last and not stream.layout.more:  # Slurm's are not in that order
                unsorted.append(line)
            last = job.submit
            jobs.append(job)
            lines.append(line)
        for line in unsorted:
            stream.report.repair(UNSORTED, line)
        jobs = _without_parts(jobs, lines, stream.report)
        if stream.layout.more:
            jobs = together(zip(lines, jobs, strict=True), stream.report)
        jobs.sort(key=_BY_SUBMIT)
        origin = jobs[0].submit if keep.shift else 0.0
        return Trace(path, stream.format, stream.header, _shifted(jobs, origin), stream.report, origin)


def _without_parts(jobs: list[TraceJob], lines: list[int], report: TraceReport) -> list[TraceJob]:
    """The jobs without the executions of those that stopped and resumed, where a row sums these up."""
    at = [k for k, job in enumerate(jobs) if job.status in PARTS]
    if not at:
        return jobs
    whole = {job.id for job in jobs if job.status not in PARTS}
    parts = {k for k in at if jobs[k].id in whole}
    for k in sorted(parts):
        report.drop(PART, lines[k])
    report.kept -= len(parts)
    lines[:] = [line for k, line in enumerate(lines) if k not in parts]
    return [job for k, job in enumerate(jobs) if k not in parts]


def _shifted(jobs: list[TraceJob], origin: float) -> tuple[TraceJob, ...]:
    """The jobs with submit times that are earlier by `origin` seconds."""
    if origin == 0:
        return tuple(jobs)
    make = TraceJob._make
    return tuple(make((job[0], job[1] - origin, *job[2:])) for job in jobs)
