"""Studies open for writing, by one process at a time."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock
from optuna.trial import TrialState, create_trial
from sqlalchemy import URL

from gridtune.optimize.records.evaluations import Evaluation, Failed
from gridtune.optimize.search_space.constraints import excesses
from gridtune.optimize.search_space.settings import Settings
from gridtune.optimize.studies import databases
from gridtune.optimize.studies.databases import is_server, one_line, place_of, shown
from gridtune.optimize.studies.places import table_beside
from gridtune.optimize.studies.stored_study import FAILURE, NUMBER, SETTINGS, Storage, StoredStudy, looking
from gridtune.optimize.studies.tables import DatabaseTable, FileTable, Run, cut_unfinished, line_of, mark_of
from gridtune.plain_text import hidden
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.results.locks import JOURNAL

LONGEST_NAME = 512  # characters, as Optuna's databases have it
LONGEST_FAILURE = 300  # characters of a reason in a trial
RESUME = "; what was written stays, --resume continues"
LOCK = ".lock"  # that Optuna sets beside a journal while it writes
PATIENCE = 2.0  # s that another program may take to write to a journal


class OpenStudy(AbstractContextManager["OpenStudy"]):
    """A study that this process alone writes; use it as a context manager.

    Runs are in the table when `append` returns. A thread writes what goes to Optuna, as a database takes some
    70 statements for a trial; `close` waits for it. Every method raises a `ScenarioError` once the storage
    has stopped taking what is written. See `StoredStudy` on its parts; `rows` are runs of before.
    """

    def __init__(self, storage: Storage, found: StoredStudy, settings: Settings, stack: ExitStack) -> None:
        self.name, self.study = found.name, found.study
        self.rows, self.trials, self.attributes = found.runs, found.trials, found.attributes
        self._objectives, self._constraints = found.study.metric_names or [], settings.constraints
        self._distributions = {one.path: one.distribution() for one in settings.space}
        self._called, self._table, self._stack = storage.called, storage.table, stack
        self._thread = ThreadPoolExecutor(1, "study")
        self._last: Future[None] = Future()
        self._last.set_result(None)  # nothing has failed

    def append(self, run: Run) -> None:
        """Add a run to the table."""
        with one_line(self._called, "written", RESUME):
            self._check()
            if self._table is not None:
                self._table.append(self.name, line_of(self.name, run))

    def add_trial(self, entry: Evaluation | Failed, began: datetime, ended: datetime) -> None:
        """Let Optuna have a configuration, and from when to when it was run, unless it has it already."""
        if entry.number in self.trials:
            return
        attributes: dict[str, Any] = {NUMBER: entry.number}
        outcome: dict[str, Any] = {"state": TrialState.FAIL}
        if isinstance(entry, Failed):
            attributes[FAILURE] = " ".join(entry.reason.split())[:LONGEST_FAILURE]
        else:
            errors = {name: one.standard_error for name, one in entry.objectives.items()}
            attributes |= {"replications": entry.replications, "standard_errors": errors}
            values = [entry.objectives[name].mean for name in self._objectives]
            outcome = {"values": values, "constraints": dict(excesses(self._constraints, entry.cases))}
        distributions = {path: self._distributions[path] for path in entry.values}
        trial = create_trial(
            params={  # as they come back from a storage
                path: one.to_external_repr(one.to_internal_repr(entry.values[path]))
                for path, one in distributions.items()
            },
            distributions=distributions,
            user_attrs=attributes,
            **outcome,
        )
        # Optuna keeps times of the place, which is not said.
        trial.datetime_start = began.astimezone().replace(tzinfo=None)
        trial.datetime_complete = ended.astimezone().replace(tzinfo=None)
        self.trials[entry.number] = trial
        self._soon(self.study.add_trial, trial)

    def set_attribute(self, name: str, value: Any) -> None:
        """Keep something in JSON's terms about the study."""
        self.attributes[name] = value
        self._soon(self.study.set_user_attr, name, value)

    def close(self) -> None:
        """Wait until everything is written, and let others write."""
        with self._stack, one_line(self._called, "written", RESUME):
            self._thread.shutdown()
            self._check()

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        with nullcontext() if error is None else suppress(ScenarioError):  # the error says more
            self.close()

    def _soon(self, write: Callable[..., None], *arguments: Any) -> None:
        """Write in the thread; after a write that failed there are none."""
        before = self._last

        def after() -> None:
            before.result()
            write(*arguments)

        with one_line(self._called, "written", RESUME):
            self._check()
            self._last = self._thread.submit(after)

    def _check(self) -> None:
        if self._last.done():
            self._last.result()


