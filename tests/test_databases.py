"""Studies in SQLite and on a PostgreSQL server: nothing is lost, nothing is chatty, no password is shown."""

import os
import signal
import subprocess
import sys
import threading
import time

import optuna
import pytest
from gridtune.optimize.storages.rdb import digest, reason, shown
from gridtune.optimize.storages.storage import open_for_writing
from sqlalchemy import event

from databases import postgresql_database
from gridtune.optimize.runs.stored import load_archive
from gridtune.optimize.search import search
from gridtune.scenarios import ScenarioError, load
from search_toys import VARY, toy
from tests.contents import content
from tests.processes import PATIENCE, TESTS, environment, until

STUDY = "diet/day-regular"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'studies.db'}"
    else:
        with postgresql_database() as address:
            yield address


@pytest.fixture(scope="module")
def scenario():
    return load(STUDY)


def run(scenario, **options):
    return search(scenario, **{"budget": 40, "vary": VARY, "work": toy, "replications": 2, **options})


def interrupting(calls):
    left = iter(range(calls))

    def work(task):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return toy(task)

    return work


def trials(count, first=0):
    """Trials of a conditional space, with what our trials have; every fifth failed."""
    speed, kind = optuna.distributions.FloatDistribution(0.5, 2, log=True), ("legacy", "ethic", 7, True)
    choice = optuna.distributions.CategoricalDistribution(kind)
    window = optuna.distributions.IntDistribution(1, 8)
    made = []
    for number in range(first, first + count):
        params = {"speed": 0.5 + number / (first + count), "kind": kind[number % 4]}
        known = {"speed": speed, "kind": choice}
        if number % 2:
            params["window"], known["window"] = 1 + number % 8, window
        failed = number % 5 == 4
        made.append(
            optuna.trial.create_trial(
                state=optuna.trial.TrialState.FAIL if failed else optuna.trial.TrialState.COMPLETE,
                values=None if failed else [float(number), -1e300 * number, float("inf")],
                params=params,
                distributions=known,
                user_attrs={"failure": "käse"} if failed else {"metrics": {"m": None, "n": 0.1 + 0.2}},
            )
        )
    return made


def what_is_in(trial):
    return trial.state, trial.values, trial.params, trial.distributions, trial.user_attrs


def test_a_batch_reads_back_as_optuna_would_have_written_it(url):
    opened = open_for_writing(url)
    study = optuna.create_study(storage=opened.storage, study_name="batch", directions=["minimize"] * 3)
    theirs = optuna.create_study(storage=opened.storage, study_name="theirs", directions=["minimize"] * 3)
    batches = [trials(7), trials(1, 7), trials(12, 8)]
    for batch in batches:
        opened.add_trials(study, batch)
        theirs.add_trials(batch)
    opened.close()
    storage = optuna.storages.RDBStorage(opened.storage.url)  # nothing remembered
    found = optuna.load_study(study_name="batch", storage=storage).trials
    expected = optuna.load_study(study_name="theirs", storage=storage).trials
    assert [trial.number for trial in found] == list(range(20))
    assert [what_is_in(trial) for trial in found] == [what_is_in(trial) for trial in expected]
    assert [what_is_in(trial) for trial in found] == [
        what_is_in(trial) for batch in batches for trial in batch
    ]
    assert all(trial.datetime_complete is not None for trial in found)
    storage.remove_session()
    storage.engine.dispose()


def test_a_batch_takes_as_many_statements_as_a_single_trial(url):
    opened = open_for_writing(url)
    study = optuna.create_study(storage=opened.storage, directions=["minimize"] * 3)
    statements = []

    @event.listens_for(opened.storage.engine, "before_cursor_execute")
    def count(connection, cursor, statement, parameters, context, executemany):
        statements.append(statement)

    opened.add_trials(study, trials(1))
    one = len(statements)
    opened.add_trials(study, trials(50, 1))
    assert len(statements) == 2 * one <= 16
    opened.close()


def test_a_batch_that_fails_leaves_nothing(url):
    opened = open_for_writing(url)
    study = optuna.create_study(storage=opened.storage, directions=["minimize"] * 3)
    good, bad = trials(2)
    bad.user_attrs["metrics"] = {1, 2}  # no JSON
    with pytest.raises(TypeError):
        opened.add_trials(study, [good, bad])
    assert study.trials == []
    opened.add_trials(study, [good])
    assert [trial.number for trial in study.trials] == [0]
    opened.close()


def test_two_writers_number_their_trials_apart(url):
    first, second = open_for_writing(url), open_for_writing(url)
    mine = optuna.create_study(storage=first.storage, study_name="both", directions=["minimize"] * 3)
    same = optuna.load_study(study_name="both", storage=second.storage)
    other = optuna.create_study(storage=second.storage, study_name="other", directions=["minimize"] * 3)
    first.add_trials(mine, trials(3))
    second.add_trials(other, trials(2))
    second.add_trials(same, trials(3, 3))
    first.add_trials(mine, trials(3, 6))
    assert [trial.number for trial in mine.trials] == list(range(9))
    expected = [*trials(3), *trials(3, 3), *trials(3, 6)]
    assert [what_is_in(trial) for trial in mine.trials] == [what_is_in(trial) for trial in expected]
    assert len(other.trials) == 2
    first.close()
    second.close()


def test_a_resumed_search_equals_an_uninterrupted_one(scenario, url):
    with pytest.raises(KeyboardInterrupt):
        run(scenario, storage=url, work=interrupting(51))
    assert len(load_archive(url).evaluations) == 25
    resumed = run(scenario, storage=url, resume=True)
    assert content(resumed.archive) == content(run(scenario).archive) == content(load_archive(url))
    assert resumed.evaluated == 15


