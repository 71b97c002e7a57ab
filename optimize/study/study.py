"""The study of a search: one Optuna study that holds every evaluation, whatever the sampler.

A trial has the values of active parameters, the means of the objectives, and as user attributes `objectives`
(mean, standard error and values per replication), `metrics` (means of all others), `replications`, in a
search with several cases or constraints `cases` (the same by case, and of what is constrained), and for a
failed one `failure`. What it breaks constraints by is where Optuna looks for that. The study has as user
attributes `gridtune` (what was searched, and how) and what `optimize.study.extra_runs` keeps there: further
replications of some points, as finished trials do not change. Earlier studies have what fresh seeds gave as
one attribute, `validated`, by trial number.

What a search writes has checksums (see `optimize.study.stored`) that the study's own `identity` is part of; a
trial has its number and checksum as `check`. The settings are there twice, as `gridtune` and `gridtune:copy`.
When a search lets go of a study it notes as `closed` how much it has kept. Earlier studies have none of that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from gridtune import limits
from gridtune.optimize.records.evaluations import Archive, Evaluation, Failed, Objective
from gridtune.optimize.search_space.cases import MEAN
from gridtune.optimize.search_space.constraints import excesses
from gridtune.optimize.search_space.settings import Settings, stored_constraints
from gridtune.optimize.search_space.space import key
from gridtune.optimize.storages.damage import DamagedError, NoSuchStudyError
from gridtune.optimize.storages.rdb import reason
from gridtune.optimize.storages.storage import Opened, begun_here, open_for_reading, shown
from gridtune.optimize.study.contents import (
    COPY,
    IDENTITY,
    SETTINGS,
    Contents,
    contents_of,
    entry_check,
    settings_fault,
    trials_of,
)
from gridtune.optimize.study.salvage import choose, salvaged
from gridtune.optimize.study.serialization import entry_as_json
from gridtune.optimize.study.stored import CHECK, signed
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError

if TYPE_CHECKING:
    from optuna import Study
    from optuna.distributions import BaseDistribution
    from optuna.storages import BaseStorage
    from optuna.trial import FrozenTrial


def default_name(scenario: Scenario) -> str:
    """The name of a study unless another is given: that of the scenario."""
    path = Path(scenario.name)
    return path.stem if path.suffix == ".toml" else scenario.name


def stored_settings(storage: BaseStorage, name: str) -> dict[str, Any] | None:
    """What the study of that name in a storage is about; None if there is none, or nothing in it yet.

    Raises:
        ScenarioError: the study of that name was not made by a search of ours, or is damaged.
    """
    import optuna

    if name not in optuna.get_all_study_names(storage):
        return None
    study = optuna.load_study(study_name=name, storage=storage)
    settings = study.user_attrs.get(SETTINGS)
    if settings is not None:
        problem = settings_fault(settings, name)
        if problem:
            raise ScenarioError(f"{name}: {problem}")
        assert isinstance(settings, dict)
        return settings
    if _unfinished(study, storage):
        return None
    raise ScenarioError(f"{name}: this study was not made by `gridtune search`; choose another --study")


def create(opened: Opened, name: str, settings: Settings, budget: int) -> Study:
    """A new study in a storage, in the place of one of that name whose making was cut short."""
    import optuna

    if name in optuna.get_all_study_names(opened.storage):
        optuna.delete_study(study_name=name, storage=opened.storage)
    objectives = settings.objectives
    return opened.add_study(
        name,
        [objective.direction for objective in objectives],
        [objective.name for objective in objectives],
        _about({**settings.as_json(), IDENTITY: uuid4().hex}, name, budget),
    )


def keep_settings(study: Study, stored: Mapping[str, Any], budget: int) -> None:
    """Write what a study is about."""
    for name, value in _about(stored, study.study_name, budget).items():
        study.set_user_attr(name, value)


def _about(stored: Mapping[str, Any], name: str, budget: int) -> dict[str, Any]:
    """The attributes that say what a study is about: twice, as without them nothing else means anything."""
    bare = {key: part for key, part in stored.items() if key != CHECK} | {"budget": budget}
    if IDENTITY not in bare:
        return {SETTINGS: bare}
    bare = signed(bare[IDENTITY], "settings", bare | {"study": name})
    return {COPY: bare, SETTINGS: bare}


def _unfinished(study: Study, storage: BaseStorage) -> bool:
    """Whether a search was stopped while it made a study; one that somebody else has made is never taken."""
    attributes, name = study.user_attrs, study.study_name
    begun = begun_here(storage, name)
    if attributes.keys() == {COPY}:
        begun = not settings_fault(attributes[COPY], name)
    return begun and attributes.keys() <= {COPY} and not study.get_trials(deepcopy=False)


def trial_of(
    entry: Evaluation | Failed,
    settings: Settings,
    distributions: Mapping[str, BaseDistribution],
    identity: str = "",
) -> FrozenTrial:
    """A finished trial for a study.

    Args:
        entry: what became of a point.
        settings: of the search.
        distributions: of all parameters.
        identity: of the study; the trial gets a checksum unless it is empty.
    """
    from optuna.trial import TrialState, create_trial

    known = {path: distributions[path] for path in entry.values}
    # As they come back from a storage.
    params = {
        path: distribution.to_external_repr(distribution.to_internal_repr(entry.values[path]))
        for path, distribution in known.items()
    }
    attributes = entry_as_json(entry)
    if isinstance(entry, Evaluation):
        attributes |= {"replications": settings.replications}
    if identity:
        attributes |= {CHECK: [entry.number, entry_check(identity, entry.number, params, attributes)]}
    if isinstance(entry, Failed):
        return create_trial(state=TrialState.FAIL, params=params, distributions=known, user_attrs=attributes)
    return create_trial(
        state=TrialState.COMPLETE,
        values=[entry.objectives[objective.name].mean for objective in settings.objectives],
        params=params,
        distributions=known,
        user_attrs=attributes,
        constraints=dict(excesses(settings.constraints, entry.cases)),
    )


def contents(study: Study) -> Contents:
    """What a study holds.

    Raises:
        ScenarioError: its settings are not whole.
    """
    attributes = study.user_attrs
    stored = attributes.get(SETTINGS)
    problem = settings_fault(stored, study.study_name)
    if problem:
        raise ScenarioError(problem)
    assert isinstance(stored, dict)
    found = contents_of(stored, attributes, trials_of(study))
    directions = [direction.name.lower() for direction in study.directions]
    if directions != [direction for _, direction, *_ in stored["objectives"]]:
        found.faults.append("the directions of its objectives are others")
    return found


def archive_of(
    name: str, settings: Mapping[str, Any], entries: Sequence[Evaluation | Failed], budget: int
) -> Archive:
    """All of a search as plain data; `settings` as stored."""
    evaluations = tuple(entry for entry in entries if isinstance(entry, Evaluation))
    today = settings.get("today")
    mark = None if today is None else key(today["point"])
    return Archive(
        study=name,
        scenario=settings["scenario"],
        objectives=tuple(Objective(*objective) for objective in settings["objectives"]),
        evaluations=evaluations,
        failed=tuple(entry for entry in entries if isinstance(entry, Failed)),
        sampler=settings["sampler"],
        seed=settings["seed"],
        replications=settings["replications"],
        budget=budget,
        max_replications=settings.get("max_replications"),
        cases=tuple(case["name"] for case in settings.get("cases", ())),
        robust=settings.get("robust", MEAN),
        constraints=stored_constraints(settings),
        today=next((e.number for e in evaluations if key(e.values) == mark), None),
        present={} if today is None else today["values"],
    )


@dataclass(frozen=True)
class StoredStudy:
    """What a search has left in a storage.

    Attributes:
        settings: what was searched, and how.
        archive: every evaluation.
        notes: what a user should know, a line each.
    """

    settings: Settings
    archive: Archive
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"StoredStudy({self.archive.study!r}, {len(self.archive.evaluations)} evaluations)"


def load_archive(study: str | Path, name: str | None = None) -> Archive:
    """The evaluations that a search has left in a storage; see `load`."""
    return load(study, name).archive


def load(study: str | Path, name: str | None = None, *, salvage: bool = False) -> StoredStudy:
    """What a search has left in a storage.

    Args:
        study: directory of a search, journal file, or storage URL.
        name: of the study; needed only where the storage holds several.
        salvage: whether to take what is whole of a damaged study.

    Raises:
        ScenarioError: no such storage or study, or several to choose from.
        DamagedError: not all of it is whole.
    """
    found = salvaged(study, name).contents if salvage else _whole(study, name)
    stored = found.settings
    notes = [f"note: {shown(study)}: passed over: {problem}" for problem in found.faults]
    if found.identity and not found.closed and not salvage:
        of = f"of {stored['budget']} " if stored["budget"] < limits.BUDGET else ""
        notes.append(
            f"note: the search has not ended: {len(found.entries)} {of}evaluations are "
            "kept; it is under way, or was killed and goes on with --resume"
        )
    entries = [found.entries[number] for number in sorted(found.entries)]
    try:
        settings = Settings.of_json(stored)
        archive = archive_of(found.name, stored, entries, stored["budget"])
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise DamagedError(shown(study), [f"its settings are garbled: {error}"]) from error
    return StoredStudy(settings, archive, tuple(notes))


def _whole(where: str | Path, name: str | None) -> Contents:
    import optuna

    storage = open_for_reading(where)
    try:
        summaries = optuna.get_all_study_summaries(storage, include_best_trial=False)
        known = [summary.study_name for summary in summaries if SETTINGS in summary.user_attrs]
        chosen = choose(where, name, known)
        found = contents(optuna.load_study(study_name=chosen, storage=storage))
    except NoSuchStudyError:
        raise
    except ScenarioError as error:
        raise DamagedError(shown(where), error.faults) from error
    except Exception as error:  # Optuna takes what is stored on trust
        raise DamagedError(shown(where), [reason(error)]) from error
    finally:
        storage.remove_session()
    if found.faults:
        raise DamagedError(shown(where), found.faults)
    found.name = chosen
    return found


def keys_of(entries: Sequence[Evaluation | Failed]) -> dict[str, Evaluation | Failed]:
    """Entries by the key of their point; of several the first."""
    found: dict[str, Evaluation | Failed] = {}
    for entry in entries:
        found.setdefault(key(entry.values), entry)
    return found
