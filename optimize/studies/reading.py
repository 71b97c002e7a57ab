"""Studies as they are found: read without being changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import optuna
from optuna import Study
from optuna.storages import BaseStorage
from optuna.trial import FrozenTrial
from sqlalchemy import URL

from gridtune.optimize.studies import databases, journals
from gridtune.optimize.studies.databases import reason, shown
from gridtune.optimize.studies.places import is_url, journal_in, kind_of, study_place, table_beside
from gridtune.optimize.studies.runs import Run, runs_of
from gridtune.optimize.studies.tables import DatabaseTable, FileTable, RunTable
from gridtune.scenarios.errors import ScenarioError

SETTINGS = "gridtune"  # the study's attribute that holds the settings of the search
NUMBER, FAILURE = "number", "failure"  # attributes of trials


@dataclass(frozen=True)
class StoredStudy:
    """What a search has left.

    Attributes:
        name: of the study.
        settings: of the search.
        runs: every run that is known, each once, in the order in which they ended.
        trials: one for each configuration, by its number in the search.
        attributes: of the study, without the settings.
        notes: what was passed over, a line each.
    """

    name: str
    settings: Mapping[str, Any]
    runs: tuple[Run, ...]
    trials: Mapping[int, FrozenTrial]
    attributes: Mapping[str, Any]
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"StoredStudy({self.name!r}, {len(self.trials)} configurations, {len(self.runs)} runs)"


def read_study(where: str | Path, name: str | None = None, *, skip_broken: bool = False) -> StoredStudy:
    """What a search has left; nothing is changed, and no file is made.

    Args:
        where: folder of a search, journal, table of runs, SQLite file, or URL.
        name: of the study; needed only where there are several.
        skip_broken: whether to pass over broken lines.

    Raises:
        ScenarioError: there is no such study, there are several to choose from, or a line is broken.
    """
    place = place_of(study_place(where))
    with looking(place, shown(where), skip_broken=skip_broken) as (storage, table, notes):
        if storage is None:
            missing = isinstance(place, URL) and databases.file_of(place)
            kind = "database" if missing and not missing.exists() else "study; it holds none"
            raise ScenarioError(f"{shown(where)}: no such {kind}")
        summaries = optuna.get_all_study_summaries(storage, include_best_trial=False)
        known = [one.study_name for one in summaries if isinstance(one.user_attrs.get(SETTINGS), dict)]
        chosen = _choice(shown(where), name, known)
        found = standing(place, chosen, storage, table, skip_broken=skip_broken)
        assert found.study is not None
        attributes = dict(found.study.user_attrs)
        settings = attributes.pop(SETTINGS)
        notes = (*notes, *found.notes)
        return StoredStudy(chosen, settings, found.runs, trials_of(found.study), attributes, notes)


def stored_settings(where: str | Path | None, name: str) -> Mapping[str, Any] | None:
    """The settings of a study that could be resumed; None if there is none. Nothing is changed.

    Raises:
        ScenarioError: it cannot be reached or resumed, or was made by something else.
    """
    if where is None:
        return None
    place = place_of(where)
    with looking(place, shown(where)) as (storage, table, _):
        found = standing(place, name, storage, table)
        return None if found.study is None else found.study.user_attrs[SETTINGS]


@dataclass(frozen=True)
class Standing:
    """How it stands with a study.

    Attributes:
        study: as Optuna has it; None if there is none, or only the beginning of one.
        runs: that are known.
        notes: lines passed over.
    """

    study: Study | None
    runs: tuple[Run, ...] = ()
    notes: tuple[str, ...] = ()


def standing(
    place: URL | Path, name: str, storage: BaseStorage | None, table: RunTable, *, skip_broken: bool = False
) -> Standing:
    """How it stands with a study of that name.

    Raises:
        ScenarioError: it is of an earlier version or another program, or a line is broken.
    """
    if storage is None or name not in optuna.get_all_study_names(storage):
        return Standing(None)
    runs, notes = runs_of(table.lines(name), name, skip_broken=skip_broken)
    study = optuna.load_study(study_name=name, storage=storage)
    if not isinstance(study.user_attrs.get(SETTINGS), dict):
        if runs == () and not study.user_attrs and not study.get_trials(deepcopy=False):
            return Standing(None)  # a search was killed while it made this
        raise ScenarioError(
            f"{_shown(place)}: the study {name} was not made by `gridtune search`; choose another --study"
        )
    if runs is None:
        raise ScenarioError(
            f"{_shown(place)}: the study {name} has no table of runs: an earlier gridtune made it; "
            f"optuna.load_study(study_name={name!r}, storage={_for_optuna(place)}) reads its trials"
        )
    return Standing(study, runs, notes)


def trials_of(study: Study) -> dict[int, FrozenTrial]:
    """The trials of a search, by the number of the configuration; those of others have none."""
    found: dict[int, FrozenTrial] = {}
    for trial in study.get_trials(deepcopy=False):
        number = trial.user_attrs.get(NUMBER)
        if type(number) is int and trial.state.is_finished():
            found.setdefault(number, trial)
    return found


def place_of(where: str | Path) -> URL | Path:
    """The database or the journal that a place is, be it there or not.

    Raises:
        ScenarioError: it is something else, which is named, or cannot be looked at.
    """
    if is_url(where):
        return databases.url_of(str(where))
    path = journal_in(where)
    with one_line(str(path), "read"):
        kind = kind_of(path)
    if kind == "sqlite":
        return databases.url_of(path)
    if kind not in ("nothing", "empty", "journal"):
        raise ScenarioError(f"{path}: {kind}, not a journal of a search; it is left as it is")
    return path


def is_server(place: URL | Path) -> bool:
    """Whether a place is a database on a server."""
    return isinstance(place, URL) and databases.file_of(place) is None


@contextmanager
def looking(
    place: URL | Path, called: str, *, skip_broken: bool = False
) -> Iterator[tuple[BaseStorage | None, RunTable, tuple[str, ...]]]:
    """A storage to read from (None if there is nothing yet), its table of runs, and what was passed over.

    Raises:
        ScenarioError: it cannot be read.
    """
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with one_line(called, "reached" if is_server(place) else "read"):
        if isinstance(place, URL):
            storage = databases.open_for_reading(place)
            if storage is None:
                yield None, RunTable(), ()
                return
            try:
                yield storage, DatabaseTable(storage.engine, called), ()
            finally:
                storage.remove_session()
                storage.engine.dispose()
        elif kind_of(place) == "journal":
            journal, notes = journals.open_for_reading(place, skip_broken=skip_broken)
            yield journal, FileTable(table_beside(place)), notes
        else:
            yield None, FileTable(table_beside(place)), ()


@contextmanager
def one_line(called: str, done: str, remedy: str = "") -> Iterator[None]:
    """Turn what a file system or database has to say, each in its own way, into one line.

    Args:
        called: the place.
        done: what cannot be done with it.
        remedy: what to do then.
    """
    try:
        yield
    except ScenarioError:
        raise
    except ImportError as error:
        raise ScenarioError(f"{called}: cannot be used: {reason(error)}; install its driver") from error
    except Exception as error:  # each driver has its own, and Optuna takes what is stored on trust
        raise ScenarioError(f"{called}: cannot be {done}: {reason(error)}{remedy}") from error


def _choice(called: str, name: str | None, known: list[str]) -> str:
    if name is None and len(known) == 1:
        return known[0]
    if name is None or name not in known:
        problem = "name one of its studies with --study" if name is None and known else "no such study"
        raise ScenarioError(f"{called}: {problem}; it holds {', '.join(known) or 'none'}")
    return name


def _shown(place: URL | Path) -> str:
    if isinstance(place, Path):
        return str(place)
    return str(databases.file_of(place) or databases.shown(place))


def _for_optuna(place: URL | Path) -> str:
    """A storage as it is written in Python for Optuna."""
    if isinstance(place, Path):
        return f"JournalStorage(JournalFileBackend({str(place)!r}))"
    return repr(str(place))
