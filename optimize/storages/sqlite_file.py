"""SQLite files: how they come into being, and how they are read without being changed."""

from __future__ import annotations

import os
import sqlite3
import warnings
import weakref
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from gridtune.optimize.storages.journal import give_name
from gridtune.optimize.storages.recognition import APPLICATION, LOCK_TIMEOUT, read_only, settled
from gridtune.scenarios.whole_files import beside, remove

if TYPE_CHECKING:
    from optuna.storages import RDBStorage

_compatible: set[str] = set()  # versions of tables that Optuna has found it can read


def make(file: Path) -> None:
    """A new SQLite database with all tables, unless somebody else is faster."""
    from optuna.storages import RDBStorage
    from sqlalchemy import text

    new = beside(file, "new")

    def connected() -> sqlite3.Connection:
        connection = sqlite3.connect(new, check_same_thread=False)
        connection.execute("PRAGMA synchronous = off")  # nobody knows the file before it is complete
        return connection

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            storage = RDBStorage(
                _url(new), engine_kwargs={"creator": connected}, skip_compatibility_check=True
            )
        with storage.engine.begin() as connection:
            connection.execute(text(f"PRAGMA application_id = {APPLICATION}"))
        storage.remove_session()
        storage.engine.dispose()
        with new.open("rb+") as made:
            os.fsync(made.fileno())
        with suppress(FileExistsError):
            give_name(new, file)
    finally:
        remove(new)


def open_read_only(file: Path) -> RDBStorage:
    """An SQLite file, of which nothing is changed."""
    with ExitStack() as stack:
        storage = _read_only(stack.enter_context(settled(file)))
        weakref.finalize(storage, stack.pop_all().close)
    return storage


def _read_only(file: Path) -> RDBStorage:
    from optuna.storages import RDBStorage

    def connected() -> sqlite3.Connection:
        return sqlite3.connect(read_only(file), uri=True, timeout=LOCK_TIMEOUT, check_same_thread=False)

    with closing(connected()) as connection:
        version = str(connection.execute("SELECT version_num FROM alembic_version").fetchone())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        storage = RDBStorage(
            _url(file),
            engine_kwargs={"creator": connected},
            skip_table_creation=True,
            skip_compatibility_check=version in _compatible,  # it takes longer than all the rest
        )
    _compatible.add(version)
    return storage


def _url(file: Path) -> str:
    from sqlalchemy.engine import URL

    return URL.create("sqlite", database=str(file)).render_as_string()
