"""The table of runs: a line of JSON for each run of the simulator, in a file or a database, only added to."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from math import isfinite
from pathlib import Path
from sys import intern

from sqlalchemy import Engine, insert, select
from sqlalchemy import inspect as inspected

from gridtune.model.streams import HELD_OUT
from gridtune.optimize.records.recommendation import Value, key
from gridtune.optimize.studies.databases import RUNS
from gridtune.optimize.studies.places import kind_of
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.regular_files import open_regular

BEGUN, RESUMED = "begun", "resumed"  # lines that say when a search began or was resumed


@dataclass(frozen=True)
class Run:
    """One run: what was set, on what it ran, and what came of it."""

    values: Mapping[str, Value]  # the configuration, by path; empty for the baseline
    case: str  # name of the scenario it ran in
    replication: int  # its number, from 0; from `HELD_OUT` on validation seeds
    metrics: Mapping[str, float]  # in the units of their definitions


def identity(run: Run) -> tuple[str, str, int]:
    """What no two rows of a table have in common: configuration, case and replication."""
    return key(run.values), run.case, run.replication


def mark_of(study: str, *, resumed: bool) -> str:
    """A line of JSON, without its end, that says when a search began or was resumed."""
    now = datetime.now().astimezone().isoformat(timespec="seconds")
    return json.dumps({"study": study, RESUMED if resumed else BEGUN: now}, separators=(",", ":"))


def line_of(study: str, run: Run) -> str:
    """A run as a line of JSON, without its end; numbers come back from it bit by bit."""
    validation = run.replication >= HELD_OUT
    row = {
        "study": study,
        "configuration": dict(run.values),
        "case": run.case,
        "replication": run.replication - (HELD_OUT if validation else 0),
        "validation": validation,
        # JSON has no numbers that are not finite: they are kept as texts.
        "metrics": {name: one if isfinite(one) else json.dumps(one) for name, one in run.metrics.items()},
    }
    return json.dumps(row, separators=(",", ":"), allow_nan=False)


def parsed(text: str | bytes) -> tuple[str, Run | str] | None:
    """The study of a line, and its run, `begun` or `resumed`; None if no search wrote it so."""
    try:
        row = json.loads(text)
        study = row["study"]
        if mark := next((mark for mark in (BEGUN, RESUMED) if mark in row), None):
            return (study, mark) if type(study) is str else None
        metrics = {intern(name): _number(value) for name, value in row["metrics"].items()}
        replication = row["replication"] + (HELD_OUT if row["validation"] else 0)
        run = Run(row["configuration"], row["case"], replication, metrics)
        right = all(isinstance(value, Value) for value in run.values.values())
        types = type(study), type(run.case), type(row["replication"]), type(row["validation"])
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return None
    return (study, run) if right and types == (str, str, int, bool) else None


def _number(stored: float | str) -> float:
    if type(stored) in (int, float) or stored in ("NaN", "Infinity", "-Infinity"):
        return float(stored)
    raise ValueError("no number")


def runs_of(
    lines: Iterable[tuple[str, str | bytes]], study: str, *, skip_broken: bool = False
) -> tuple[tuple[Run, ...] | None, tuple[str, ...]]:
    """The runs of a study among lines, each once, and a note for each broken line passed over.

    Its runs are None if no line is of it. Broken lines raise a `ScenarioError` unless they are to be skipped.
    """
    found: dict[tuple[str, str, int], Run] | None = None
    notes = []
    for place, text in lines:
        named, row = parsed(text) or (None, None)
        if row is None:
            if not skip_broken:
                ways = "delete it, or read the rest by `gridtune front --skip-broken`"
                raise ScenarioError(f"{place} is broken; {ways}")
            notes.append(f"note: {place} is broken and was passed over")
        elif named == study and row != RESUMED:
            if row == BEGUN or found is None:
                found = {}  # what stands before belonged to a study of that name that was deleted
            if isinstance(row, Run):
                found.setdefault(identity(row), row)
    return (None if found is None else tuple(found.values())), tuple(notes)


class FileTable:
    """Rows as lines of a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: int | None = None

    @property
    def exists(self) -> bool:
        """Whether the file is there."""
        return self.path.exists()

    def lines(self, study: str) -> Iterator[tuple[str, str | bytes]]:
        """All rows with the place of each, without an unfinished one at the end, as a kill leaves it."""
        with suppress(FileNotFoundError), open_regular(self.path) as file:
            for number, line in enumerate(file, start=1):
                if line.strip() and line.endswith(b"\n"):
                    yield f"{self.path}: line {number}", line

    def append(self, study: str, line: str) -> None:
        """Add a row, which survives a kill, or nothing of it; a file of something else is refused."""
        if self._file is None:
            kind = kind_of(self.path)
            if kind not in ("nothing", "empty", "table"):
                raise ScenarioError(f"{self.path}: {kind}, not a table of runs; it is left as it is")
            if kind == "table":
                cut_unfinished(self.path)
            self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        end = os.fstat(self._file).st_size
        try:
            view = memoryview(line.encode() + b"\n")
            while view:
                view = view[os.write(self._file, view) :]
        except BaseException:
            with suppress(OSError):
                os.ftruncate(self._file, end)
            raise

    def close(self) -> None:
        """Have the disk keep what was written, and close the file."""
        if self._file is not None:
            with os.fdopen(self._file, "wb") as file:
                self._file = None
                os.fsync(file.fileno())


class DatabaseTable:
    """Rows in the table `gridtune_runs` of a database."""

    def __init__(self, engine: Engine, called: str) -> None:
        self._engine = engine
        self._called = called

    @property
    def exists(self) -> bool:
        """Whether the table is there."""
        return inspected(self._engine).has_table(RUNS.name)

    def lines(self, study: str) -> Iterator[tuple[str, str | bytes]]:
        """The rows of a study with the place of each."""
        if not self.exists:
            return
        query = select(RUNS.c.id, RUNS.c.run).where(RUNS.c.study == study).order_by(RUNS.c.id)
        with self._engine.connect() as connection:
            rows = connection.execute(query).all()
        for number, line in rows:
            yield f"{self._called}: row {number} of {RUNS.name}", str(line)

    def append(self, study: str, line: str) -> None:
        """Add a row."""
        with self._engine.begin() as connection:
            connection.execute(insert(RUNS), {"study": study, "run": line})

    def close(self) -> None:
        """Give up its connections."""
        self._engine.dispose()


def cut_unfinished(path: Path) -> None:
    """End a file of lines with a whole one: what a killed writer has left behind it is cut off."""
    os.truncate(path, path.read_bytes().rfind(b"\n") + 1)
