"""A configuration as a scenario to run, and what to change in words."""

import tomllib
from dataclasses import replace

import pytest

from gridtune.optimize.api import open_study
from gridtune.optimize.api.search_result import Study
from gridtune.optimize.commands.front import FrontRequest, differences, exported, show_front
from gridtune.optimize.recommend.harm import harms_of_replay
from gridtune.optimize.records.recommendation import ParameterChange
from gridtune.optimize.report.frame import rows
from gridtune.optimize.report.numbers import relative
from gridtune.optimize.report.recommended import harm_text
from gridtune.optimize.search import search
from gridtune.scenarios import ScenarioError, load
from gridtune.scenarios.execution.replicate import replicate
from gridtune.scenarios.workers.pool import Pool
from search_toys import VARY, toy
from tests.facts import missing
from tests.fronts import COMPLETED, advised

SMALL = {"workload.count": 3, "client.dispatch": "ethic"}


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("searched")
    search(
        load("diet/day-regular").override(SMALL), budget=6, replications=2, sampler="random", out=folder,
        validation_replications=3,
    )  # fmt: skip
    return open_study(folder)


@pytest.mark.long
def test_a_run_of_an_exported_configuration_gives_the_values_of_the_search_to_the_last_bit(kept, tmp_path):
    for evaluation in kept.archive.evaluations[:3]:
        text = exported(kept, str(evaluation.number))
        file = tmp_path / "chosen.toml"
        file.write_text(text, encoding="utf-8")
        with Pool(1) as pool:
            runs = replicate(load(file), 1, 2, pool)
        for name, estimate in evaluation.objectives.items():
            assert tuple(run[name].value for run in runs) == estimate.values
        assert load(file).active == kept.at(evaluation.number).active


@pytest.mark.long
def test_the_comments_say_where_it_is_from(kept):
    text = exported(kept, "baseline")
    head = text.partition("\n\n")[0]
    assert all(line.startswith("# ") for line in head.splitlines())
    assert not missing(head, "Configuration 0", "diet/day-regular", "--seed 1 --replications 2")
    assert "# change: " not in head
    assert "gridtune 0" in head
    assert exported(kept, "0") == exported(kept, "baseline") == text


def test_a_trace_beside_the_scenario_is_named_in_full(tmp_path):
    from gridtune.optimize.commands.front import _located

    (tmp_path / "log.swf").touch()
    found = _located({"workload": [{"trace": "log.swf"}, {"trace": "LCG"}]}, tmp_path)
    assert found == {"workload": [{"trace": str(tmp_path / "log.swf")}, {"trace": "LCG"}]}


def test_what_to_change_in_words(kept, monkeypatch):
    legacy = next(e for e in kept.archive.evaluations if e.values.get("client.dispatch") == "legacy")
    text = differences(kept, str(legacy.number))
    assert "client.dispatch  ethic -> legacy" in text
    assert f"client.n_submit  {legacy.values['client.n_submit']}" in text
    assert max(map(len, text.splitlines())) <= 80
    assert text.startswith("Worse by over 10 % in the runs of the search:\n  ")
    worse = [harm_text(replace(one, replay=False)) for one in harms_of_replay(
        kept.archive.standing.metrics, legacy.metrics
    )]  # fmt: skip
    assert len(worse) > 5
    assert not missing(" ".join(text.split()), *worse)
    head = exported(kept, str(legacy.number)).partition("\n\n")[0]
    assert not missing(head, *worse), "who takes the scenario sees its harm, too"
    assert differences(kept, "baseline").startswith("Nothing to change")
    monkeypatch.setenv("COLUMNS", "60")
    assert max(map(len, differences(kept, str(legacy.number)).splitlines())) <= 60


def test_a_recommendation_is_exported_sparse_and_in_full_on_request(kept):
    found = Study(kept.settings, replace(kept.archive))
    full = next(e for e in kept.archive.evaluations if e.values.get("client.dispatch") == "legacy")
    small = next(e for e in kept.archive.evaluations if e.number not in (0, full.number))
    first, *_ = advised(found.details).archive.recommendations
    sparse = replace(
        first, origin=full.number, number=small.number, values=small.values, without_effect=("sed.count",),
        changes=(ParameterChange("client.dispatch.window", 1, 3, {"completed": 12.0}, 0.9),),
    )  # fmt: skip
    object.__setattr__(found.details.archive, "recommendations", (sparse,))
    assert load_text(exported(found, "A")) == load_text(exported(found, str(small.number)))
    assert load_text(exported(found, "a", full=True)) == load_text(exported(found, str(full.number)))
    told = differences(found, "A")
    assert "client.dispatch.window  1 -> 3" in told
    assert "sed.count" in told
    assert "50 s -> 3.17 min" in told
    assert relative(12.0, sparse.objectives["completed"].start, COMPLETED) in told, (
        "what the change does alone"
    )
    assert told.startswith("Worse by over 10 %:\n  "), "harm comes first"


def load_text(text):
    return tomllib.loads(text)


def test_settings_to_start_from_are_named_below_all_configurations(tmp_path):
    search(
        load("diet/day-regular"), budget=4, vary=VARY, work=toy, sampler="random", out=tmp_path,
        start=[{"client.dispatch": "legacy"}],
    )  # fmt: skip
    start, *_ = open_study(tmp_path).settings.starts
    number = next(one.number for one in open_study(tmp_path).archive.evaluations if one.values == start)
    row = next(one for one in rows(open_study(tmp_path).details) if one.number == number)
    last = show_front(str(tmp_path), FrontRequest(every=True)).splitlines()[-1]
    assert not missing(last, "Settings to start from", "`[search] start`", "`--start-from`", row.name)
    assert "Settings to start from" not in show_front(str(tmp_path), FrontRequest())


def test_a_configuration_that_is_not_there_is_one_line(kept):
    with pytest.raises(ScenarioError, match="999"):
        exported(kept, "999")
    with pytest.raises(ScenarioError, match="standard output"):
        show_front("nowhere", FrontRequest(export="0", export_diff="0"))
    with pytest.raises(ScenarioError, match="--full"):
        show_front("nowhere", FrontRequest(full=True))
    for option in ("export", "export_diff"):
        with pytest.raises(ScenarioError, match="goes without --format json"):
            show_front("nowhere", FrontRequest("json", **{option: "0"}))
