"""Studies in databases: how they are reached, who writes them, and how SQLite files are read unchanged."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import tempfile
import time
import warnings
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from optuna.storages import RDBStorage
from sqlalchemy import URL, Column, Integer, MetaData, String, Table, Text, create_engine, func, select
from sqlalchemy import inspect as inspected
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import NullPool, StaticPool

from gridtune.optimize.studies.places import is_url, kind_of
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.results.locks import Hold

RUNS = Table(
    "gridtune_runs",
    MetaData(),
    Column("id", Integer, primary_key=True),
    Column("study", String(512), nullable=False, index=True),
    Column("run", Text, nullable=False),
)
CONNECT_TIMEOUT = 10  # s
LOCK_TIMEOUT = 60  # s that SQLite waits for another writer
MAKING = 30  # s that two processes may take to make tables
PAUSE = 0.2  # s between attempts
LETTING_GO = 5  # s that a PostgreSQL server may take to see that a search has died
HALF_MADE = ("already exists", "duplicate key", "UNIQUE constraint")  # signs of a race to make tables
POSTGRESQL = ("psycopg", "psycopg2")  # drivers, the preferred one first
WRITTEN, AHEAD = 18, b"\2"  # byte of an SQLite file that says how it is written; its value with a log ahead


def shown(where: str | Path | URL) -> str:
    """A place as it may be shown: without the password of its URL."""
    address = str(where)
    if not is_url(address):
        return address
    try:
        return make_url(address).difference_update_query(["password"]).render_as_string()
    except (ArgumentError, ValueError):
        scheme, _, rest = address.partition("://")
        return f"{scheme}://{rest.rpartition('@')[2]}"


def reason(error: BaseException) -> str:
    """What a database or file system has to say, in one line: its own words, without the statement."""
    inner: BaseException | None = error
    while inner is not None and getattr(inner, "orig", None) is None:
        inner = inner.__cause__
    error = getattr(inner, "orig", error)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    lines = (line.strip() for line in str(error).splitlines())
    return next((line for line in lines if line), type(error).__name__)


def url_of(where: str | Path) -> URL:
    """The URL of a database with its driver, or of an SQLite file.

    A `ScenarioError` if it is no URL, names no file, or its driver is missing.
    """
    if isinstance(where, Path):
        return URL.create("sqlite", database=str(where))
    try:
        url = make_url(where)
    except (ArgumentError, ValueError) as error:
        raise ScenarioError(f"{shown(where)}: not the URL of a database: {reason(error)}") from error
    if url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:"):
        raise ScenarioError(f"{where}: names no file to keep studies in, as sqlite:///studies.db does")
    if url.drivername not in ("postgresql", "postgres"):
        return url
    for driver in POSTGRESQL:
        if find_spec(driver) is not None:
            return url.set(drivername=f"postgresql+{driver}")
    raise ScenarioError(
        f"{shown(where)}: no driver of PostgreSQL; `pip install 'gridtune[postgresql]'` brings one"
    )


def file_of(url: URL) -> Path | None:
    """The file that an SQLite URL names, also in the form of an URI; None for other databases."""
    if url.get_backend_name() != "sqlite" or not url.database:
        return None
    name = url.database
    return Path(unquote(name.removeprefix("file:").partition("?")[0]) if name.startswith("file:") else name)


def open_for_writing(url: URL) -> RDBStorage:
    """A database with Optuna's tables and ours; ours first, as the sign that a search made them."""
    address, options = _engine(url)
    if file := file_of(url):
        options["creator"] = lambda: sqlite3.connect(file, timeout=LOCK_TIMEOUT, check_same_thread=False)
    end = time.monotonic() + MAKING
    while True:
        try:
            RUNS.metadata.create_all(create_engine(address, poolclass=NullPool, **options))
            return _storage(address, options)
        except Exception as error:  # of two who open a new database one finds its tables half made
            if time.monotonic() > end or not any(sign in str(error) for sign in HALF_MADE):
                raise
            time.sleep(PAUSE)


def open_for_reading(url: URL) -> RDBStorage | None:
    """A database to look at (of an SQLite file a copy in memory); None if it holds nothing yet.

    A `ScenarioError` if it is a database of something else.
    """
    file = file_of(url)
    if file is not None and kind_of(file) in ("nothing", "empty"):
        return None
    address, options = _engine(url)
    if file is not None:
        memory = _copy(file)
        options |= {"creator": lambda: memory, "poolclass": StaticPool}
    if url.get_backend_name() == "postgresql":
        options["execution_options"] = {"postgresql_readonly": True}
    tables = set(inspected(create_engine(address, **options)).get_table_names())
    if "alembic_version" in tables:  # the last that Optuna makes
        return _storage(address, options, made=True)
    if tables and RUNS.name not in tables:
        raise ScenarioError(
            f"{shown(url)}: a database of something else (it has the table {min(tables)}); "
            "it is left as it is"
        )
    return None


