"""Studies that are damaged, held, full, of others or of earlier versions: one line, and no change."""

import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path

import optuna
import pytest
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

from databases import postgresql_database
from gridtune.optimize.studies import databases, tables
from gridtune.optimize.studies import study as study_module
from gridtune.optimize.studies.databases import shown
from gridtune.optimize.studies.places import study_place
from gridtune.optimize.studies.stored_study import read_study, stored_settings
from gridtune.scenarios import ScenarioError
from tests.facts import missing, unstated
from tests.processes import environment
from tests.test_cli import gridtune
from tests.test_foreign_files import KINDS, refused, seen
from tests.test_studies import NAME, fill, from_optuna, keep, opened, runs, where  # noqa: F401

pytestmark = pytest.mark.long


@pytest.fixture
def journal(tmp_path):
    """A journal of three configurations, with its table beside it."""
    path = tmp_path / "study.journal"
    with opened(path) as study:
        fill(study, range(3))
    return path


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "studies.db"
    with opened(f"sqlite:///{path}") as study:
        fill(study, range(3))
    return path


ALL = [run for number in range(3) for run in runs(number)]
HUGE = b"1" + 400 * b"0"
BREAKS = {
    "truncated": lambda line: line[: len(line) // 2] + b"\n",
    "none": lambda line: b"\0\0\0\0\n",
    "run into the next": lambda line: line[:40],
    "not UTF-8": lambda line: b"\xff" + line,
    "of another type": lambda line: line.replace(b'"replication":', b'"replication":"3","was":'),
    "without metrics": lambda line: line.replace(b'"metrics"', b'"metric"'),
    "with text as a number": lambda line: line.replace(b'"completed":', b'"completed":"many","c":'),
    "with a number as text": lambda line: line.replace(b'"completed":', b'"completed":"12","c":'),
    "with a truth as a number": lambda line: line.replace(b'"completed":', b'"completed":true,"c":'),
    "a list": lambda line: b"[" + line.strip() + b"]\n",
    "with a number that is too large": lambda line: line.replace(
        b'"completed":', b'"completed":1' + b"0" * 400 + b',"c":'
    ),
    "nested without end": lambda line: b"[" * 100_000 + b"\n",
}


@pytest.mark.parametrize("damage", BREAKS)
def test_a_broken_line_is_named_and_passed_over_on_request(journal, damage):
    table = journal.with_name("runs.jsonl")
    lines = table.read_bytes().splitlines(keepends=True)
    lines[3] = BREAKS[damage](lines[3])
    table.write_bytes(b"".join(lines))
    before = seen(journal.parent)
    message = f"{table}: line 4 is broken; delete it, or read the rest by `gridtune front --skip-broken`"
    assert refused(read_study, journal) == message
    assert refused(opened, journal, resume=True) == message
    assert refused(stored_settings, journal, NAME) == message
    lost = ALL[2:4] if damage == "run into the next" else ALL[2:3]
    found = read_study(journal, skip_broken=True)
    assert found.runs == tuple(run for run in ALL if run not in lost)
    assert not unstated(found.notes, [f"note: {table}: line 4"])
    assert seen(journal.parent).items() >= before.items()
    table.write_bytes(b"".join([*lines[:3], *lines[4 + (len(lost) - 1) :]]))
    with opened(journal, resume=True) as study:
        keep(study, ALL)
    assert sorted(read_study(journal).runs, key=tables.identity) == sorted(ALL, key=tables.identity)


@pytest.mark.parametrize("at", [4, None])
@pytest.mark.parametrize(
    ("line", "named"),
    [
        (b"\0\0\0\n", True),
        (b"[]\n", True),
        (b"null\n", True),
        (b'{"op_code":2,"wor\n', True),
        (b'{"op_code":4}\n', False),
        (b'{"op_code":99,"worker_id":"a"}\n', False),
    ],
)
def test_a_broken_line_of_a_journal_is_refused_in_one_line_until_it_is_deleted(journal, line, named, at):
    lines = journal.read_bytes().splitlines(keepends=True)
    at = len(lines) if at is None else at
    journal.write_bytes(b"".join([*lines[:at], line, *lines[at:]]))
    before = seen(journal.parent)
    for action in (
        lambda: read_study(journal),
        lambda: read_study(journal, skip_broken=True),
        lambda: stored_settings(journal, NAME),
        lambda: opened(journal, resume=True),
    ):
        said = f"line {at + 1} is broken; delete it" if named else "cannot be read: "
        assert refused(action).startswith(f"{journal}: {said}")
    assert seen(journal.parent) == before
    journal.write_bytes(b"".join(lines))
    found = read_study(journal)
    assert (found.runs, list(found.trials)) == (tuple(ALL), [0, 1, 2])


def test_any_end_that_a_kill_leaves_is_read_and_gone_on_with(journal):
    """At every length of both files, the last line that is whole counts, and nothing is said."""
    folder = journal.parent
    whole = {name: (folder / name).read_bytes() for name in ("study.journal", "runs.jsonl")}
    settings = whole["study.journal"].index(b"\n", whole["study.journal"].index(b'"gridtune":'))
    draw = random.Random(1)
    for name, least in (
        ("study.journal", settings + 1),
        ("runs.jsonl", whole["runs.jsonl"].index(b"\n") + 1),
    ):
        ends = [at for at, byte in enumerate(whole[name]) if byte == 10 and at > least]
        cuts = {least, *ends, *(at + 1 for at in ends), *draw.sample(range(least, len(whole[name])), 30)}
        for cut in sorted(cuts):
            for other, content in whole.items():
                (folder / other).write_bytes(content[:cut] if other == name else content)
            before = seen(folder)
            known = read_study(journal)
            assert seen(folder) == before
            assert known.runs == tuple(ALL[: len(known.runs)])
            with opened(journal, resume=True) as study:
                assert study.rows == known.runs
                assert list(study.trials) == list(known.trials)
                fill(study, range(3))
            again = read_study(journal)
            assert (again.runs, list(again.trials), again.notes) == (tuple(ALL), [0, 1, 2], ())


def test_a_journal_whose_making_was_cut_short_is_made_anew(journal):
    """Its first records are there, its settings are not; or there is nothing but an empty file."""
    whole = journal.read_bytes()
    table = journal.with_name("runs.jsonl")
    begun = table.read_bytes().partition(b"\n")[0] + b"\n"
    for cut in range(whole.index(b'"gridtune"')):
        journal.write_bytes(whole[:cut])
        table.write_bytes(begun)
        assert stored_settings(journal, NAME) is None
    assert not missing(refused(read_study, journal), "no such study", "none")
    for length in range(0, cut, 9):
        journal.write_bytes(whole[:length])
        table.write_bytes(begun if length else begun[:8])
        with opened(journal) as study:
            fill(study, range(3))
        found = read_study(journal)
        assert (found.runs, list(found.trials)) == (tuple(ALL), [0, 1, 2])


def test_a_database_whose_making_was_cut_short_is_made_anew(tmp_path):
    """All tables are there, but the row that Optuna writes last is not: it would write when it reads."""
    address = f"sqlite:///{tmp_path}/studies.db"
    databases.open_for_writing(databases.url_of(address)).engine.dispose()
    with closing(sqlite3.connect(tmp_path / "studies.db")) as connection:
        connection.execute("DELETE FROM alembic_version")
        connection.commit()
    assert stored_settings(address, NAME) is None
    with opened(address) as study:
        fill(study, range(3))
    assert read_study(address).runs == tuple(ALL)


def test_a_study_whose_table_of_runs_is_gone_says_so(journal):
    table = journal.with_name("runs.jsonl")
    for gone in (lambda: table.write_bytes(b""), table.unlink):
        gone()
        assert not missing(refused(read_study, journal), "no table of runs", "missing, empty", NAME)


def test_an_empty_study_that_somebody_else_has_made_is_not_taken(where):  # noqa: F811
    with opened(where) as study:
        fill(study, range(1))
    storage = where if "://" in where else JournalStorage(JournalFileBackend(where))
    if "postgresql" in where:
        storage = where.replace("postgresql:", "postgresql+psycopg:")
    optuna.create_study(study_name="theirs", storage=storage)
    for resume in (False, True):
        message = refused(opened, where, name="theirs", resume=resume)
        assert not missing(message, "study theirs", "`gridtune search`", "another --study")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["mine.db", "study.journal"])
