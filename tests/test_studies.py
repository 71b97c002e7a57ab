"""Studies: what is written comes back bit by bit, from every storage, and Optuna reads it without us."""

import json
import sqlite3
import struct
import warnings
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from math import inf, isnan, nan, pi
from wsgiref.util import setup_testing_defaults

import optuna
import pytest
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState

from databases import postgresql_database
from gridtune.model.streams import HELD_OUT
from gridtune.optimize.records.evaluations import Constraint, Estimate, Evaluation, Failed, Objective
from gridtune.optimize.search_space.parameter import Parameter
from gridtune.optimize.search_space.settings import Settings
from gridtune.optimize.search_space.space import Space
from gridtune.optimize.studies.databases import url_of
from gridtune.optimize.studies.places import study_place
from gridtune.optimize.studies.stored_study import read_study, stored_settings
from gridtune.optimize.studies.study import open_study
from gridtune.optimize.studies.tables import Run
from gridtune.scenarios import ScenarioError, load

NAME = "diet/day-regular"
OBJECTIVES = (Objective("unfairness", "minimize"), Objective("completed", "maximize", resolution=0.1))
SPACE = Space(
    (
        Parameter("site.lal.share", (), 0.0, 1.0),
        Parameter("client.dispatch", ("legacy", "ethic", True, 3)),
        Parameter("client.n_submit", (), 1, 1000, log=True, whole=True),
    )
)
LOST = Constraint("lost", "<=", 0.0)
SETTINGS = Settings(load(NAME), SPACE, OBJECTIVES, "ä\u2028\0", 1, 3, 2, constraints=(LOST,))
STARTED = datetime(2026, 3, 1, 12, 0, 0, 250)


@pytest.fixture(params=["journal", "sqlite", "postgresql"])
def where(request, tmp_path):
    if request.param == "postgresql":
        with postgresql_database() as url:
            yield url
    else:
        yield (
            str(tmp_path / "out" / "study.journal")
            if request.param == "journal"
            else (f"sqlite:///{tmp_path}/studies.db")
        )


def opened(where, name=NAME, settings=SETTINGS, **options):
    return open_study(where, name, settings, **options)


def configuration(number):
    return {"site.lal.share": (number * 0.618) % 1, "client.dispatch": "ethic", "client.n_submit": number + 1}


def runs(number, count=2):
    """Runs of a configuration; no two have equal metrics."""
    return [
        Run(
            configuration(number),
            "lal",
            at + HELD_OUT * (at % 2),
            {"unfairness": pi / (number + at + 1), "completed": 7},
        )
        for at in range(count)
    ]


def keep(study, kept):
    for run in kept:
        study.append(run)


def fill(study, numbers):
    for number in numbers:
        keep(study, runs(number))
        started = STARTED + timedelta(seconds=number)
        means = {"unfairness": pi / (number + 1), "completed": 7.0, "lost": number - 1.5}
        estimates = {name: Estimate(mean, 0.1, (mean, mean)) for name, mean in means.items()}
        objectives = {one.name: estimates[one.name] for one in OBJECTIVES}
        entry = Evaluation(number, configuration(number), objectives, {}, cases={"lal": estimates})
        study.add_trial(entry, started, started + timedelta(seconds=0.5))


def bits(number):
    return struct.pack(">d", number)


def from_optuna(where):
    """The study as Optuna alone opens it."""
    storage = str(where)
    if "://" not in storage:
        storage = JournalStorage(JournalFileBackend(storage))
    elif storage.startswith("postgresql:"):
        storage = storage.replace("postgresql:", "postgresql+psycopg:")
    return optuna.load_study(study_name=NAME, storage=storage)


def test_runs_come_back_bit_by_bit(where):
    numbers = [0.1 + 0.2, 5e-324, -0.0, 1.7976931348623157e308, 1 / 3, 1e22, nan, inf, -inf, 3]
    values = {"a": 1, "b": True, "c": 0.1 + 0.2, "d": "x\n\u2028\0\ud800ä", "e": 10**30, "f": -0.0, "g": 2.0}
    written = Run(values, "ä case\n", HELD_OUT + 3, {f"m{at}": number for at, number in enumerate(numbers)})
    with opened(where) as study:
        assert study.rows == ()
        study.append(written)
    (found,) = read_study(where).runs
    assert found.values == values
    assert [type(value) for value in found.values.values()] == [type(value) for value in values.values()]
    assert (found.case, found.replication) == ("ä case\n", HELD_OUT + 3)
    for number, again in zip(numbers, found.metrics.values(), strict=True):
        assert bits(again) == bits(number) or (isnan(again) and isnan(number))