def test_a_killed_search_goes_on_to_its_full_budget(scenario, url):
    coordinator = subprocess.Popen(
        [sys.executable, TESTS / "search_toys.py", url, "nsga2"],
        env=environment(TOY_PAUSE="0.2"),
        stderr=subprocess.PIPE,
    )
    try:
        until(lambda: _kept(url) > 12, coordinator)
    finally:
        coordinator.send_signal(signal.SIGKILL)
        coordinator.wait(PATIENCE)
    _let_go(url)
    kept = _kept(url)
    assert 12 < kept < 60
    resumed = search(scenario, budget=60, sampler="nsga2", vary=VARY, storage=url, resume=True, work=toy)
    assert resumed.evaluated == 60 - kept
    whole = search(scenario, budget=60, sampler="nsga2", vary=VARY, work=toy)
    assert content(load_archive(url).evaluations) == content(whole.archive.evaluations)


def test_two_searches_do_not_write_one_study(scenario, url):
    holder = "import sys, time; from gridtune.optimize.storages.storage import open_for_writing; "
    holder += "opened = open_for_writing(sys.argv[1]); opened.hold(sys.argv[2]); "
    holder += "print('held', flush=True); time.sleep(60)"
    other = subprocess.Popen(
        [sys.executable, "-c", holder, url, STUDY], env=environment(), stdout=subprocess.PIPE
    )
    try:
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(ScenarioError, match=f"another search is writing the study {STUDY}"):
            run(scenario, storage=url, budget=2)
        run(scenario, storage=url, budget=2, study="another")
    finally:
        other.kill()
        other.wait()
    run(scenario, storage=url, budget=2)


def test_a_dead_search_whose_server_has_not_seen_it_yet_is_waited_for(scenario):
    psycopg = pytest.importorskip("psycopg")
    with postgresql_database() as address:
        run(scenario, storage=address, budget=2)
        holding, writing = psycopg.connect(address), psycopg.connect(address)
        holding.execute("SELECT pg_advisory_lock(%s)", [digest(STUDY)])
        writing.execute("UPDATE studies SET study_name = study_name")
        happened = []

        def die():
            for one in (holding, writing):
                time.sleep(0.5)
                happened.append("let go")
                one.close()

        dying = threading.Thread(target=die)
        dying.start()
        _let_go(address)
        happened.append("held")
        dying.join()
        assert happened == ["let go", "let go", "held"]


def test_a_server_that_goes_away_ends_the_search_in_one_line(scenario, tmp_path):
    psycopg = pytest.importorskip("psycopg")
    with postgresql_database() as address:
        name = address.rpartition("/")[2]

        def closing(task):
            with psycopg.connect(os.environ["GRIDTUNE_TEST_POSTGRESQL"], autocommit=True) as connection:
                connection.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name]
                )
            return toy(task)

        with pytest.raises(ScenarioError, match=r"cannot be written: .*--resume continues") as caught:
            run(scenario, storage=address, work=closing)
    assert "\n" not in str(caught.value)
    assert "INSERT" not in str(caught.value)


def test_objectives_have_names_for_readers_of_the_study(scenario, url):
    run(scenario, storage=url, budget=3)
    opened = open_for_writing(url)
    study = optuna.load_study(study_name=STUDY, storage=opened.storage)
    assert study.metric_names == ["unhappy_users", "unfairness", "completed"]
    opened.close()


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


def test_a_password_is_not_in_what_a_failing_server_is_said_to_have_said(scenario):
    with pytest.raises(ScenarioError, match=r"me:\*\*\*@127.0.0.1:1/db: cannot be reached") as caught:
        run(scenario, storage="postgresql://me:secret@127.0.0.1:1/db")
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_postgresql_without_a_driver_says_what_to_install(scenario, monkeypatch):
    monkeypatch.setattr("gridtune.optimize.storages.rdb.find_spec", lambda name: None)
    with pytest.raises(
        ScenarioError, match=r"no driver of PostgreSQL; `pip install 'gridtune\[postgresql\]'`"
    ):
        run(scenario, storage="postgresql://127.0.0.1/db")


def test_the_reason_of_a_database_is_its_own_words():
    inner = ValueError("statement")
    inner.orig = OSError("disk is full\n(and more)")
    outer = RuntimeError("An exception is raised during the commit.")
    outer.__cause__ = inner
    assert reason(outer) == "disk is full"
    assert reason(ValueError()) == "ValueError"


def _kept(url):
    try:
        return len(load_archive(url).evaluations)
    except ScenarioError:  # not there yet
        return 0


def _let_go(url):
    """Wait until nobody else writes the study."""
    opened = open_for_writing(url)
    opened.hold(STUDY)
    opened.close()


def test_a_database_whose_tables_another_makes_is_opened_when_it_is_ready(scenario, tmp_path, monkeypatch):
    from optuna.storages import RDBStorage
    from sqlalchemy.exc import OperationalError

    storage = f"sqlite:///{tmp_path / 'studies.db'}"
    run(scenario, storage=storage, budget=3, study="first")
    made = RDBStorage.__init__
    faults = [OperationalError("CREATE TABLE studies", {}, Exception("table studies already exists"))] * 3

    def contended(self, *arguments, **options):
        if faults and not options.get("skip_table_creation"):  # only who makes tables meets another who does
            raise faults.pop()
        made(self, *arguments, **options)

    monkeypatch.setattr(RDBStorage, "__init__", contended)
    monkeypatch.setattr("gridtune.optimize.storages.rdb.PAUSE", 0.0)
    assert run(scenario, storage=storage, budget=3).evaluated == 3
    assert not faults
