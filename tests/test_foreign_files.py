"""Files that a search did not make: whatever command is given them, they stay as they are, byte for byte."""

import gzip
import json
import os
import pickle
import socket
import sqlite3
import stat
import zipfile
from contextlib import closing

import optuna
import pandas as pd
import pytest
from optuna.storages.journal import JournalFileBackend

from gridtune.optimize.runs import stored
from gridtune.optimize.search import search
from gridtune.optimize.studies.databases import open_for_writing, url_of
from gridtune.optimize.studies.places import JOURNAL, TABLE
from gridtune.scenarios import ScenarioError, load
from gridtune.scenarios.results.locks import FOLDER, RESULTS
from search_toys import VARY, toy
from tests.facts import missing, unstated
from tests.test_cli import gridtune

pytestmark = pytest.mark.long

SCENARIO = load("diet/day-regular")


def _sqlite(path, wal=False):
    with closing(sqlite3.connect(path)) as connection, connection:
        if wal:
            connection.execute("PRAGMA journal_mode = wal")
        connection.execute("CREATE TABLE people (name TEXT)")
        connection.execute("INSERT INTO people VALUES ('Ada')")


def _optuna_journal(path):
    storage = optuna.storages.JournalStorage(JournalFileBackend(str(path)))
    study = optuna.create_study(storage=storage, study_name="theirs")
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=2)


def _optuna_journal_about_us(path):
    """Whoever calls gridtune from an objective of their own may note its version, and checks."""
    study = optuna.create_study(storage=optuna.storages.JournalStorage(JournalFileBackend(str(path))))
    study.set_user_attr("gridtune", "1.0")
    study.set_user_attr("library", {"name": "gridtune", "check": "1"})
    study.set_user_attr("versions", {"gridtune": {"objectives": 2}})


def _optuna_database(path):
    study = optuna.create_study(study_name="theirs", storage=f"sqlite:///{path}")
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=1)
    study.set_user_attr("gridtune", "1.0")


def _gzip(path):
    with gzip.open(path, "wb") as file:
        file.write(b"; Version: 2.2\n" * 50)


def _zip(path):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("a.txt", "text")


def _socket(path):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def _link(path):
    path.with_name("target.json").write_text('{"kept": true}\n{"half')
    path.symlink_to(path.with_name("target.json"))


def _read_only(path):
    path.write_text("precious, and without a last newline")
    path.chmod(0o444)


def _written(text):
    return lambda path: path.write_bytes(text)


KINDS = {
    "SQLite": _sqlite,
    "SQLite with a write-ahead log": lambda path: _sqlite(path, wal=True),
    "Optuna's SQLite": _optuna_database,
    "Optuna's journal": _optuna_journal,
    "Optuna's journal about us": _optuna_journal_about_us,
    "JSON": _written(json.dumps({"study": "mine", "trials": [1, 2]}, indent=2).encode()),
    "one line of JSON": _written(b'{"op_code": 4}'),
    "TOML": _written(b'[search]\nobjectives = ["completed"]'),
    "Parquet": lambda path: pd.DataFrame({"a": [1]}).to_parquet(path),
    "empty": _written(b""),
    "binary": _written(bytes(range(256)) * 9),
    "zeros": _written(bytes(5000)),
    "directory": lambda path: path.mkdir(),
    "FIFO": os.mkfifo,
    "socket": _socket,
    "link to a stranger's file": _link,
    "link to nothing": lambda path: path.symlink_to(path.with_name("nowhere")),
    "read-only": _read_only,
    "gzip": _gzip,
    "zip": _zip,
    "CSV": _written(b"number,completed\n1,20\n2,30"),
    "pickle": _written(pickle.dumps({"a": [1, 2]})),
    "one huge line": _written(b"x" * 3_000_000),
    "JSON lines of another tool": _written(b'{"__CURSOR": "s=1", "MESSAGE": "boot"}\n' * 9 + b'{"__CUR'),
    "one newline": _written(b"\n"),
    "a list in JSON lines": _written(b"[1, 2]\n[3, 4]\n[5"),
    "picture": _written(b"\x89PNG\r\n\x1a\n\0\0\0"),
    "text in UTF-16": _written("dear diary\n".encode("utf-16")),
}


