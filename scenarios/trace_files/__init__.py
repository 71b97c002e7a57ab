"""Trace files: finding them, opening them, and reading each format into jobs.

A format is a module that says which field stands where; `reading` and `rows` serve them all.
"""

from gridtune.scenarios.trace_files.find import find_trace
from gridtune.scenarios.trace_files.header import TraceHeader
from gridtune.scenarios.trace_files.reading import TraceStream, iter_trace, read_trace
from gridtune.scenarios.trace_files.records import Keep, Tally, Trace, TraceError, TraceJob, TraceReport
