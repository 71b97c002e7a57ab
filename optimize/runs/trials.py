"""Evaluations as trials of an Optuna study, and the archive of a search from its trials and runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from gridtune.optimize.records.evaluations import Archive, Evaluation
from gridtune.optimize.records.recommendation import Recommendation
from gridtune.optimize.runs.table import Entry
from gridtune.optimize.search_space.constraints import excesses
from gridtune.optimize.search_space.settings import Settings
from gridtune.optimize.search_space.space import key
from gridtune.optimize.studies.study import OpenStudy, open_study

# Attributes of a study.
UNITS, RECOMMENDATIONS, REFUSED, ENDED, ASKED = "units", "recommendations", "refused", "ended", "asked"
BUDGET, REMARKS = "budget", "remarks"


def open_trials(
    settings: Settings, where: str | Path | None, name: str, *, resume: bool = False
) -> OpenStudy:
    """The study of a search, to write its trials to; see `open_study`."""
    return open_study(
        where,
        name,
        settings.as_json(),
        {one.name: one.direction for one in settings.objectives},
        {parameter.path: parameter.distribution() for parameter in settings.space},
        resume=resume,
    )


def keep_trial(study: OpenStudy, settings: Settings, entry: Entry, began: datetime) -> None:
    """Write what became of a configuration as a trial."""
    number, values, now = entry.number, entry.values, datetime.now()
    if not isinstance(entry, Evaluation):
        study.add_trial(number, values, {}, {}, began, now, {}, entry.reason)
        return
    means = {name: one.mean for name, one in entry.objectives.items()}
    errors = {name: one.standard_error for name, one in entry.objectives.items()}
    broken = excesses(settings.constraints, entry.cases)
    attributes = {"replications": entry.replications, "standard_errors": errors}
    study.add_trial(number, values, means, broken, began, now, attributes)


def archive_of(
    name: str,
    settings: Settings,
    entries: Sequence[Entry],
    budget: int,
    recommendations: Sequence[Recommendation],
    refused: Mapping[int, tuple[str, ...]],
    runs: int,
    remarks: Sequence[str] = (),
) -> Archive:
    """All of a search as plain data; see `Archive`."""
    evaluations = tuple(entry for entry in entries if isinstance(entry, Evaluation))
    baseline = settings.baseline
    mark = None if baseline is None else key(baseline.configuration)
    return Archive(
        study=name,
        scenario=settings.scenario.name,
        objectives=settings.objectives,
        evaluations=evaluations,
        failed=tuple(entry for entry in entries if not isinstance(entry, Evaluation)),
        sampler=settings.sampler,
        seed=settings.seed,
        replications=settings.replications,
        budget=budget,
        cases=tuple(case.name for case in settings.cases),
        robust=settings.robust,
        constraints=settings.constraints,
        baseline=next((one.number for one in evaluations if key(one.values) == mark), None),
        present={} if baseline is None else baseline.values,
        recommendations=tuple(recommendations),
        refused=refused,
        simulated=runs,
        remarks=tuple(remarks),
    )
