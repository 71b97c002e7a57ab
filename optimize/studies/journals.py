"""Studies in journal files: read without being changed, with the number of a line that is broken."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from optuna.storages import JournalStorage
from optuna.storages.journal import BaseJournalBackend, JournalFileBackend, JournalFileOpenLock

from gridtune.optimize.studies.runs import broken
from gridtune.scenarios.errors import ScenarioError

LOCK = ".lock"  # that Optuna sets beside a journal while it writes
PATIENCE = 2.0  # s that another program may take to write to a journal


class ReadOnlyJournal(BaseJournalBackend):
    """A journal as it was when it was opened.

    Args:
        path: of the file.
        skip_broken: whether to pass over lines that are none.

    Raises:
        ScenarioError: a line is broken.
        OSError: the file cannot be read.
    """

    def __init__(self, path: Path, *, skip_broken: bool = False) -> None:
        self.path = path
        self.line = 0
        self.skipped: list[int] = []
        self._logs: list[tuple[int, dict[str, Any]]] = []
        with path.open("rb") as file:
            for number, text in enumerate(file, start=1):
                log = _operation(text)
                if log is not None:
                    self._logs.append((number, log))
                elif text.endswith(b"\n"):
                    self.skip(number, skip_broken)

    def skip(self, number: int, allowed: bool) -> None:
        """Pass over a line.

        Raises:
            ScenarioError: that is not allowed.
        """
        if not allowed:
            raise ScenarioError(broken(f"{self.path}: line {number}"))
        self.skipped.append(number)
        self._logs = [one for one in self._logs if one[0] != number]

    def read_logs(self, log_number_from: int) -> Iterator[dict[str, Any]]:
        """Records from a number on."""
        for number, log in self._logs[log_number_from:]:
            self.line = number
            yield log

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Refused."""
        raise OSError("opened for reading")


def open_for_reading(path: Path, *, skip_broken: bool = False) -> tuple[JournalStorage, tuple[str, ...]]:
    """A journal of which nothing is changed, and a note for each line passed over.

    Raises:
        ScenarioError: a line is broken, or no operation on a study.
        OSError: it cannot be read.
    """
    journal = ReadOnlyJournal(path, skip_broken=skip_broken)
    while True:
        try:
            storage = JournalStorage(journal)
        except Exception:  # Optuna takes records on trust
            journal.skip(journal.line, skip_broken)
            continue
        return storage, tuple(
            f"note: {path}: line {number} is broken and was passed over" for number in sorted(journal.skipped)
        )


def open_for_writing(path: Path) -> JournalStorage:
    """A journal that this process alone writes, as far as searches go.

    An end that a killed writer left unfinished is cut off, and its lock is removed.

    Raises:
        OSError: it cannot be written.
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


def cut_unfinished(path: Path) -> None:
    """End a file of lines of JSON with a whole line: what has no end is cut off, unless it is whole.

    Raises:
        OSError: the file cannot be written.
    """
    with path.open("rb+") as file:
        end = last = file.seek(0, os.SEEK_END)
        tail = b""
        while last and b"\n" not in tail:
            start = max(0, last - (1 << 16))
            file.seek(start)
            tail = file.read(last - start) + tail
            last = start
        tail = tail.rpartition(b"\n")[2]
        if not tail:
            return
        try:
            json.loads(tail)
        except ValueError:
            file.truncate(end - len(tail))
        else:
            file.seek(end)
            file.write(b"\n")


def _operation(text: bytes) -> dict[str, Any] | None:
    try:
        log = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return log if isinstance(log, dict) and "op_code" in log else None
