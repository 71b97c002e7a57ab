"""Studies: read as they are found, or open for writing, by one process at a time."""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import optuna
from optuna import Study
from optuna.storages import BaseStorage, InMemoryStorage, JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock
from optuna.trial import FrozenTrial, TrialState, create_trial
from sqlalchemy import URL

from gridtune.optimize.records.evaluations import Evaluation, Failed
from gridtune.optimize.search_space.constraints import excesses
from gridtune.optimize.search_space.settings import Settings
from gridtune.optimize.studies import databases
from gridtune.optimize.studies.databases import reason, shown
from gridtune.optimize.studies.places import (
    is_url,
    json_of,
    kind_of,
    located,
    named,
    study_place,
    table_beside,
)
from gridtune.optimize.studies.tables import (
    BEGUN,
    RESUMED,
    DatabaseTable,
    FileTable,
    Run,
    cut_unfinished,
    line_of,
    runs_of,
)
from gridtune.plain_text import hidden
from gridtune.scenarios.errors import ScenarioError

SETTINGS = "gridtune"  # the study's attribute that holds the settings of the search
NUMBER, FAILURE = "number", "failure"  # attributes of trials
LONGEST_NAME = 512  # characters, as Optuna's databases have it
LONGEST_FAILURE = 300  # characters of a reason in a trial
RESUME = "; what was written stays, --resume continues"
LOCK = ".lock"  # that Optuna sets beside a journal while it writes
PATIENCE = 2.0  # s that another program may take to write to a journal


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
    """What a search has left. Nothing is written; SQLite may undo what a killed writer left half done.

    Args:
        where: folder of a search, journal, SQLite file, or URL; `#NAME` may follow.
        name: of the study; needed only where there are several.
        skip_broken: whether to pass over broken lines of the table.

    Raises:
        ScenarioError: there is no such study, there are several to choose from, or a line is broken.
    """
    if name is None:
        where, name = named(where)
    called = shown(where)
    with looking(place_of(study_place(where)), called) as storage:
        known = [] if storage is None else storage.names
        wanted = known[0] if name is None and len(known) == 1 else name
        found = None
        if storage is not None and wanted in known:
            found = storage.find(wanted, skip_broken=skip_broken)
        if found is None:
            several = name is None and known
            problem = f"name one of its studies, as {called}#NAME" if several else "no such study"
            raise ScenarioError(f"{called}: {problem}; it holds {', '.join(known) or 'none'}")
        return found


def stored_settings(where: str | Path | None, name: str, *, alone: bool = False) -> Mapping[str, Any] | None:
    """The settings of a study that could be resumed; None if there is none. Nothing is changed.

    A `ScenarioError` if it cannot be reached or resumed, or was made by something else; where it is to be
    `alone`, also if there are others instead.
    """
    if where is None:
        return None
    with looking(place_of(where), shown(where)) as storage:
        found = None if storage is None else storage.find(name)
        if alone and storage is not None and found is None and (others := storage.names):
            raise ScenarioError(f"{shown(where)}: holds the study {', '.join(others)}, not {name}")
        return None if found is None else found.settings


@dataclass(frozen=True)
class Storage:
    """Where studies are kept."""

    called: str  # as a user knows it
    optuna: BaseStorage  # the studies
    table: FileTable | DatabaseTable | None  # their runs; None in memory, where they are forgotten

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
                f"{self.called}: the study {name} was not made by this version of `gridtune search`; "
                "choose another --study; optuna.load_study reads its trials"
            )
        names = study.metric_names or ()
        if names and len(names) != len(study.directions):
            raise ScenarioError(
                f"{self.called}: the study {name} is damaged: "
                f"{len(study.directions)} directions of {len(names)} objectives"
            )
        trials: dict[int, FrozenTrial] = {}
        for trial in stored:
            number = trial.user_attrs.get(NUMBER)  # those of others have none
            if type(number) is int and trial.state.is_finished():
                trials.setdefault(number, trial)
        settings = attributes.pop(SETTINGS)
        return StoredStudy(name, settings, runs, trials, attributes, study, notes)