def test_no_file_that_no_search_has_made_is_changed(tmp_path, kind, name):
    path = tmp_path / name
    KINDS[kind](path)
    before = seen(tmp_path)
    for place in (str(path), f"sqlite:///{path}"):
        assert str(path) in refused(read_study, place)
        if kind == "empty" or (kind == "directory" and "://" not in place):
            continue  # taken: there is nothing in it
        assert str(path) in refused(opened, place)
        assert str(path) in refused(opened, place, name="theirs", resume=True)
    assert seen(tmp_path) == before


def test_a_strangers_table_beside_a_new_journal_is_left_alone(tmp_path):
    (tmp_path / "runs.jsonl").write_text('{"mine": 1}\n')
    assert not missing(refused(opened, tmp_path / "study.journal"), "runs.jsonl", "a file of something else")
    assert (tmp_path / "runs.jsonl").read_text() == '{"mine": 1}\n'


def test_a_server_with_tables_of_others_is_left_alone():
    psycopg = pytest.importorskip("psycopg", reason="needs the extra [postgresql]")
    with postgresql_database() as address:
        with psycopg.connect(address) as connection:
            connection.execute("CREATE TABLE people (name TEXT)")
        for action in (read_study, opened):
            assert "the table people" in refused(action, address)
        with psycopg.connect(address) as connection:
            found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
            assert found.fetchall() == [("people",)]