def seen(folder):
    """Everything below a folder: names, types, modes, contents and times of change."""
    found = {}
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(about.st_mode) else b""
        found[path.name] = about.st_mode, about.st_mtime_ns, content
    return found


def refused(action, *arguments, **options):
    """The one line by which something is refused."""
    with pytest.raises(ScenarioError) as caught:
        action(*arguments, **options)
    assert len(caught.value.faults) == 1
    assert "\n" not in str(caught.value)
    return str(caught.value)


def _search(**options):
    return search(SCENARIO, **{"budget": 3, "vary": VARY, "work": toy, **options})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [JOURNAL, TABLE])
def test_no_search_changes_a_file_of_its_folder_that_no_search_has_made(tmp_path, kind, name):
    KINDS[kind](tmp_path / name)
    if kind == "empty":
        return  # taken: there is nothing in it
    before = seen(tmp_path)
    for resume in (False, True):
        assert name in refused(_search, out=tmp_path, resume=resume)
        if name == JOURNAL:
            refused(_search, storage=str(tmp_path / name), resume=resume)
    refused(stored.load, tmp_path)
    assert seen(tmp_path) == before


RUN = ("diet/day-regular", "--set", "horizon=3")
INTO = {  # commands with the files that they write to their folder
    "run": ((*RUN,), "metrics.json"),
    "sweep": ((*RUN, "--vary", "sed.count=2,3"), "sweep.json"),
    "search": ((*RUN, "--budget", 2, "--replications", 1, "--sampler", "random", "--jobs", 1), "front.json"),
    "sensitivity": ((*RUN, "--vary", "sed.speed=1:2", "--samples", 2, "--jobs", 1), "sensitivity.csv"),
    "reproduce": (("diet/day-regular", "--replications", 1, "--jobs", 1), "claims.json"),
}


@pytest.mark.parametrize("command", INTO)
def test_a_folder_with_somebody_elses_files_of_our_names_is_refused(tmp_path, command):
    words, name = INTO[command]
    (tmp_path / name).write_text("precious")
    before = seen(tmp_path)
    result = gridtune(command, *words, "--out", tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"gridtune: {tmp_path}: {name} ")
    assert result.stderr.count("\n") == 1
    assert not missing(result.stderr, "--out")
    assert seen(tmp_path) == before


def test_all_that_commands_write_is_known_to_be_theirs(tmp_path):
    for command in ("run", "sweep", "sensitivity", "search"):
        made = gridtune(command, *INTO[command][0], "--out", tmp_path)
        assert made.returncode == 0, made.stderr
    names = {path.name for path in tmp_path.iterdir()}
    assert {JOURNAL, TABLE, "metrics.json", "sweep.json", "front.json", "sensitivity.csv"} <= names
    assert names - {FOLDER, JOURNAL, f"{JOURNAL}.writer"} <= RESULTS


def test_a_study_in_a_database_whose_making_fails_is_made_by_the_next_search(tmp_path):
    """The last that is said of it cannot be written."""
    path = tmp_path / "studies.db"
    address = f"sqlite:///{path}"
    open_for_writing(url_of(address)).engine.dispose()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "CREATE INDEX full ON study_user_attributes (iif(key = 'gridtune', abs(1 << 63), 0))"
        )
        assert "integer overflow" in refused(_search, storage=address)
        assert "no such study; it holds none" in refused(stored.load, address)
        connection.execute("DROP INDEX full")
    assert len(_search(storage=address).archive.evaluations) == 3
    assert len(stored.load(address).archive.evaluations) == 3


def test_one_search_writes_to_a_folder_at_a_time(tmp_path):
    """Also where their studies are in different databases."""
    messages = []

    def second(task):
        if not messages:
            messages.append("")
            storage = f"sqlite:///{tmp_path}/second.db"
            messages[0] = refused(_search, out=tmp_path / "out", storage=storage)
        return toy(task)

    _search(out=tmp_path / "out", storage=f"sqlite:///{tmp_path}/first.db", work=second)
    assert not unstated(messages, [f"{tmp_path}/out", "another command", "--out"])
    _search(out=tmp_path / "out", storage=f"sqlite:///{tmp_path}/second.db")
