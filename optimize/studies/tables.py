"""The table of runs: lines of JSON in a file or in a table of a database, only ever added to."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from sqlalchemy import Engine, insert, select
from sqlalchemy import inspect as inspected

from gridtune.optimize.studies.databases import RUNS
from gridtune.optimize.studies.journals import cut_unfinished
from gridtune.optimize.studies.places import kind_of
from gridtune.optimize.studies.runs import parsed
from gridtune.scenarios.errors import ScenarioError


class RunTable:
    """Where rows are kept, each a line of JSON without its end; this one forgets them."""

    @property
    def exists(self) -> bool:
        """Whether a search has begun it."""
        return True

    def lines(self, study: str) -> Iterator[tuple[str, str | bytes]]:
        """All rows, of this study at least, with the place of each."""
        return iter(())

    def append(self, study: str, lines: Sequence[str]) -> None:
        """Add rows of a study; when this returns, they survive a kill of the process.

        Raises:
            Exception: that of the file system or database which does not take them.
        """

    def close(self) -> None:
        """Give it up."""


class FileTable(RunTable):
    """Rows as lines of a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: int | None = None

    @property
    def exists(self) -> bool:
        """Whether the file is there."""
        return self.path.exists()

    def lines(self, study: str) -> Iterator[tuple[str, str | bytes]]:
        """All rows, without an unfinished one at the end, as a kill leaves it."""
        with suppress(FileNotFoundError), self.path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip() and (line.endswith(b"\n") or parsed(line) is not None):
                    yield f"{self.path}: line {number}", line

    def append(self, study: str, lines: Sequence[str]) -> None:
        """Add rows, each by one write; of one that does not fit nothing is left.

        Raises:
            ScenarioError: a file is there that no search has written.
            OSError: the file cannot be written; the rows before the one that failed are.
        """
        if self._file is None:
            kind = kind_of(self.path)
            if kind not in ("nothing", "empty", "table"):
                raise ScenarioError(f"{self.path}: {kind}, not a table of runs; it is left as it is")
            if kind == "table":
                cut_unfinished(self.path)
            self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        for line in lines:
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


class DatabaseTable(RunTable):
    """Rows in the table `gridtune_runs` of a database."""

    def __init__(self, engine: Engine, called: str) -> None:
        self._engine = engine
        self._called = called

    @property
    def exists(self) -> bool:
        """Whether the table is there."""
        return inspected(self._engine).has_table(RUNS.name)

    def lines(self, study: str) -> Iterator[tuple[str, str | bytes]]:
        """The rows of a study."""
        if not self.exists:
            return
        query = select(RUNS.c.id, RUNS.c.run).where(RUNS.c.study == study).order_by(RUNS.c.id)
        with self._engine.connect() as connection:
            rows = connection.execute(query).all()
        for number, line in rows:
            yield f"{self._called}: row {number} of {RUNS.name}", str(line)

    def append(self, study: str, lines: Sequence[str]) -> None:
        """Add rows in one transaction.

        Raises:
            sqlalchemy.exc.SQLAlchemyError: the database does not take them.
        """
        if lines:
            with self._engine.begin() as connection:
                connection.execute(insert(RUNS), [{"study": study, "run": line} for line in lines])

    def close(self) -> None:
        """Give up its connections."""
        self._engine.dispose()