def test_a_study_on_a_server_is_read_without_the_right_to_write():
    psycopg = pytest.importorskip("psycopg", reason="needs the extra [postgresql]")
    with postgresql_database() as address:
        with opened(address) as study:
            fill(study, range(1))
        with psycopg.connect(address, autocommit=True) as connection:
            database = address.rpartition("/")[2]
            connection.execute(f'ALTER DATABASE "{database}" SET default_transaction_read_only = on')
        assert len(read_study(address).runs) == 2
        assert "cannot be written: cannot execute" in refused(opened, address, resume=True)


@pytest.mark.parametrize("place", ["journal", "database"])
def test_reading_changes_nothing(request, tmp_path, place):
    path = request.getfixturevalue(place)
    before = seen(tmp_path)
    os.chmod(tmp_path, 0o555)
    try:
        read_study(path)
        stored_settings(path if place == "journal" else f"sqlite:///{path}", NAME)
        stored_settings(tmp_path / "none" / "study.journal", NAME)
        stored_settings(f"sqlite:///{tmp_path}/none.db", NAME)
    finally:
        os.chmod(tmp_path, 0o755)
    assert seen(tmp_path) == before


@pytest.fixture(params=[True, False], ids=["grown", "not grown"])
def half_written(request, database):
    """A database that a search has left that was killed in the middle of a change."""
    folder, size = database.parent, database.stat().st_size
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA cache_size = 1")  # so that pages are written before the end
        connection.execute("UPDATE gridtune_runs SET run = '0' || hex(zeroblob(5000))")
        left = {name: (folder / name).read_bytes() for name in ("studies.db", "studies.db-journal")}
        connection.rollback()
    if not request.param:  # killed when its head was written, but not the pages that the head speaks of
        left["studies.db"] = left["studies.db"][:size]
    for name, content in left.items():
        (folder / name).write_bytes(content)
    return database


def test_a_database_that_a_killed_search_has_left_half_written_is_read(half_written):
    """SQLite undoes what was not finished: in a copy, until a search goes on."""
    before = seen(half_written.parent)
    assert read_study(half_written).runs == tuple(ALL)
    assert seen(half_written.parent) == before
    with opened(f"sqlite:///{half_written}", resume=True) as study:
        assert study.rows == tuple(ALL)


def test_a_database_with_a_write_ahead_log_is_read_as_it_is(database):
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode = wal")
        connection.execute("DELETE FROM gridtune_runs WHERE id > 3")
        connection.commit()
        before = seen(database.parent)
        assert len(read_study(database).runs) == 2
        assert seen(database.parent) == before


