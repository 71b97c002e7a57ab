"""A search's configurations as a study of Optuna in memory."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from gridtune.optimize.records.evaluations import Archive, Evaluation, Failed
from gridtune.optimize.search_space.distributions import distribution
from gridtune.optimize.search_space.settings import Settings

if TYPE_CHECKING:
    import optuna


def optuna_study(settings: Settings, archive: Archive) -> optuna.Study:
    """All configurations as trials; those that could not be evaluated have failed."""
    from gridtune.optimize.runs.trials import keep_trial
    from gridtune.optimize.studies.study import open_study

    directions = {one.name: one.direction for one in settings.objectives}
    known = {parameter.path: distribution(parameter) for parameter in settings.space}
    with open_study(None, archive.study, settings.as_json(), directions, known) as made:
        entries: list[Evaluation | Failed] = [*archive.evaluations, *archive.failed]
        for entry in sorted(entries, key=lambda one: one.number):
            keep_trial(made, settings, entry, datetime.now())
    return made.study