def test_a_study_comes_back_as_it_was(where):
    with opened(where) as study:
        fill(study, range(3))
        study.set_attribute("units", {"unfairness": "", "completed": "jobs"})
        study.add_trial(Failed(3, configuration(3), "no such\nqueue"), STARTED, STARTED)
        assert list(study.trials) == [0, 1, 2, 3]
    found = read_study(where)
    assert (found.name, found.settings) == (NAME, SETTINGS.as_json())
    assert found.attributes == {"units": {"unfairness": "", "completed": "jobs"}}
    assert found.runs == tuple(run for number in range(3) for run in runs(number))
    assert {number: trial.params for number, trial in found.trials.items()} == {
        number: configuration(number) for number in range(4)
    }
    assert found.trials[3].user_attrs["failure"] == "no such queue"
    assert stored_settings(where, NAME) == SETTINGS.as_json()
    assert stored_settings(where, "another") is None
    assert read_study(where, NAME) == found


def test_optuna_reads_it_without_us(where):
    with opened(where) as study:
        fill(study, range(3))
        study.add_trial(Failed(3, configuration(3), "no such queue"), STARTED, STARTED)
    found = from_optuna(where)
    assert found.user_attrs["gridtune"] == SETTINGS.as_json()
    assert found.metric_names == [one.name for one in OBJECTIVES]
    assert [one.name for one in found.directions] == ["MINIMIZE", "MAXIMIZE"]
    assert [trial.number for trial in found.trials] == [0, 1, 2, 3]
    assert [trial.values for trial in found.trials[:3]] == [[pi / (at + 1), 7.0] for at in range(3)]
    assert [trial.constraints for trial in found.trials[:3]] == [{"lost<=0": at - 1.5} for at in range(3)]
    assert found.trials[1].distributions == {
        "site.lal.share": optuna.distributions.FloatDistribution(0, 1),
        "client.dispatch": optuna.distributions.CategoricalDistribution(["legacy", "ethic", True, 3]),
        "client.n_submit": optuna.distributions.IntDistribution(1, 1000, log=True),
    }
    assert found.trials[3].state == TrialState.FAIL
    assert [trial.number for trial in found.best_trials] == [1], "no. 2 breaks its constraint"
    for number, trial in enumerate(found.trials[:3]):
        assert trial.datetime_start == STARTED + timedelta(seconds=number)
        assert trial.duration == timedelta(seconds=0.5)
        assert len(json.dumps(trial.user_attrs)) < 500


def test_the_dashboard_shows_it(where):
    dashboard = pytest.importorskip("optuna_dashboard", reason="needs the extra [dashboard]")
    with opened(where) as study:
        fill(study, range(3))
        study.add_trial(Failed(3, configuration(3), "no such queue"), STARTED, STARTED)

    def get(path):
        request = {"PATH_INFO": path, "REQUEST_METHOD": "GET"}
        setup_testing_defaults(request)
        status = []
        body = b"".join(app(request, lambda line, headers, *_: status.append(line)))
        assert status == ["200 OK"], body
        return json.loads(body)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        app = dashboard.wsgi(from_optuna(where)._storage)
        (summary,) = get("/api/studies")["study_summaries"]
        assert summary["study_name"] == NAME
        shown = get(f"/api/studies/{summary['study_id']}")
    assert shown["objective_names"] == [one.name for one in OBJECTIVES]
    assert [trial["state"] for trial in shown["trials"]] == ["Complete"] * 3 + ["Fail"]
    assert [trial["datetime_start"] for trial in shown["trials"]][1].startswith("2026-03-01T12:00:01")


@pytest.mark.long
def test_a_resumed_study_has_what_was_there_and_writes_no_configuration_twice(where):
    with opened(where) as study:
        fill(study, range(3))
        study.set_attribute("progress", 1)
    with opened(where, settings=replace(SETTINGS, batch=5), resume=True) as study:
        assert study.rows == tuple(run for number in range(3) for run in runs(number))
        assert study.trials[2].params == configuration(2)
        assert study.attributes == {"progress": 1}
        fill(study, range(5))
        study.set_attribute("progress", 2)
    found = read_study(where)
    assert found.settings == replace(SETTINGS, batch=5).as_json()
    assert found.attributes == {"progress": 2}
    assert found.runs == tuple(run for number in range(5) for run in runs(number)), "each once"
    assert [trial.number for trial in from_optuna(where).trials] == list(range(5))


@pytest.mark.long
def test_a_study_is_not_continued_or_written_over_by_accident(where):
    with opened(where) as study:
        fill(study, range(2))
    before = read_study(where)
    with pytest.raises(ScenarioError, match=f"the study {NAME} exists; --resume continues it"):
        opened(where)
    assert read_study(where) == before
    with opened(where, name="another", resume=True) as study:
        assert study.rows == ()
        for run in runs(9):
            study.append(run)
    assert read_study(where, NAME) == before
    assert read_study(where, "another").runs == tuple(runs(9))
    with pytest.raises(ScenarioError, match=rf"#NAME; it holds .*{NAME}"):
        read_study(where)
    with pytest.raises(ScenarioError, match="no such study; it holds "):
        read_study(where, "a third")