def test_a_journal_that_names_another_file_removes_none(database, half_written):
    """SQLite would remove the file, in the belief that it lists the journals of one change."""
    victim, magic = database.with_name("victim"), bytes.fromhex("d9d505f920a163d7")
    victim.write_text("")
    name = os.fsencode(victim)
    numbers = len(name).to_bytes(4) + (sum(name) % 2**32).to_bytes(4)
    journal = database.with_name("studies.db-journal")
    journal.write_bytes(journal.read_bytes() + (0x40000000 // 4096 + 1).to_bytes(4) + name + numbers + magic)
    before = seen(database.parent)
    for action in (read_study, lambda path: opened(f"sqlite:///{path}", resume=True)):
        assert refused(action, database).startswith(f"{journal}: names another file")
    assert seen(database.parent) == before


@pytest.mark.parametrize("ending", ["-journal", "-wal", "-shm"])
def test_links_beside_a_database_are_not_followed(database, ending):
    (database.parent / "other").write_text("")
    Path(f"{database}{ending}").symlink_to("other")
    before = seen(database.parent)
    for action in (read_study, lambda path: opened(f"sqlite:///{path}", resume=True)):
        assert "cannot be read: " in refused(action, database)
    assert seen(database.parent) == before


@pytest.mark.parametrize("name", ["study.journal", "runs.jsonl"])
@pytest.mark.parametrize("form", ["folder", "journal"])
def test_a_search_does_not_follow_a_link_out_of_its_folder(journal, name, form):
    folder = journal.parent / "received"
    folder.mkdir()
    for path in (journal, journal.with_name("runs.jsonl")):
        if path.name == name:
            (folder / name).symlink_to(path)
        else:
            (folder / path.name).write_bytes(path.read_bytes())
    before = seen(journal.parent)
    message = refused(opened, folder if form == "folder" else folder / "study.journal", resume=True)
    assert not missing(message, f"{folder / name}:", "a link")
    assert seen(journal.parent) == before


ENDLESS = "AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS study FROM n"


@pytest.mark.parametrize(
    "made",
    [
        f"DROP TABLE alembic_version; CREATE VIEW alembic_version {ENDLESS}",
        f"DROP TABLE studies; CREATE VIEW studies {ENDLESS} ORDER BY 1",
        "CREATE TRIGGER odd BEFORE INSERT ON gridtune_runs BEGIN DELETE FROM gridtune_runs; END",
        "CREATE VIRTUAL TABLE odd USING fts5(run)",
    ],
)
def test_a_database_that_holds_more_than_tables_is_refused_before_it_is_asked(database, made):
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript(made)
    before = seen(database.parent)
    for action in (read_study, lambda path: opened(f"sqlite:///{path}", resume=True)):
        assert not missing(refused(action, database), f"{database}:", "tables", "indexes")
    assert seen(database.parent) == before


def test_a_database_under_the_name_of_a_journal_is_no_study_of_a_folder(database):
    database.rename(database.with_name("study.journal"))
    assert not missing(refused(read_study, database.parent), "SQLite database", "study")
    assert not missing(refused(opened, database.parent, resume=True), "SQLite database", "journal")


def _cut(content, draw):
    return content[: draw.randrange(1, len(content))]


def _zeros(content, draw):
    at = draw.randrange(len(content))
    return (content[:at] + bytes(5000) + content[at + 5000 :])[: len(content)]


def _schema(content, draw):
    """A schema that is not UTF-8."""
    at = content.index(b"CREATE TABLE")
    return content[: at + 20] + b"\xff\xfe" + content[at + 22 :]


def _noise(content, draw):
    for _ in range(300):
        at = draw.randrange(100, len(content))
        content = content[:at] + bytes([draw.randrange(256)]) + content[at + 1 :]
    return content


@pytest.mark.parametrize("damage", [_cut, _zeros, _schema, _noise])
def test_a_damaged_sqlite_file_is_one_line_or_what_it_was(database, damage):
    content, draw = database.read_bytes(), random.Random(2)
    outcomes = set()
    for _ in range(15):
        damaged = damage(content, draw)
        database.write_bytes(damaged)
        for action in (read_study, lambda path: opened(f"sqlite:///{path}", resume=True)):
            outcomes.add(_outcome(action, database))
            if action is read_study:
                assert database.read_bytes() == damaged
            database.write_bytes(damaged)
    assert "named" in outcomes


def _outcome(action, path):
    """Whether something is done, or refused in one line."""
    try:
        result = action(path)
    except ScenarioError as error:
        faults = error.faults
    else:
        if hasattr(result, "close"):
            result.close()
        return "read"
    assert len(faults) == 1
    assert str(path) in faults[0]
    return "named"


@pytest.mark.parametrize("name", ["gridtune_runs", "value_json", "ix_studies_study_name", "CREATE TABLE"])
def test_a_name_in_an_sqlite_file_that_is_no_text_is_damage(database, name):
    content = database.read_bytes()
    places = [found.start() for found in re.finditer(name.encode(), content)]
    assert places
    for at in places:
        database.write_bytes(content[: at + 2] + b"\xff" + content[at + 3 :])
        before = seen(database.parent)
        for action in (read_study, lambda path: opened(f"sqlite:///{path}", resume=True)):
            assert f"{database}: cannot be read: " in refused(action, database)
        assert seen(database.parent) == before
    address = f"sqlite:///{database}"
    for command in (("front", database), ("search", NAME, "--storage", address, "--resume")):
        made = gridtune(*command)
        assert (made.returncode, made.stdout, made.stderr.count("\n")) == (2, "", 1)
        assert "cannot be read" in made.stderr
    assert seen(database.parent) == before


def test_a_database_that_lacks_a_table_is_refused_in_one_line(database, capfd):
    for table in ("trials", "version_info", "trial_user_attributes"):
        content = database.read_bytes()
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.execute(f"DROP TABLE {table}")
        message = refused(read_study, database)
        assert not missing(message, f"{database}:", f"no such table: {table}")
        database.write_bytes(content)
    assert capfd.readouterr() == ("", "")


def test_a_broken_row_of_a_database_is_named_and_passed_over_on_request(database):
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE gridtune_runs SET run = substr(run, 1, 50) WHERE id = 4")
    message = f"{database}: row 4 of gridtune_runs is broken"
    assert refused(read_study, database).startswith(message)
    found = read_study(database, skip_broken=True)
    assert found.runs == tuple(run for run in ALL if run != ALL[2])
    assert found.notes == (f"note: {message} and was passed over",)


def test_a_study_that_has_lost_an_objective_is_refused_before_anything_is_written(database):
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("DELETE FROM study_directions WHERE objective = 0")
        (names,) = connection.execute("SELECT count(*) FROM study_directions").fetchone()
    before = database.read_bytes()
    for reads in (read_study, lambda place: opened(place, resume=True)):
        message = refused(reads, database)
        assert not missing(message, "damaged", names, f"{names + 1} objectives")
    assert database.read_bytes() == before


HOLDER = """
import sys, time
from tests.test_studies import keep, opened, runs
study = opened(sys.argv[1], name=sys.argv[2], resume=True)
keep(study, runs(1))
print("held", flush=True)
time.sleep(60)
"""


def test_two_writers_are_refused_and_a_dead_one_is_not(where):  # noqa: F811
    with opened(where):
        assert "another search is writing" in refused(opened, where, resume=True)
    other = subprocess.Popen(
        [sys.executable, "-c", HOLDER, where, NAME], env=environment(), stdout=subprocess.PIPE
    )
    try:
        assert other.stdout.readline() == b"held\n"
        message = refused(opened, where, resume=True)
        held = (
            f": another search is writing the study {NAME}"
            if "://" in where
            else ": another search is writing it"
        )
        assert message == shown(where) + held
        assert read_study(where).runs == tuple(runs(1)), "who only reads is let in"
        if "://" in where:
            opened(where, name="another").close()
    finally:
        other.send_signal(signal.SIGKILL)
        other.wait()
    with opened(where, resume=True) as study:
        assert study.rows == tuple(runs(1))


def test_a_dead_search_whose_server_has_not_seen_it_yet_is_waited_for():
    psycopg = pytest.importorskip("psycopg", reason="needs the extra [postgresql]")
    with postgresql_database() as address:
        held = threading.Event()

        def holding():
            with databases.holding(databases.url_of(address), NAME, "held"):
                held.set()
                time.sleep(1)

        with psycopg.connect(address):
            thread = threading.Thread(target=holding)
            thread.start()
            held.wait()
            begin = time.monotonic()
            opened(address).close()
            thread.join()
        assert time.monotonic() - begin > 0.5


def test_the_lock_of_a_killed_writer_does_not_keep_the_next_waiting(journal, monkeypatch):
    """Optuna would wait for half a minute, or for ever where the name of the journal is relative."""
    os.symlink("nowhere", f"{journal}.lock")
    monkeypatch.chdir(journal.parent)
    begin = time.monotonic()
    with opened("study.journal", resume=True) as study:
        fill(study, range(4))
    assert time.monotonic() - begin < 2 * study_module.PATIENCE + 1
    assert list(read_study(journal).trials) == [0, 1, 2, 3]


def test_two_first_searches_on_one_new_database_both_work(tmp_path):
    for number in range(3):
        address = f"sqlite:///{tmp_path}/{number}.db"
        both = [
            subprocess.Popen(
                [sys.executable, "-c", HOLDER, address, name], env=environment(), stdout=subprocess.PIPE
            )
            for name in ("one", "two")
        ]
        try:
            assert [one.stdout.readline() for one in both] == [b"held\n"] * 2
        finally:
            for one in both:
                one.kill()
                one.wait()
        assert all(read_study(address, name).runs == tuple(runs(1)) for name in ("one", "two"))


def test_a_full_disk_leaves_whole_lines_and_is_one_line(tmp_path, monkeypatch):
    """The disk takes some more bytes, and then none; every run that it took whole is found again."""
    write = os.write
    length = 600
    for room in range(0, length, 7):
        folder = tmp_path / str(room)
        study = opened(folder / "study.journal")
        left = [room]

        def full(file, text, left=left):
            done = min(len(text), left[0])
            left[0] -= done
            if not done:
                raise OSError(28, "No space left on device")
            return write(file, text[:done])

        monkeypatch.setattr(tables.os, "write", full)
        message = refused(keep, study, ALL)
        monkeypatch.undo()
        assert not missing(message, folder / "study.journal", "No space left on device", "--resume")
        study.close()
        content = (folder / "runs.jsonl").read_bytes()
        assert content.endswith(b"\n")
        kept = len(content.splitlines()) - 1
        assert read_study(folder).runs == tuple(ALL[:kept])
        with opened(folder, resume=True) as study:
            keep(study, ALL[kept:])
        assert read_study(folder).runs == tuple(ALL)
    assert kept


def test_a_disk_that_is_full_for_optuna_loses_no_run(journal, monkeypatch):
    """Nothing is written after the write that failed, so that no line runs into another."""
    append = JournalFileBackend.append_logs
    done = []

    def full(self, logs):
        done.append(logs)
        if len(done) == 1:
            waiting.wait(60)
            with open(journal, "ab") as file:
                file.write(b'{"op_code":4,"wor')
            raise OSError(28, "No space left on device")
        append(self, logs)

    study, waiting = opened(journal, resume=True), threading.Event()
    monkeypatch.setattr(JournalFileBackend, "append_logs", full)
    fill(study, range(3, 8))
    waiting.set()
    message = refused(lambda: [fill(study, [number]) or time.sleep(0.05) for number in range(8, 20)])
    assert "No space left on device" in message
    assert "cannot be written" in refused(study.close)
    monkeypatch.undo()
    assert len(done) == 1
    assert len(read_study(journal).runs) >= 16
    with opened(journal, resume=True) as study:
        fill(study, range(10))
    assert list(read_study(journal).trials) == list(range(10))


def test_a_server_that_goes_away_is_one_line():
    psycopg = pytest.importorskip("psycopg", reason="needs the extra [postgresql]")
    with postgresql_database() as address:
        name = address.rpartition("/")[2]
        study = opened(address)
        keep(study, runs(0))
        with psycopg.connect(os.environ["GRIDTUNE_TEST_POSTGRESQL"], autocommit=True) as connection:
            connection.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name]
            )
        message = refused(study.append, runs(1))
        assert "--resume continues" in message
        assert "INSERT" not in message
        study.close()


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("sqlite:////no/such/place/studies.db", "cannot be written: No such file or directory"),
        ("postgresql://me:secret@127.0.0.1:1/db", "postgresql://me:***@127.0.0.1:1/db: cannot be reached: "),
        ("nonsense://x", "nonsense://"),
        ("sqlite:studies.db", "sqlite:studies.db: neither a URL"),
        ("sqlite://", "sqlite://: names no file"),
        ("sqlite:///:memory:", "names no file"),
        ("/proc/version/study.journal", "/proc/version/study.journal: cannot be written: "),
    ],
)
def test_what_cannot_be_written_is_found_at_once(place, message):
    said = refused(opened, place)
    assert message in said
    assert "secret" not in said


