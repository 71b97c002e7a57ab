"""The study of a search: one Optuna study that holds every evaluation, whatever the sampler.

A trial has the values of active parameters, the means of the objectives, and as user attributes `objectives`
(mean, standard error and values per replication), `metrics` (means of all others), `replications`, in a
search with several cases or constraints `cases` (the same by case, and of what is constrained), and for a
failed one `failure`. What it breaks constraints by is where Optuna looks for that. The study has as user
attributes `gridtune` (what was searched, and how) and what `optimize.further` keeps there: further
replications of some points, as finished trials do not change. Earlier studies have what fresh seeds gave as
one attribute, `validated`, by trial number.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optimize.archive import Archive, Constraint, Evaluation, Failed, Objective
from optimize.cases import MEAN, Case, Robust
from optimize.constraints import excesses
from optimize.further import with_further
from optimize.space import Space, key
from optimize.stored import entry_as_json, entry_of, estimates_of
from scenarios.errors import ScenarioError
from scenarios.scenario import Scenario

if TYPE_CHECKING:
    from optuna import Study
    from optuna.distributions import BaseDistribution
    from optuna.storages import BaseStorage
    from optuna.trial import FrozenTrial

SETTINGS = "gridtune"
VALIDATED = "validated"
IDLE_KEYS = {"title", "source", "description", "search"}  # of a document: do not change what a run gives


@dataclass(frozen=True)
class Settings:
    """What a study is about; equal in all parts of a search that was interrupted.

    Attributes:
        scenario: what is searched.
        space: what is varied.
        objectives: what is traded off.
        sampler: name of it.
        batch: points that it proposes at once.
        seed: of workloads and sampler.
        replications: per evaluation, at first.
        cases: in which every point is evaluated; empty for the scenario and the seed alone.
        robust: how an objective sums up the cases.
        constraints: what a point must keep, in every case.
        max_replications: per evaluation, at most; as many as `replications` if left out.
    """

    scenario: Scenario
    space: Space
    objectives: tuple[Objective, ...]
    sampler: str
    batch: int
    seed: int
    replications: int
    cases: tuple[Case, ...] = ()
    robust: Robust = Robust(MEAN, None)
    constraints: tuple[Constraint, ...] = ()
    max_replications: int | None = None

    @property
    def most(self) -> int:
        """Replications of an evaluation, at most."""
        return self.max_replications or self.replications

    @property
    def adaptive(self) -> bool:
        """Whether some points may have more replications than others."""
        return self.most > self.replications

    @property
    def run_in(self) -> tuple[Case, ...]:
        """The cases, of which there is at least one."""
        return self.cases or (Case(self.scenario.name, self.scenario, self.seed),)

    @property
    def watched(self) -> tuple[str, ...]:
        """Metrics that decide what becomes of a point: the objectives, and what is constrained."""
        names = [objective.name for objective in self.objectives]
        return tuple(dict.fromkeys([*names, *(one.metric for one in self.constraints)]))

    def as_json(self) -> dict[str, Any]:
        """For storing and comparing."""
        settings = {
            "scenario": self.scenario.name,
            "document": self.scenario.document,
            "base": str(self.scenario.base),
            "space": self.space.as_json(),
            "objectives": [[o.name, o.direction, o.unit] for o in self.objectives],
            "sampler": self.sampler,
            "batch": self.batch,
            "seed": self.seed,
            "replications": self.replications,
            "max_replications": self.most,
            "cases": [case.as_json() for case in self.cases],
            "robust": self.robust.text,
            "constraints": [[c.metric, c.relation, c.bound, c.unit] for c in self.constraints],
        }
        plain: dict[str, Any] = json.loads(json.dumps(settings, default=str))
        return plain

    @classmethod
    def of_json(cls, stored: Mapping[str, Any]) -> Settings:
        """What `as_json` has described; whether its scenarios are still valid shows when they are used."""
        base = stored["base"]
        cases = (
            Case(
                case["name"],
                Scenario(case["name"], case["document"], Path(case.get("base", base))),
                case["seed"],
            )
            for case in stored.get("cases", ())
        )
        return cls(
            Scenario(stored["scenario"], stored["document"], Path(base)),
            Space.of_json(stored["space"]),
            tuple(Objective(*objective) for objective in stored["objectives"]),
            stored["sampler"],
            stored["batch"],
            stored["seed"],
            stored["replications"],
            tuple(cases),
            Robust.of(stored.get("robust", MEAN)),
            _constraints(stored),
            stored.get("max_replications"),
        )

    def differences(self, stored: Mapping[str, Any]) -> list[str]:
        """In what a stored study is about something else."""
        mine = self.as_json()
        changed = [] if _working(mine["document"]) == _working(stored["document"]) else ["the scenario"]
        changed += [f"the {name}" for name in ("space", "objectives") if mine[name] != stored[name]]
        changed += [] if _working_cases(mine) == _working_cases(stored) else ["the cases"]
        if set(map(str, self.constraints)) != set(map(str, _constraints(stored))):
            changed.append("the constraints")
        found = [f"{' and '.join(changed)} changed"] if changed else []
        robust = stored.get("robust", MEAN)
        found += [f"robust was {robust}, not {mine['robust']}"] if robust != mine["robust"] else []
        names = ("sampler", "batch", "seed", "replications", "max_replications")
        stored = {"max_replications": stored["replications"], **stored}
        return found + [
            f"{name} was {stored[name]}, not {mine[name]}" for name in names if mine[name] != stored[name]
        ]


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
        constraints=_constraints(settings),
    )


@dataclass(frozen=True)
class Kept:
    """What a search has left in a storage.

    Attributes:
        settings: what was searched, and how.
        archive: every evaluation.
    """

    settings: Settings
    archive: Archive


def load_archive(study: str | Path, name: str | None = None) -> Archive:
    """The evaluations that a search has left in a storage; see `load`."""
    return load(study, name).archive


def load(study: str | Path, name: str | None = None) -> Kept:
    """What a search has left in a storage.

    Args:
        study: directory of a search, journal file, or storage URL.
        name: of the study; needed only where the storage holds several.

    Raises:
        ScenarioError: no such storage or study, or several to choose from.
    """
    import optuna

    from optimize.storage import open_for_reading, shown

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
        return Kept(Settings.of_json(stored), archive_of(name, stored, entries, stored["budget"]))
    finally:
        storage.remove_session()


def keys_of(entries: Sequence[Evaluation | Failed]) -> dict[str, Evaluation | Failed]:
    """Entries by the key of their point; of several the first."""
    found: dict[str, Evaluation | Failed] = {}
    for entry in entries:
        found.setdefault(key(entry.values), entry)
    return found


def _constraints(settings: Mapping[str, Any]) -> tuple[Constraint, ...]:
    return tuple(Constraint(*parts) for parts in settings.get("constraints", ()))


def _working_cases(settings: Mapping[str, Any]) -> list[Any]:
    """What is run in each case; studies from before there were cases have none."""
    return [[case["name"], _working(case["document"]), case["seed"]] for case in settings.get("cases", ())]


def _working(document: Mapping[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in document.items() if name not in IDLE_KEYS}
