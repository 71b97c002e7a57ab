"""What is whole of a damaged study, taken piece by piece from its storage without replaying it as a whole."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gridtune.optimize.records.evaluations import Value
from gridtune.optimize.storages.damage import DamagedError, NoSuchStudyError
from gridtune.optimize.storages.journal import Lines
from gridtune.optimize.storages.rdb import file_of
from gridtune.optimize.storages.sqlite_pages import rows
from gridtune.optimize.storages.storage import is_url, journal_in, open_for_reading, shown
from gridtune.optimize.study.contents import (
    CLOSED,
    COPY,
    IDENTITY,
    SETTINGS,
    Contents,
    KeptTrial,
    contents_of,
    settings_fault,
    trials_of,
    whole,
)
from gridtune.optimize.study.extra_runs import FURTHER, RUNS
from gridtune.optimize.study.stored import CHECK, intact
from gridtune.scenarios.errors import ScenarioError

SET_STUDY_ATTRIBUTE, CREATE_TRIAL = 2, 4  # of Optuna's operations in a journal


@dataclass
class Pieces:
    """What a storage still holds, of all its studies.

    Attributes:
        attributes: of studies: the number of the study there, name, value; of equal names the last counts.
        trials: with the number of their study there; -1 if it is not known.
        faults: what is not whole, as far as the storage can tell.
    """

    attributes: list[tuple[int, str, Any]] = field(default_factory=list)
    trials: list[tuple[int, KeptTrial]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Salvage:
    """What is whole of a study.

    Attributes:
        contents: all that can be shown.
        attributes: of the study.
        trials: as its storage has them.
    """

    contents: Contents
    attributes: dict[str, Any]
    trials: list[KeptTrial]


def salvaged(where: str | Path, name: str | None = None) -> Salvage:
    """What is whole of a study.

    Args:
        where: directory of a search, journal file, or storage URL.
        name: of the study; needed only where the storage holds several.

    Raises:
        ScenarioError: no such storage or study, several to choose from, or its settings are lost.
    """
    pieces = _pieces(where)
    found: dict[str, tuple[int, dict[str, Any]]] = {}
    for owner, attribute, value in pieces.attributes:
        if attribute in (SETTINGS, COPY) and not settings_fault(value):
            # From before there were checksums: the name of the study stands elsewhere.
            study = str(value.get("study", value["scenario"]))
            if study not in found or found[study][1]["budget"] <= value["budget"]:
                found[study] = owner, value
    if not found and any(attribute in (SETTINGS, COPY) for _, attribute, _ in pieces.attributes):
        raise ScenarioError(f"{shown(where)}: the settings of its studies are lost; nothing can be salvaged")
    chosen = choose(where, name, list(found))
    owner, settings = found[chosen]
    attributes, trials = _of_study(pieces, owner, str(settings.get(IDENTITY, "")))
    made = contents_of(settings, attributes, trials)
    made.name = chosen
    made.faults = list(dict.fromkeys([*pieces.faults, *made.faults]))
    return Salvage(made, attributes, trials)


def choose(where: str | Path, name: str | None, known: Sequence[str]) -> str:
    """The study that is meant.

    Raises:
        NoSuchStudyError: there is none of that name, or no name and several.
    """
    if name is None and len(known) == 1:
        return known[0]
    if name is None or name not in known:
        holds = ", ".join(known) or "none"
        problem = "name one of its studies with --study" if name is None and known else "no such study"
        raise NoSuchStudyError(f"{shown(where)}: {problem}; it holds {holds}")
    return name


def _pieces(where: str | Path) -> Pieces:
    if not is_url(where):
        path = journal_in(where)
        if not path.is_file():
            raise ScenarioError(f"{where}: no such study")
        return _of_journal(path)
    file = file_of(str(where))
    if file is None:
        return _of_server(where)
    if not file.is_file():
        raise ScenarioError(f"{file}: no such database")
    return _of_sqlite(where, file)


def _of_study(pieces: Pieces, owner: int, identity: str) -> tuple[dict[str, Any], list[KeptTrial]]:
    """The attributes and trials of one study; checksums tell them where there are any."""
    if not identity:
        attributes = {name: value for study, name, value in pieces.attributes if study == owner}
        if pieces.faults:  # their numbers may have moved
            attributes = {name: value for name, value in attributes.items() if name == SETTINGS}
        attributes.pop(CLOSED, None)
        return attributes, [trial for study, trial in pieces.trials if study == owner]
    known: dict[str, Any] = {}
    for _, name, value in pieces.attributes:
        if name == CLOSED and intact(identity, CLOSED, value):
            known[name] = value
        elif name.startswith(FURTHER) and isinstance(value, list):
            parts = [part for part in value if intact(identity, "part", part)]
            if len(parts) >= len(known.get(name, ())):
                known[name] = parts
    whole_ones = {trial.known[CHECK][0]: trial for _, trial in pieces.trials if whole(identity, trial)}
    return known, list(whole_ones.values())


def _of_journal(path: Path) -> Pieces:
    made = Pieces()
    lines = Lines(path, salvage=True)
    numbers: dict[int, int] = {}
    for log in lines.read():
        with suppress(Exception):  # of other programs, or from before there were checksums
            if log["op_code"] == SET_STUDY_ATTRIBUTE:
                made.attributes += [(int(log["study_id"]), *item) for item in log["user_attr"].items()]
            elif log["op_code"] == CREATE_TRIAL:
                study = int(log["study_id"])
                number = numbers[study] = numbers.get(study, -1) + 1
                made.trials.append((study, _trial_of_log(log, number)))
    made.faults = lines.faults
    if lines.unfinished:
        made.faults.append(f"line {lines.line + 1} is unfinished")
    return made


def _trial_of_log(log: dict[str, Any], number: int) -> KeptTrial:
    values = {
        name: _external(text, log["params"][name]) for name, text in log.get("distributions", {}).items()
    }
    return KeptTrial(number, values, dict(log.get("user_attrs", {})), log.get("values") or None)


def _of_sqlite(where: str | Path, file: Path) -> Pieces:
    made = Pieces()
    params: dict[int, dict[str, Value]] = {}
    attributes: dict[int, dict[str, Any]] = {}
    places: dict[int, tuple[int, int]] = {}
    for row in rows(file):
        match row:
            case [int(), int(number), int(study), str(), *_] if len(row) == 6:
                places[int(str(row[0]))] = study, number
            case [int(), int(owner), str(name), str(text)]:
                with suppress(ValueError, RecursionError):
                    value = json.loads(text)
                    if name in (SETTINGS, COPY, CLOSED) or name.startswith(FURTHER):
                        made.attributes.append((owner, name, value))
                    elif ":" not in name and name != RUNS:  # Optuna's own of studies and trials have colons
                        attributes.setdefault(owner, {})[name] = value
            case [int(), int(owner), str(name), int() | float() as value, str(text)]:
                with suppress(Exception):
                    params.setdefault(owner, {})[name] = _external(text, float(value))
    for owner, known in sorted(attributes.items()):
        study, number = places.get(owner, (-1, owner))
        made.trials.append((study, KeptTrial(number, params.get(owner, {}), known)))
    try:
        open_for_reading(where).remove_session()
    except DamagedError as error:
        made.faults = error.found
    except ScenarioError as error:
        made.faults = error.faults
    return made


def _of_server(where: str | Path) -> Pieces:
    import optuna

    made = Pieces()
    storage = open_for_reading(where)
    try:
        for at, name in enumerate(optuna.get_all_study_names(storage)):
            try:
                study = optuna.load_study(study_name=name, storage=storage)
                made.attributes += [(at, *item) for item in study.user_attrs.items()]
                made.trials += [(at, trial) for trial in trials_of(study)]
            except Exception as error:  # Optuna takes what is stored on trust
                made.faults.append(f"the study {name} cannot be read: {error}")
    finally:
        storage.remove_session()
    return made


def _external(distribution: str, value: float) -> Value:
    """A value as it was set, from what Optuna keeps of it."""
    from optuna.distributions import json_to_distribution

    made: Value = json_to_distribution(distribution).to_external_repr(value)
    return made
