"""Traces of real workloads: reading, finding, summing up, and turning them into sessions."""

from gridtune.scenarios.traces.bursts import sessions_from_jobs
from gridtune.scenarios.traces.embedded import embedded_jobs
from gridtune.scenarios.traces.find import find_trace
from gridtune.scenarios.traces.header import TraceHeader
from gridtune.scenarios.traces.reading import TraceStream, iter_trace, read_trace
from gridtune.scenarios.traces.records import Keep, Tally, Trace, TraceError, TraceJob, TraceReport
from gridtune.scenarios.traces.summary import TraceSummary, summarise
from gridtune.scenarios.traces.summary_text import summary_lines
