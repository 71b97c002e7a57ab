"""Which parameters mattered in a search: Optuna's importances over the stored evaluations.

The importance of a parameter is how differently it is distributed, and how often active, among the best tenth
of the evaluations and among all: it says what sets the good ones apart *within what the search looked at*.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import isfinite, nan
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gridtune.optimize.importance.sensitivity import Ranking, Sensitivity, constant, ranked
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.runs.stored import SearchResult
from gridtune.scenarios.errors import ScenarioError

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

LEAST = 20  # evaluations below which no tenth can be told from the rest
BEST, BEST_COUNT = 0.1, 5  # share of the evaluations that count as good, but at least so many
RESAMPLES = 60  # behind the intervals


def study_sensitivity(kept: SearchResult, objectives: Sequence[Objective], seed: int = 1) -> Sensitivity:
    """Importance of every parameter for every objective, over the evaluations of a search.

    Importances of an objective add up to 1. Their intervals come from a bootstrap over the evaluations.
    Objectives are those of the search, or other metrics that it kept.

    Raises:
        ScenarioError: too few evaluations, or a metric that was not kept.
    """
    archive = kept.archive
    if len(archive.evaluations) < LEAST:
        raise ScenarioError(
            f"{archive.study}: {len(archive.evaluations)} evaluations say too little about importance; "
            f"at least {LEAST} are needed, or simulate: gridtune sensitivity SCENARIO"
        )
    rankings = tuple(_ranking(kept, objective, seed) for objective in objectives)
    count, runs = len(archive.evaluations), archive.runs * max(1, len(archive.cases))
    note = (
        "note: importances hold for what the search looked at, which was mostly where it found good "
        "configurations"
    )
    return Sensitivity(archive.study, "importance", rankings, count, count, runs, seed, (note,))


def _ranking(kept: SearchResult, objective: Objective, seed: int) -> Ranking:
    from optuna.trial import create_trial

    name = objective.name
    distributions = {parameter.path: parameter.distribution() for parameter in kept.settings.space}
    trials = []
    for one in kept.archive.evaluations:
        value = one.objectives[name].mean if name in one.objectives else one.metrics.get(name, nan)
        if isfinite(value):
            allowed = {path: distributions[path] for path in one.values}
            trials.append(create_trial(value=value, params=one.values, distributions=allowed))
    if not trials:
        raise ScenarioError(f"{kept.archive.study}: {name} was not measured in this study")
    if none := constant(objective, np.array([trial.value for trial in trials]), "in every evaluation"):
        return none
    importances = _importances(trials, objective)
    if importances is None:
        why = "the best tenth and the rest do not differ in any parameter"
        return Ranking(objective, pd.DataFrame(), why)
    draws = np.random.default_rng([seed, len(trials)])
    resampled = [
        _importances([trials[k] for k in draws.integers(len(trials), size=len(trials))], objective)
        for _ in range(RESAMPLES)
    ]
    paths = kept.settings.space.paths
    shares = pd.DataFrame([one for one in resampled if one is not None], columns=paths, dtype=float)
    low, high = shares.fillna(0.0).quantile([0.025, 0.975]).to_numpy()
    effects = {
        "path": paths,
        "importance": [importances.get(path, 0.0) for path in paths],
        "importance_conf": (high - low) / 2,
        "active": [sum(path in trial.params for trial in trials) for path in paths],
    }
    return ranked(objective, pd.DataFrame(effects), "importance")


def _importances(trials: Sequence[FrozenTrial], objective: Objective) -> dict[str, float] | None:
    """Importances that add up to 1; None if the good trials are like all others."""
    import optuna

    quantile = max(BEST, min(0.5, BEST_COUNT / len(trials)))
    # What Optuna warns of is in the table: over how many trials it rests.
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study = optuna.create_study(direction=objective.direction)
        study.add_trials(trials)
        evaluator = optuna.importance.PedAnovaImportanceEvaluator(target_quantile=quantile)
        found: dict[str, float] = evaluator.evaluate(study)
    total = sum(found.values())
    return {path: value / total for path, value in found.items()} if total > 0 else None
