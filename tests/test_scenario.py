"""Scenarios: reading, checking, overriding; every fault is one line that names place and remedy."""

import json

import numpy as np
import pytest
from pydantic import TypeAdapter

from gridtune.scenarios import ScenarioError, load, shipped_names, shipped_text
from gridtune.scenarios.document.paths import parse_assignment, parse_value, with_values
from gridtune.scenarios.fields.laws import Law
from gridtune.scenarios.tables.schema import ScenarioSpec
from gridtune.scenarios.workloads.sessions import DIURNAL
from tests.facts import missing


@pytest.mark.parametrize("name", list(shipped_names()))
def test_every_shipped_scenario_is_valid_and_says_where_it_comes_from(name):
    spec = load(name).spec
    assert spec.title
    assert spec.source


def test_every_shipped_scenario_can_be_searched_where_it_says_so():
    for name in shipped_names():
        scenario = load(name)
        for path in scenario.spec.search.space if scenario.spec.search else ():
            scenario.value(path)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("client.n_submit", "abc", "client.n_submit: 'abc': .*integer"),
        ("client.n_submt", 3, "client.n_submt: .*mean n_submit"),
        ("nope.x", 3, "nope: .*known: .*client"),
        ("client.dispatch", "ethik", "'ethik'; .*ethic, legacy"),
        ("client.dispatch.window", 0, "ethic.window: 0 .* 1$"),
        ("client.dispatch.windw", 2, "ethic .*'windw'; .* window"),
        ("workload.interval", -3, "workload.user.interval: -3: .* 0$"),
        ("workload.n_min", 2000, r"n_min \(2000\) .* n_max \(1000\)"),
        ("workload.runtime", {"law": "uniform", "low": 2, "high": 1}, "high .* more than low"),
        ("sed.other.count", 3, "sed.other: no such key"),
        ("title.x", 3, "title"),
    ],
)
def test_a_wrong_override_is_refused_with_the_place_and_the_remedy(path, value, message):
    with pytest.raises(ScenarioError, match=message) as caught:
        load("diet/day-regular").override({path: value})
    assert all(fault.startswith("diet/day-regular: ") for fault in caught.value.faults)
    assert len(caught.value.faults) == 1


def test_all_faults_are_named_at_once(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text('title = "x"\nbogus = 1\n[[sed]]\ncount = -1\nspeeed = 2\n[client]\ndispatch = "ethik"\n')
    with pytest.raises(ScenarioError) as caught:
        load(path)
    assert [fault.split(": ")[1] for fault in caught.value.faults] == [
        "sed.count",
        "sed.speeed",
        "client.dispatch",
        "bogus",
    ]


@pytest.mark.parametrize("text", ["title = ", "\x00", "title = 1\ntitle = 2"])
def test_what_is_not_toml_is_one_line(tmp_path, text):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(ScenarioError, match=r"bad\.toml: "):
        load(path)


def test_missing_scenarios_suggest_near_names():
    with pytest.raises(ScenarioError, match="did you mean diet/day-regular"):
        load("diet/day-reguler")


def test_paths_address_elements_by_name_all_of_them_or_the_only_one():
    document = {"site": [{"name": "a", "nodes": 1}, {"name": "b", "nodes": 1}], "client": [{"name": "c"}]}
    assert with_values(document, {"site.a.nodes": 2})["site"][0]["nodes"] == 2
    assert [site["nodes"] for site in with_values(document, {"site.*.nodes": 3})["site"]] == [3, 3]
    assert with_values(document, {"client.n_submit": 4})["client"][0]["n_submit"] == 4
    with pytest.raises(ScenarioError, match="name one of a, b"):
        with_values(document, {"site.nodes": 5})
    assert document["site"][0]["nodes"] == 1


def test_a_parameter_of_a_policy_is_set_after_the_policy_itself():
    values = {"client.dispatch.window": 3, "client.dispatch": "ethic"}
    made = load("diet/day-regular").override({"client.dispatch": "legacy"}).override(values)
    assert made.spec.client[0].dispatch.window == 3


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("0.5", 0.5),
        ("true", True),
        ("ethic", "ethic"),
        ('"3"', "3"),
        ("{law='x'}", {"law": "x"}),
        ("a b", "a b"),
    ],
)
def test_values_on_the_command_line_are_toml_or_plain_text(text, value):
    assert parse_value(text) == value


