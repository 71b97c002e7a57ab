"""What calibration takes from a log: its jobs with waits, and how large the site was."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridtune.model.metrics.registry import DAY
from gridtune.scenarios.calibration.waits import WEEK, Flags, Floats
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.trace_files.digests import sha256_of
from gridtune.scenarios.trace_files.find import find_trace
from gridtune.scenarios.trace_files.reading import read_trace
from gridtune.scenarios.trace_files.records import Keep
from gridtune.scenarios.traces.clock import clock_of
from gridtune.scenarios.traces.columns import Columns, early

FEWEST_KNOWN = 0.9  # of the jobs, whose wait the log has to say
FEWEST_WEEKS = 8  # of a part of a log
KEPT = Keep(cancelled=True)


@dataclass(frozen=True)
class Log:
    """The jobs of a log whose wait is known, by submission.

    Attributes:
        trace: as it was named.
        path: where it is.
        digest: SHA-256 of the file.
        submit, wait, runtime, estimate: s; the estimate is the run time where the log has none.
        processors: of each job.
        users, queues: whose they are, and where they waited.
        known: which of all jobs these are.
        size: processors of the site.
        said: whether the log or who calls says so; else it is the most that were in use at once.
        promised: share of the jobs with a requested time.
        rows: number of each in the trace, from 1.
        first, last: numbers of the jobs that are looked at, None for all.
        since: when the first of them came, s since 1970; None where the log does not say.
    """

    trace: str
    path: Path
    digest: str
    submit: Floats
    wait: Floats
    runtime: Floats
    estimate: Floats
    processors: Floats
    users: NDArray[Any]
    queues: NDArray[Any]
    known: Flags
    size: int
    said: bool
    promised: float
    rows: NDArray[np.int64]
    first: int | None
    last: int | None
    since: float | None

    @property
    def widest(self) -> int:
        """Processors of the widest job."""
        return int(self.processors.max())

    @property
    def chosen(self) -> dict[str, Any]:
        """What a workload has to say to replay these jobs, by path."""
        numbers = {"trace": self.trace, "first": self.first, "last": self.last}
        return {f"workload.{key}": value for key, value in numbers.items() if value is not None}

    def until(self, week: int) -> Log:
        """The weeks before one, from 0; the site is as large as of the whole log."""
        count = int(np.searchsorted(self.submit - self.submit[0], week * WEEK))
        return read_log(self.trace, self.size, int(self.rows[count - 1]), self.first)

    def busiest(self, jobs: int) -> Log:
        """The weeks in a row with so many jobs at most in which there was most waiting; eight at least.

        A wait of over a day counts as a day: a job that was forgotten decides little.
        """
        week = ((self.submit - self.submit[0]) // WEEK).astype(int)
        bounds = np.searchsorted(week, np.arange(week[-1] + 2))
        waited = np.concatenate(([0.0], np.cumsum(np.minimum(self.wait, DAY))))
        best, most = (0, len(self.submit)), -1.0
        for begin in range(len(bounds) - FEWEST_WEEKS):
            ends = [
                end
                for end in range(begin + FEWEST_WEEKS, len(bounds))
                if bounds[end] - bounds[begin] <= jobs or end == begin + FEWEST_WEEKS
            ]
            first, last = int(bounds[begin]), int(bounds[ends[-1]])
            if waited[last] - waited[first] > most:
                best, most = (first, last), waited[last] - waited[first]
        return read_log(self.trace, self.size, int(self.rows[best[1] - 1]), int(self.rows[best[0]]))

    @property
    def peak(self) -> int:
        """The most processors that were in use at once."""
        return int(_peak(self.submit + self.wait, self.runtime, self.processors))

    def most_running(self, *, processors: bool = False) -> Iterator[float]:
        """The most jobs, or processors of them, that each user had running at once."""
        start, amount = self.submit + self.wait, self.processors if processors else np.ones(len(self.submit))
        for user in dict.fromkeys(self.users.tolist()):
            theirs = self.users == user
            yield _peak(start[theirs], self.runtime[theirs], amount[theirs])


def read_log(
    trace: str, nodes: int | None, last: int | None, first: int | None = None, size: int | None = None
) -> Log:
    """A log for calibration, from the first to the last job that is to be used; see `calibrate`.

    If no first one is given, jobs that came long before all others are left out; see `early`.

    Raises:
        ScenarioError: it cannot be read, does not say how long its jobs waited, or has wider jobs than nodes.
    """
    path = find_trace(trace)
    logged = read_trace(path, keep=KEPT)
    if first is None and (count := early(np.array([job.submit for job in logged.jobs[:last]]))):
        first = count + 1
    chosen = [
        (row, job)
        for row, job in list(enumerate(logged.jobs, 1))[(first or 1) - 1 : last]
        if job.withdrawn is None
    ]
    known = np.array([job.wait is not None for _, job in chosen])
    if known.mean() < FEWEST_KNOWN:
        raise ScenarioError(
            f"{path}: {1 - known.mean():.0%} of the jobs have no wait; there is nothing to calibrate to"
        )
    rows, jobs = zip(*(one for one in chosen if one[1].wait is not None), strict=True)
    columns = Columns.of(jobs)
    size = nodes or logged.header.processors or size
    said = size is not None
    if size is None:
        size = int(_peak(columns.submit + columns.wait, columns.runtime, columns.processors))
    widest = int(columns.processors.max())
    if widest > size:
        where = "--nodes" if nodes else "its header" if logged.header.processors else "slurm.conf"
        raise ScenarioError(f"{path}: a job has {widest} processors, the site {size} by {where}: see --nodes")
    estimate = np.array([job.estimate or job.runtime for job in jobs])
    promised = sum(bool(job.estimate) for job in jobs) / len(jobs)
    users, queues = (np.array([getattr(job, name) or "" for job in jobs]) for name in ("user", "queue"))
    clock = clock_of(logged)
    since = None if clock is None else clock + logged.jobs[(first or 1) - 1].submit
    return Log(
        trace, path, sha256_of(path), columns.submit, columns.wait, columns.runtime, estimate,
        columns.processors, users, queues, known, size, said, promised, np.array(rows), first, last, since,
    )  # fmt: skip


def _peak(start: Floats, runtime: Floats, amount: Floats) -> float:
    """The most of an amount that is in use at once; who ends makes room for who starts."""
    times = np.concatenate((start + runtime, start))
    changes = np.concatenate((-amount, amount))
    # Stable: of one time the ends come first.
    return float(np.cumsum(changes[np.argsort(times, kind="stable")]).max())


def qos_of(traces: Iterable[str], last: int | None = None) -> set[str]:
    """Names of the QOS that jobs of logs have, up to the last to use; "" for those without any.

    Raises:
        ScenarioError: a log cannot be read.
    """
    logs = (read_trace(find_trace(trace), keep=KEPT).jobs[:last] for trace in traces)
    return {job.qos or "" for jobs in logs for job in jobs}
