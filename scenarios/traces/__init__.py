"""What is done with the jobs of a trace: summing up, warning, turning them into sessions or other jobs."""

from gridtune.scenarios.traces.bursts import sessions_from_jobs
from gridtune.scenarios.traces.embedded import embedded_jobs
from gridtune.scenarios.traces.summary import TraceSummary, summarise
from gridtune.scenarios.traces.summary_text import summary_lines