def test_an_assignment_needs_a_path_and_a_value():
    assert parse_assignment("a.b = 3") == ("a.b", 3)
    for text in ("a.b", "=3"):
        with pytest.raises(ScenarioError, match="expected PATH=VALUE"):
            parse_assignment(text)


def test_policies_come_from_separate_files(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from dataclasses import dataclass\n"
        "from gridtune.model.gridrpc.disciplines import Ethic\n"
        "from gridtune.model.policy import parameter, register\n"
        "@register('discipline', 'test-mine')\n"
        "@dataclass(frozen=True)\n"
        "class Mine(Ethic):\n"
        "    patience: float = parameter(1.0, help='of this test', unit='s', minimum=0.0)\n"
    )
    text = 'title = "x"\nplugins = ["mine.py"]\n[[sed]]\ncount = 1\n'
    text += 'discipline = {kind = "test-mine", patience = 2}\n'
    text += '[client]\ndispatch = "ethic"\n[workload]\nkind = "regular"\ncount = 1\nn_min = 1\nn_max = 2\n'
    (tmp_path / "mine.toml").write_text(text + "deadline = 5\nruntime = 1\n")
    assert load(tmp_path / "mine.toml", allow_plugins=True).spec.sed[0].discipline.patience == 2.0
    (tmp_path / "mine.py").unlink()
    (tmp_path / "other.toml").write_text(text.replace("mine.py", "gone.py") + "deadline = 5\nruntime = 1\n")
    with pytest.raises(ScenarioError, match=r"gone\.py: no such file"):
        load(tmp_path / "other.toml")


def test_the_schema_is_json_schema():
    schema = ScenarioSpec.model_json_schema()
    json.dumps(schema)
    assert {"client", "sed", "workload", "search"} <= schema["properties"].keys()


def test_the_diurnal_polynomial_has_the_published_shape():
    assert DIURNAL(0.0) == pytest.approx(3.1)
    assert DIURNAL(-0.5) == pytest.approx(0.721, abs=0.001)
    assert DIURNAL(0.5) == pytest.approx(3.67, abs=0.01)
    assert sum(DIURNAL(np.arange(100) / 100 - 0.5)) / 10 == pytest.approx(39.4, abs=0.1)


@pytest.mark.parametrize(
    ("law", "mean"),
    [
        (4.0, 4.0),
        ({"law": "uniform", "low": 0.75, "high": 2.0}, 1.375),
        ({"law": "exponential", "mean": 3.0}, 3.0),
        ({"law": "lognormal", "median": 2.0, "sigma": 0.5}, 2.0 * np.exp(0.125)),
        # RR-5576, table 2, read in seconds on the mean node: mean 952 s.
        ({"law": "weibull", "scale": 142.2, "shape": 0.45, "low": 388.5, "high": 2529.2}, 952.0),
    ],
)
def test_laws_have_the_right_mean(law, mean):
    drawn = TypeAdapter(Law).validate_python(law).draw(np.random.default_rng(1), 40_000)
    assert drawn.mean() == pytest.approx(mean, rel=0.02)
    assert (drawn >= 0).all()


def test_a_key_of_one_form_of_a_table_is_not_said_to_be_unknown_to_another():
    with pytest.raises(ScenarioError) as caught:
        load("deadline/fig3").override({"workload.priority": {"by": "runtime", "first": "late"}})
    assert "no such key" not in str(caught.value)
    assert not missing(str(caught.value), "priority.first: 'late'", "'small' or 'large'")


def test_a_suggested_command_quotes_the_name_of_a_trace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x;id;.gz").write_text("1 0 0 10 1 -1 -1 1 10 -1 1 1 1 -1 1 -1 -1 -1\n")
    with pytest.raises(ScenarioError, match=r"`gridtune calibrate 'x;id;.gz' --out mine.toml`"):
        load("x;id;.gz")


def test_a_scenario_may_begin_with_a_byte_order_mark(tmp_path):
    text = shipped_text("diet/day-regular")
    (tmp_path / "x.toml").write_text(text, encoding="utf-8-sig")
    assert load(tmp_path / "x.toml").document == load("diet/day-regular").document
