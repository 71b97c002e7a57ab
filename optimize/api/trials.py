"""A search's configurations as a study of Optuna in memory."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from gridtune.optimize.records.evaluations import Archive, Evaluation, Failed
from gridtune.optimize.runs.trials import keep_trial, open_trials
from gridtune.optimize.search_space.settings import Settings

if TYPE_CHECKING:
    import optuna


def optuna_study(settings: Settings, archive: Archive) -> optuna.Study:
    """All configurations as trials; those that could not be evaluated have failed."""
    with open_trials(settings, None, archive.study) as made:
        entries: list[Evaluation | Failed] = [*archive.evaluations, *archive.failed]
        for entry in sorted(entries, key=lambda one: one.number):
            keep_trial(made, settings, entry, datetime.now())
    return made.study