def writer_of(file: Path, ending: str, held: str) -> Hold:
    """Hold the file `.writer` beside a file, where that really lies."""
    return Hold(Path(f"{os.path.realpath(file)}{ending}.writer"), held)


def holding(url: URL, study: str, held: str) -> AbstractContextManager[object]:
    """Be the only search that writes a study, until what is returned or the process ends.

    A file beside an SQLite file is locked. PostgreSQL's server may see a little late that a search has died.
    Other servers have no lock.

    Raises:
        ScenarioError: another one does, or the URL names no file that could be written.
    """
    key = int.from_bytes(hashlib.sha256(study.encode()).digest()[:8]) >> 1
    if file := file_of(url):
        # Another file would be written than the URL names, or none.
        if str(url.database).startswith("file:") and url.query.get("uri") != "true":
            raise ScenarioError(f"{shown(url)}: file: is a URI only with ?uri=true; give sqlite:///PATH")
        if url.query.get("mode", "rwc") not in ("rw", "rwc") or set(url.query) - {"uri", "mode"}:
            raise ScenarioError(f"{shown(url)}: cannot be written with these options; give sqlite:///PATH")
        return closing(writer_of(file, f".{key:x}", held))
    if url.get_backend_name() != "postgresql":
        return nullcontext()
    with ExitStack() as stack:
        engine = create_engine(url, poolclass=NullPool, **_engine(url)[1])
        connection = stack.enter_context(closing(engine.connect()))
        end = time.monotonic() + LETTING_GO
        while not connection.scalar(select(func.pg_try_advisory_lock(key))):
            connection.rollback()
            if time.monotonic() > end:
                raise ScenarioError(held)
            time.sleep(PAUSE)
        connection.commit()
        return stack.pop_all()


def _engine(url: URL) -> tuple[str, dict[str, Any]]:
    """The address of a database for SQLAlchemy, and options of its engine."""
    waits = url.drivername.partition("+")[2] in POSTGRESQL and "connect_timeout" not in url.query
    arguments = {"connect_timeout": CONNECT_TIMEOUT} if waits else {}
    address = url.render_as_string(hide_password=False) if file_of(url) is None else "sqlite://"
    # Between two batches a server may have closed the connection, hence the ping.
    return address, {"connect_args": arguments, "pool_pre_ping": True}


def _copy(file: Path) -> sqlite3.Connection:
    """A copy of an SQLite file in memory, without what a killed writer has left half done."""
    kind = kind_of(file)
    if kind != "sqlite":
        raise ScenarioError(f"{file}: {kind}, not an SQLite database, or its head is damaged")
    address = f"file:{quote(os.path.abspath(file))}?mode=ro"
    memory = sqlite3.connect(":memory:", check_same_thread=False)
    with file.open("rb") as opened:
        opened.seek(WRITTEN)
        ahead = opened.read(1) == AHEAD
    try:
        if ahead:  # SQLite would write beside it to read it
            raise sqlite3.OperationalError
        with closing(sqlite3.connect(address, uri=True, timeout=LOCK_TIMEOUT)) as source:
            source.backup(memory)
    except sqlite3.OperationalError as error:
        if not ahead and error.sqlite_errorcode != sqlite3.SQLITE_READONLY_ROLLBACK:
            raise
        with tempfile.TemporaryDirectory(prefix="gridtune-") as folder:
            copy = Path(folder, file.name)
            for ending in ("", "-journal", "-wal"):
                if Path(f"{file}{ending}").exists():
                    shutil.copyfile(f"{file}{ending}", f"{copy}{ending}")
            with closing(sqlite3.connect(copy)) as source:
                source.backup(memory)
    try:
        (found,) = memory.execute("PRAGMA quick_check(1)").fetchone()  # of its pages
        memory.execute("SELECT * FROM sqlite_master").fetchall()  # the text of its schema
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # its own messages may be no text, either
        found = reason(error).partition(" with text ")[0]
    if found != "ok":
        raise ScenarioError(f"{file}: the database is damaged: {found}")
    return memory


def _storage(url: str, engine: dict[str, Any], *, made: bool = False) -> RDBStorage:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return RDBStorage(url, engine_kwargs=engine, skip_table_creation=made)
