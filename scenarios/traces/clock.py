"""When a log was kept, where it says so."""

from __future__ import annotations

from math import inf

from gridtune.scenarios.trace_files.numbers import number
from gridtune.scenarios.trace_files.records import Trace

_DATED = ("sacct", "OAR")  # formats whose times are seconds since 1970
_BEGIN = "UnixStartTime"


def clock_of(trace: Trace) -> float | None:
    """Time 0 of a trace, in s since 1970; None where it does not say."""
    if trace.format in _DATED:
        return trace.origin
    try:
        begin = number(trace.header.get(_BEGIN, "").split()[0])
    except (IndexError, ValueError):
        return None
    return begin + trace.origin if 0 < begin < inf else None
