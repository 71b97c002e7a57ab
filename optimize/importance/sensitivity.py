"""Which parameters matter for which objective: the result, whatever the method; and that of a search.

There, the importance of a parameter is how differently it is distributed, and how often active, among the
best tenth of the evaluations and among all: it says what sets the good ones apart *within what the search
looked at*.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any, NamedTuple

import numpy as np
import optuna
import pandas as pd
from optuna.trial import FrozenTrial, create_trial

from gridtune.optimize.records.difference import INTERVAL, ROUNDING
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.runs.stored import SearchResult
from gridtune.scenarios.errors import ScenarioError

LEAST = 20  # evaluations below which no tenth can be told from the rest
BEST, BEST_COUNT = 0.1, 5  # share of the evaluations that count as good, but at least so many
RESAMPLES = 60  # behind the intervals


class Method(NamedTuple):
    """A way to say how much a parameter matters."""

    title: str  # what the main number is
    columns: tuple[str, ...]  # its numbers, by the first of which parameters are ranked; `…_conf`: ±
    counted: str  # by the column `active` of a ranking
    source: str
    unit_of_objective: bool = False

    @property
    def main(self) -> str:
        """The number that parameters are ranked by."""
        return self.columns[0]


METHODS: dict[str, Method] = {
    "importance": Method(
        "importance for the best tenth",
        ("importance", "importance_conf"),
        "evaluations",
        "PED-ANOVA, IJCAI 2023, arXiv:2304.10255, in its conditional form, arXiv:2601.20800",
    ),
    "morris": Method(
        "mean absolute effect μ*",
        ("mu_star", "mu_star_conf", "mu", "sigma"),
        "trajectories",
        "M. Morris, Technometrics 33, 1991; F. Campolongo et al., Environmental Modelling & Software 22, "
        "2007",
        unit_of_objective=True,
    ),
    "sobol": Method(
        "share of the variance",
        ("ST", "ST_conf", "S1", "S1_conf"),
        "base samples",
        "I. Sobol', Mathematics and Computers in Simulation 55, 2001; A. Saltelli et al., Computer Physics "
        "Communications 181, 2010",
    ),
}


class Ranking(NamedTuple):
    """How much each parameter matters for one objective."""

    objective: Objective
    # A row for each parameter, that which matters most first; empty if nothing can be said. Columns are its
    # `path`, those of the method (nan where one has no meaning), and `active`: in how many of what the method
    # counts it was.
    effects: pd.DataFrame
    reason: str = ""  # why nothing can be said


@dataclass(frozen=True)
class Sensitivity:
    """Which parameters matter for which objective."""

    subject: str  # name of the scenario, or of the study
    method: str  # a key of `METHODS`
    rankings: tuple[Ranking, ...]
    samples: int  # that it rests on, of what the method counts
    evaluations: int  # different configurations
    runs: int
    seed: int  # of workloads and sample, or of the bootstrap
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As data for JSON."""
        method = METHODS[self.method]
        return {
            "subject": self.subject,
            "method": self.method,
            "counted": method.counted,
            "samples": self.samples,
            "evaluations": self.evaluations,
            "runs": self.runs,
            "seed": self.seed,
            "confidence_level": INTERVAL,
            "source": method.source,
            "objectives": [
                {
                    "name": ranking.objective.name,
                    "direction": ranking.objective.direction,
                    "unit": ranking.objective.unit,
                    "reason": ranking.reason or None,
                    "parameters": ranking.effects.replace({nan: None}).to_dict("records"),
                }
                for ranking in self.rankings
            ],
            "notes": list(self.notes),
        }

    def table(self) -> pd.DataFrame:
        """A row per objective and parameter, numbers in full; those without a meaning are missing."""
        tables = [one.effects.assign(objective=one.objective.name) for one in self.rankings]
        columns = ["objective", "parameter", *METHODS[self.method].columns, "active", "of"]
        whole = pd.concat(tables, ignore_index=True).rename(columns={"path": "parameter"})
        return whole.assign(of=self.samples).reindex(columns=columns).astype({"active": int})

    def basis(self) -> str:
        """What the numbers rest on, in a few words."""
        counted = METHODS[self.method].counted
        configurations = "" if counted == "evaluations" else f", {self.evaluations} different configurations"
        return f"{self.samples} {counted}{configurations}, {self.runs} simulations"


def ranked(objective: Objective, effects: pd.DataFrame, method: str) -> Ranking:
    """Effects sorted by the main number of the method, the largest first, ties by path.

    Numbers of a parameter that was never active are missing, and it comes last.
    """
    known, columns = effects.copy(), list(METHODS[method].columns)
    known.loc[known["active"] == 0, columns] = nan
    order = [METHODS[method].main, "path"]
    return Ranking(objective, known.sort_values(order, ascending=[False, True], ignore_index=True))


def constant(objective: Objective, outcomes: np.ndarray[Any, Any], where: str) -> Ranking | None:
    """The ranking of an objective that is equal everywhere; None if it is not."""
    if np.ptp(outcomes) > ROUNDING * np.abs(outcomes).max():
        return None
    return Ranking(objective, pd.DataFrame(), f"{outcomes[0]:g} {where}, so no parameter has an effect")


def study_sensitivity(kept: SearchResult, objectives: Sequence[Objective], seed: int = 1) -> Sensitivity:
    """Importance of every parameter for every objective, over the evaluations of a search.

    Importances of an objective add up to 1. Their intervals come from a bootstrap over the evaluations. A
    `ScenarioError` if these are too few, or the search did not keep a metric.
    """
    archive = kept.archive
    if len(archive.evaluations) < LEAST:
        raise ScenarioError(
            f"{archive.study}: {len(archive.evaluations)} configurations are too few to rank parameters; "
            f"at least {LEAST} are needed, or simulate: gridtune sensitivity SCENARIO"
        )
    rankings = tuple(_ranking(kept, objective, seed) for objective in objectives)
    count, runs = len(archive.evaluations), archive.runs * max(1, len(archive.cases))
    where = "which was mostly where it found good configurations"
    notes = (f"note: importances hold for what the search looked at, {where}",)
    return Sensitivity(archive.study, "importance", rankings, count, count, runs, seed, notes)


def _ranking(kept: SearchResult, objective: Objective, seed: int) -> Ranking:
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
