"""Folders of results: whose they are, and one writer at a time, until its process ends, however it ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.regular_files import open_regular
from gridtune.scenarios.results.files import writable_folder
from gridtune.scenarios.whole_files import remove_leftovers

FOLDER = ".writer"  # in a folder of results, and the sign that it is one

# What commands write to their folders.
RESULTS = {
    "metrics.json", "manifest.json", "jobs.parquet", "users.parquet", "stays.parquet", "signals.parquet",
    "messages.parquet", "classes.parquet", "pilots.parquet", "events.parquet",
    "sweep.json", "runs.jsonl", "front.json", "front.csv", "front.html", "history.png", "pairs.png",
    "parallel.png", "parameters.png", "sensitivity.json", "sensitivity.csv", "sensitivity.png", "claims.json",
}  # fmt: skip
JOURNAL = "study.journal"  # in the folder of a search
OURS = (("manifest.json", b'"gridtune":'), (JOURNAL, b'"gridtune":'), ("claims.json", b'"verdict":'))
LOOK = 1 << 20  # bytes in which a file shows that it is ours

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
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_NOFOLLOW, 0o666)
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
        ScenarioError: another one does, nothing can be written there, or somebody else's files are there.
    """
    check_ours(folder)
    try:
        hold = Hold(folder / FOLDER, f"{folder}: another command is writing there; give --out another folder")
    except OSError as error:
        raise ScenarioError(f"{folder}: cannot be written: {error.strerror or error}") from error
    try:
        remove_leftovers(folder, RESULTS | {name for name, _ in OURS})
        yield
    finally:
        hold.close()


@contextmanager
def results_folder(out: Path | str | None) -> Iterator[Path | None]:
    """The folder for results, if any is wanted, made if need be and held for as long as they take.

    Raises:
        ScenarioError: it cannot be made or written to, another command is writing there, or a search or
            somebody else's files are there.
    """
    if out is None:
        yield None
        return
    wanted = _named(out)
    if (wanted / JOURNAL).exists():
        raise ScenarioError(f"{out}: holds a search; give --out another folder")
    with begun_folder(wanted):
        yield wanted


@contextmanager
def begun_folder(folder: Path) -> Iterator[None]:
    """Make a folder if need be and hold it; a block that fails before it has written there leaves nothing.

    Raises:
        ScenarioError: see `results_folder`; a search may be there.
    """
    made = [one for one in (folder, *folder.parents) if not one.exists()]
    before = set(folder.glob("*"))
    try:
        with holding_folder(writable_folder(folder)):
            yield
    except BaseException:
        with suppress(OSError):
            if set(folder.glob("*")) - before == {folder / FOLDER}:
                (folder / FOLDER).unlink()
            for empty in made:
                empty.rmdir()
        raise


def own_folder(out: Path | str) -> Path:
    """The folder for results, made if need be, without being held.

    Raises:
        ScenarioError: it cannot be made or written to, or somebody else's files are there.
    """
    folder = writable_folder(_named(out))
    check_ours(folder)
    if not os.path.lexists(folder / FOLDER):
        (folder / FOLDER).touch()
    return folder


def _named(out: Path | str) -> Path:
    """A folder that has a name: "" would be the present one."""
    if str(out) == "":
        raise ScenarioError("--out: the folder has no name")
    return Path(out)


def check_ours(folder: Path) -> None:
    """Let a folder have no files that a command would write over and that no command has written.

    Raises:
        ScenarioError: it has one.
    """
    if (folder / FOLDER).exists() or any(mark in _head(folder / name) for name, mark in OURS):
        return
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.name in RESULTS:
            raise ScenarioError(
                f"{folder}: {path.name} is there, and no command has written it; give --out another folder"
            )


def _head(path: Path) -> bytes:
    try:
        with open_regular(path) as file:
            return file.read(LOOK)
    except OSError:
        return b""
