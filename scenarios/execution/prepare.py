"""What comes before any run: faults are found, notes are given, workers are hired."""

from __future__ import annotations

import logging
from multiprocessing import current_process

from gridtune.plain_text import counted
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.results.run import faults, origins
from gridtune.scenarios.simulation.simulate import build
from gridtune.scenarios.systems.replay import replay_differences
from gridtune.scenarios.workers.pool import Pool

log = logging.getLogger("gridtune")  # the command line prints it on standard error


def prepare(scenario: Scenario) -> None:
    """Find faults in what a scenario names before anything is computed or written, and say what it found.

    How replays differ from their logs is said at the level of debugging (`--verbose`), else how often.
    Traces are read here once; worker processes inherit them.

    Raises:
        ScenarioError: a file that the scenario names cannot be used.
    """
    build(scenario).close()
    said, different = origins(scenario), list(replay_differences(scenario.active))
    if said and different and not log.isEnabledFor(logging.DEBUG):
        said[-1] += f" ({counted(len(different), 'note')} on how its replay differs: -v)"
    for level, lines in (
        (logging.INFO, said),
        (logging.DEBUG, different),
        (logging.INFO, faults(scenario)),
    ):
        for line in lines:
            log.log(level, line)


def workers(jobs: int, dask: str | None, *scenarios: Scenario) -> Pool:
    """Who runs scenarios: processes of this machine, or a Dask cluster.

    Args:
        jobs: worker processes of this machine.
        dask: address of a cluster's scheduler; its workers are used instead.
        scenarios: what they will run.

    Raises:
        ScenarioError: the cluster cannot be used, or this process may not start others.
    """
    if dask is None:
        if jobs > 1 and current_process().daemon:
            raise ScenarioError(
                f"jobs={jobs}: a worker of a multiprocessing pool starts no others; use jobs=1"
            )
        return Pool(jobs)
    from gridtune.scenarios.workers.dask_workers import dask_pool

    return dask_pool(dask, scenarios)
