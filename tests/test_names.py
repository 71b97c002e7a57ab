"""Names with control characters are refused when they are made, and escaped where others have made them."""

import copy
import json
import sys
import tomllib
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
import tomli_w

from calls import call  # noqa: F401 - a fixture
from gridtune.completion import settings
from gridtune.model.policy import PolicyError, register
from gridtune.optimize.api import open_study
from gridtune.optimize.commands.front import exported
from gridtune.optimize.search import search
from gridtune.plain_text import escaped
from gridtune.scenarios import ScenarioError, load
from gridtune.scenarios.calibration.written import scenario_text
from gridtune.scenarios.document.control_characters import control_characters
from gridtune.scenarios.results.printing import print_table
from search_toys import VARY, toy
from tests.benchmarks import fuzz
from tests.facts import missing
from tests.strange_names import OAR

BASE = "diet/day-regular"
NAMES = ["x\nhorizon = 20.0", "x\x1b]0;title\x07", "a\u202eb", "\x9b2J", "a\rb", "a\u2028"]
SMALL = {"budget": 3, "vary": VARY, "replications": 1, "sampler": "random", "work": toy}
ROW = "1 0 5 10 2 -1 -1 2 20 -1 1 1 1 1 1 1 -1 -1\n"


@pytest.fixture(autouse=True)
def settings_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    monkeypatch.chdir(tmp_path)


def refused(result):
    """A refusal in lines that a terminal shows as they are."""
    assert (result.code, result.out) == (2, ""), result
    assert all(line.startswith("gridtune: ") and line.isprintable() for line in result.err.splitlines())
    assert "has a control character" in result.err


@pytest.mark.parametrize("name", NAMES)
def test_a_study_is_not_made_under_such_a_name(name, call, tmp_path):  # noqa: F811
    with pytest.raises(ScenarioError, match=r"--study: .*: has a control character"):
        search(load(BASE), study=name, out=tmp_path / "out", **SMALL)
    refused(call("search", BASE, "--budget", "1", "--study", name, "--out", "out"))
    assert not list(tmp_path.iterdir())


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_a_strangers_study_brings_no_settings_into_an_exported_configuration(name, call, tmp_path):  # noqa: F811
    out = tmp_path / "out"
    with patch("gridtune.optimize.studies.study.hidden", return_value=""):  # as others have it
        search(load(BASE), study=name, out=out, **SMALL)
    text = exported(open_study(out), "0")
    assert escaped(text, "\n") == text
    assert tomllib.loads(text).get("horizon") == load(BASE).document.get("horizon")
    assert escaped(name) in text
    for kind in ("table", "json", "csv", "latex"):
        shown = call("front", out, "--format", kind)
        assert shown.code == 0, shown.err
        assert escaped(shown.out, "\n") == shown.out


@pytest.mark.parametrize("name", NAMES)
def test_a_scenario_has_no_such_name(name, call, tmp_path):  # noqa: F811
    (tmp_path / f"{name}.toml").write_text("title = 'x'\n")
    refused(call("validate", f"{name}.toml"))
    about = {"scenario": name, "document": load(BASE).document, "base": "."}
    (tmp_path / "manifest.json").write_text(json.dumps(about))
    refused(call("run", "manifest.json"))
    (tmp_path / "log.swf").write_text(ROW)
    refused(call("calibrate", "log.swf", "--out", f"{name}-new.toml"))


def test_no_name_and_no_value_of_a_document_has_any():
    document = {
        "title": "a\nb",
        "description": "two\nlines\tand more",
        "parts": {"a\x1bb": True},
        "sed": [{"name": "one", "services": ["ok", "\x07"]}, {"name": "two", "description": "\x1b[2J"}],
    }
    said = sorted(control_characters(document))
    assert [fault.rpartition(": ")[0] for fault in said] == [
        "parts: a\\u001bb",
        "sed.one.services: \\u0007",
        "sed.two.description: \\u001b[2J",
        "title: a\\nb",
    ]
    assert not [fault for fault in said if missing(fault, "control character")]
    deep = []
    for _ in range(5000):
        deep = [deep]
    assert list(control_characters({"a": deep})) == []


@pytest.mark.parametrize("name", NAMES)
def test_faults_of_names_are_named_with_all_others(name, call, tmp_path):  # noqa: F811
    site = f"[[site]]\nname = {json.dumps(name)}\nnodes = 1\ntags = [{json.dumps(name)}]\n"
    (tmp_path / "mine.toml").write_text(f"title = 'x'\nnonsense = 1\n{site}")
    said = call("validate", "mine.toml")
    refused(said)
    assert "tags: " in said.err
    assert "nonsense: no such key" in said.err


