"""Studies as they are found in a storage: nothing is written here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import optuna
from optuna import Study
from optuna.storages import BaseStorage, InMemoryStorage, JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial
from sqlalchemy import URL

from gridtune.optimize.studies.databases import is_server, one_line, place_of, reading, shown
from gridtune.optimize.studies.places import json_of, kind_of, named, study_place, table_beside
from gridtune.optimize.studies.tables import DatabaseTable, FileTable, Run, runs_of
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.regular_files import open_regular

SETTINGS = "gridtune"  # the study's attribute that holds the settings of the search
NUMBER, FAILURE = "number", "failure"  # attributes of trials


@dataclass(frozen=True)
class StoredStudy:
    """What a search has left."""

    name: str
    settings: Mapping[str, Any]
    runs: tuple[Run, ...]  # every run that is known, each once, in the order in which they ended
    trials: dict[int, FrozenTrial]  # one for each configuration, by its number in the search
    attributes: dict[str, Any]  # of the study, without the settings
    study: Study = field(compare=False)  # as Optuna has it
    notes: tuple[str, ...] = ()  # what was passed over, a line each


def read_study(where: str | Path, name: str | None = None, *, skip_broken: bool = False) -> StoredStudy:
    """What a search has left. Nothing is written.

    Args:
        where: folder of a search, journal, SQLite file, or URL; `#NAME` may follow.
        name: of the study; needed only where there are several.
        skip_broken: whether to pass over broken lines of the table, else they raise a `ScenarioError`.
    """
    if name is None:
        where, name = named(where)
    called = shown(where)
    with looking(place_of(study_place(where)), called) as storage:
        known = storage.names
        wanted = known[0] if name is None and len(known) == 1 else name
        found = storage.find(wanted, skip_broken=skip_broken) if wanted in known else None
        if found is None:
            several = name is None and known
            problem = f"name one of its studies, as {called}#NAME" if several else "no such study"
            raise ScenarioError(f"{called}: {problem}; it holds {', '.join(known) or 'none'}")
        return found


def stored_settings(where: str | Path | None, name: str, *, alone: bool = False) -> Mapping[str, Any] | None:
    """The settings of a study that could be resumed; None if there is none.

    A `ScenarioError` if it could not, or if there are others instead, where it is to be `alone`.
    """
    if where is None:
        return None
    with looking(place_of(where), shown(where)) as storage:
        found = storage.find(name)
        if alone and not found and (others := storage.names):
            raise ScenarioError(f"{shown(where)}: holds the study {', '.join(others)}, not {name}")
        return found.settings if found else None


@dataclass(frozen=True)
class Storage:
    """Where studies are kept; in memory by default."""

    called: str = "memory"  # as a user knows it
    optuna: BaseStorage = field(default_factory=InMemoryStorage)  # the studies
    table: FileTable | DatabaseTable | None = None  # their runs; None in memory, where they are forgotten

    @property
    def names(self) -> list[str]:
        """Of the studies that searches have made."""
        summaries = optuna.get_all_study_summaries(self.optuna, include_best_trial=False)
        return [one.study_name for one in summaries if isinstance(one.user_attrs.get(SETTINGS), dict)]

    def find(self, name: str, *, skip_broken: bool = False) -> StoredStudy | None:
        """The study of that name; None if there is none, or only the beginning of one.

        A `ScenarioError` if it is of an earlier version or another program, or a line is broken.
        """
        if name not in optuna.get_all_study_names(self.optuna):
            return None
        assert self.table is not None
        study = optuna.load_study(study_name=name, storage=self.optuna)
        # A search that goes on writes runs, then their trial, then what it has found: the other way round
        # nothing is read that lacks what it is made of.
        attributes = dict(study.user_attrs)
        stored = study.get_trials(deepcopy=False)
        runs, notes = runs_of(self.table.lines(name), name, skip_broken=skip_broken)
        if runs is None or not isinstance(attributes.get(SETTINGS), dict):
            if runs == () and not attributes and not stored:
                return None  # a search was killed while it made this
            raise ScenarioError(
                f"{self.called}: the study {name} has no table of runs, or no settings, of this version of "
                "`gridtune search`: missing, empty, or of another program; put them back, or choose another "
                "--study (optuna.load_study reads trials)"
            )
        names = study.metric_names or ()
        if names and len(names) != len(study.directions):
            damage = f"{len(study.directions)} directions of {len(names)} objectives"
            raise ScenarioError(f"{self.called}: the study {name} is damaged: {damage}")
        trials: dict[int, FrozenTrial] = {}
        for trial in stored:
            number = trial.user_attrs.get(NUMBER)  # those of others have none
            if type(number) is int and trial.state.is_finished():
                trials.setdefault(number, trial)
        return StoredStudy(name, attributes.pop(SETTINGS), runs, trials, attributes, study, notes)


@contextmanager
def looking(place: URL | Path, called: str) -> Iterator[Storage]:
    """A storage to read from, empty if there is nothing yet. A `ScenarioError` if it cannot be read."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with one_line(called, "reached" if is_server(place) else "read"):
        if isinstance(place, URL):
            with reading(place) as database:
                table = DatabaseTable(database.engine, called) if database else None
                yield Storage(called, database or InMemoryStorage(), table)
        elif isinstance(place, Path) and kind_of(place) == "journal":
            _check_lines(place)
            journal = JournalStorage(JournalFileBackend(str(place)))  # writes nothing to a file that exists
            yield Storage(called, journal, FileTable(table_beside(place)))
        else:
            yield Storage()


def _check_lines(journal: Path) -> None:
    """Refuse a broken line by its number: Optuna passes over the last one, and writes on behind it."""
    with open_regular(journal) as lines:
        for number, line in enumerate(lines, start=1):
            record = json_of(line)
            if line.endswith(b"\n") and not (isinstance(record, dict) and "op_code" in record):
                raise ScenarioError(f"{journal}: line {number} is broken; delete it")
