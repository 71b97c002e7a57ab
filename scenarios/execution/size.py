"""What a command will need, said before it starts where that is much."""

from __future__ import annotations

from math import ceil

from gridtune import limits
from gridtune.plain_text import counted
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.execution.prepare import log
from gridtune.scenarios.workloads.sessions import GeneratedSessions

JOB_SECONDS = 5e-5  # of one core, about


def tell_size(scenario: Scenario, runs: int, workers: int) -> None:
    """Log how many jobs and runs there will be, if they are many.

    Args:
        scenario: what is run.
        runs: of the whole command.
        workers: processes that share them.
    """
    jobs = jobs_of(scenario)
    sharing = max(1, min(runs, workers))
    if jobs > limits.LARGE_JOBS:
        memory = jobs * limits.JOB_BYTES * sharing / 1e9
        log.info(
            f"{scenario.name}: {jobs:,} jobs in each run, about {memory:.1f} GB of memory "
            f"in {sharing} process{'es' if sharing > 1 else ''}"
        )
    if runs > limits.LARGE_RUNS or jobs > limits.LARGE_JOBS:
        hours = runs * max(jobs, 100) * JOB_SECONDS / sharing / 3600
        log.info(f"{scenario.name}: {counted(runs, 'run')}, about {hours:.1f} h")


def jobs_of(scenario: Scenario) -> int:
    """Jobs of a run whose number the scenario says; those of a trace are known when it is read.

    Of users of GridRPC these are they themselves, whose clients take as much memory, and what they must
    submit.
    """
    spec = scenario.active
    counted = spec.queue.customers if spec.queue is not None else 0
    for workload in spec.workload:
        count = getattr(workload, "count", None) or 0
        if isinstance(workload, GeneratedSessions):
            count *= 1 + ceil(min(workload.n_min.largest, workload.n_max))
        counted += count
    return counted