@pytest.mark.parametrize("name", NAMES)
def test_plug_ins_and_what_they_register_have_no_such_names(name, call, tmp_path):  # noqa: F811
    with pytest.raises(PolicyError, match=r"discipline policy .*: has a control character"):
        register("discipline", name)
    (tmp_path / f"{name}.py").write_text("open('ran', 'w')\n")
    (tmp_path / "mine.toml").write_text(f"title = 'x'\nplugins = [{json.dumps(f'{name}.py')}]\n")
    refused(call("trust", f"{name}.py"))
    refused(call("validate", "mine.toml", "--allow-plugins"))
    assert not (tmp_path / "ran").exists()


HEADER = "; Computer: a\x1b]0;title\x07b\n; Note: \x9b2J\n; Queue: 1 \x1b[31m\u202e\n"


def test_no_control_character_of_a_trace_reaches_standard_output(call, tmp_path):  # noqa: F811
    (tmp_path / "log.swf").write_text(HEADER + ROW)
    shown = call("trace", "info", "log.swf")
    assert shown.code == 0
    assert "a\\u001b]0;title\\u0007b" in shown.out
    assert escaped(shown.out, "\n") == shown.out
    made = call("trace", "info", "log.swf", "--format", "json")
    assert escaped(made.out, "\n") == made.out
    assert json.loads(made.out)["header"]["Computer"] == "a\x1b]0;title\x07b"


def test_no_name_of_a_trace_becomes_a_row_of_a_converted_one(call, tmp_path):  # noqa: F811
    users = OAR.format(user=f"x\x85{ROW.strip()}", group="g\x1b[2J", queue="\u2028")
    (tmp_path / "oar.csv").write_text(users)
    made = call("trace", "convert", "oar.csv", "new.swf")
    assert made.code == 0, made.err
    text = (tmp_path / "new.swf").read_text()
    assert sum(not line.startswith(";") for line in text.splitlines()) == 1
    assert "g\\u001b[2J" in text
    assert escaped(text, "\n") == text


def test_the_name_of_a_log_becomes_no_setting_of_a_calibrated_scenario():
    name = 'log"""\nhorizon = 20.0\n#\\.swf'
    judged = SimpleNamespace(ratio=1.0, misfit=0.1, mean=100.0, logged=100.0)
    found: Any = SimpleNamespace(
        best=SimpleNamespace(fitted=judged), tested=judged, cut=2, parts=3, traces=[name], nodes=[4],
        given={}, values={"site.cluster.policy": "easy"}, first=None, promised=1.0,
    )  # fmt: skip
    document = tomllib.loads(scenario_text(found))
    assert "horizon" not in document
    assert name in document["description"]


def test_a_table_keeps_its_rows(capsys):
    print_table(("name", "value"), [{"name": "a\nhorizon = 20.0\x1b[2J", "value": 1}])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert "a\\nhorizon = 20.0\\u001b[2J   1" in lines[3]


@pytest.mark.parametrize(("columns", "meaning"), [(40, False), (60, True)])
def test_a_narrow_terminal_leaves_out_the_column_that_it_may(capsys, monkeypatch, columns, meaning):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    rows = [{"sampler": "surrogate", "meaning": "the best that there is, for few runs"}]
    print_table(("sampler", "meaning"), rows, "meaning")
    assert ("meaning" in capsys.readouterr().out) == meaning
    print_table(("sampler", "meaning"), rows)  # folded
    assert "meaning" in capsys.readouterr().out


def test_what_a_shell_may_evaluate_is_not_offered(tmp_path):
    class Context:
        params = {"scenario": "mine.toml"}  # noqa: RUF012
        args = ()

    document = copy.deepcopy(load(BASE).document)
    document["sed"] = [{"name": name, "count": 1} for name in ("a", "b\\$(touch obeyed)", "c'd")]
    (tmp_path / "mine.toml").write_text(tomli_w.dumps(document))
    words = [word for word, _ in settings(Context(), "sed.")]
    assert {"sed.a.count=", "sed.c'd.count="} <= set(words)
    assert not any("\\" in word for word in words)


@pytest.mark.long
def test_strange_names_are_taken_or_refused(tmp_path):
    """A few of what `tests.benchmarks.fuzz --kind name` generates by the thousand."""
    assert fuzz.main(20, seed=int.from_bytes(tmp_path.name.encode()[-4:]), kind="name") == 0
