"""Traces as files in the Standard Workload Format, whatever they were read from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from gridtune.plain_text import escaped
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.trace_files.reading import read_trace
from gridtune.scenarios.trace_files.records import Keep, Trace
from gridtune.scenarios.traces.clock import clock_of
from gridtune.scenarios.whole_files import check_absent, replace_text, with_ending

# Names that the format wants as numbers, and what the header calls them.
NAMED = {
    "user": "User",
    "group": "Group",
    "executable": "Executable",
    "queue": "Queue",
    "partition": "Partition",
}
FACTS = (
    "Computer", "Installation", "Acknowledge", "TimeZone", "TimeZoneString", "MaxNodes", "MaxProcs",
    "Preemption", "Note", "Queues", "Queue", "Partitions", "Partition",
)  # fmt: skip


def convert(path: Path, out: Path) -> Iterator[str]:
    """Write a trace in the Standard Workload Format; what was done, a line each.

    Names that are no numbers are numbered in order of appearance, and the header says which is which.
    Sites of grid traces become partitions.

    Raises:
        ScenarioError: the trace cannot be read, or the file not written.
    """
    if out.suffix.lower() != ".swf":
        raise ScenarioError(f"{out}: what is written is SWF; name it {with_ending(out, '.swf')}")
    check_absent(out)
    trace = read_trace(path, keep=Keep(minimum_runtime=0.0, cancelled=True))
    lines = list(swf_lines(trace))
    replace_text(out, "\n".join(lines) + "\n")
    yield from trace.report.lines()
    names = ("state", "qos", "reservation")
    if lost := [name for name in names if any(getattr(job, name) for job in trace.jobs)]:
        yield f"SWF has no place for: {', '.join(lost)}; `trace info {path.name}` tells of them"
    yield f"{out}: {len(trace.jobs)} jobs in SWF"


def swf_lines(trace: Trace) -> Iterator[str]:
    """The trace, a line each, without line ends."""
    header = trace.header
    yield "; Version: 2.2"
    yield f"; Conversion: gridtune, from {trace.format}"
    for fact in FACTS:
        for value in filter(None, header.get(fact, "").splitlines()):
            yield f"; {fact}: {escaped(value)}"
    if (begin := clock_of(trace)) is not None:  # of the first submission, which is at 0
        yield f"; UnixStartTime: {begin:.0f}"
    numbers: dict[str, dict[str, str]] = {}
    for name, label in NAMED.items():
        column = "site" if name == "partition" else name
        numbers[name] = _numbered(getattr(job, column) for job in trace.jobs)
        for text, number in numbers[name].items():
            if text != number:
                yield f"; {label}: {number} {escaped(text)}"
    for job in trace.jobs:
        users = [numbers[name].get(getattr(job, name) or "", "-1") for name in NAMED if name != "partition"]
        ran = job.withdrawn is None
        runtime, allocated = (job.runtime, job.processors) if ran else (None, None)
        fields = (
            str(job.id), _number(job.submit), _number(job.wait), _number(runtime), _number(allocated),
            _number(job.cpu_time), _number(job.used_memory), str(job.processors), _number(job.estimate),
            _number(job.requested_memory), _number(job.status), *users,
            numbers["partition"].get(job.site or "", "-1"), _number(job.preceding), _number(job.think),
        )  # fmt: skip
        yield " ".join(fields)


def _numbered(names: Iterable[str | None]) -> dict[str, str]:
    """A number for each name, as text: its own if all are numbers."""
    known = list(dict.fromkeys(name for name in names if name is not None))
    if all(name.isdecimal() and len(name) < 10 for name in known):
        return {name: name for name in known}
    return {name: str(number) for number, name in enumerate(known, 1)}


def _number(value: float | None) -> str:
    """The shortest text that is read as the same number; -1 for a missing one."""
    if value is None:
        return "-1"
    return str(int(value)) if float(value).is_integer() else repr(float(value))
