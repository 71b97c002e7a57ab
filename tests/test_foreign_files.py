"""Files that a search did not make: whatever command is given them, they stay as they are, byte for byte."""

import gzip
import json
import os
import pickle
import socket
import sqlite3
import stat
import subprocess
import sys
import zipfile
from contextlib import closing

import optuna
import pandas as pd
import pytest
from gridtune.optimize.storages.recognition import APPLICATION
from gridtune.optimize.storages.sqlite_file import make
from optuna.storages.journal import JournalFileBackend

from databases import postgresql_database
from gridtune.optimize.runs.stored import load_archive
from gridtune.optimize.search import search
from gridtune.optimize.studies.places import JOURNAL
from gridtune.scenarios import ScenarioError, load
from gridtune.scenarios.results.locks import FOLDER, RESULTS, check_ours
from search_toys import VARY, toy
from tests.processes import PATIENCE, environment
from tests.test_cli import gridtune

ROUNDS = 4  # of two first searches at a time
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


def _marked_sqlite(path):
    _sqlite(path, wal=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA application_id = {APPLICATION}")


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
    "SQLite that says it is ours": _marked_sqlite,
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
    with pytest.raises(ScenarioError) as caught:
        action(*arguments, **options)
    assert len(caught.value.faults) == 1
    assert "\n" not in str(caught.value)
    return str(caught.value)


def _search(**options):
    return search(SCENARIO, **{"budget": 3, "vary": VARY, "work": toy, **options})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["mine.db", JOURNAL])
def test_no_command_changes_a_file_that_no_search_has_made(tmp_path, kind, name):
    path = tmp_path / name
    KINDS[kind](path)
    before = seen(tmp_path)
    for storage in (str(path), f"sqlite:///{path}"):
        for resume in (False, True):
            message = refused(_search, storage=storage, resume=resume)
            assert name in message
        refused(load_archive, storage)
    if name == JOURNAL:
        for resume in (False, True):
            refused(_search, out=tmp_path, resume=resume)
        refused(load_archive, tmp_path)
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
    assert result.stderr == (
        f"gridtune: {tmp_path}: {name} is there, and no command has written it; give --out another folder\n"
    )
    assert seen(tmp_path) == before


def test_all_that_commands_write_is_known_to_be_theirs(tmp_path):
    for command in ("run", "sweep", "search", "sensitivity"):
        made = gridtune(command, *INTO[command][0], "--out", tmp_path)
        assert made.returncode == 0, made.stderr
    (tmp_path / FOLDER).unlink()
    names = [path.name for path in tmp_path.iterdir()]
    assert {name for name in names if not name.startswith("study.journal")} <= RESULTS
    check_ours(tmp_path)  # as earlier versions have left it


def test_an_sqlite_file_given_as_a_path_is_named_as_such(tmp_path):
    _search(storage=f"sqlite:///{tmp_path}/mine.db")
    before = seen(tmp_path)
    result = gridtune("search", "diet/day-regular", "--storage", tmp_path / "mine.db")
    assert result.returncode == 2
    assert result.stderr == (
        f"gridtune: {tmp_path}/mine.db: an SQLite database; did you mean sqlite:///{tmp_path}/mine.db?\n"
    )
    assert seen(tmp_path) == before
    _search(storage=str(tmp_path / "mine.log"))
    assert "did you mean" in refused(_search, storage=f"sqlite:///{tmp_path}/mine.log")


@pytest.mark.parametrize("place", ["study.journal", "studies.db"])
def test_reading_changes_nothing(tmp_path, place):
    where = tmp_path / place
    storage = f"sqlite:///{where}" if place.endswith("db") else str(where)
    _search(storage=storage)
    before = seen(tmp_path)
    load_archive(storage)
    assert seen(tmp_path) == before


def test_reading_makes_no_tables_on_a_server():
    psycopg = pytest.importorskip("psycopg")
    with postgresql_database() as address:
        with psycopg.connect(address) as connection:
            connection.execute("CREATE TABLE people (name TEXT)")
        assert "holds no studies" in refused(load_archive, address)
        assert "a database of something else (it has the table people)" in refused(_search, storage=address)
        with psycopg.connect(address) as connection:
            tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
            assert tables.fetchall() == [("people",)]


def test_a_study_on_a_server_is_read_without_the_right_to_write():
    with postgresql_database() as address:
        _search(storage=address)
        assert len(load_archive(address).evaluations) == 3


