"""Which parameters mattered in a search: Optuna's importances over the stored evaluations.

The importance of a parameter is how differently it is distributed among the best tenth of the evaluations and
among all of them: it says what sets the good ones apart *within what the search looked at*. Optuna's
evaluator for conditional spaces weighs a parameter by how often it was active among the best and among all.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from gridtune.optimize.importance.sensitivity import Effect, Ranking, Sensitivity, ranked
from gridtune.optimize.records.evaluations import Evaluation, Objective
from gridtune.optimize.runs.stored import SearchResult
from gridtune.optimize.search_space.space import Space
from gridtune.scenarios.errors import ScenarioError

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

LEAST = 20  # evaluations below which no tenth can be told from the rest
BEST = 0.1  # share of the evaluations that count as good
BEST_COUNT = 5  # but at least so many
RESAMPLES = 60  # behind the intervals
MIDDLE = (0.025, 0.975)  # quantiles of a 95 % interval


def study_sensitivity(kept: SearchResult, objectives: Sequence[Objective], seed: int = 1) -> Sensitivity:
    """Importance of every parameter for every objective, over the evaluations of a search.

    Importances of an objective add up to 1. Their intervals come from a bootstrap over the evaluations.

    Args:
        objectives: objectives of the search, or other metrics that it kept.

    Raises:
        ScenarioError: too few evaluations, or a metric that was not kept.

    Source: PED-ANOVA, IJCAI 2023, arXiv:2304.10255, in its conditional form, arXiv:2601.20800.
    """
    archive = kept.archive
    if len(archive.evaluations) < LEAST:
        raise ScenarioError(
            f"{archive.study}: {len(archive.evaluations)} evaluations say too little about importance; "
            f"at least {LEAST} are needed, or simulate: gridtune sensitivity SCENARIO"
        )
    for objective in objectives:
        if all(_value(evaluation, objective) is None for evaluation in archive.evaluations):
            raise ScenarioError(f"{archive.study}: {objective.name} was not measured in this study")
    rankings = [_ranking(archive.evaluations, one, kept.settings.space, seed) for one in objectives]
    count, runs = len(archive.evaluations), archive.runs * max(1, len(archive.cases))
    note = (
        "note: importances hold for what the search looked at, which was mostly where it found good "
        "configurations"
    )
    return Sensitivity(archive.study, "importance", tuple(rankings), count, count, runs, seed, (note,))


def _ranking(evaluations: Sequence[Evaluation], objective: Objective, space: Space, seed: int) -> Ranking:
    known = [evaluation for evaluation in evaluations if _value(evaluation, objective) is not None]
    outcomes = np.array([_value(evaluation, objective) for evaluation in known], dtype=float)
    if np.ptp(outcomes) <= 1e-12 * np.abs(outcomes).max():
        return Ranking(objective, (), f"{outcomes[0]:g} in every evaluation, so no parameter has an effect")
    sign = 1.0 if objective.direction == "minimize" else -1.0
    trials = _trials(known, (sign * outcomes).tolist(), space)
    importances = _importances(trials)
    if importances is None:
        return Ranking(objective, (), "the best tenth and the rest do not differ in any parameter")
    draws = np.random.default_rng([seed, len(trials)])
    samples = [
        _importances([trials[k] for k in draws.integers(len(trials), size=len(trials))])
        for _ in range(RESAMPLES)
    ]
    effects = []
    for parameter in space:
        path = parameter.path
        resampled = [sample.get(path, 0.0) for sample in samples if sample is not None]
        half = float(np.subtract(*np.quantile(resampled, MIDDLE[::-1]))) / 2 if resampled else None
        active = sum(path in evaluation.values for evaluation in known)
        effects.append(
            Effect(path, {"importance": importances.get(path, 0.0), "importance_conf": half}, active)
        )
    return ranked(objective, effects, "importance")


def _value(evaluation: Evaluation, objective: Objective) -> float | None:
    """Mean of an objective or another metric; None if it has none."""
    estimate = evaluation.objectives.get(objective.name)
    value = estimate.mean if estimate is not None else evaluation.metrics.get(objective.name)
    return value if value is not None and isfinite(value) else None


def _trials(evaluations: Sequence[Evaluation], losses: Sequence[float], space: Space) -> list[FrozenTrial]:
    from optuna.trial import create_trial

    known = {parameter.path: parameter.distribution() for parameter in space}
    return [
        create_trial(
            value=loss,
            params=dict(evaluation.values),
            distributions={path: known[path] for path in evaluation.values},
        )
        for evaluation, loss in zip(evaluations, losses, strict=True)
    ]


def _importances(trials: Sequence[FrozenTrial]) -> dict[str, float] | None:
    """Importances that add up to 1; None if the good trials are like all others."""
    import optuna

    with _quiet():
        study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
        study.add_trials(trials)
        quantile = max(BEST, min(0.5, BEST_COUNT / len(trials)))
        evaluator = optuna.importance.PedAnovaImportanceEvaluator(target_quantile=quantile)
        found: dict[str, float] = evaluator.evaluate(study)
    total = sum(found.values())
    return {path: value / total for path, value in found.items()} if total > 0 else None


@contextmanager
def _quiet() -> Iterator[None]:
    """Without Optuna's announcements; what they warn of is in the table: over how many trials it rests."""
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        optuna.logging.set_verbosity(before)
