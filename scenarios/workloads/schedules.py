"""Schedules that a real batch scheduler made, as CSV."""

from __future__ import annotations

import csv
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.trace_files.accounting import recognised
from gridtune.scenarios.trace_files.source import head

COLUMNS = ("id", "submit", "start", "end", "procs", "walltime")


class ScheduledJob(NamedTuple):
    """One row of a schedule; times in s, names where the schedule has them."""

    id: int
    submit: float
    start: float
    end: float
    processors: int
    walltime: float
    user: str = "user"
    group: str = ""
    queue: str | None = None

    @property
    def runtime(self) -> float:
        """How long it ran."""
        return self.end - self.start

    @property
    def waiting_time(self) -> float:
        """From submission to start."""
        return self.start - self.submit


def is_schedule(path: Path) -> bool:
    """Whether a file is a schedule rather than a trace: by its suffix, unless its columns are others.

    Raises:
        TraceError: the file cannot be read.
    """
    return path.suffix == ".csv" and recognised(head(path).partition("\n")[0]) is None


def read_schedule(path: Path) -> list[ScheduledJob]:
    """The rows of a schedule, by submission; columns beyond those needed are ignored.

    Raises:
        ScenarioError: the file cannot be read, lacks a column, or has a row that is no job.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            missing = [column for column in COLUMNS if column not in (reader.fieldnames or ())]
            if missing:
                raise ScenarioError(
                    f"{path}: no column {', '.join(missing)}; a schedule has {', '.join(COLUMNS)}, "
                    "separated by commas"
                )
            jobs = [_job(row, f"{path}:{reader.line_num}") for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ScenarioError(f"{path}: {error}") from error
    if not jobs:
        raise ScenarioError(f"{path}: has no rows")
    return sorted(jobs, key=lambda job: (job.submit, job.id))


def _job(row: dict[str, str], place: str) -> ScheduledJob:
    try:
        number, submit, start, end, processors, walltime = (float(row[column]) for column in COLUMNS)
    except (TypeError, ValueError) as error:
        raise ScenarioError(f"{place}: not a row of numbers: {error}") from error
    if not 0 <= submit <= start <= end or not isfinite(end) or processors < 1 or not walltime > 0:
        raise ScenarioError(f"{place}: needs 0 <= submit <= start <= end, procs >= 1 and walltime > 0")
    user, group, queue = (row.get(name) for name in ("user", "group", "queue"))
    return ScheduledJob(
        int(number), submit, start, end, int(processors), walltime, user or "user", group or "", queue or None
    )
