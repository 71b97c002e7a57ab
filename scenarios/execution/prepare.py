"""What comes before any run: faults are found, notes are given, workers are hired."""

from __future__ import annotations

import logging

from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.results.run import notes
from gridtune.scenarios.simulation.simulate import build
from gridtune.scenarios.workers.pool import Pool

log = logging.getLogger("gridtune")  # the command line prints it on standard error


def prepare(scenario: Scenario) -> None:
    """Find faults in what a scenario names before anything is computed or written, and say what it found.

    Traces are read here once; worker processes inherit them.

    Raises:
        ScenarioError: a file that the scenario names cannot be used.
    """
    build(scenario).close()
    for note in notes(scenario):
        log.info(note)


def workers(jobs: int, dask: str | None, *scenarios: Scenario) -> Pool:
    """Who runs scenarios: processes of this machine, or a Dask cluster.

    Args:
        jobs: worker processes of this machine.
        dask: address of a cluster's scheduler; its workers are used instead.
        scenarios: what they will run.

    Raises:
        ScenarioError: the cluster cannot be used.
    """
    if dask is None:
        return Pool(jobs)
    from gridtune.scenarios.workers.dask_workers import dask_pool

    return dask_pool(dask, scenarios)