@pytest.mark.parametrize("name", ["study.journal", "runs.jsonl", "studies.db"])
def test_a_study_that_has_become_unwritable_is_found_at_once(name):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        place = f"sqlite:///{path}" if name == "studies.db" else path.with_name("study.journal")
        with opened(place) as study:
            fill(study, range(2))
        path.chmod(0o444)
        for lock in Path(folder).glob("*.writer"):
            lock.chmod(0o666)
        os.chmod(folder, 0o555)
        try:
            if os.getuid() == 0:  # whom no mode keeps out
                os.seteuid(65534)
            assert "cannot be written: " in refused(opened, place, resume=True)
            assert len(read_study(place).runs) == 4
        finally:
            os.seteuid(os.getuid())
            os.chmod(folder, 0o755)


def test_a_journal_of_an_earlier_version_is_refused_with_the_way_to_it(tmp_path):
    path = tmp_path / "study.journal"
    study = optuna.create_study(
        storage=JournalStorage(JournalFileBackend(str(path))), study_name=NAME, directions=["minimize"]
    )
    study.set_user_attr("gridtune", {"objectives": [["unfairness", "minimize"]], "identity": "a"})
    before = seen(tmp_path)
    for action in (
        lambda: read_study(tmp_path),
        lambda: stored_settings(tmp_path, NAME),
        lambda: opened(tmp_path, resume=True),
    ):
        said = refused(action)
        assert not missing(said, f"the study {NAME}", "this version", "optuna.load_study")
    assert not missing(refused(opened, path, name="new"), path, "new one")
    assert seen(tmp_path) == before


