"""Studies in journal files: read without being changed, with the number of a line that is broken."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from optuna.storages import JournalStorage
from optuna.storages.journal import BaseJournalBackend, JournalFileBackend, JournalFileOpenLock

from gridtune.optimize.studies.places import json_of
from gridtune.optimize.studies.tables import broken, cut_unfinished
from gridtune.scenarios.errors import ScenarioError

LOCK = ".lock"  # that Optuna sets beside a journal while it writes
PATIENCE = 2.0  # s that another program may take to write to a journal


class _ReadOnlyJournal(BaseJournalBackend):
    """The records of a journal by their lines, and the line of the one that was read last."""

    def __init__(self, records: Mapping[int, dict[str, Any]]) -> None:
        self._records = records
        self.line = 0

    def read_logs(self, log_number_from: int) -> Iterator[dict[str, Any]]:
        """Records from a number on."""
        for line, record in list(self._records.items())[log_number_from:]:
            self.line = line
            yield record

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Refused."""
        raise OSError("opened for reading")


def open_for_reading(path: Path, *, skip_broken: bool = False) -> tuple[JournalStorage, tuple[str, ...]]:
    """A journal of which nothing is changed, and a note for each line passed over.

    Raises:
        ScenarioError: a line is broken, or no operation on a study, and may not be passed over.
        OSError: it cannot be read.
    """
    records, bad = dict[int, dict[str, Any]](), list[int]()
    with path.open("rb") as file:
        for number, text in enumerate(file, start=1):
            record = json_of(text)
            if isinstance(record, dict) and "op_code" in record:
                records[number] = record
            elif text.endswith(b"\n"):
                bad.append(number)
    while skip_broken or not bad:
        journal = _ReadOnlyJournal(records)
        try:
            storage = JournalStorage(journal)
        except Exception:  # Optuna takes records on trust
            bad.append(journal.line)
            del records[journal.line]
        else:
            passed = (f"note: {path}: line {number} is broken and was passed over" for number in sorted(bad))
            return storage, tuple(passed)
    raise ScenarioError(broken(f"{path}: line {bad[0]}"))


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
