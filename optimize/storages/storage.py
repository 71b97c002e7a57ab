"""Where studies are kept: an Optuna journal file, or a database that Optuna can reach by URL."""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock

from gridtune.optimize.storages import rdb as database
from gridtune.optimize.storages.rdb import reason
from gridtune.scenarios.errors import ScenarioError

if TYPE_CHECKING:
    from optuna import Study
    from optuna.storages import BaseStorage, RDBStorage
    from optuna.trial import FrozenTrial

JOURNAL = "study.journal"  # in the directory of a search
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")  # a single letter is a drive of Windows


class NoLock(JournalFileOpenLock):
    """Stands in for Optuna's lock file, which a killed process leaves behind for 30 s.

    It is safe because whoever writes holds the writer's lock of the whole journal (`Journal`).
    """

    def acquire(self) -> bool:
        """Nothing to wait for."""
        return True

    def release(self) -> None:
        """Nothing to undo."""


class Journal(JournalFileBackend):
    """A journal file for one writer, who can write many entries at once.

    Optuna appends and syncs the file once per trial, which on a slow disk takes longer than a fast
    simulation. Within `batch` entries are held back and then written and synced together.

    Raises:
        ScenarioError: another process is writing it.
        OSError: it cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._held: list[dict[str, Any]] | None = None
        self._written: int | None = None  # entries in the file while others are held back
        self._lock_file = _lock(
            path.with_name(path.name + ".writer"), f"{path}: another search is writing it"
        )
        _mend(path)
        super().__init__(str(path), NoLock(str(path)))

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Write entries, or hold them back."""
        if self._held is None:
            super().append_logs(logs)
        else:
            self._held += logs

    def read_logs(self, log_number_from: int) -> Generator[dict[str, Any], None, None]:
        """Entries from a number on, those held back included."""
        if self._held is None:
            yield from super().read_logs(log_number_from)
            return
        if self._written is None:
            self._written = log_number_from
            for log in super().read_logs(log_number_from):
                self._written += 1
                yield log
        yield from self._held[max(0, log_number_from - self._written) :]

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Hold entries back, and write them at the end."""
        self._held, self._written = [], None
        try:
            yield
        finally:
            held, self._held = self._held, None
            if held:
                super().append_logs(held)
            if self._written is not None:
                # So that the base class knows where the new entries lie, and need not look for them later.
                for _ in super().read_logs(self._written):
                    pass

    def close(self) -> None:
        """Let others write."""
        if self._lock_file is not None:
            self._lock_file.close()
            self._lock_file = None


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
            lock = _lock(file.with_name(f"{file.name}.{database.digest(name):x}.writer"), held)
            if lock is not None:
                self._held.callback(lock.close)
        else:
            self._held.enter_context(database.hold(self.storage, name, held))

    def add_trials(self, study: Study, trials: Sequence[FrozenTrial]) -> None:
        """Write finished trials at once."""
        if isinstance(self.storage, JournalStorage):
            assert self.journal is not None
            with self.journal.batch():
                study.add_trials(trials)
        else:
            database.add_trials(self.storage, study, trials)

    def close(self) -> None:
        """Give it up."""
        self._held.close()
        self.storage.remove_session()
        if self.journal is not None:
            self.journal.close()


def is_url(where: str | Path) -> bool:
    """Whether this is the URL of a database rather than a path."""
    return "://" in str(where)


def check_address(storage: str) -> None:
    """Catch a URL that lost its slashes before it becomes the name of a file.

    Raises:
        ScenarioError: it did, as `sqlite:studies.db`.
    """
    if SCHEME.match(storage) and not is_url(storage):
        raise ScenarioError(f"{storage}: neither a URL, which has ://, nor a path, unless ./ precedes it")


def journal_in(where: str | Path) -> Path:
    """The journal that a search directory holds, or the journal file itself."""
    path = Path(where)
    return path / JOURNAL if path.is_dir() else path


def shown(where: str | Path) -> str:
    """A storage as it may be shown: without the password of its URL."""
    return database.shown(str(where)) if is_url(where) else str(where)


def open_for_writing(where: str | Path) -> Opened:
    """A storage to write a study to; a missing journal is made, with its directories.

    Args:
        where: URL of a database, directory of a search, or path of a journal file.

    Raises:
        ScenarioError: it cannot be reached or written.
    """
    _quieten()
    if is_url(where):
        return Opened(database.connect(str(where)))
    path = journal_in(where)
    make_directory(path.parent)
    try:
        journal = Journal(path)
        return Opened(JournalStorage(journal), journal)
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be written: {error.strerror or error}") from error
    except ScenarioError:
        raise
    except (ValueError, KeyError) as error:
        raise _broken(path, error) from error


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
    """A storage that exists.

    Raises:
        ScenarioError: it does not, or cannot be read.
    """
    _quieten()
    if is_url(where):
        file = database.file_of(str(where))
        if file is not None and not file.is_file():
            raise ScenarioError(f"{file}: no such database")
        return database.connect(str(where))
    path = journal_in(where)
    if not path.is_file():
        raise ScenarioError(
            f"{where}: no such study; give the directory of a search, its {JOURNAL}, or a storage URL"
        )
    try:
        return JournalStorage(JournalFileBackend(str(path)))
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError) as error:
        raise _broken(path, error) from error


def _quieten() -> None:
    """Keep Optuna from announcing studies on stderr, which belongs to our progress."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)


def _broken(path: Path, error: Exception) -> ScenarioError:
    return ScenarioError(f"{path}: not a journal of Optuna: {reason(error)}")


def _lock(path: Path, held: str) -> IO[bytes] | None:
    """Hold a file that one process at a time can hold; the system lets go of it when the process ends."""
    try:
        import fcntl
    except ImportError:  # not on this system: nobody is kept out
        return None
    file = path.open("ab")
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        file.close()
        raise ScenarioError(held) from None
    except OSError:  # a file system without locks
        file.close()
        return None
    return file


def _mend(path: Path) -> None:
    """Cut off the line that a writer could not finish, so that the next entry starts a new one."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        size = file.seek(0, os.SEEK_END)
        at = size
        while at > 0:
            step = min(at, 65536)
            file.seek(at - step)
            found = file.read(step).rfind(b"\n")
            if found >= 0:
                at = at - step + found + 1
                break
            at -= step
        if at < size:
            file.truncate(at)
