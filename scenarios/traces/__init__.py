"""Traces of real workloads: reading, finding, summing up, and turning them into sessions."""

from scenarios.traces.bursts import sessions_from_jobs
from scenarios.traces.embedded import embedded_jobs
from scenarios.traces.find import find_trace
from scenarios.traces.header import TraceHeader
from scenarios.traces.reading import TraceStream, iter_trace, read_trace
from scenarios.traces.records import Keep, Tally, Trace, TraceError, TraceJob, TraceReport
from scenarios.traces.summary import TraceSummary, summarise
