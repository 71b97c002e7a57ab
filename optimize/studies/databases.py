"""Studies in databases: how they are reached, and who writes them."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from optuna.storages import RDBStorage
from sqlalchemy import URL, Column, Integer, MetaData, String, Table, Text, create_engine, func, select
from sqlalchemy import inspect as inspected
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import NullPool

from gridtune.optimize.studies.places import is_url, kind_of, located
from gridtune.optimize.studies.sqlite_files import check_beside, connect, settled
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.results.locks import Hold

RUNS = Table(
    "gridtune_runs",
    MetaData(),
    Column("id", Integer, primary_key=True),
    Column("study", String(512), nullable=False, index=True),
    Column("run", Text, nullable=False),
)
LAST = Table("alembic_version", MetaData(), Column("version_num", String(32)))  # its row is Optuna's last
CONNECT_TIMEOUT = 10  # s
MAKING = 30  # s that two processes may take to make tables
PAUSE = 0.2  # s between attempts
LETTING_GO = 5  # s that a PostgreSQL server may take to see that a search has died
HALF_MADE = ("already exists", "duplicate key", "UNIQUE constraint")  # signs of a race to make tables
POSTGRESQL = "postgresql+psycopg"


@contextmanager
def one_line(called: str, done: str, remedy: str = "") -> Iterator[None]:
    """Turn what a file system or database says into one line: what cannot be done, and the remedy."""
    try:
        yield
    except ScenarioError:
        raise
    except ImportError as error:
        driver = "install its driver; `pip install 'gridtune[postgresql]'` brings that of PostgreSQL"
        raise ScenarioError(f"{called}: cannot be used: {reason(error)}; {driver}") from error
    except Exception as error:  # each driver has its own, and Optuna takes what is stored on trust
        raise ScenarioError(f"{called}: cannot be {done}: {reason(error)}{remedy}") from error


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
    """The URL of a database with its driver, or of an SQLite file; a `ScenarioError` if it names none."""
    if isinstance(where, Path):
        return URL.create("sqlite", database=str(where))
    try:
        url = make_url(where)
    except (ArgumentError, ValueError) as error:
        raise ScenarioError(f"{shown(where)}: not the URL of a database: {reason(error)}") from error
    if url.get_backend_name() == "sqlite":
        name = url.database or ":memory:"
        if name == ":memory:" or name.startswith("file:") or url.query:
            raise ScenarioError(f"{where}: names no file by its path alone, as sqlite:///studies.db does")
    return url.set(drivername=POSTGRESQL) if url.drivername in ("postgresql", "postgres") else url


def place_of(where: str | Path) -> URL | Path:
    """The database or the journal that a place is, be it there or not; something else is refused by name."""
    if is_url(where):
        return url_of(str(where))
    path, kind = located(where)
    if kind == "sqlite":
        return url_of(path)
    if kind not in ("nothing", "empty", "journal"):
        raise ScenarioError(f"{path}: {kind}, not a journal of a search; it is left as it is")
    return path


def is_server(place: URL | Path) -> bool:
    """Whether a place is a database on a server."""
    return isinstance(place, URL) and file_of(place) is None


def file_of(url: URL) -> Path | None:
    """The file that an SQLite URL names; None for other databases."""
    return Path(str(url.database)) if url.get_backend_name() == "sqlite" else None


def open_for_writing(url: URL) -> RDBStorage:
    """A database with Optuna's tables and ours; ours first, as the sign that a search made them."""
    address, options = _engine(url, "rwc")
    end = time.monotonic() + MAKING
    while True:
        try:
            RUNS.metadata.create_all(create_engine(address, poolclass=NullPool, **options))
            return RDBStorage(address, options)
        except Exception as error:  # of two who open a new database one finds its tables half made
            if time.monotonic() > end or not any(sign in str(error) for sign in HALF_MADE):
                raise
            time.sleep(PAUSE)


@contextmanager
def reading(url: URL) -> Iterator[RDBStorage | None]:
    """A database to look at; None if it holds nothing yet; a `ScenarioError` if it holds something else."""
    called = shown(url)
    with ExitStack() as stack:
        if file := file_of(url):
            check_beside(file)
            kind = kind_of(file)
            if kind in ("nothing", "empty"):
                yield None
                return
            if kind != "sqlite":
                raise ScenarioError(f"{file}: {kind}, not an SQLite database, or its head is damaged")
            url = url.set(database=str(stack.enter_context(settled(file))))
        address, options = _engine(url, "ro")
        if url.get_backend_name() == "postgresql":
            options["execution_options"] = {"postgresql_readonly": True}
        with closing(create_engine(address, poolclass=NullPool, **options).connect()) as connection:
            tables = set(inspected(connection).get_table_names())
            made = LAST.name in tables and connection.execute(select(LAST)).first() is not None
        if made:
            storage = RDBStorage(address, options, skip_table_creation=True)
            stack.callback(storage.engine.dispose)
            stack.callback(storage.remove_session)
            yield storage
        elif tables and RUNS.name not in tables:
            theirs = f"a database of something else (it has the table {min(tables)})"
            raise ScenarioError(f"{called}: {theirs}; it is left as it is")
        else:
            yield None


def writer_of(file: Path, ending: str, held: str) -> Hold:
    """Hold the file `.writer` beside a file, where that really lies."""
    return Hold(Path(f"{os.path.realpath(file)}{ending}.writer"), held)


@contextmanager
def holding(url: URL, study: str, held: str) -> Iterator[None]:
    """Be the only search that writes a study, until the block or the process ends, or raise `ScenarioError`.

    A file beside an SQLite file is locked. PostgreSQL's server may see a little late that a search has died.
    Other servers have no lock.
    """
    key = int.from_bytes(hashlib.sha256(study.encode()).digest()[:8]) >> 1
    if file := file_of(url):
        with closing(writer_of(file, f".{key:x}", held)):
            yield
    elif url.get_backend_name() != "postgresql":
        yield
    else:
        engine = create_engine(url, poolclass=NullPool, **_engine(url, "rw")[1])
        with closing(engine.connect()) as connection:
            end = time.monotonic() + LETTING_GO
            while not connection.scalar(select(func.pg_try_advisory_lock(key))):
                connection.rollback()
                if time.monotonic() > end:
                    raise ScenarioError(held)
                time.sleep(PAUSE)
            connection.commit()
            yield


def _engine(url: URL, mode: str) -> tuple[str, dict[str, Any]]:
    """Address and options of an engine; the mode is that of a connection to an SQLite file."""
    # Between two batches a server may have closed the connection, hence the ping.
    options: dict[str, Any] = {"pool_pre_ping": True}
    if file := file_of(url):
        options["creator"] = partial(connect, file, mode)
        return "sqlite://", options
    if url.drivername == POSTGRESQL and "connect_timeout" not in url.query:
        options["connect_args"] = {"connect_timeout": CONNECT_TIMEOUT}
    return url.render_as_string(hide_password=False), options
