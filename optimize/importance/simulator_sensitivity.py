"""Sensitivity of the simulator itself: a design, its simulations, and what they say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from gridtune.optimize.importance.designs import Design
from gridtune.optimize.importance.sensitivity import METHODS, Sensitivity, constant, ranked
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.replication.listener import Progress
from gridtune.optimize.search_space.settings import Settings
from gridtune.optimize.search_space.space import Configuration, key
from gridtune.optimize.separate_runs import SeparateRuns
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.execution.replicate import Metrics, Task, metrics_of
from gridtune.scenarios.workers.pool import Pool


def simulated_sensitivity(
    scenario: Scenario,
    plan: Design,
    objectives: Sequence[Objective],
    *,
    replications: int = 1,
    seed: int = 1,
    pool: Pool,
    progress: Progress | None = None,
    work: Callable[[Task], Metrics] = metrics_of,
) -> Sensitivity:
    """Which parameters matter, by simulating a design of configurations under common random numbers.

    Objectives are means over the replications. Samples with a configuration that fails are left out.

    Raises:
        ScenarioError: configurations that fail leave less than two samples.
    """
    settings = Settings(
        scenario, plan.space, tuple(objectives), plan.method, len(plan.blocks[0]), seed, replications
    )
    runs = SeparateRuns(settings, range(replications), pool, progress, work)
    visited = {key(one): one for block in plan.blocks for one in block}
    try:
        runs.run(list(visited.values()))
    finally:
        runs.evaluator.progress.finish()
    samples = [runs.run(block) for block in plan.blocks]
    blocks = [number for number, block in enumerate(samples) if None not in block]
    notes = _notes(plan, visited, runs.failures, len(blocks)) if runs.failures else ()
    rows = [one.evaluation.objectives for number in blocks for one in samples[number] if one]
    rankings = []
    for objective in objectives:
        outcomes = np.array([row[objective.name].mean for row in rows])
        none = constant(objective, outcomes, "at every configuration")
        rankings.append(none or ranked(objective, plan.effects(outcomes, blocks), plan.method))
    return Sensitivity(
        scenario.name,
        plan.method,
        tuple(rankings),
        samples=len(blocks),
        evaluations=len(visited),
        runs=len(visited) * replications,
        seed=seed,
        notes=notes,
    )


def _notes(
    plan: Design, visited: Mapping[str, Configuration], failures: Mapping[str, str], left: int
) -> tuple[str, ...]:
    """What failures leave of a design.

    Args:
        visited: all configurations, by key.
        failures: why some of them fail, by key.
        left: blocks without a failure.
    """
    counted, (first, reason) = METHODS[plan.method].counted, next(iter(failures.items()))
    where = ", ".join(f"{path} = {value}" for path, value in visited[first].items())
    if left < 2:
        raise ScenarioError(
            f"{len(failures)} of {len(visited)} configurations failed, which leaves {left} {counted}; "
            f"the first, {where}: {reason}"
        )
    every = len(plan.blocks)
    return (
        f"{len(failures)} configurations failed, so {every - left} of {every} {counted} are left "
        f"out: the numbers hold where the scenario can be run. The first failure, {where}: {reason}",
    )
