"""A journal: a line for every operation on a study, as Optuna writes them, each with its number and checksum.

`record` is the number of the line among those that searches have written, and `check` a checksum of the line
up to there. Both stand at the end of the line, where Optuna passes them over. So a line that was changed, or
is missing, is found. Lines without them are those of other programs, such as the Optuna dashboard, and of
searches from before there were checksums.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

from optuna.storages.journal import BaseJournalBackend
from optuna.storages.journal._storage import JournalOperation

from gridtune.optimize.storages.damage import DamagedError
from gridtune.scenarios.results.locks import Hold
from gridtune.scenarios.whole_files import beside, remove, remove_leftovers

CUT = ".cut"  # in the name of a file beside a journal, with bytes that were cut off it
MARK = re.compile(rb',"record":(\d+),"check":"([0-9a-f]{16})"\}\r?\n?\Z')
START = re.compile(rb'\{"op_code":')
END = re.compile(rb'"check":"[0-9a-f]{16}"\}')


def line_of(log: dict[str, Any], number: int) -> bytes:
    """A record as a line, with its number and checksum."""
    body = json.dumps(log, separators=(",", ":")).encode()[:-1] + b',"record":%d' % number
    return b'%s,"check":"%s"}\n' % (body, _check(body).encode())


class Lines:
    """Reads a journal on from where it stopped.

    Args:
        path: of the journal, which need not exist.
        salvage: whether to pass over damaged lines instead of stopping there.

    Attributes:
        line: number of the last line read, from 1.
        marked: lines with number and checksum so far.
        end: bytes up to where all lines are finished.
        unfinished: bytes after that.
        faults: what is wrong with lines passed over.
        begun: names of studies that a search has made, finished or not.
    """

    def __init__(self, path: Path, *, salvage: bool = False) -> None:
        self.path = path
        self.line = self.marked = self.end = self.unfinished = 0
        self.faults: list[str] = []
        self.begun: set[str] = set()
        self._salvage = salvage
        self._writers: set[str] = set()  # whose lines have checksums

    def read(self) -> Iterator[dict[str, Any]]:
        """The records since the last time.

        Raises:
            DamagedError: a line is none, or is missing.
            OSError: the file cannot be read.
        """
        try:
            file = self.path.open("rb")
        except FileNotFoundError:
            return
        with file:
            file.seek(self.end)
            for text in file:
                if not text.endswith(b"\n"):
                    self.unfinished = len(text)
                    return
                self.line += 1
                self.end += len(text)
                self.unfinished = 0
                yield from self._records(text)

    def _records(self, text: bytes) -> Iterator[dict[str, Any]]:
        log, number = _parsed(text)
        if log is None:
            self._fault(f"line {self.line} is garbled")
            for log, number in _within(text):
                self.marked = number + 1
                yield log
            return
        writer = str(log.get("worker_id"))
        if number is None:
            if writer in self._writers:
                self._fault(f"line {self.line} has lost its checksum")
                return
        else:
            self._writers.add(writer)
            expected, self.marked = self.marked, number + 1
            if number < expected:
                self._fault(f"line {self.line} is there twice or in the wrong place")
                self.marked = expected
            elif number > expected:
                missing = number - expected
                lines = "a line is" if missing == 1 else f"{missing} lines are"
                self._fault(f"{lines} missing before line {self.line}")
        if log["op_code"] == JournalOperation.CREATE_STUDY:
            (self.begun.discard if number is None else self.begun.add)(str(log.get("study_name")))
        yield log

    def _fault(self, text: str) -> None:
        self.faults.append(text)
        if not self._salvage:
            raise DamagedError(self.path, [text])


class ReadOnlyJournal(BaseJournalBackend):
    """A journal that is only looked at.

    Args:
        path: of the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines = Lines(path)
        self._read = 0  # records given so far

    def read_logs(self, log_number_from: int) -> Iterator[dict[str, Any]]:
        """Records from a number on."""
        if log_number_from != self._read:
            self.lines = Lines(self.path)
            self._read = 0
        for log in self.lines.read():
            self._read += 1
            if self._read > log_number_from:
                yield log

    def append_logs(self, logs: Sequence[dict[str, Any]]) -> None:
        """Refused."""
        raise OSError("opened for reading")


