"""A point of a front as a scenario to run, and what to change in words."""

import pytest

from gridtune.optimize.api import open_study
from gridtune.optimize.commands.export import differences, exported
from gridtune.optimize.commands.front import show_front
from gridtune.optimize.search import search
from gridtune.scenarios import ScenarioError, load
from gridtune.scenarios.execution.replicate import replicate
from gridtune.scenarios.workers.pool import Pool

SMALL = {"workload.count": 3, "client.dispatch": "ethic"}


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("searched")
    search(
        load("diet/day-regular").override(SMALL), budget=6, replications=2, sampler="random", out=folder,
        validation_replications=3,
    )  # fmt: skip
    return open_study(folder)


def test_a_run_of_an_exported_point_gives_the_values_of_the_search_to_the_last_bit(kept, tmp_path):
    for evaluation in kept.archive.evaluations[:3]:
        text = exported(kept, str(evaluation.number))
        file = tmp_path / "chosen.toml"
        file.write_text(text, encoding="utf-8")
        with Pool(1) as pool:
            runs = replicate(load(file), 1, 2, pool)
        for name, estimate in evaluation.objectives.items():
            assert tuple(run[name].value for run in runs) == estimate.values
        assert load(file).active == kept.at(evaluation.number).active


def test_the_comments_say_where_it_is_from(kept):
    text = exported(kept, "today")
    head = text.partition("\n\n")[0]
    assert all(line.startswith("# ") for line in head.splitlines())
    assert "# Point 0 of the study diet/day-regular" in head
    assert "--seed 1 --replications 2" in head
    assert "changes: none, it is the scenario as it stands" in head
    assert "gridtune 0" in head
    assert exported(kept, "0") == text


def test_a_trace_beside_the_scenario_is_named_in_full(tmp_path):
    from gridtune.optimize.commands.export import _located

    (tmp_path / "log.swf").touch()
    found = _located({"workload": [{"trace": "log.swf"}, {"trace": "LCG"}]}, tmp_path)
    assert found == {"workload": [{"trace": str(tmp_path / "log.swf")}, {"trace": "LCG"}]}


def test_what_to_change_in_words(kept, monkeypatch):
    legacy = next(e for e in kept.archive.evaluations if e.values.get("client.dispatch") == "legacy")
    lines = differences(kept, str(legacy.number)).splitlines()
    assert lines[0].startswith("client.dispatch from ethic to legacy")
    assert any(line.startswith(f"client.n_submit to {legacy.values['client.n_submit']}") for line in lines)
    assert differences(kept, "today") == "nothing to change\n"
    monkeypatch.setenv("COLUMNS", "60")
    narrow = differences(kept, str(legacy.number))
    assert max(map(len, narrow.splitlines())) <= 60
    assert narrow.split() == " ".join(lines).split()


def test_a_point_that_is_not_there_is_one_line(kept):
    with pytest.raises(ScenarioError, match=r"no point 999; its front has .* today"):
        exported(kept, "999")
    with pytest.raises(ScenarioError, match="standard output takes one of them"):
        show_front("nowhere", "table", None, export="0", export_diff="0")
    for option in ("export", "export_diff"):
        with pytest.raises(ScenarioError, match="goes without --format json"):
            show_front("nowhere", "json", None, **{option: "0"})
