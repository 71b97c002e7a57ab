"""From the fields of one line to a job: the checks and repairs that SWF and GWF share.

Both formats begin with the same sixteen columns. Most rows are sound and take the short way (`parse`); a row
that is not is examined, counted in the report, and mended or dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gridtune import limits
from gridtune.scenarios.trace_files.numbers import number
from gridtune.scenarios.trace_files.records import Keep, TraceJob, TraceReport

UNREADABLE: Final = "not a readable row"
LEFT_OUT: Final = "left out"  # the first field of a row that is none, before the reason
RUNNING: Final = "still running when the accounting was read"
PENDING: Final = "still waiting when the accounting was read"
HELD: Final = "never eligible to start (held, or waiting for another job or a date)"
AGAIN: Final = "equal to an earlier row (as where exports that overlap are put together)"
BACKWARDS: Final = "ends before it starts (as where a clock was set back)"
CANCELLED: Final = "cancelled before its start (run time below 0)"
NO_PROCESSORS: Final = "no processors, neither allocated nor requested"
NO_SUBMIT: Final = "submit time missing or below 0"
ZERO_RUNTIME: Final = "run time of 0"
FROM_REQUEST: Final = "processors taken from the request"
BAD_STATUS: Final = "status outside 0-5 taken as missing"
BAD_ID: Final = "job id is not a number: line number taken"
PARTS: Final = (2, 3, 4)  # statuses of executions of a job that stopped and resumed
PART: Final = "part of a job that another row sums up (status 2 to 4)"
UNSORTED: Final = "out of submit order: sorted"
DEPENDENT: Final = "the job that it follows and the think time between them (fields 17 and 18)"

# Columns with a number that may be missing.
_AMOUNTS: Final = {2: "wait", 5: "CPU time", 6: "used memory", 8: "requested time", 9: "requested memory"}
_MEMORY: Final = 1 << 16  # distinct texts remembered for each kind of column
_NO_MORE: Final = (None, None, None, None)
_SMALLEST: Final = 5e-324
_MOST: Final = 1e15  # s: thirty million years
_DIGITS: Final = limits.DIGITS


class _Names(dict[str, str | None]):
    """Names by their text: one object for each name, None for a missing one."""

    def __missing__(self, text: str) -> str | None:
        name = text.strip()
        known = None if name in ("", "-1") else name
        if len(self) < _MEMORY:
            self[text] = known
        return known


class _Amounts(dict[str, float | None]):
    """Numbers from 0 by their text: None for a missing one, ValueError for what is no number."""

    def __missing__(self, text: str) -> float | None:
        amount = number(text) if text.strip() else -1.0
        if not abs(amount) <= limits.NUMBER:
            raise ValueError(text)
        known = amount if amount >= 0 else None
        if len(self) < _MEMORY:
            self[text] = known
        return known


class _Counts(dict[str, int]):
    """Numbers of processors by their text: 0 for a missing one, ValueError for what is no whole number."""

    def __missing__(self, text: str) -> int:
        count = number(text) if text.strip() else 0.0
        if not count.is_integer() or count > limits.COUNTS["processors"]:
            raise ValueError(text)
        known = max(0, int(count))
        if len(self) < _MEMORY:
            self[text] = known
        return known


class _Statuses(dict[str, int | None]):
    """Status codes by their text: None for a missing one, ValueError for an unknown one."""

    def __missing__(self, text: str) -> int | None:
        code = number(text) if text.strip() else -1.0
        if code not in (-1, 0, 1, 2, 3, 4, 5):
            raise ValueError(text)
        known = self[text] = int(code) if code >= 0 else None
        return known


@dataclass(frozen=True, slots=True)
class Layout:
    """How a format lays out a row.

    Attributes:
        name: `SWF` or `GWF`.
        width: fields of a complete row.
        needed: fields without which a row is not readable.
        sites: whether fields 17 and 18 name the site of origin and the site of execution.
        text_ids: whether job ids may be other than numbers.
        split: the fields of a line.
        more: how many further fields there are: state, QOS, reservation and what the job is part of.
        missing: columns that are not there, and what is not known without them.
    """

    name: str
    width: int
    needed: int
    sites: bool
    text_ids: bool
    split: Callable[[str], list[str]]
    more: int = 0
    missing: tuple[str, ...] = ()


class RowParser:
    """Turns fields into jobs by the rules of `keep`, and counts in `report` what it drops and mends."""

    def __init__(self, layout: Layout, keep: Keep, report: TraceReport) -> None:
        self.layout = layout
        self.keep = keep
        self.report = report
        self._width = layout.width + layout.more
        self._floor = max(keep.minimum_runtime, _SMALLEST)
        self._names = _Names()
        self._amounts = _Amounts()
        self._counts = _Counts()
        self._statuses = _Statuses()

    def parse(self, fields: list[str], line: int) -> TraceJob | None:
        """The job of one row; None if it is dropped.

        Args:
            fields: of the row, at least one.
            line: number of its line in the file, for the report.
        """
        if len(fields) == self._width:
            digits = fields[0] + fields[1] + fields[3]
            try:
                submit, runtime, processors = float(fields[1]), float(fields[3]), self._counts[fields[4]]
                if (
                    0 <= submit < _MOST
                    and self._floor <= runtime < _MOST
                    and len(fields[0]) <= _DIGITS
                    and processors
                    and digits.isascii()  # `plain`, without a call
                    and "_" not in digits
                ):
                    job = self._build(fields, int(fields[0]), submit, runtime, processors)
                    # A missing predecessor is -1 in nearly every row: the short way stays short.
                    if fields[16] != "-1" and not self.layout.sites:
                        return self._linked(job, fields, line)
                    return job
            except ValueError:
                pass
        return self._examine(fields, line)

    def _build(
        self,
        fields: list[str],
        key: int,
        submit: float,
        runtime: float,
        processors: int,
        withdrawn: float | None = None,
    ) -> TraceJob:
        names, amounts = self._names, self._amounts
        sites = (names[fields[16]], names[fields[17]]) if self.layout.sites else (None, None)
        more = [names[text] for text in fields[18:]] if self.layout.more else _NO_MORE
        # The bare constructor of tuples: half the cost of the one with names, on every row.
        return tuple.__new__(
            TraceJob,
            (
                key,
                submit,
                runtime,
                processors,
                amounts[fields[2]],
                amounts[fields[8]] or None,
                self._statuses[fields[10]],
                names[fields[11]],
                names[fields[12]],
                names[fields[13]],
                names[fields[14]],
                names[fields[15]],
                amounts[fields[5]],
                amounts[fields[6]],
                amounts[fields[9]],
                *sites,
                withdrawn,
                None,
                None,
                *more,
            ),
        )

    def _examine(self, fields: list[str], line: int) -> TraceJob | None:
        """The long way: say why a row is dropped, or what has to be mended to keep it."""
        if fields[0] == LEFT_OUT and len(fields) == 2:
            self.report.drop(fields[-1], line)
            return None
        try:
            if len(fields) < self.layout.needed:
                raise ValueError(f"{len(fields)} fields")
            key, mended_id = self._id(fields[0], line)
            submit, runtime = number(fields[1]), number(fields[3])
            allocated, requested = self._counts[fields[4]], self._requested(fields[7])
        except ValueError:
            self.report.drop(UNREADABLE, line)
            return None
        withdrawn = self._withdrawn(fields, runtime) if self.keep.cancelled else None
        if withdrawn is not None:
            runtime = self._requested_time(fields) or self.keep.minimum_runtime
        reason = self._unusable(submit, runtime, allocated or requested)
        if reason:
            self.report.drop(reason, line)
            return None
        if mended_id:
            self.report.repair(BAD_ID, line)
        if not allocated:
            self.report.repair(FROM_REQUEST, line)
        if runtime < self.keep.minimum_runtime:
            runtime = self.keep.minimum_runtime
            self.report.repair(f"run time raised to the minimum of {runtime:g} s", line)
        mended = self._mended(fields, line)
        job = self._build(mended, key, submit, runtime, allocated or requested, withdrawn)
        return job if self.layout.sites else self._linked(job, mended, line)

    def _withdrawn(self, fields: list[str], runtime: float) -> float | None:
        """s from the submission of a job to its cancellation, if it never ran; None otherwise."""
        try:
            if runtime < 0 and self._statuses[fields[10]] == 5:
                return self._amounts[fields[2]]
        except ValueError:
            pass
        return None

    def _requested_time(self, fields: list[str]) -> float | None:
        try:
            return self._amounts[fields[8]]
        except ValueError:
            return None

    def _linked(self, job: TraceJob, fields: list[str], line: int) -> TraceJob:
        """The job with the one that it follows, if the row names one, which is counted."""
        try:
            follows, think = number(fields[16]), number(fields[17])
        except ValueError:
            return job
        if not 0 < follows < _MOST or not follows.is_integer():
            return job
        self.report.link(DEPENDENT, line)
        return job._replace(preceding=int(follows), think=think if 0 < think < _MOST else 0.0)

    def _unusable(self, submit: float, runtime: float, processors: int) -> str | None:
        """Why a row cannot be a job; None if it can."""
        if not (abs(submit) < _MOST and abs(runtime) < _MOST):  # nan neither
            return UNREADABLE
        if runtime < 0:
            return CANCELLED
        if submit < 0:
            return NO_SUBMIT
        if processors <= 0:
            return NO_PROCESSORS
        return ZERO_RUNTIME if runtime == 0 and not self.keep.zero_runtime else None

    def _id(self, text: str, line: int) -> tuple[int, bool]:
        """The job id, and whether the line number had to serve as one."""
        for digits in (text, text.removesuffix(".0")):
            if len(digits) <= _DIGITS and digits.isascii() and digits.strip().lstrip("-").isdecimal():
                return int(digits), False
        if self.layout.text_ids and text.strip():
            return line, True
        raise ValueError(text)

    def _requested(self, text: str) -> int:
        try:
            return self._counts[text]
        except ValueError:
            return 0

    def _mended(self, fields: list[str], line: int) -> list[str]:
        """A copy of the fields in which everything that may be missing and is no good is missing."""
        mended = fields[: self._width]
        if len(fields) > self._width:
            self.report.repair(f"fields beyond {self._width} ignored", line)
        elif len(fields) < self._width:
            self.report.repair(f"fewer than {self._width} fields: the rest taken as missing", line)
            mended += ["-1"] * (self._width - len(fields))
        for column, name in _AMOUNTS.items():
            try:
                self._amounts[mended[column]]
            except ValueError:
                self.report.repair(f"{name} is not a number: taken as missing", line)
                mended[column] = "-1"
        try:
            self._statuses[mended[10]]
        except ValueError:
            self.report.repair(BAD_STATUS, line)
            mended[10] = "-1"
        return mended
