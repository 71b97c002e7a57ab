"""Sensitivity of the simulator itself: a design, its simulations, and what they say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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

    Raises:
        ScenarioError: configurations that fail leave less than two samples.
    """
    progress = progress or Progress()
    settings = Settings(scenario, plan.space, tuple(objectives), plan.method, plan.block, seed, replications)
    found: dict[str, Evaluation] = {}
    failed: dict[str, Failed] = {}
    try:
        for entry in _simulated(settings, plan.configurations, pool, progress, work):
            if isinstance(entry, Failed):
                failed[key(entry.values)] = entry
            else:
                found[key(entry.values)] = entry
            progress.update(len(found) + len(failed), failures=len(failed))
    finally:
        progress.finish()
    blocks = [b for b in range(plan.samples) if all(key(one) in found for one in plan.of_block(b))]
    notes = _notes(plan, list(failed.values()), len(found) + len(failed), len(blocks)) if failed else ()
    rows = [found[key(one)].objectives for block in blocks for one in plan.of_block(block)]
    rankings = [_ranking(plan, blocks, one, [row[one.name].mean for row in rows]) for one in objectives]
    count = len(found) + len(failed)
    return Sensitivity(
        scenario.name, plan.method, tuple(rankings), len(blocks), count, count * replications, seed, notes
    )


def _simulated(
    settings: Settings,
    configurations: Sequence[Configuration],
    pool: Pool,
    progress: Progress,
    work: Callable[[Task], Metrics],
) -> Iterator[Evaluation | Failed]:
    """What becomes of each different configuration."""
    different = list({key(one): one for one in configurations}.values())
    count = settings.replications
    progress.start(f"configurations, {count} runs each" if count > 1 else "configurations", len(different))
    for outcome in evaluate(settings.scenario, different, settings.seed, range(count), pool, work):
        values = different[outcome.index]
        if outcome.failure is not None:
            yield Failed(outcome.index, values, str(outcome.failure))
        else:
            yield evaluated(outcome.index, values, [outcome.value], settings)


def _notes(plan: Design, failed: Sequence[Failed], count: int, left: int) -> tuple[str, ...]:
    """What failures leave of a design.

    Args:
        count: configurations in all.
    """
    counted, first = METHODS[plan.method].counted, min(failed, key=lambda one: one.number)
    where = ", ".join(f"{path} = {value}" for path, value in first.values.items())
    if left < 2:
        raise ScenarioError(
            f"{len(failed)} of {count} configurations failed, which leaves {left} {counted}; "
            f"the first, {where}: {first.reason}"
        )
    return (
        f"{len(failed)} configurations failed, so {plan.samples - left} of {plan.samples} {counted} are left "
        f"out: the numbers hold where the scenario can be run. The first failure, {where}: {first.reason}",
    )


def _ranking(plan: Design, blocks: list[int], objective: Objective, outcomes: Sequence[float]) -> Ranking:
    values = np.array(outcomes, dtype=float)
    if np.ptp(values) <= CONSTANT * np.abs(values).max():
        return Ranking(objective, (), f"{values[0]:g} at every configuration, so no parameter has an effect")
    numbers = plan.analyse(values, blocks)
    effects = [
        Effect(parameter.path, numbers[j], plan.active(j, blocks)) for j, parameter in enumerate(plan.space)
    ]
    return ranked(objective, effects, plan.method)
