"""What a file holds, found out without changing it: searches write to nobody else's files."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from gridtune.optimize.storages.journal import MARK
from gridtune.scenarios.errors import ScenarioError

APPLICATION = 0x67726964  # "grid": of SQLite's `application_id`, in databases that searches have made
SQLITE = b"SQLite format 3\0"
WRITE_VERSION, AHEAD = (
    18,
    2,
)  # the byte of an SQLite file that says how it is written, and with a write-ahead log
MADE_BY = slice(68, 72)  # bytes of an SQLite file that hold `application_id`
LOCK_TIMEOUT = 60  # s that SQLite waits for another writer
OPTUNA = {"studies", "study_directions", "study_user_attributes", "trials", "trial_params", "trial_values"}
SETTINGS = b'"gridtune":'  # in the record of what a search is about
LOOKING = "SELECT count(*) FROM sqlite_master"  # reads the file, after which SQLite knows how it is
LOOK = 1 << 20  # bytes in which a journal shows what it is
STARTS = (
    (SQLITE, "an SQLite database"),
    (b"PAR1", "a Parquet file"),
    (b"\x1f\x8b", "a gzip file"),
    (b"PK\x03\x04", "a zip file"),
    (b"\x89PNG", "a picture"),
    (b"%PDF", "a PDF"),
    (b"\x80", "a pickle or other binary file"),
)

Kind = Literal["new", "ours", "optuna"]


def journal_kind(path: Path) -> Kind:
    """What is under the name of a journal: nothing yet, a journal that a search wrote, or one of Optuna's.

    Raises:
        ScenarioError: something else, named.
        OSError: it cannot be read.
    """
    if _missing(path):
        return "new"
    start = _start(path)
    if start.startswith(SQLITE):
        raise ScenarioError(f"{path}: an SQLite database; did you mean {sqlite_url(path)}?")
    records = [line for line in start.split(b"\n") if _is_record(line)]
    if not records:
        raise ScenarioError(f"{path}: {_named(start)}, not a journal of a search; it is left as it is")
    if any(map(_by_search, records)):
        return "ours"
    with path.open("rb") as file:  # further down, then
        return "ours" if any(map(_by_search, file)) else "optuna"


def database_kind(path: Path) -> Kind:
    """What is under the name of an SQLite database: nothing yet, one for searches, or one of Optuna's.

    Raises:
        ScenarioError: something else, named.
        OSError: it cannot be read.
    """
    if _missing(path):
        return "new"
    start = _start(path)
    if not start.startswith(SQLITE):
        if any(map(_is_record, start.split(b"\n"))):
            raise ScenarioError(f"{path}: a journal, not an SQLite database; did you mean {path}?")
        what = _named(start)
        raise ScenarioError(f"{path}: {what}, not an SQLite database, or its head is damaged")
    by_search = start[MADE_BY] == APPLICATION.to_bytes(4)
    settling = (
        by_search and start[WRITE_VERSION] != AHEAD
    )  # to lock one with such a log is to write beside it
    try:
        with (
            settled(path) if settling else nullcontext(path) as file,
            closing(
                sqlite3.connect(read_only(file, immutable=not settling), uri=True, timeout=LOCK_TIMEOUT)
            ) as connection,
        ):
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
            if missing := OPTUNA - tables:
                what = "an SQLite database of something else"
                if by_search:
                    what = f"a database of searches that is damaged: no such table: {min(missing)}"
                raise ScenarioError(f"{path}: {what}; it is left as it is")
            if by_search:
                return "ours"
            query = "SELECT value_json FROM study_user_attributes WHERE key = 'gridtune'"
            stored = [str(text) for (text,) in connection.execute(query)]
            return "ours" if any(map(_is_settings, stored)) else "optuna"
    except sqlite3.Error as error:
        raise ScenarioError(f"{path}: an SQLite database that cannot be read: {error}") from error


@contextmanager
def settled(file: Path) -> Iterator[Path]:
    """An SQLite file, of which nothing is changed, or a copy without what a killed writer has left half done.

    Raises:
        sqlite3.Error: it cannot be read.
        OSError: there is no room for the copy.
    """
    if not _half_done(file):
        yield file
        return
    with tempfile.TemporaryDirectory(prefix="gridtune-") as folder:
        copy = Path(folder, file.name)
        for ending in ("-journal", ""):
            shutil.copyfile(f"{file}{ending}", f"{copy}{ending}")
        with closing(sqlite3.connect(copy)) as connection:
            connection.execute(LOOKING).fetchone()
        yield copy


def _half_done(file: Path) -> bool:
    """Whether a writer was killed, and SQLite would have to clear up after it."""
    try:
        with closing(sqlite3.connect(read_only(file), uri=True, timeout=LOCK_TIMEOUT)) as connection:
            connection.execute(LOOKING).fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_READONLY_ROLLBACK:
            raise
        return True
    return False


def read_only(path: Path, *, immutable: bool = False) -> str:
    """The address by which SQLite opens a file without writing to it.

    Args:
        path: of the database.
        immutable: whether to look at the file as it is, without locks and whatever stands beside it.
    """
    return f"file:{quote(os.path.abspath(path))}?mode=ro{'&immutable=1' if immutable else ''}"


def sqlite_url(path: Path) -> str:
    """The URL of an SQLite database."""
    return f"sqlite:///{path}"


def _missing(path: Path) -> bool:
    """Whether there is nothing under a name; what is there must be a file with something in it."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        if path.is_symlink():
            raise ScenarioError(f"{path}: a link to nothing; remove it, or name another file") from None
        return True
    if stat.S_ISDIR(found.st_mode):
        raise ScenarioError(f"{path}: a directory; --out keeps a search in one")
    if not stat.S_ISREG(found.st_mode):
        raise ScenarioError(f"{path}: no regular file; name a new one")
    if not found.st_size:
        raise ScenarioError(f"{path}: an empty file; remove it, or name another")
    return False


def _start(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(LOOK)


def _is_record(line: bytes) -> bool:
    """Whether a line is what Optuna writes to a journal."""
    if not line.startswith(b'{"op_code"'):
        return False
    try:
        log = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(log.get("op_code"), int) and isinstance(log.get("worker_id"), str)


def _by_search(line: bytes) -> bool:
    """Whether a search wrote a line of a journal: it has a checksum, or says what the search is about."""
    if MARK.search(line):
        return True
    if SETTINGS not in line or not _is_record(line):
        return False
    attributes = json.loads(line).get("user_attr")
    return isinstance(attributes, dict) and _is_settings(json.dumps(attributes.get("gridtune")))


def _is_settings(text: str) -> bool:
    """Whether JSON says what a search is about; others may keep under that name what they like."""
    try:
        stored = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(stored, dict) and "objectives" in stored


def _named(start: bytes) -> str:
    """What a file seems to be by how it starts."""
    for known, name in STARTS:
        if start.startswith(known):
            return name
    try:
        json.loads(start)
    except (ValueError, RecursionError):
        return "a binary file" if b"\0" in start else "a text file"
    return "a JSON file"
