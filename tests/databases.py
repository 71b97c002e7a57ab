"""Databases for tests: SQLite in a file, PostgreSQL on the server that GRIDTUNE_TEST_POSTGRESQL names."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

VARIABLE = "GRIDTUNE_TEST_POSTGRESQL"


@contextmanager
def postgresql_database() -> Iterator[str]:
    """The URL of a new database, gone afterwards; skips where there is no server."""
    server = os.environ.get(VARIABLE)
    if not server:
        pytest.skip(
            f"no PostgreSQL server: {VARIABLE} would name one, e.g. postgresql://me@127.0.0.1/postgres"
        )
    psycopg = pytest.importorskip("psycopg", reason="needs the extra [postgresql]")
    name = f"gridtune_{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
        try:
            yield server.rpartition("/")[0] + "/" + name
        finally:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
