"""Sensitivity of the simulator itself: a design, its simulations, and what they say."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gridtune.optimize.importance.designs import Design
from gridtune.optimize.importance.sensitivity import METHODS, Sensitivity, constant, ranked
from gridtune.optimize.records.evaluations import Evaluation, Failed, Objective
from gridtune.optimize.report.progress import Progress
from gridtune.optimize.runs.table import evaluated
from gridtune.optimize.search_space.settings import Settings
from gridtune.optimize.search_space.space import key
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.execution.replicate import Metrics, Task, evaluate, metrics_of
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
    progress = progress or Progress()
    settings = Settings(
        scenario, plan.space, tuple(objectives), plan.method, len(plan.blocks[0]), seed, replications
    )
    different = list({key(one): one for block in plan.blocks for one in block}.values())
    found: dict[str, Evaluation] = {}
    failed: list[Failed] = []
    progress.start(
        f"configurations, {replications} runs each" if replications > 1 else "configurations", len(different)
    )
    try:
        for outcome in evaluate(scenario, different, seed, range(replications), pool, work):
            number, values = outcome.index, different[outcome.index]
            if outcome.failure is not None:
                entry: Evaluation | Failed = Failed(number, values, str(outcome.failure))
            else:
                entry = evaluated(number, values, [outcome.value], settings)
            if isinstance(entry, Failed):
                failed.append(entry)
            else:
                found[key(values)] = entry
            progress.update(len(found) + len(failed), failures=len(failed))
    finally:
        progress.finish()
    blocks = [k for k, block in enumerate(plan.blocks) if all(key(one) in found for one in block)]
    notes = _notes(plan, failed, len(different), len(blocks)) if failed else ()
    rows = [found[key(one)].objectives for block in blocks for one in plan.blocks[block]]
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
        evaluations=len(different),
        runs=len(different) * replications,
        seed=seed,
        notes=notes,
    )


def _notes(plan: Design, failed: Sequence[Failed], count: int, left: int) -> tuple[str, ...]:
    """What failures leave of a design.

    Args:
        count: configurations in all.
        left: blocks without a failure.
    """
    counted, first = METHODS[plan.method].counted, min(failed, key=lambda one: one.number)
    where = ", ".join(f"{path} = {value}" for path, value in first.values.items())
    if left < 2:
        raise ScenarioError(
            f"{len(failed)} of {count} configurations failed, which leaves {left} {counted}; "
            f"the first, {where}: {first.reason}"
        )
    every = len(plan.blocks)
    return (
        f"{len(failed)} configurations failed, so {every - left} of {every} {counted} are left "
        f"out: the numbers hold where the scenario can be run. The first failure, {where}: {first.reason}",
    )