@pytest.mark.long
def test_a_deleted_study_leaves_no_runs_to_the_next_of_its_name(where):
    with opened(where) as study:
        fill(study, range(2))
    known = from_optuna(where)
    optuna.delete_study(study_name=NAME, storage=known._storage)
    with pytest.raises(ScenarioError, match="no such study; it holds none"):
        read_study(where)
    with opened(where, resume=True) as study:
        assert (study.rows, study.trials) == ((), {})
        for run in runs(7):
            study.append(run)
    assert read_study(where).runs == tuple(runs(7))


@pytest.mark.long
def test_trials_of_others_are_no_configurations_of_the_search(where):
    with opened(where) as study:
        fill(study, range(2))
    theirs = from_optuna(where)
    theirs.enqueue_trial(configuration(5))
    theirs.add_trial(optuna.trial.create_trial(state=TrialState.FAIL, user_attrs={"number": "7"}))
    theirs.add_trial(optuna.trial.create_trial(values=[1.0, 2.0]))
    with opened(where, resume=True) as study:
        assert list(study.trials) == [0, 1]
        fill(study, range(3))
    found = read_study(where)
    assert list(found.trials) == [0, 1, 2]
    assert found.trials[2].number == 5


def test_a_study_in_memory_is_one_like_others():
    with opened(None) as study:
        fill(study, range(3))
    assert [trial.number for trial in study.study.trials] == [0, 1, 2]
    assert stored_settings(None, NAME) is None


@pytest.mark.parametrize("form", ["folder", "journal"])
def test_a_folder_is_found_by_itself_and_by_its_files(tmp_path, form):
    folder = tmp_path / "out"
    folder.mkdir()
    with opened(folder) as study:
        fill(study, range(2))
    place = {"folder": folder, "journal": folder / "study.journal"}[form]
    assert study_place(place) == folder / "study.journal"
    assert len(read_study(place).runs) == 4


def test_a_journal_of_another_name_has_its_own_table(tmp_path):
    for name in ("a.journal", "b.journal", "c.log"):
        with opened(tmp_path / name) as study:
            for run in runs(len(name)):
                study.append(run)
    tables = {path.name for path in tmp_path.glob("*.jsonl")}
    assert tables == {"a.runs.jsonl", "b.runs.jsonl", "c.log.runs.jsonl"}
    assert read_study(tmp_path / "b.journal").runs == tuple(runs(9))
    (tmp_path / "link.journal").symlink_to(tmp_path / "c.log")
    assert read_study(tmp_path / "link.journal").runs == tuple(runs(5))


@pytest.mark.long
@pytest.mark.parametrize("address", ["sqlite:///{0}", "{0}"])
def test_an_sqlite_file_is_found_by_every_form_of_its_name(tmp_path, address):
    path = tmp_path / "my {studies} 100%.db"
    with opened(f"sqlite:///{path}") as study:
        fill(study, range(2))
    before = sorted(one.name for one in tmp_path.iterdir())
    assert len(read_study(address.format(path)).runs) == 4
    assert sorted(one.name for one in tmp_path.iterdir()) == before


def test_the_table_is_one_for_pandas(tmp_path):
    """One line of JSON a run, with the same names in each."""
    with opened(tmp_path / "study.journal") as study:
        fill(study, range(2))
    rows = [json.loads(line) for line in (tmp_path / "runs.jsonl").read_text().splitlines()]
    assert rows[0].keys() == {"study", "begun"}
    assert all(
        row.keys() == {"study", "configuration", "case", "replication", "validation", "metrics"}
        for row in rows[1:]
    )
    assert len(rows) == 5


def test_rows_of_a_database_are_plain_too(tmp_path):
    with opened(f"sqlite:///{tmp_path}/studies.db") as study:
        fill(study, range(2))
    with closing(sqlite3.connect(tmp_path / "studies.db")) as connection:
        rows = [json.loads(row) for (row,) in connection.execute("SELECT run FROM gridtune_runs ORDER BY id")]
    assert [row.get("replication") for row in rows] == [None, 0, 1, 0, 1]
    assert [row.get("validation") for row in rows] == [None, False, True, False, True]


@pytest.mark.parametrize("name", ["a\nb", "a\0", "\x1b[31mred", "a\u2028b", "\ud800", "", "  ", "x" * 513])
def test_names_that_no_terminal_shows_are_refused(tmp_path, name):
    with pytest.raises(ScenarioError, match="--study") as caught:
        opened(tmp_path / "study.journal", name=name)
    assert str(caught.value).isprintable()
    assert not list(tmp_path.iterdir())


def test_names_of_other_scripts_are_not(where):
    name = "über/grid 网格 👍🏽 100% {x}"
    with opened(where, name=name) as study:
        for run in runs(1):
            study.append(run)
    assert read_study(where).name == name


def test_the_driver_of_postgresql_is_psycopg_unless_another_is_named():
    assert url_of("postgresql://host/db").drivername == "postgresql+psycopg"
    assert url_of("postgresql+psycopg2://host/db").drivername == "postgresql+psycopg2"