def place_of(where: str | Path) -> URL | Path:
    """The database or the journal that a place is, be it there or not; something else is refused by name."""
    if is_url(where):
        return databases.url_of(str(where))
    path, kind = located(where)
    if kind == "sqlite":
        return databases.url_of(path)
    if kind not in ("nothing", "empty", "journal"):
        raise ScenarioError(f"{path}: {kind}, not a journal of a search; it is left as it is")
    return path


def is_server(place: URL | Path) -> bool:
    """Whether a place is a database on a server."""
    return isinstance(place, URL) and databases.file_of(place) is None


@contextmanager
def looking(place: URL | Path, called: str) -> Iterator[Storage | None]:
    """A storage to read from; None if there is nothing yet. A `ScenarioError` if it cannot be read."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with one_line(called, "reached" if is_server(place) else "read"):
        database = databases.open_for_reading(place) if isinstance(place, URL) else None
        if database is not None:
            try:
                yield Storage(called, database, DatabaseTable(database.engine, called))
            finally:
                database.remove_session()
                database.engine.dispose()
        elif isinstance(place, Path) and kind_of(place) == "journal":
            _check_lines(place)
            journal = JournalStorage(JournalFileBackend(str(place)))  # writes nothing to a file that exists
            yield Storage(called, journal, FileTable(table_beside(place)))
        else:
            yield None


def _check_lines(journal: Path) -> None:
    """Refuse a broken line by its number: Optuna passes over the last one, and writes on behind it."""
    for number, line in enumerate(journal.read_bytes().split(b"\n")[:-1], start=1):
        record = json_of(line)
        if not (isinstance(record, dict) and "op_code" in record):
            raise ScenarioError(f"{journal}: line {number} is broken; delete it")


@contextmanager
def one_line(called: str, done: str, remedy: str = "") -> Iterator[None]:
    """Turn what a file system or database says into one line: what cannot be done, and the remedy."""
    try:
        yield
    except ScenarioError:
        raise
    except ImportError as error:
        brings = "`pip install 'gridtune[postgresql]'` brings that of PostgreSQL"
        raise ScenarioError(
            f"{called}: cannot be used: {reason(error)}; install its driver; {brings}"
        ) from error
    except Exception as error:  # each driver has its own, and Optuna takes what is stored on trust
        raise ScenarioError(f"{called}: cannot be {done}: {reason(error)}{remedy}") from error


class OpenStudy:
    """A study that this process alone writes; use it as a context manager.

    Runs are in the table when `append` returns. A thread writes what goes to Optuna, as a database takes some
    70 statements for a trial; `close` waits for it. Every method raises a `ScenarioError` once the storage
    has stopped taking what is written.

    Attributes:
        rows: runs that were known when it was opened, each once.
        name, trials, attributes, study: see `StoredStudy`.
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

    def append(self, runs: Sequence[Run]) -> None:
        """Add runs to the table; of a write that fails the runs before it are there."""
        with one_line(self._called, "written", RESUME):
            self._check()
            if self._table is not None:
                self._table.append(self.name, [line_of(self.name, run) for run in runs])

    def add_trial(self, entry: Evaluation | Failed, began: datetime, ended: datetime) -> None:
        """Let Optuna have a configuration, unless it has it already.

        Args:
            entry: what became of it.
            began, ended: when it was proposed, and when its last run ended.
        """
        if entry.number in self.trials:
            return
        outcome: dict[str, Any]
        attributes: dict[str, Any]
        if isinstance(entry, Failed):
            outcome = {"state": TrialState.FAIL}
            attributes = {FAILURE: " ".join(entry.reason.split())[:LONGEST_FAILURE]}
        else:
            values = [entry.objectives[name].mean for name in self._objectives]
            outcome = {"values": values, "constraints": dict(excesses(self._constraints, entry.cases))}
            errors = {name: one.standard_error for name, one in entry.objectives.items()}
            attributes = {"replications": entry.replications, "standard_errors": errors}
        distributions = {path: self._distributions[path] for path in entry.values}
        trial = create_trial(
            params={  # as they come back from a storage
                path: one.to_external_repr(one.to_internal_repr(entry.values[path]))
                for path, one in distributions.items()
            },
            distributions=distributions,
            user_attrs={NUMBER: entry.number, **attributes},
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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        except ScenarioError:
            if error is None:  # else it says more
                raise

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
        name: of the study.
        settings: of the search; whether they fit what is stored the caller has to see.
        resume: whether to go on with a study that exists.

    Raises:
        ScenarioError: it cannot be written, another search writes it, it exists and is not to be resumed, or
            something else is there, which is left as it is.
    """
    _check_name(name)
    if fault := hidden(str(where or "")):
        raise ScenarioError(fault)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with ExitStack() as stack:
        storage, found = Storage("memory", InMemoryStorage(), None), None
        if where is not None:
            called, place = shown(where), place_of(where)
            with looking(place, called) as existing:
                if existing is not None:
                    _let_resume(called, existing.find(name), resume)
                    begun = existing.table is not None and existing.table.exists
                    if not begun and not is_server(place):
                        raise ScenarioError(
                            f"{called}: this version of `gridtune search` has not made it; name a new one"
                        )
            with one_line(called, "written"):
                storage = _opened(place, called, name, stack)
                found = storage.find(name)
            _let_resume(called, found, resume)  # another search may have been faster
        with one_line(storage.called, "written"):
            now = datetime.now().astimezone().isoformat(timespec="seconds")
            mark = {"study": name, RESUMED if found else BEGUN: now}
            if storage.table is not None:
                storage.table.append(name, [json.dumps(mark, separators=(",", ":"))])
            found = found or _made(storage, name, settings)
            if found.settings != (asked := settings.as_json()):
                found.study.set_user_attr(SETTINGS, asked)
        return OpenStudy(storage, found, settings, stack.pop_all())


def _let_resume(called: str, found: StoredStudy | None, resume: bool) -> None:
    if found is not None and not resume:
        raise ScenarioError(
            f"{called}: the study {found.name} exists; --resume continues it, --study names another"
        )


def _check_name(name: str) -> None:
    """Let a study have a name that every storage keeps and every terminal shows."""
    if not name.strip():
        raise ScenarioError("the name of a study is empty; --study gives another")
    if len(name) > LONGEST_NAME:
        raise ScenarioError(
            f"{name[:40]}…: the name of a study has at most {LONGEST_NAME} characters; --study gives another"
        )
    if fault := hidden(name):
        raise ScenarioError(f"--study: {fault}")


def _opened(place: URL | Path, called: str, name: str, stack: ExitStack) -> Storage:
    """A storage to write to, which is held until the stack ends."""
    storage: BaseStorage
    table: FileTable | DatabaseTable
    if isinstance(place, URL):
        held = f"{called}: another search is writing the study {name}"
        stack.enter_context(databases.holding(place, name, held))
        database = databases.open_for_writing(place)
        storage, table = database, DatabaseTable(database.engine, called)
    else:
        place.parent.mkdir(parents=True, exist_ok=True)
        hold = databases.writer_of(place, "", f"{place}: another search is writing it")
        stack.enter_context(closing(hold))
        storage, table = _journal(place), FileTable(table_beside(place))
    stack.enter_context(closing(table))
    stack.callback(storage.remove_session)
    return Storage(called, storage, table)


def _journal(path: Path) -> JournalStorage:
    """A journal that this process alone writes, as far as searches go.

    An end that a killed writer left unfinished is cut off, and its lock is removed.
    """
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
