"""The Optuna dashboard shows our studies: names, objectives, trials, failures with their reasons."""

import json
from wsgiref.util import setup_testing_defaults

import pytest
from gridtune.optimize.storages.storage import open_for_reading

from databases import postgresql_database
from gridtune.optimize.search import search
from gridtune.scenarios import load
from search_toys import VARY, sometimes_failing

optuna_dashboard = pytest.importorskip("optuna_dashboard")
STUDY = "diet/day-regular"


@pytest.fixture(params=["journal", "sqlite", "postgresql"])
def storage(request, tmp_path):
    if request.param == "postgresql":
        with postgresql_database() as url:
            yield url
    else:
        yield str(tmp_path / "out" if request.param == "journal" else f"sqlite:///{tmp_path}/studies.db")


def get(app, path):
    """What the dashboard's server answers to a browser."""
    request = {"PATH_INFO": path, "REQUEST_METHOD": "GET"}
    setup_testing_defaults(request)
    status = []
    body = b"".join(app(request, lambda line, headers, *_: status.append(line)))
    assert status == ["200 OK"], body
    return body.decode()


def test_the_dashboard_shows_a_study(storage):
    place = {"storage": storage if "://" in storage else f"{storage}/study.journal"}
    result = search(
        load(STUDY), budget=30, vary=VARY, work=sometimes_failing, replications=2, sampler="random", **place
    )
    assert result.failures
    app = optuna_dashboard.wsgi(open_for_reading(storage))
    assert "bundle.js" in get(app, "/dashboard")
    (summary,) = json.loads(get(app, "/api/studies"))["study_summaries"]
    assert summary["study_name"] == STUDY
    study = json.loads(get(app, f"/api/studies/{summary['study_id']}"))
    assert study["objective_names"] == ["unhappy_users", "unfairness", "completed"]
    assert study["directions"] == ["minimize", "minimize", "maximize"]
    assert {parameter["name"] for parameter in study["union_search_space"]} == {
        "client.dispatch", "client.n_submit", "client.dispatch.window", "sed.speed",
    }  # fmt: skip
    trials = study["trials"]
    assert [trial["number"] for trial in trials] == list(range(30))
    objectives = {
        evaluation.number: [estimate.mean for estimate in evaluation.objectives.values()]
        for evaluation in result.archive.evaluations
    }
    shown = {trial["number"]: trial["values"] for trial in trials if trial["state"] == "Complete"}
    assert shown == objectives
    reasons = {
        trial["number"]: attribute["value"]
        for trial in trials
        if trial["state"] == "Fail"
        for attribute in trial["user_attrs"]
        if attribute["key"] == "failure"
    }
    assert reasons == {failure.number: failure.reason for failure in result.failures}
    front = {e.number for e in result.archive.evaluations if e.validated is not None}
    assert {trial["number"] for trial in study["best_trials"]} == front
