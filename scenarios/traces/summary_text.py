"""A trace summary as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping

from gridtune.plain_text import escaped
from gridtune.scenarios.trace_files.records import Tally
from gridtune.scenarios.traces.summary import TraceSummary

_LABEL, _WIDTH = 16, 100


def summary_lines(summary: TraceSummary) -> Iterator[str]:
    """Label and value, aligned; then the warnings."""
    for label, value in _entries(summary):
        for k, line in enumerate(textwrap.wrap(escaped(value), _WIDTH - _LABEL) or [""]):
            yield f"{'' if k else label:<{_LABEL}}{line}"
    yield ""
    if not summary.warnings:
        yield "Nothing to mind was found."
    for warning in summary.warnings:
        yield from textwrap.wrap(escaped(warning), _WIDTH, initial_indent="! ", subsequent_indent="  ")


def _entries(s: TraceSummary) -> Iterator[tuple[str, str]]:
    yield "file", s.file
    yield "format", s.format
    for key, value in s.header.items():
        yield key, " / ".join(value.splitlines())
    yield "rows", f"{s.rows:,} read, {s.kept:,} kept"
    yield from _tallied("dropped", s.dropped)
    yield from _tallied("repaired", s.repairs)
    yield "time", f"{_duration(s.submit_span)} of submissions, {_duration(s.span)} to the last end"
    yield "who and where", f"{s.users} users, {s.groups} groups, {s.queues} queues, {s.sites} sites"
    yield "processors", _processors(s)
    yield "run time", _spread(s.runtime)
    yield "wait", _spread(s.wait) if s.wait else "none recorded"
    yield "under 5 min", f"{s.short_jobs:.1%} of jobs, {s.short_work:.2%} of processor time"
    yield "known", f"wait {s.with_wait:.1%}, estimate {s.with_estimate:.1%}, user {s.with_user:.1%} of jobs"
    if s.above_estimate is not None:
        yield "above estimate", f"{s.above_estimate:.2%} of jobs with one"
    yield "work", f"{s.work / 3600:,.1f} processor-hours"
    for label, jobs in (("states", s.states), ("QOS", s.qos)):
        if jobs:
            yield label, ", ".join(f"{name} {count:,}" for name, count in jobs.items())
    if s.reserved or s.arrays:
        yield "of them", f"{s.reserved:,} in reservations, {s.arrays:,} tasks of arrays"
    if s.utilisation is not None:
        offered = f", load {s.load:.2f} up to the last submission" if s.load is not None else ""
        yield "utilisation", f"{s.utilisation:.2f}{offered}"


def _tallied(label: str, tallies: Mapping[str, Tally]) -> Iterator[tuple[str, str]]:
    for reason, tally in tallies.items():
        yield label, f"{tally.count:,}: {reason} (first on line {tally.first_line})"


def _processors(s: TraceSummary) -> str:
    header = "not in the header" if s.processors_header is None else f"{s.processors_header:,} in the header"
    return f"{header}, {s.processors_peak:,} in use at once, {s.processors_largest:,} in the largest job"


def _spread(quantiles: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {_duration(value)}" for name, value in quantiles.items())


def _duration(seconds: float) -> str:
    """Seconds in the unit that reads best."""
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.3g} s"
