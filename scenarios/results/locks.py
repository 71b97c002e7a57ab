"""One writer at a time: files that a process holds until it ends, however it ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.results.files import writable_folder

FOLDER = ".writer"  # in a folder of results

# The system would let this process in again, and would let go of all when one of them is closed.
_here: set[str] = set()


class Hold:
    """A file that is held; the system lets go of it when the process ends.

    Where there are no locks nobody is kept out.

    Args:
        path: of the file; made if need be, and left empty.
        held: what to say if somebody else holds it.

    Raises:
        ScenarioError: somebody does.
        OSError: the file cannot be opened.
    """

    def __init__(self, path: Path, held: str) -> None:
        self._name = os.path.realpath(path)
        self._file: IO[bytes] | None = None
        if self._name in _here:
            raise ScenarioError(held)
        try:
            import fcntl
        except ImportError:  # not on this system
            return
        # Not to be kept waiting by what is no file.
        descriptor = os.open(self._name, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK, 0o666)
        self._file = os.fdopen(descriptor, "rb+", buffering=0)
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            self._file.close()
            raise ScenarioError(held) from None
        except OSError:  # a file system without locks
            self.close()
            return
        _here.add(self._name)

    def close(self) -> None:
        """Let others have it."""
        if self._file is not None:
            self._file.close()
            self._file = None
            _here.discard(self._name)


@contextmanager
def holding_folder(folder: Path) -> Iterator[None]:
    """Be the only command that writes to a folder that exists.

    Raises:
        ScenarioError: another one does, or nothing can be written there.
    """
    try:
        hold = Hold(folder / FOLDER, f"{folder}: another command is writing there; give --out another folder")
    except OSError as error:
        raise ScenarioError(f"{folder}: cannot be written: {error.strerror or error}") from error
    try:
        yield
    finally:
        hold.close()


@contextmanager
def results_folder(out: Path | str | None) -> Iterator[Path | None]:
    """The folder for results, if any is wanted, made if need be and held for as long as they take.

    Raises:
        ScenarioError: it cannot be made or written to, or another command is writing there.
    """
    if out is None:
        yield None
        return
    folder = writable_folder(Path(out))
    with holding_folder(folder):
        yield folder
