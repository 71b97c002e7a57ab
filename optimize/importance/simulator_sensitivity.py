"""Sensitivity of the simulator itself: a design, its simulations, and what they say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gridtune.optimize.importance.designs import Design
from gridtune.optimize.importance.sensitivity import METHODS, Effect, Ranking, Sensitivity, ranked
from gridtune.optimize.records.evaluations import Evaluation, Failed, Objective
from gridtune.optimize.replication.evaluate import evaluated
from gridtune.optimize.replication.listener import Progress
from gridtune.optimize.search_space.settings import Settings
from gridtune.optimize.search_space.space import Configuration, key
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.execution.replicate import Metrics, Task, evaluate, metrics_of
from gridtune.scenarios.workers.pool import Pool

Array = np.ndarray[Any, np.dtype[np.float64]]

CONSTANT = 1e-12  # of an objective's size: differences below are rounding


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

    An objective's value at a configuration is its mean over the replications. Configurations that the design
    visits twice are simulated once. Trajectories or base samples with a configuration that fails are left
    out.

    Args:
        scenario: what is simulated.
        plan: the design.
        objectives: what the effects are on.
        replications: runs per configuration.
        seed: of the workloads.
        pool: who runs the simulations.
        progress: hears how it goes.
        work: gives the metrics of a run to be done.

    Raises:
        ScenarioError: configurations that fail leave less than two samples.
    """
    progress = progress or Progress()
    settings = Settings(scenario, plan.space, tuple(objectives), plan.method, plan.block, seed, replications)
    try:
        found = _simulate(settings, plan.configurations, pool, progress, work)
    finally:
        progress.finish()
    blocks, notes = _complete(plan, found, METHODS[plan.method].counted)
    rows = [
        found[key(one)] for b in blocks for one in plan.configurations[b * plan.block : (b + 1) * plan.block]
    ]
    rankings = [
        _ranking(plan, blocks, objective, [_mean(row, objective) for row in rows]) for objective in objectives
    ]
    return Sensitivity(
        scenario.name,
        plan.method,
        tuple(rankings),
        len(blocks),
        len(found),
        len(found) * replications,
        seed,
        tuple(notes),
    )


def _simulate(
    settings: Settings,
    configurations: Sequence[Configuration],
    pool: Pool,
    progress: Progress,
    work: Callable[[Task], Metrics],
) -> dict[str, Evaluation | Failed]:
    """What became of each different configuration, by its key."""
    different = list({key(one): one for one in configurations}.values())
    replications = settings.replications
    progress.start(
        f"configurations, {replications} runs each" if replications > 1 else "configurations", len(different)
    )
    found: dict[str, Evaluation | Failed] = {}
    failures = 0
    outcomes = evaluate(settings.scenario, different, settings.seed, range(replications), pool, work)
    for outcome in outcomes:
        configuration = different[outcome.index]
        entry: Evaluation | Failed
        if outcome.failure is not None:
            entry = Failed(outcome.index, configuration, str(outcome.failure))
        else:
            entry = evaluated(outcome.index, configuration, [outcome.value], settings)
        failures += isinstance(entry, Failed)
        found[key(configuration)] = entry
        progress.update(len(found), failures=failures)
    return found


def _complete(
    plan: Design, found: dict[str, Evaluation | Failed], counted: str
) -> tuple[list[int], list[str]]:
    """Blocks without failures, and a note if there were any."""

    def failed(block: int) -> bool:
        configurations = plan.configurations[block * plan.block : (block + 1) * plan.block]
        return any(isinstance(found[key(one)], Failed) for one in configurations)

    blocks = [block for block in range(plan.samples) if not failed(block)]
    failures = sorted((e for e in found.values() if isinstance(e, Failed)), key=lambda e: e.number)
    if not failures:
        return blocks, []
    first = failures[0]
    where = ", ".join(f"{path} = {value}" for path, value in first.values.items())
    if len(blocks) < 2:
        raise ScenarioError(
            f"{len(failures)} of {len(found)} configurations failed, which leaves {len(blocks)} {counted}; "
            f"the first, {where}: {first.reason}"
        )
    lost = plan.samples - len(blocks)
    return blocks, [
        f"{len(failures)} configurations failed, so {lost} of {plan.samples} {counted} are left out: the "
        f"numbers hold where the scenario can be run. The first failure, {where}: {first.reason}"
    ]


def _ranking(plan: Design, blocks: list[int], objective: Objective, outcomes: Sequence[float]) -> Ranking:
    values = np.array(outcomes, dtype=float)
    if np.ptp(values) <= CONSTANT * np.abs(values).max():
        return Ranking(objective, (), f"{values[0]:g} at every configuration, so no parameter has an effect")
    numbers = plan.analyse(values, blocks)
    effects = [
        Effect(parameter.path, numbers[j], plan.active(j, blocks)) for j, parameter in enumerate(plan.space)
    ]
    return ranked(objective, effects, plan.method)


def _mean(entry: Evaluation | Failed, objective: Objective) -> float:
    assert isinstance(entry, Evaluation)
    return entry.objectives[objective.name].mean
