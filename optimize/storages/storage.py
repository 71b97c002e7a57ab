"""Where studies are kept: an Optuna journal file, or a database that Optuna can reach by URL."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import optuna
from optuna.storages import JournalStorage
from optuna.study import StudyDirection

from gridtune.optimize.storages import rdb as database
from gridtune.optimize.storages.damage import DamagedError
from gridtune.optimize.storages.journal import Journal, ReadOnlyJournal
from gridtune.optimize.storages.rdb import reason
from gridtune.optimize.storages.recognition import database_kind, journal_kind
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.results.locks import Hold

if TYPE_CHECKING:
    from optuna import Study
    from optuna.storages import BaseStorage, RDBStorage
    from optuna.trial import FrozenTrial

JOURNAL = "study.journal"  # in the directory of a search
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")  # a single letter is a drive of Windows


@dataclass(frozen=True)
class Opened:
    """A storage that is open for writing.

    Attributes:
        storage: as Optuna knows it.
        journal: behind it; None if it is a database.
    """

    storage: RDBStorage | JournalStorage
    journal: Journal | None = None
    _held: ExitStack = field(default_factory=ExitStack)

    def hold(self, name: str) -> None:
        """Be the only search that writes a study, until this is closed or the process ends.

        Raises:
            ScenarioError: another one does.
        """
        if isinstance(self.storage, JournalStorage):
            return  # the journal as a whole has one writer
        held = f"{shown(self.storage.url)}: another search is writing the study {name}"
        file = database.file_of(self.storage.url)
        if file is not None:
            lock = Hold(file.with_name(f"{file.name}.{database.digest(name):x}.writer"), held)
            self._held.callback(lock.close)
        else:
            self._held.enter_context(database.hold(self.storage, name, held))

    def add_study(
        self, name: str, directions: Sequence[str], metric_names: Sequence[str], attributes: Mapping[str, Any]
    ) -> Study:
        """Make a study with all that is said of it, or none of it.

        Args:
            name: that no study has.
            directions, metric_names: of its objectives.
            attributes: of its user.
        """
        ways = [StudyDirection[direction.upper()] for direction in directions]
        if not isinstance(self.storage, JournalStorage):
            database.add_study(self.storage, name, ways, metric_names, attributes)
            return optuna.load_study(study_name=name, storage=self.storage)
        with self.together(), warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            study = optuna.create_study(storage=self.storage, study_name=name, directions=ways)
            study.set_metric_names(list(metric_names))
            for key, value in attributes.items():
                study.set_user_attr(key, value)
        return study

    def add_trials(self, study: Study, trials: Sequence[FrozenTrial]) -> None:
        """Write finished trials at once."""
        if isinstance(self.storage, JournalStorage):
            assert self.journal is not None
            with self.journal.batch():
                study.add_trials(trials)
        else:
            database.add_trials(self.storage, study, trials)

    def together(self) -> AbstractContextManager[None]:
        """A block whose records go to a journal at once; a database takes each by itself."""
        return nullcontext() if self.journal is None else self.journal.batch()

    def close(self) -> None:
        """Give it up."""
        self._held.close()
        self.storage.remove_session()
        if self.journal is not None:
            self.journal.close()


def is_url(where: str | Path) -> bool:
    """Whether this is the URL of a database rather than a path."""
    return "://" in str(where)


def check_address(storage: str | Path) -> None:
    """Catch a URL that lost its slashes before it becomes the name of a file, and a folder given for one.

    Raises:
        ScenarioError: it did, as `sqlite:studies.db`; or it is a directory without a search.
    """
    if is_url(storage):
        return
    if SCHEME.match(str(storage)):
        raise ScenarioError(f"{storage}: neither a URL, which has ://, nor a path, unless ./ precedes it")
    if Path(storage).is_dir() and not os.path.lexists(journal_in(storage)):
        raise ScenarioError(
            f"{storage}: a directory that holds no search; --out keeps a new one in a directory"
        )


def journal_in(where: str | Path) -> Path:
    """The journal that a search directory holds, or the journal file itself."""
    path = Path(where)
    return path / JOURNAL if path.is_dir() and path.name != JOURNAL else path


def shown(where: str | Path) -> str:
    """A storage as it may be shown: without the password of its URL."""
    return database.shown(str(where)) if is_url(where) else str(where)


def open_for_writing(where: str | Path) -> Opened:
    """A storage to write a study to; a missing journal is made with the first record, its directories now.

    Args:
        where: URL of a database, directory of a search, or path of a journal file.

    Raises:
        ScenarioError: it cannot be reached or written, is damaged, or was made by something else.
    """
    _quieten()
    if is_url(where):
        opened = Opened(database.connect(str(where)))
        try:
            _check_whole(where, opened.storage)
        except BaseException:
            opened.close()
            raise
        return opened
    path = journal_in(where)
    with _one_line(path, "written"):
        if journal_kind(path) == "optuna":
            raise ScenarioError(
                f"{path}: a journal of Optuna that `gridtune search` has not made; name a new file"
            )
        make_directory(path.parent)
        journal = Journal(path)
        try:
            storage = _replayed(journal)
            journal.mend()
        except BaseException:
            journal.close()
            raise
        return Opened(storage, journal)


def make_directory(path: Path) -> None:
    """Make a directory that can be written, with those above it.

    Raises:
        ScenarioError: it cannot be.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be written: {error.strerror or error}") from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise ScenarioError(f"{path}: cannot be written: permission denied")