def test_a_database_of_an_earlier_version_is_refused_with_the_way_to_it(tmp_path):
    address = f"sqlite:///{tmp_path}/studies.db"
    optuna.create_study(storage=address, study_name=NAME).set_user_attr("gridtune", {"identity": "a"})
    for said in (refused(read_study, address), refused(opened, address, resume=True)):
        assert not missing(said, "this version", "optuna.load_study")


SIGNS = {
    "run": ({"manifest.json": "{}"}, "a run, not a search: `gridtune plot {0} KIND` draws it, "
            "`gridtune compare {0} OTHER` compares it"),
    "sweep": ({"manifest.json": "{}", "sweep.json": "{}"}, "a sweep, not a search"),
    "claims": ({"claims.json": "{}"}, "a reproduction, not a search"),
    "nothing": ({}, "a folder that holds no search; `gridtune search SCENARIO --out` keeps one in a folder"),
}  # fmt: skip


def test_a_suggested_command_is_ready_to_paste(tmp_path):
    folder = tmp_path / "my run"
    folder.mkdir()
    (folder / "manifest.json").write_text("{}")
    assert f"`gridtune plot '{folder}' KIND`" in refused(study_place, folder)


@pytest.mark.parametrize("kind", SIGNS)
def test_a_folder_of_something_else_is_named(tmp_path, kind):
    files, message = SIGNS[kind]
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    assert refused(study_place, tmp_path) == f"{tmp_path}: {message.format(tmp_path)}"


