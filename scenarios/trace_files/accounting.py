"""Accounting with a line of column names: Slurm's `sacct --parsable2`, OAR's tables, and plain CSV.

Columns are found by name, in any order; what is not known is left out. Each row becomes the fields of the
Standard Workload Format, so that the same checks and repairs hold.

- Slurm: `sacct -a -X -P --starttime=YYYY-MM-DD --format=` and `FORMAT` (without the date,
  those of the current day alone). Times are ISO without zone, or seconds since 1970
  (`SLURM_TIME_FORMAT=%s`); steps (`12.batch`) are passed over. A cancelled job that started when it ended
  never ran; one that runs or waits is counted and left out. A task of an array is a job. A job counts as
  submitted when it is `Eligible`, if that is known: before, it was held, or waited for another job or a date.
- OAR: the columns of its table `jobs` (`job_id`, `submission_time`, `start_time`, `stop_time`, `state`,
  `job_user`, `project`, `queue_name`), with `moldable_walltime` of the assigned description and the number of
  resources as `resources`, separated by `|`, `,`, `;` or tabs. Times are seconds since 1970, 0 for never.
- CSV: `id`, `submit`, `start`, `end`, `procs`, `walltime`, and `user`, `group` and `queue` where known. Times
  are seconds from any moment; of each job all three must be known, in their order.

Requested times are numbers (of OAR and CSV in seconds), or `[days-][hours:]minutes:seconds`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from gridtune.scenarios.trace_files.numbers import number
from gridtune.scenarios.trace_files.records import TraceError
from gridtune.scenarios.trace_files.rows import AGAIN, BACKWARDS, HELD, LEFT_OUT, PENDING, RUNNING, Layout

FORMAT = (
    "JobID,JobIDRaw,Submit,Eligible,Start,End,AllocCPUS,ReqCPUS,TimelimitRaw,"
    "State,User,Account,Partition,QOS,Reservation"
)

# Names of columns by field; the first that a file has is taken, or the next where that is empty.
SLURM: Mapping[str, tuple[str, ...]] = {
    "id": ("jobidraw", "jobid"),
    "submit": ("submit",),
    "eligible": ("eligible",),
    "start": ("start",),
    "end": ("end",),
    "runtime": ("elapsedraw", "elapsed"),
    "allocated": ("alloccpus", "ncpus"),
    "requested": ("reqcpus",),
    "limit": ("timelimitraw",),
    "limit_text": ("timelimit",),
    "state": ("state",),
    "user": ("user", "uid"),
    "group": ("account", "group"),
    "queue": ("partition",),
    "qos": ("qos",),
    "reservation": ("reservation",),
    "name": ("jobid",),
}
# What is not known without a column of sacct.
TELLS = {
    "TimelimitRaw": (("limit", "limit_text"), "requested times"),
    "State": (("state",), "how jobs ended"),
    "User": (("user",), "whose they are"),
    "Account": (("group",), "groups"),
    "Partition": (("queue",), "queues"),
    "QOS": (("qos",), "QOS"),
    "Reservation": (("reservation",), "reservations"),
    "Eligible": (("eligible",), "since when they could start"),
    "JobID": (("name",), "arrays and heterogeneous jobs"),
}
PROCESSORS = {name for field in ("allocated", "requested") for name in SLURM[field]}
NEEDED = {
    "JobID": ("jobidraw", "jobid"),
    "Submit": ("submit",),
    "Start": ("start",),
    "End": ("end",),
    "AllocCPUS": PROCESSORS,
}
FEWEST = 3  # names of columns by which a line of sacct is known that lacks others
OAR: Mapping[str, tuple[str, ...]] = {
    "id": ("job_id",),
    "submit": ("submission_time",),
    "start": ("start_time",),
    "end": ("stop_time",),
    "allocated": ("resources", "nb_resources"),
    "limit": ("moldable_walltime", "walltime"),
    "state": ("state",),
    "user": ("job_user",),
    "group": ("project",),
    "queue": ("queue_name",),
}
CSV: Mapping[str, tuple[str, ...]] = {
    "id": ("id",),
    "submit": ("submit",),
    "start": ("start",),
    "end": ("end",),
    "allocated": ("procs",),
    "limit": ("walltime",),
    "user": ("user",),
    "group": ("group",),
    "queue": ("queue",),
}
CSV_NEEDED = ("id", "submit", "start", "end", "procs", "walltime")
_LIMIT_UNIT = {"sacct": 60.0, "OAR": 1.0, "CSV": 1.0}  # s; TimelimitRaw is in minutes
_STATUS = {
    "COMPLETED": "1",
    "TERMINATED": "1",
    "CANCELLED": "5",
    "FAILED": "0",
    "ERROR": "0",
    "TIMEOUT": "0",
    "NODE_FAIL": "0",
    "PREEMPTED": "0",
    "OUT_OF_MEMORY": "0",
    "BOOT_FAIL": "0",
    "DEADLINE": "0",
}
_NOT_ENDED = {
    **dict.fromkeys(("RUNNING", "SUSPENDED", "RESIZING", "COMPLETING"), RUNNING),
    **dict.fromkeys(("LAUNCHING", "FINISHING", "RESUMING"), RUNNING),
    **dict.fromkeys(("PENDING", "REQUEUED"), PENDING),
    **dict.fromkeys(("WAITING", "HOLD", "TOLAUNCH", "TOACKRESERVATION"), PENDING),
}
_PART = re.compile(r"(\d+)([_+])")
_DURATION = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)(?:\.\d+)?$", re.ASCII)
_NO_TIME = ("", "NONE", "UNLIMITED", "INFINITE", "PARTITION_LIMIT")  # requested: none
_SEPARATORS = "|\t;,"
_UNREADABLE = ["?"]  # too few fields: a row that is counted as such


def recognised(line: str) -> Layout | None:
    """The layout of a file whose first line this is; None if it names no columns of an accounting."""
    for name, columns in (("sacct", SLURM), ("OAR", OAR), ("CSV", CSV)):
        for separator in _SEPARATORS:
            names = [text.strip().lower() for text in line.split(separator)]
            needed = {columns["id"][-1], *columns["submit"], *columns["start"], *columns["end"]}
            needed |= set(CSV_NEEDED if columns is CSV else ())
            if needed <= {*names, *(["jobid"] if "jobidraw" in names else [])}:
                slurm = columns is SLURM
                if slurm and not PROCESSORS.intersection(names):
                    return None
                return Layout(
                    name, width=18, needed=18, sites=False, text_ids=True,
                    split=_splitter(name, columns, names, separator),
                    more=4 if slurm else 0, missing=_missing(names) if slurm else (),
                )  # fmt: skip
    return None


def check_columns(line: str, where: object) -> None:
    """Refuse what is sacct's, but lacks columns without which there are no jobs.

    Args:
        line: the first one of a file.
        where: the file, for what is said.

    Raises:
        TraceError: it names columns of sacct, but not all that are needed.
    """
    remedy = f"use sacct -a -X -P --starttime=YYYY-MM-DD --format={FORMAT}"
    known = {name for names in SLURM.values() for name in names}
    for names in ([text.strip().lower() for text in line.split(one)] for one in _SEPARATORS):
        if len(known.intersection(names)) >= FEWEST and {"state", "jobid", "jobidraw"}.intersection(names):
            lacking = [column for column, any_of in NEEDED.items() if not set(any_of).intersection(names)]
            if lacking:
                raise TraceError(f"{where}: sacct without the columns {', '.join(lacking)}; {remedy}")
    words = [word.lower() for word in line.split()]
    if len(known.intersection(words)) >= FEWEST and words[0] in ("jobid", "jobidraw"):
        raise TraceError(f"{where}: sacct without -P, whose columns are cut; {remedy}")
    names = [text.strip().lower() for text in line.split(",")]
    if len(set(CSV_NEEDED).intersection(names)) >= FEWEST:
        lacking = [column for column in CSV_NEEDED if column not in names]
        raise TraceError(f"{where}: no column {', '.join(lacking)}; CSV needs {', '.join(CSV_NEEDED)}")


def _missing(names: list[str]) -> tuple[str, ...]:
    """Columns of sacct that are not there, and what they would tell."""
    there = {field for field, candidates in SLURM.items() if set(candidates).intersection(names)}
    return tuple(
        f"{column} ({what})" for column, (fields, what) in TELLS.items() if not there.intersection(fields)
    )


def _splitter(
    kind: str, columns: Mapping[str, tuple[str, ...]], names: list[str], separator: str
) -> Callable[[str], list[str]]:
    """Fields of the Standard Workload Format of a line."""
    places = {
        field: [names.index(known) for known in candidates if known in names]
        for field, candidates in columns.items()
    }
    unit = _LIMIT_UNIT[kind]
    seen = set[int]()  # hashes of rows of sacct, which names each job by number

    def split(line: str) -> list[str]:
        texts = [text.strip() for text in line.rstrip("\r\n").split(separator)]
        if len(texts) < len(names):
            return _UNREADABLE if any(texts) else []
        if [text.lower() for text in texts[: len(names)]] == names:
            return []  # the line of names

        def text(field: str) -> str:
            return next((texts[place] for place in places.get(field, ()) if texts[place]), "")

        key = text("id")
        if "." in key:
            return []  # a step of a job
        moment = _number if kind == "CSV" else _moment
        submit, eligible, start, end = map(moment, map(text, ("submit", "eligible", "start", "end")))
        if kind == "sacct":
            row = hash(tuple(texts))
            if row in seen:
                return [LEFT_OUT, AGAIN]
            seen.add(row)
        state = text("state").split(" ")[0].rstrip("+").upper()
        if state in _NOT_ENDED and kind != "CSV" and end is None:
            return [LEFT_OUT, _NOT_ENDED[state]]
        if submit is None or (end is None and state not in _STATUS):
            return _UNREADABLE
        if kind == "CSV" and not (start is not None and end is not None and submit <= start <= end):
            return _UNREADABLE
        began = start is not None and (end is None or start <= end)
        if start is not None and not began and state != "CANCELLED":
            return [LEFT_OUT, BACKWARDS]
        if state == "CANCELLED" and start == end:
            began = False  # the start that Slurm gives what its owner cancels while it waits
        if end is None and not began:
            return _UNREADABLE
        runtime = _seconds(text("runtime")) if began else None
        if began and runtime is None:
            runtime = None if end is None or start is None else end - start
        if began and end is None and runtime is None:
            return _UNREADABLE  # has not ended yet
        left = start if began else end
        assert left is not None
        if places.get("eligible") and not began and (eligible is None or eligible > left):
            return [LEFT_OUT, HELD]
        submit = max(submit, min(eligible or submit, left))
        allocated = text("allocated") if began else ""
        return [
            key,
            f"{submit:.10g}" if submit < 1e9 else f"{submit:.3f}",
            _plain(left - submit),
            _plain(runtime) if began else "-1",
            allocated or "-1",
            "-1",
            "-1",
            text("requested") or text("allocated") or "-1",
            _requested(text("limit"), unit, text("limit_text")),
            "-1",
            _STATUS.get(state, "-1"),
            text("user") or "-1",
            text("group") or "-1",
            "-1",
            text("queue") or "-1",
            "-1",
            "-1",
            "-1",
            *(_of_slurm(state, text) if columns is SLURM else ()),
        ]

    return split


def _of_slurm(state: str, text: Callable[[str], str]) -> tuple[str, ...]:
    """What only Slurm says of a job."""
    return state or "-1", text("qos") or "-1", text("reservation") or "-1", _part(text("name"))


def _part(name: str) -> str:
    """The array or heterogeneous job that a job is part of, from its `JobID`: `102_7`, `100+1`."""
    found = _PART.match(name)
    return f"{found[1]}{found[2]}" if found else "-1"


def _plain(number: float | None) -> str:
    return "-1" if number is None or number < 0 else f"{number:.10g}"


def _requested(text: str, unit: float, other: str) -> str:
    """A requested time in s; what cannot be read as one stays as it is, so that it is counted.

    Args:
        text: the time.
        unit: of a bare number, s.
        other: the same one as `[days-][hours:]minutes:seconds`; "" where there is none.
    """
    seconds = (_number(text) or 0.0) * unit or _seconds(other or text)
    unread = seconds is None and (other or text).upper() not in _NO_TIME
    return other or text if unread else _plain(seconds)


def _number(text: str) -> float | None:
    """A number from 0; None for a word such as UNLIMITED."""
    try:
        amount = number(text)
    except ValueError:
        return None
    return amount if amount >= 0 else None


def _moment(text: str) -> float | None:
    """Seconds since 1970, without a zone taken as UTC; None for 0 and for a word such as Unknown."""
    if not text:
        return None
    try:
        seconds = number(text)
    except ValueError:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return None
        seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return seconds if seconds > 0 else None


def _seconds(text: str) -> float | None:
    """A duration: seconds, or [days-][hours:]minutes:seconds."""
    found = _DURATION.match(text)
    if found:
        days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
        return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
    try:
        return number(text)
    except ValueError:
        return None