class Journal(BaseJournalBackend):
    """A journal file for one writer, who can write many records at once.

    Optuna appends and syncs the file once per trial, which on a slow disk takes longer than a fast
    simulation. Within `batch` records are held back and then written and synced together. A new file gets its
    name with its first records, so that nobody finds an empty one.

    Args:
        path: of a journal, or of no file yet.

    Attributes:
        cut: where bytes of an unfinished last line were put; None if there were none.

    Raises:
        ScenarioError: another process is writing it.
        OSError: it cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._real = Path(os.path.realpath(path))
        self._held: list[dict[str, Any]] | None = None
        self.cut: Path | None = None
        lock = self._real.with_name(self._real.name + ".writer")
        self._hold = Hold(lock, f"{path}: another search is writing it")
        remove_leftovers(self._real.parent, {self._real.name})
        self.lines = Lines(path)
        self._read = self._next = 0

    def mend(self) -> None:
        """Cut off a line that a writer could not finish, and keep it in a file beside the journal.

        To be called once all records are read.
        """
        if not self.lines.unfinished:
            return
        with self._real.open("rb+") as file:
            file.seek(self.lines.end)
            self.cut = _keep(file.read(), self._real)
            file.truncate(self.lines.end)
            os.fsync(file.fileno())
        self.lines.unfinished = 0

    def append_logs(self, logs: Sequence[dict[str, Any]]) -> None:
        """Write records, or hold them back.

        Raises:
            OSError: they cannot be written; nothing of them is left in the file.
        """
        if self._held is not None:
            self._held += logs
            return
        self._next = max(self._next, self.lines.marked)
        text = b"".join(line_of(log, self._next + at) for at, log in enumerate(logs))
        if self._real.exists():
            _append(self._real, text)
        else:
            _create(self._real, text)
        self._next += len(logs)

    def read_logs(self, log_number_from: int) -> Iterator[dict[str, Any]]:
        """Records from a number on, those held back included."""
        if log_number_from < self._read:
            self.lines = Lines(self.path)
            self._read = 0
        for log in self.lines.read():
            self._read += 1
            if self._read > log_number_from:
                yield log
        yield from (self._held or [])[max(0, log_number_from - self._read) :]

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Hold records back, and write them at the end of the outermost batch."""
        if self._held is not None:
            yield
            return
        self._held = []
        try:
            yield
        finally:
            held, self._held = self._held, None
            if held:
                self.append_logs(held)
                for _ in self.lines.read():  # they are known already, but not where they end
                    self._read += 1

    def close(self) -> None:
        """Let others write."""
        self._hold.close()


def _parsed(text: bytes) -> tuple[dict[str, Any] | None, int | None]:
    """A line as a record (None if it is none) and its number (None if it has none)."""
    mark = MARK.search(text)
    if mark is not None and _check(text[: mark.end(1)]) != mark[2].decode():
        return None, None
    try:
        log = json.loads(text)
    except (ValueError, RecursionError):
        return None, None
    if not isinstance(log, dict) or "op_code" not in log:
        return None, None
    number = int(mark[1]) if mark is not None else None
    return log, number


def _within(text: bytes) -> Iterator[tuple[dict[str, Any], int]]:
    """Whole records, with their numbers, in a line that several have run into."""
    starts = [found.start() for found in START.finditer(text)]
    for end in (found.end() for found in END.finditer(text)):
        for start in starts:
            log, number = _parsed(text[start:end]) if start < end else (None, None)
            if log is not None and number is not None:
                yield log, number
                break


def _check(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:16]


def _append(path: Path, text: bytes) -> None:
    """Write to the end of a file, all or nothing."""
    with path.open("ab", buffering=0) as file:
        end = file.seek(0, os.SEEK_END)
        try:
            _write(file.fileno(), text)
            os.fsync(file.fileno())
        except BaseException:
            with suppress(OSError):
                os.ftruncate(file.fileno(), end)
            raise


def _create(path: Path, text: bytes) -> None:
    """Make a file with something in it, unless another is there."""
    new = beside(path, "new")
    try:
        with new.open("wb", buffering=0) as file:
            _write(file.fileno(), text)
            os.fsync(file.fileno())
        give_name(new, path)
    finally:
        remove(new)


def give_name(new: Path, path: Path) -> None:
    """Let a finished file appear under its name.

    Raises:
        FileExistsError: there is one already.
    """
    try:
        os.link(new, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if path.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
        os.replace(new, path)


def _write(file: int, text: bytes) -> None:
    view = memoryview(text)
    while view:
        with suppress(InterruptedError):
            view = view[os.write(file, view) :]


def _keep(text: bytes, journal: Path) -> Path:
    """Put bytes that were cut off in a new file beside the journal."""
    for number in count(1):
        path = journal.with_name(f"{journal.name}{CUT}-{number}")
        with suppress(FileExistsError), path.open("xb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            return path
    raise AssertionError("counting does not end")