FILES = {
    "log.swf": ("; Version: 2.2\n", "a trace (`gridtune trace info {0}` describes it), not a study"),
    "log.gwf.gz": ("\x1f", "a trace (`gridtune trace info {0}`"),
    "mine.toml": ("[[site]]\n", "a scenario (`gridtune search {0}` searches it), not a study"),
    "front.csv": ("number,completed\n", "a file of something else, not a study"),
    "empty": ("", "an empty file, not a study"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_something_else_is_named(tmp_path, name):
    content, message = FILES[name]
    path = tmp_path / name
    path.write_text(content)
    assert message.format(path) in refused(study_place, path)


def test_a_result_of_a_search_says_where_the_search_is(journal):
    (journal.parent / "front.json").write_text("{}")
    said = refused(study_place, journal.parent / "front.json")
    assert not missing(said, "front.json")
    assert said.endswith(f"beside it is {journal.parent}")


def test_what_is_not_there_is_said_to_be_missing(tmp_path):
    assert not missing(refused(read_study, tmp_path / "nowhere"), tmp_path / "nowhere", "no such study")
    assert not missing(refused(read_study, f"sqlite:///{tmp_path}/none.db"), "none.db", "no such study")
    with opened(tmp_path / "study.journal") as study:
        fill(study, range(1))
    (tmp_path / "study.journal").unlink()
    said = refused(study_place, tmp_path / "runs.jsonl")
    assert not missing(said, "runs.jsonl", "a table of runs")


@pytest.mark.parametrize(
    ("address", "seen"),
    [
        ("postgresql://me:secret@host/db", "postgresql://me:***@host/db"),
        ("postgresql://me:sec%40ret@host:5/db", "postgresql://me:***@host:5/db"),
        ("postgresql://host/db?user=me&password=secret", "postgresql://host/db?user=me"),
        ("postgresql://me:secret@host:port/db", "postgresql://host:port/db"),
        ("sqlite:///studies.db", "sqlite:///studies.db"),
    ],
)
def test_passwords_are_not_shown(address, seen):
    assert shown(address) == seen


def test_postgresql_without_a_driver_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    message = "install its driver; `pip install 'gridtune[postgresql]'` brings that of PostgreSQL"
    assert message in refused(opened, "postgresql://127.0.0.1/db")


def test_the_reason_of_a_database_is_its_own_words():
    inner = ValueError("statement")
    inner.orig = RuntimeError("disk is full\n(and more)")
    outer = RuntimeError("An exception is raised during the commit.")
    outer.__cause__ = inner
    assert databases.reason(outer) == "disk is full"
    assert databases.reason(ValueError()) == "ValueError"


def test_the_room_uses_public_names_only():
    """Of Optuna and SQLAlchemy; others may change with any release."""
    import gridtune.optimize.studies as room

    names = r"(optuna|sqlalchemy)[\w.]*"
    private = re.compile(rf"{names}\._|from {names} import .*\b_|\w\._(?!_)\w+")
    own = re.compile(r"\bself\._\w+")
    files = list(Path(room.__file__).parent.glob("*.py"))
    assert len(files) > 4
    for path in files:
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            assert not private.search(own.sub("self", line)), f"{path.name}:{number}: {line.strip()}"


def test_of_two_who_begin_one_study_the_slower_is_refused(where, monkeypatch):  # noqa: F811
    """Both see that there is none; the other has finished before this one may write."""
    opening = study_module._opened

    def slower(*arguments):
        monkeypatch.undo()
        with opened(where) as other:
            keep(other, runs(1))
        return opening(*arguments)

    monkeypatch.setattr(study_module, "_opened", slower)
    assert not missing(refused(opened, where), f"the study {NAME}", "exists", "--resume")
    assert read_study(where).runs == tuple(runs(1))


def test_a_state_that_optuna_does_not_know_is_damage_for_a_search_that_goes_on(tmp_path):
    file = tmp_path / "studies.db"
    with opened(f"sqlite:///{file}") as study:
        fill(study, range(2))
    file.write_bytes(file.read_bytes().replace(b"COMPLETE", b"COMPLETX"))
    for _ in range(2):  # nothing is held that would keep the second out
        assert "cannot be read: " in refused(opened, f"sqlite:///{file}", resume=True)


@pytest.mark.parametrize("name", ["a\nb", "a\tb", "a\x1b[2Jb"])
def test_a_new_place_has_no_control_character_in_its_name(name, tmp_path):
    assert "control character" in refused(opened, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_settings_of_another_version_are_refused_in_one_line(tmp_path):
    path = tmp_path / "study.journal"
    with opened(path):
        pass
    from_optuna(path).set_user_attr("gridtune", {"objectives": [["unfairness", "minimize", ""]], "seed": 3})
    words = ["search", "diet/day-regular", "--storage", str(path), "--study", NAME, "--resume"]
    result = gridtune(*words)
    assert result.returncode == 2
    assert "garbled, or of another version" in result.stderr
    assert len(result.stderr.splitlines()) == 1