@pytest.mark.parametrize("grown", [True, False])
def test_a_database_that_a_killed_search_has_left_half_written_is_read_and_not_changed(tmp_path, grown):
    """What SQLite would undo on the next opening is undone in a copy."""
    path = tmp_path / "studies.db"
    _search(storage=f"sqlite:///{path}")
    size = path.stat().st_size
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA cache_size = 1")  # so that pages are written before the end
        connection.execute("CREATE TABLE filling (text)")
        connection.execute("DROP TABLE filling")
        connection.execute("UPDATE trial_user_attributes SET value_json = '0' || hex(zeroblob(5000))")
        left = {name: (tmp_path / name).read_bytes() for name in ("studies.db", "studies.db-journal")}
        connection.rollback()
    if not grown:  # killed when its head was written, but not the pages that the head speaks of
        left["studies.db"] = left["studies.db"][:size]
    for name, content in left.items():
        (tmp_path / name).write_bytes(content)
    before = seen(tmp_path)
    assert len(load_archive(f"sqlite:///{path}").evaluations) == 3
    assert seen(tmp_path) == before
    assert _search(storage=f"sqlite:///{path}", resume=True).evaluated == 0


@pytest.mark.parametrize("lines", [1, 2, 3])
def test_a_study_whose_making_was_cut_short_is_made_anew(tmp_path, lines):
    """The first records of a study are in the journal, its settings are not."""
    path = tmp_path / "studies.journal"
    _search(storage=path)
    with path.open("rb+") as file:
        file.truncate(sum(len(file.readline()) for _ in range(lines)))
    assert _search(storage=path, resume=True).evaluated == 3


def test_a_study_in_a_database_is_made_whole_or_not_at_all(tmp_path):
    """The last that is said of it cannot be written: nothing of it is there."""
    path = tmp_path / "studies.db"
    make(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON study_user_attributes WHEN NEW.key = 'gridtune' "
            "BEGIN SELECT RAISE(ABORT, 'the disk is full'); END"
        )
        assert "the disk is full" in refused(_search, storage=f"sqlite:///{path}")
        tables = ("studies", "study_directions", "study_system_attributes", "study_user_attributes")
        for table in tables:
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table
        connection.execute("DROP TRIGGER full")
    assert _search(storage=f"sqlite:///{path}", resume=True).evaluated == 3


@pytest.mark.parametrize("place", ["sqlite:///{}/studies.db", "{}/studies.journal"])
@pytest.mark.parametrize("resume", [False, True])
def test_an_empty_study_that_somebody_else_has_made_is_not_taken(tmp_path, place, resume):
    """It stands among ours, and has nothing in it yet."""
    place = place.format(tmp_path)
    _search(storage=place)
    theirs = place if "://" in place else optuna.storages.JournalStorage(JournalFileBackend(place))
    optuna.create_study(study_name="theirs", storage=theirs)
    before = seen(tmp_path)
    assert "theirs: this study was not made by" in refused(
        _search, storage=place, study="theirs", resume=resume
    )
    assert seen(tmp_path) == before


def test_what_is_cut_off_a_journal_is_kept_beside_it(tmp_path):
    _search(out=tmp_path)
    for number, half in enumerate((b'{"op_code": 4, "worker', b"\0\0\0"), start=1):
        with (tmp_path / JOURNAL).open("ab") as file:
            file.write(half)
        _search(out=tmp_path, budget=3 + number, resume=True)
        assert (tmp_path / f"{JOURNAL}.cut-{number}").read_bytes() == half
    assert len(load_archive(tmp_path).evaluations) == 5


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
    assert messages == [f"{tmp_path}/out: another command is writing there; give --out another folder"]
    _search(out=tmp_path / "out", storage=f"sqlite:///{tmp_path}/second.db")


def test_two_first_searches_on_one_new_database_both_work(tmp_path):
    starting = "from test_foreign_files import first_searches; first_searches()"
    both = [
        subprocess.Popen(
            [sys.executable, "-c", starting, str(tmp_path), name],
            env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "other")
    ]  # fmt: skip
    try:
        for _ in range(ROUNDS):
            for process in both:
                process.stdin.write("\n")
                process.stdin.flush()
            answers = [process.stdout.readline() for process in both]
            assert answers == ["1\n", "1\n"], [process.stderr.read() for process in both if process.kill()]
        for process in both:
            process.communicate("", timeout=PATIENCE)
    finally:
        for process in both:
            process.kill()
            process.wait()
    for number in range(ROUNDS):
        for name in ("one", "other"):
            url = f"sqlite:///{tmp_path}/studies-{number}.db"
            assert len(load_archive(url, name).evaluations) == 1


def first_searches():
    """In a child: a search on a new database whenever a line comes in."""
    folder, study = sys.argv[1:]
    for number, _ in enumerate(sys.stdin):
        storage = f"sqlite:///{folder}/studies-{number}.db"
        found = _search(storage=storage, study=study, budget=1, validation_replications=0)
        print(len(found.archive.evaluations), flush=True)
