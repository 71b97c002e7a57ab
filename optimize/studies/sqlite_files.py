"""SQLite files, which may have come from anywhere: to look at one changes, removes and runs nothing."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.regular_files import open_regular

LOCK_TIMEOUT = 60  # s that SQLite waits for another writer
JOURNALS = ("-journal", "-wal")  # endings of what SQLite puts beside a file
# A journal that ends so names another file; https://www.sqlite.org/fileformat.html#the_rollback_journal
NAMES_ANOTHER = bytes.fromhex("d9d505f920a163d7")
WRITE_AHEAD = 2  # in the head of a file that has a write-ahead log
ANYTHING = "SELECT 1 FROM sqlite_master"
# A view or trigger may take for ever; a virtual table, which has no page, runs code.
STRANGE = "SELECT name FROM sqlite_master WHERE type NOT IN ('table', 'index') OR NOT ifnull(rootpage, 0) > 0"


def connect(file: Path, mode: str) -> sqlite3.Connection:
    """A connection to a file; the mode is `rwc`, which makes one, `rw`, or `ro`, which changes nothing."""
    address = f"file:{quote(os.path.abspath(file))}?mode={mode}"
    connection = sqlite3.connect(address, uri=True, timeout=LOCK_TIMEOUT, check_same_thread=False)
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def check_beside(file: Path) -> None:
    """Let nothing beside a file lead SQLite to another one.

    Raises:
        OSError: a link, or what is no regular file.
        ScenarioError: a journal that names a file, which SQLite would remove.
    """
    for ending in (*JOURNALS, "-shm"):
        path = _beside(file, ending)
        with suppress(FileNotFoundError), open_regular(path, follow=False) as found:
            found.seek(-min(len(NAMES_ANOTHER), os.fstat(found.fileno()).st_size), os.SEEK_END)
            if found.read() == NAMES_ANOTHER:
                raise ScenarioError(f"{path}: names another file, which no search writes; remove it")


@contextmanager
def settled(file: Path) -> Iterator[Path]:
    """A file as its last finished change left it.

    Where a killed writer has left something to undo, SQLite does that in a copy.

    Raises:
        ScenarioError: it holds something else than tables and their indexes.
    """
    with ExitStack() as stack:
        here = file
        if _unsettled(file):
            here = Path(stack.enter_context(TemporaryDirectory()), "study.db")
            for ending in ("", *JOURNALS):
                with suppress(FileNotFoundError), open_regular(_beside(file, ending)) as left:
                    _beside(here, ending).write_bytes(left.read())
            with closing(connect(here, "rw")) as connection:
                connection.execute(ANYTHING)
        with closing(connect(here, "ro")) as connection:
            strange = connection.execute(STRANGE).fetchone()
        if strange:
            what = f"holds more than tables and their indexes ({strange[0]!s:.40})"
            raise ScenarioError(f"{file}: {what}, which no search makes; it is left as it is")
        yield here


def _unsettled(file: Path) -> bool:
    """Whether SQLite would write before it reads."""
    with open_regular(file) as found:
        if WRITE_AHEAD in found.read(20)[18:]:
            return True
    try:
        with closing(connect(file, "ro")) as connection:
            connection.execute(ANYTHING)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_READONLY_ROLLBACK:
            raise
        return True
    return False


def _beside(file: Path, ending: str) -> Path:
    """The file itself, or what SQLite puts beside it, where it really lies."""
    return Path(os.path.realpath(file) + ending)
