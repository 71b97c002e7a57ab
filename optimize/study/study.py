"""The study of a search: one Optuna study that holds every evaluation, whatever the sampler.

A trial has the values of active parameters, the means of the objectives, and as user attributes `objectives`
(mean, standard error and values per replication), `metrics` (means of all others), `replications`, in a
search with several cases or constraints `cases` (the same by case, and of what is constrained), and for a
failed one `failure`. What it breaks constraints by is where Optuna looks for that. The study has as user
attributes `gridtune` (what was searched, and how) and what `optimize.study.extra_runs` keeps there: further
replications of some points, as finished trials do not change. Earlier studies have what fresh seeds gave as
one attribute, `validated`, by trial number.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gridtune.optimize.records.evaluations import Archive, Evaluation, Failed, Objective
from gridtune.optimize.search_space.cases import MEAN
from gridtune.optimize.search_space.constraints import excesses
from gridtune.optimize.search_space.settings import Settings, stored_constraints
from gridtune.optimize.search_space.space import key
from gridtune.optimize.study.extra_runs import with_further
from gridtune.optimize.study.serialization import entry_as_json, entry_of, estimates_of
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError

if TYPE_CHECKING:
    from optuna import Study
    from optuna.distributions import BaseDistribution
    from optuna.storages import BaseStorage
    from optuna.trial import FrozenTrial

SETTINGS = "gridtune"
VALIDATED = "validated"


def default_name(scenario: Scenario) -> str:
    """The name of a study unless another is given: that of the scenario."""
    path = Path(scenario.name)
    return path.stem if path.suffix == ".toml" else scenario.name


def stored_settings(storage: BaseStorage, name: str) -> dict[str, Any] | None:
    """What the study of that name in a storage is about; None if there is none, or nothing in it yet.

    Raises:
        ScenarioError: the study of that name was not made by a search of ours.
    """
    import optuna

    if name not in optuna.get_all_study_names(storage):
        return None
    study = optuna.load_study(study_name=name, storage=storage)
    settings = study.user_attrs.get(SETTINGS)
    if isinstance(settings, dict):
        return settings
    if not study.user_attrs and not study.get_trials(deepcopy=False):
        return None  # its maker was stopped right after the start
    raise ScenarioError(f"{name}: this study was not made by `gridtune search`; choose another --study")


def create(storage: BaseStorage, name: str, settings: Settings, budget: int) -> Study:
    """A new study in a storage, in the place of an empty one of that name."""
    import optuna

    if name in optuna.get_all_study_names(storage):
        optuna.delete_study(study_name=name, storage=storage)
    directions = [objective.direction for objective in settings.objectives]
    study = optuna.create_study(storage=storage, study_name=name, directions=directions)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        study.set_metric_names([objective.name for objective in settings.objectives])
    study.set_user_attr(SETTINGS, {**settings.as_json(), "budget": budget})
    return study


def trial_of(
    entry: Evaluation | Failed, settings: Settings, distributions: Mapping[str, BaseDistribution]
) -> FrozenTrial:
    """A finished trial for a study."""
    from optuna.trial import TrialState, create_trial

    params = dict(entry.values)
    known = {path: distributions[path] for path in params}
    if isinstance(entry, Failed):
        return create_trial(
            state=TrialState.FAIL, params=params, distributions=known, user_attrs=entry_as_json(entry)
        )
    return create_trial(
        state=TrialState.COMPLETE,
        values=[entry.objectives[objective.name].mean for objective in settings.objectives],
        params=params,
        distributions=known,
        user_attrs=entry_as_json(entry) | {"replications": settings.replications},
        constraints=dict(excesses(settings.constraints, entry.cases)),
    )


def entries_of(study: Study) -> list[Evaluation | Failed]:
    """What the trials of a study hold, by number; trials that others have added are passed over."""
    entries: list[Evaluation | Failed] = []
    validated = study.user_attrs.get(VALIDATED, {})
    for trial in study.get_trials(deepcopy=False):
        known = trial.user_attrs
        # Those studies had one case; what is validated there without its cases could not be shown.
        again = None if "cases" in known else validated.get(str(trial.number))
        if "failure" in known or "objectives" in known:
            entry = entry_of(trial.number, dict(trial.params), known)
            if again is not None and isinstance(entry, Evaluation):
                entry = replace(entry, validated=estimates_of(again))
            entries.append(entry)
    return entries


def archive_of(
    name: str, settings: Mapping[str, Any], entries: Sequence[Evaluation | Failed], budget: int
) -> Archive:
    """All of a search as plain data; `settings` as stored."""
    evaluations = tuple(entry for entry in entries if isinstance(entry, Evaluation))
    return Archive(
        study=name,
        scenario=settings["scenario"],
        objectives=tuple(Objective(*objective) for objective in settings["objectives"]),
        evaluations=evaluations,
        failures=len(entries) - len(evaluations),
        sampler=settings["sampler"],
        seed=settings["seed"],
        replications=settings["replications"],
        budget=budget,
        max_replications=settings.get("max_replications"),
        cases=tuple(case["name"] for case in settings.get("cases", ())),
        robust=settings.get("robust", MEAN),
        constraints=stored_constraints(settings),
    )


@dataclass(frozen=True)
class StoredStudy:
    """What a search has left in a storage.

    Attributes:
        settings: what was searched, and how.
        archive: every evaluation.
        failures: points that could not be evaluated, and why.
    """

    settings: Settings
    archive: Archive
    failures: tuple[Failed, ...] = ()


def load_archive(study: str | Path, name: str | None = None) -> Archive:
    """The evaluations that a search has left in a storage; see `load`."""
    return load(study, name).archive


def load(study: str | Path, name: str | None = None) -> StoredStudy:
    """What a search has left in a storage.

    Args:
        study: directory of a search, journal file, or storage URL.
        name: of the study; needed only where the storage holds several.

    Raises:
        ScenarioError: no such storage or study, or several to choose from.
    """
    import optuna

    from gridtune.optimize.storages.storage import open_for_reading, shown

    storage = open_for_reading(study)
    try:
        found = {
            summary.study_name: summary.user_attrs[SETTINGS]
            for summary in optuna.get_all_study_summaries(storage, include_best_trial=False)
            if SETTINGS in summary.user_attrs
        }
        if name is None and len(found) == 1:
            name = next(iter(found))
        if name not in found:
            known = ", ".join(found) or "none"
            problem = "name one of its studies with --study" if name is None and found else "no such study"
            raise ScenarioError(f"{shown(study)}: {problem}; it holds {known}")
        kept = optuna.load_study(study_name=name, storage=storage)
        entries = with_further(entries_of(kept), kept)
        stored = found[name]
        archive = archive_of(name, stored, entries, stored["budget"])
        failures = tuple(entry for entry in entries if isinstance(entry, Failed))
        return StoredStudy(Settings.of_json(stored), archive, failures)
    finally:
        storage.remove_session()


def keys_of(entries: Sequence[Evaluation | Failed]) -> dict[str, Evaluation | Failed]:
    """Entries by the key of their point; of several the first."""
    found: dict[str, Evaluation | Failed] = {}
    for entry in entries:
        found.setdefault(key(entry.values), entry)
    return found