def open_for_reading(where: str | Path) -> BaseStorage:
    """A storage that exists; nothing of it is changed.

    Raises:
        ScenarioError: it does not, is damaged, or cannot be read.
    """
    _quieten()
    if is_url(where):
        storage = database.connect_for_reading(str(where))
        _check_whole(where, storage)
        return storage
    path = journal_in(where)
    with _one_line(path, "read"):
        if not path.exists():
            raise ScenarioError(
                f"{where}: no such study; give the directory of a search, its {JOURNAL}, or a storage URL"
            )
        journal_kind(path)
        return _replayed(ReadOnlyJournal(path))


def exists(where: str | Path) -> bool:
    """Whether a storage is there; a database on a server is once it has tables for studies.

    Raises:
        ScenarioError: the server cannot be reached.
    """
    if is_server(where):
        return database.holds_studies(str(where))
    file = database.file_of(str(where)) if is_url(where) else journal_in(where)
    return file is not None and file.exists()


def is_server(where: str | Path) -> bool:
    """Whether this is a database on a server rather than a file."""
    return is_url(where) and database.file_of(str(where)) is None


def is_foreign(where: str | Path) -> bool:
    """Whether a file that is there is Optuna's, but no search has made it; nothing is known of servers.

    Raises:
        ScenarioError: it is something else altogether, or cannot be read.
    """
    if is_server(where):
        return False
    if is_url(where):
        file = database.file_of(str(where))
        return file is not None and database_kind(file) == "optuna"
    path = journal_in(where)
    with _one_line(path, "read"):
        return journal_kind(path) == "optuna"


def begun_here(storage: BaseStorage, name: str) -> bool:
    """Whether a search has made the study of that name in a journal, whose end may be cut off.

    A database has all that a search makes of a study, or nothing.
    """
    journal = storage._backend if isinstance(storage, JournalStorage) else None
    return isinstance(journal, Journal | ReadOnlyJournal) and name in journal.lines.begun


def _quieten() -> None:
    """Keep Optuna from announcing studies, and errors that we name ourselves, on standard error."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)


def _replayed(journal: Journal | ReadOnlyJournal) -> JournalStorage:
    """What the records of a journal amount to.

    Raises:
        DamagedError: a line is none, is missing, or is no operation.
    """
    try:
        return JournalStorage(journal)
    except (ScenarioError, OSError):
        raise
    except Exception as error:  # Optuna takes records on trust
        raise DamagedError(journal.path, [f"line {journal.lines.line} is no operation on a study"]) from error


def _check_whole(where: str | Path, storage: RDBStorage | JournalStorage) -> None:
    assert not isinstance(storage, JournalStorage)
    try:
        found = database.check_whole(storage)
    except Exception as error:
        found = [reason(error)]
    if found:
        raise DamagedError(shown(where), found)


@contextmanager
def _one_line(path: Path, done: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be {done}: {error.strerror or error}") from error