def open_study(where: str | Path | None, name: str, settings: Settings, *, resume: bool = False) -> OpenStudy:
    """Begin a study, or go on with one, as the only search that does.

    Args:
        where: folder of a search, path of a journal, SQLite file, or URL; None keeps it in memory.
        name, resume: of the study, and whether to go on with one that exists.
        settings: of the search; whether they fit what is stored the caller has to see.

    Raises:
        ScenarioError: it cannot be written, another search writes it, it exists and is not to be resumed, or
            something else is there, which is left as it is.
    """
    _check_name(name)
    if fault := hidden(str(where or "")):
        raise ScenarioError(fault)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with ExitStack() as stack:
        storage, found = Storage(), None
        if where is not None:
            called, place = shown(where), place_of(where)
            with looking(place, called) as existing:
                _let_resume(called, existing.find(name), resume)
                if existing.table and not existing.table.exists and not is_server(place):
                    fault = "this version of `gridtune search` has not made it; name a new one"
                    raise ScenarioError(f"{called}: {fault}")
            with one_line(called, "written"):
                storage = _opened(place, called, name, stack)
                found = storage.find(name)
            _let_resume(called, found, resume)  # another search may have been faster
        with one_line(storage.called, "written"):
            if storage.table is not None:
                storage.table.append(name, mark_of(name, resumed=found is not None))
            found = found or _made(storage, name, settings)
            if found.settings != (asked := settings.as_json()):
                found.study.set_user_attr(SETTINGS, asked)
        return OpenStudy(storage, found, settings, stack.pop_all())


def _let_resume(called: str, found: StoredStudy | None, resume: bool) -> None:
    if found is not None and not resume:
        ways = "--resume continues it (in Python resume=True), --study names another"
        raise ScenarioError(f"{called}: the study {found.name} exists; {ways}")


def _check_name(name: str) -> None:
    """Let a study have a name that every storage keeps and every terminal shows."""
    if not name.strip():
        raise ScenarioError("the name of a study is empty; --study gives another")
    if len(name) > LONGEST_NAME:
        most = f"the name of a study has at most {LONGEST_NAME} characters"
        raise ScenarioError(f"{name[:40]}…: {most}; --study gives another")
    if fault := hidden(name):
        raise ScenarioError(f"--study: {fault}")


def _opened(place: URL | Path, called: str, name: str, stack: ExitStack) -> Storage:
    """A storage to write to, which is held until the stack ends."""
    if isinstance(place, URL):
        held = f"{called}: another search is writing the study {name}"
        stack.enter_context(databases.holding(place, name, held))
        database = databases.open_for_writing(place)
        storage = Storage(called, database, DatabaseTable(database.engine, called))
    else:
        place.parent.mkdir(parents=True, exist_ok=True)
        _check_within(place)
        held = f"{place}: another search is writing it"
        stack.enter_context(closing(databases.writer_of(place, "", held)))
        storage = Storage(called, _journal(place), FileTable(table_beside(place)))
    assert storage.table is not None
    stack.enter_context(closing(storage.table))
    stack.callback(storage.optuna.remove_session)
    return storage


def _check_within(journal: Path) -> None:
    """Let no link in a folder lead a search to write elsewhere; who names a link to a journal means that."""
    for path in ([journal] if journal.name == JOURNAL else []) + [table_beside(journal)]:
        if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(path.parent)):
            raise ScenarioError(f"{path}: a link that leads out of its folder; remove it, or name its target")


def _journal(path: Path) -> JournalStorage:
    """A journal without what a killed writer has left: an unfinished end, and a lock."""
    real = os.path.realpath(path)
    if os.path.exists(real):
        cut_unfinished(Path(real))
    end = time.monotonic() + PATIENCE
    while os.path.lexists(real + LOCK) and time.monotonic() < end:
        time.sleep(0.05)
    with suppress(FileNotFoundError):
        os.unlink(real + LOCK)
    return JournalStorage(JournalFileBackend(real, JournalFileOpenLock(real)))


def _made(storage: Storage, name: str, settings: Settings) -> StoredStudy:
    """A new study but for its settings, in the place of one whose making was cut short."""
    if name in optuna.get_all_study_names(storage.optuna):
        optuna.delete_study(study_name=name, storage=storage.optuna)
    directions = [one.direction for one in settings.objectives]
    study = optuna.create_study(storage=storage.optuna, study_name=name, directions=directions)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        study.set_metric_names([one.name for one in settings.objectives])
    return StoredStudy(name, {}, (), {}, {}, study)
