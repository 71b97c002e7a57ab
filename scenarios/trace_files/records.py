"""What a trace is made of: jobs, rules of what to keep, and a report of what was done to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import NamedTuple

from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.trace_files.header import TraceHeader


class TraceError(ScenarioError):
    """A trace cannot be found, opened or used; the message names the file and the remedy."""


class TraceJob(NamedTuple):
    """One row of a trace; None where the trace does not know.

    Attributes:
        id: as in the trace.
        submit: s.
        runtime: wall-clock time, s.
        processors: allocated, or requested where the allocation is missing; at least 1.
        wait: from submission to start, s.
        estimate: requested wall-clock time, s; more than 0.
        status: 0 failed, 1 completed, 2 to 4 parts of a job that was stopped and resumed, 5 cancelled.
        user, group, executable, queue, partition: names; numbers are kept as the text that they are.
        cpu_time: mean over the processors, s.
        used_memory, requested_memory: mean per processor, kB.
        withdrawn: s from submission to its cancellation, of a job that was cancelled while it waited and is
            kept (`Keep.cancelled`); how long it would have run is not known.
        origin_site, run_site: where it was submitted and where it ran (Grid Workloads Archive only).
        preceding, think: id of the job that it follows, and s from the end of that to its submission
            (Standard Workload Format only).
        state, qos, reservation: as accounting has them: `NODE_FAIL`, names (Slurm only).
        part_of: `102_` of a task of the array 102, `100+` of a part of the heterogeneous job 100 (Slurm).

    Source: Standard Workload Format 2.2 (Parallel Workloads Archive), fields 1 to 18; Grid Workload
    Format, fields 1 to 18.
    """

    id: int
    submit: float
    runtime: float
    processors: int
    wait: float | None = None
    estimate: float | None = None
    status: int | None = None
    user: str | None = None
    group: str | None = None
    executable: str | None = None
    queue: str | None = None
    partition: str | None = None
    cpu_time: float | None = None
    used_memory: float | None = None
    requested_memory: float | None = None
    origin_site: str | None = None
    run_site: str | None = None
    withdrawn: float | None = None
    preceding: int | None = None
    think: float | None = None
    state: str | None = None
    qos: str | None = None
    reservation: str | None = None
    part_of: str | None = None

    @property
    def site(self) -> str | None:
        """Where it ran; logs of whole grids in the Standard Workload Format say so as the partition."""
        return self.run_site if self.run_site is not None else self.partition

    @property
    def work(self) -> float:
        """Processors times run time, processor-seconds."""
        return self.processors * self.runtime


@dataclass(frozen=True, slots=True)
class Keep:
    """Which rows to keep, and as what.

    Rows that were never a job are always dropped: without processors both allocated and requested, without a
    submit time, or unreadable; and, unless they are asked for, jobs cancelled before their start (run time
    below 0).

    Attributes:
        cancelled: whether to keep jobs of status 5 that were cancelled before their start, if the log says
            when: their wait is the time until then. They get the requested time as run time.
        zero_runtime: whether to keep rows with a run time of 0 (whole seconds, so under half a second).
        minimum_runtime: s; shorter run times of kept rows are raised to it. Simulated jobs need more than 0.
        shift: whether `read_trace` moves submit times so that the first kept job comes at 0.

    Raises:
        ValueError: the minimum is negative or infinite.
    """

    zero_runtime: bool = True
    minimum_runtime: float = 1.0
    shift: bool = True
    cancelled: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.minimum_runtime < inf:
            raise ValueError(
                f"minimum_runtime must be a finite number of s from 0, not {self.minimum_runtime}"
            )


@dataclass(slots=True)
class Tally:
    """How often something occurred, and on which line of the file first."""

    count: int
    first_line: int


@dataclass(slots=True)
class TraceReport:
    """What reading did to the rows of a trace; `rows` is `kept` plus everything dropped.

    Attributes:
        rows: lines that are neither blank nor comments.
        kept: jobs read.
        dropped: rows left out, by reason.
        repairs: changes to kept rows, by reason.
        links: what kept rows say of other jobs, by reason.
        missing: columns that accounting could have said, and what is not known without them.
    """

    rows: int = 0
    kept: int = 0
    dropped: dict[str, Tally] = field(default_factory=dict)
    repairs: dict[str, Tally] = field(default_factory=dict)
    links: dict[str, Tally] = field(default_factory=dict)
    missing: tuple[str, ...] = ()

    def drop(self, reason: str, line: int) -> None:
        """Count a row left out."""
        _count(self.dropped, reason, line)

    def repair(self, reason: str, line: int) -> None:
        """Count a change to a kept row."""
        _count(self.repairs, reason, line)

    def link(self, reason: str, line: int) -> None:
        """Count a row that says something of another job."""
        _count(self.links, reason, line)

    def lines(self) -> Iterator[str]:
        """The report in words, a line for each fact."""
        yield f"{self.rows} rows read, {self.kept} kept"
        for what, tallies in (
            ("dropped", self.dropped),
            ("repaired", self.repairs),
            ("linked", self.links),
        ):
            for reason, tally in tallies.items():
                yield f"{what} {tally.count}: {reason} (first on line {tally.first_line})"
        if self.missing:
            yield f"columns that are not there: {', '.join(self.missing)}"


def _count(tallies: dict[str, Tally], reason: str, line: int) -> None:
    tally = tallies.get(reason)
    if tally is None:
        tallies[reason] = Tally(1, line)
    else:
        tally.count += 1


@dataclass(frozen=True, slots=True)
class Trace:
    """A whole trace in memory; shared by all who read the same file, so not to be changed.

    Attributes:
        path: of the file.
        format: `SWF` or `GWF`.
        header: its comment lines by key.
        jobs: at least one, sorted by submit time, then by id.
        report: what was dropped and repaired.
        origin: s that were subtracted from the submit times of the file.
    """

    path: Path
    format: str
    header: TraceHeader
    jobs: tuple[TraceJob, ...]
    report: TraceReport
    origin: float
