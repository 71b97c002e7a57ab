"""Code that a scenario, manifest or study names runs only when its user has said so."""

import json
import pickle
import re
import shutil
import subprocess

import pytest

from calls import call  # noqa: F401 - a fixture
from gridtune.model import plugins, policy
from gridtune.scenarios.document.scenario import Scenario, load
from gridtune.scenarios.document.trust import LARGEST, plugins_allowed, remembered, store
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.execution.replicate import Task
from tests.test_completion import offered

SCENARIO = """
title = "a plug-in"
plugins = ["{plugin}"]
[[sed]]
count = 1
discipline = "{policy}"
[client]
dispatch = "legacy"
n_submit = 3
[workload]
kind = "regular"
count = 2
n_min = 1
n_max = 2
deadline = 5
runtime = 1
[search]
objectives = ["unfairness", "completed"]
[search.space]
"client.n_submit" = [2, 3, 4]
"""

PLUGIN = """
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from gridtune.model.gridrpc.disciplines import Discipline
from gridtune.model.policy import parameter, register

Path(__file__).with_name("ran").touch()
print("noise of loading")

@register("discipline", "{policy}")
@dataclass(frozen=True)
class Mine(Discipline):
    \"\"\"First come, first served, with noise.\"\"\"

    mood: Literal["good", "bad"] = parameter("good", help="of the author")

    def front(self, queue, running, rng):
        {decision}
        return running or min(queue.jobs(), key=lambda job: job.id, default=None)
"""

LINE = PLUGIN[: PLUGIN.index("{decision}")].count("\n") + 1  # of the decision

# A document that is TOML, and Python that leaves a file behind.
BOTH = '''x = """
"""
title = "both"
plugins = ["evil.toml"]
y = """ "
import pathlib; pathlib.Path(__file__).with_name("ran").touch()
#"""
'''

made = iter(range(10_000))  # a name of a policy counts once in a process


@pytest.fixture(autouse=True)
def settings(tmp_path, monkeypatch):
    """Settings and a folder of the test's own."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(policy, "_registry", {name: dict(known) for name, known in policy._registry.items()})
    monkeypatch.setattr(plugins, "_loaded", {})
    return tmp_path


def write(folder, decision="pass", plugin="mine.py"):
    """A scenario and its plug-in; whether it ran shows by the file `ran` beside it."""
    policy = f"noisy-{next(made)}"
    folder.mkdir(exist_ok=True)
    (folder / "mine.toml").write_text(SCENARIO.format(plugin=plugin, policy=policy))
    (folder / "mine.py").write_text(PLUGIN.format(policy=policy, decision=decision))
    return folder / "mine.toml"


def refused(result, *words):
    assert result.code == 2, result
    assert result.out == ""
    lines = result.err.splitlines()
    assert len(lines) == 1
    for word in words:
        assert word in lines[0]


@pytest.mark.long
def test_a_document_that_is_toml_and_python_runs_under_no_command(call, tmp_path):  # noqa: F811
    (tmp_path / "evil.toml").write_text(BOTH)
    compile(BOTH, "evil", "exec")
    for words in (
        ["validate", "evil.toml"], ["run", "evil.toml"], ["run", "evil.toml", "--allow-plugins"],
        ["sweep", "evil.toml", "--vary", "horizon=1,2"], ["search", "evil.toml"], ["identify", "evil.toml"],
        ["sensitivity", "evil.toml"], ["search", "diet/day-regular", "--scenario", "evil.toml"],
        ["trust", "evil.toml"], ["search", "diet/day-regular", "--start-from", "evil.toml"],
        ["watch", "evil.toml", "--steps", "1"],
    ):  # fmt: skip
        refused(call(*words), "evil.toml", "ends in .py")
    for words in (
        ["scenarios", "show", "evil.toml"], ["front", "evil.toml"], ["explain", "evil.toml", "1"],
        ["trace", "info", "evil.toml"], ["plot", "evil.toml", "gantt", "--out", "x.png"],
        ["trace", "convert", "evil.toml", "x.swf"], ["calibrate", "evil.toml"],
        ["compare", "evil.toml", "evil.toml"],
    ):  # fmt: skip
        assert call(*words).code == 2
    assert offered("gridtune run evil.toml --set hor", tmp_path) == []
    assert not (tmp_path / "ran").exists()


def test_a_plugin_is_refused_until_it_is_allowed_or_trusted(call, tmp_path):  # noqa: F811
    mine = write(tmp_path)
    for words in (["validate"], ["run"], ["sweep", "--vary", "client.n_submit=1,2"], ["search"]):
        refused(
            call(words[0], mine, *words[1:]),
            "mine.toml: plugins: would run",
            "trust mine.py",
            "--allow-plugins",
        )
    assert not (tmp_path / "ran").exists()
    assert call("trust", "mine.py").code == 0
    assert list(remembered().values()) == [str(tmp_path / "mine.py")]
    assert not (tmp_path / "ran").exists()
    assert call("validate", mine).out == f"{mine}: valid\n"
    assert (tmp_path / "ran").exists()
    with (tmp_path / "mine.py").open("a") as file:
        file.write("# another file\n")
    refused(call("validate", mine), "would run")
    assert call("validate", mine, "--allow-plugins").code == 0
    refused(call("validate", mine), "would run")  # it was allowed for one command


def test_what_was_trusted_can_be_forgotten(call, tmp_path):  # noqa: F811
    mine = write(tmp_path)
    call("trust", "mine.py")
    listed = call("trust").out.split()
    assert (len(listed[0]), listed[1]) == (64, str(tmp_path / "mine.py"))
    assert "may not run" in call("trust", "--forget", "mine.py").out
    refused(call("validate", mine), "would run")
    refused(call("trust", "--forget", "mine.py"), "nothing to forget")
    refused(call("trust", "gone.py"), "gone.py: no such file")


def test_a_plugin_lies_in_the_folder_of_its_scenario(call, tmp_path):  # noqa: F811
    inner = tmp_path / "inner"
    for name in ("../mine.py", str(tmp_path / "mine.py"), "link.py"):
        mine = write(inner, plugin=name)
        shutil.copy(inner / "mine.py", tmp_path / "mine.py")
        (inner / "link.py").unlink(missing_ok=True)
        (inner / "link.py").symlink_to(tmp_path / "mine.py")
        refused(call("validate", mine, "--allow-plugins"), name, "outside")
    mine = write(inner, plugin="mine.py")
    (inner / "mine.py").write_bytes(b"#" * (LARGEST + 1))
    refused(call("validate", mine, "--allow-plugins"), "more than")
    (inner / "mine.py").unlink()
    (inner / "mine.py").mkdir()
    refused(call("validate", mine, "--allow-plugins"), "no such file")


def test_what_a_plugin_prints_is_no_result(call, tmp_path):  # noqa: F811
    mine = write(tmp_path, 'print("noise of deciding")')
    result = call("run", mine, "--allow-plugins", "--format", "json")
    assert json.loads(result.out)["metrics"]["completed"]["mean"] > 0
    assert "noise of loading" in result.err
    assert "noise of deciding" in result.err


@pytest.mark.parametrize(
    ("decision", "said"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("import sys; sys.exit(0)", "sys.exit(0)"),
        ("raise ValueError('two\\nlines')", "ValueError: two lines"),
    ],
)
def test_an_error_of_a_plugin_names_policy_file_and_line(call, tmp_path, decision, said):  # noqa: F811
    mine = write(tmp_path, decision)
    policy = f"policy noisy-{next(made) - 1}, {tmp_path / 'mine.py'}, line {LINE}"
    for options in ([], ["--jobs", "2", "--replications", "2"]):
        result = call("run", mine, "--allow-plugins", *options)
        lines = [line for line in result.err.splitlines() if line.startswith("gridtune: ")]
        assert (result.code, result.out, len(lines)) == (2, "", 1)
        assert said in lines[0]
        assert policy in lines[0]
    assert "Traceback" not in result.err
    traced = call("run", mine, "--allow-plugins", "--traceback").err
    assert 'mine.py", line' in traced.partition("gridtune: ")[0]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("\n\nx = (\n", "line 3: '(' was never closed"),
        ("import sys\nsys.exit(3)\n", "mine.py, line 2: called sys.exit(3)"),
        ("a = 1\nb = a.c\n", "line 2: AttributeError"),
        (
            "from gridtune.model.policy import register\n@register('nonsense', 'x')\nclass X: pass\n",
            "line 2: no",
        ),
        ("def f(): f()\nf()\n", "RecursionError"),
        ("\0", "null bytes"),
    ],
)
def test_an_error_of_loading_a_plugin_names_the_line(call, tmp_path, source, said):  # noqa: F811
    mine = write(tmp_path)
    (tmp_path / "mine.py").write_text(source)
    refused(call("validate", mine, "--allow-plugins"), "mine.py", said)


def test_a_policy_that_is_no_dataclass_is_named(call, tmp_path):  # noqa: F811
    mine = write(tmp_path)
    text = (tmp_path / "mine.py").read_text().replace("@dataclass(frozen=True)\n", "")
    (tmp_path / "mine.py").write_text(text.replace('print("noise of loading")', ""))
    refused(call("validate", mine, "--allow-plugins"), "noisy", "@dataclass(frozen=True)")


def test_two_plugins_cannot_register_one_policy(call, tmp_path):  # noqa: F811
    one, two = write(tmp_path / "one"), write(tmp_path / "two")
    source = (tmp_path / "one" / "mine.py").read_text()
    (tmp_path / "two" / "mine.py").write_text(source)
    two.write_text(one.read_text())
    assert call("validate", one, "--allow-plugins").code == 0
    assert call("validate", two, "--allow-plugins").code == 0  # a copy is no other plug-in
    (tmp_path / "two" / "mine.py").write_text(source.replace("noise", "silence"))
    refused_line = call("validate", two, "--allow-plugins")
    assert refused_line.code == 2
    assert "exists already" in refused_line.err


def test_a_run_is_repeated_with_the_plugin_that_it_had(call, tmp_path):  # noqa: F811
    mine = write(tmp_path)
    assert call("run", mine, "--allow-plugins", "--out", "out").code == 0
    about = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert about["plugins"] == load(mine, allow_plugins=True).plugins
    refused(call("validate", "out/manifest.json"), "would run")
    assert call("validate", "out/manifest.json", "--allow-plugins").code == 0
    (tmp_path / "mine.py").write_text((tmp_path / "mine.py").read_text() + "# changed\n")
    refused(call("validate", "out/manifest.json", "--allow-plugins"), "mine.py: changed since this was run")


@pytest.mark.long
def test_a_study_is_read_without_its_plugin_and_goes_on_only_with_it(call, tmp_path):  # noqa: F811
    mine = write(tmp_path)
    search = ["search", mine, "--budget", "3", "--jobs", "2", "--sampler", "random", "--out", "out"]
    assert call(*search, "--allow-plugins").code == 0
    (tmp_path / "ran").unlink()
    shown = call("front", "out", "--format", "json")
    assert json.loads(shown.out)["front"]
    refused(call("explain", "out", str(json.loads(shown.out)["front"][0]["number"])), "would run")
    assert not (tmp_path / "ran").exists()
    (tmp_path / "mine.py").write_text((tmp_path / "mine.py").read_text() + "# changed\n")
    again = call(*search, "--resume", "--allow-plugins")
    assert again.code == 2
    assert "the plug-ins changed" in again.err
    explained = call("explain", "out", str(json.loads(shown.out)["front"][0]["number"]), "--allow-plugins")
    assert explained.code == 2
    assert "mine.py: changed since this was run" in explained.err


def test_trust_goes_with_a_task_to_another_process(tmp_path):
    mine = write(tmp_path)
    with pytest.raises(ScenarioError, match="would run"):
        load(mine)
    task = pickle.loads(pickle.dumps(Task(load(mine, allow_plugins=True), {"client.n_submit": 2}, 1, 0)))
    assert task.resolved().spec.client[0].n_submit == 2
    (tmp_path / "mine.py").write_text((tmp_path / "mine.py").read_text() + "# changed\n")
    with pytest.raises(ScenarioError, match="changed since this was run"):
        task.resolved()


def test_python_programs_allow_plugins_for_a_scenario_or_a_block(tmp_path):
    mine = write(tmp_path)
    with plugins_allowed():
        assert load(mine).allow_plugins
    assert not Scenario("x", {}, tmp_path).allow_plugins


def test_a_store_that_cannot_be_written_is_named(call, tmp_path, monkeypatch):  # noqa: F811
    write(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "mine.py"))
    refused(call("trust", "mine.py"), "mine.py")
    assert store() == tmp_path / "mine.py" / "gridtune" / "trusted-plugins.jsonl"


def test_a_line_break_in_a_path_trusts_no_other_file(call, tmp_path):  # noqa: F811
    write(tmp_path / "other")
    mark = plugins.digest((tmp_path / "other" / "mine.py").read_bytes())
    folder = tmp_path / f"x\n{mark}  y"
    write(folder)
    assert call("trust", folder / "mine.py").code == 0
    assert list(remembered().values()) == [str(folder / "mine.py")]
    refused(call("validate", tmp_path / "other" / "mine.toml"), "would run")
    assert len(call("trust").out.splitlines()) == 1


def test_a_damaged_store_is_named(call, tmp_path):  # noqa: F811
    write(tmp_path)
    store().parent.mkdir(parents=True)
    for line in ("x", "[]", '{"sha256": 1, "path": "x"}', '{"sha256": "x", "path": "x"}', f"{'0' * 64}  x"):
        store().write_text(f'{{"sha256": "{"0" * 64}", "path": "/a"}}\n{line}\n')
        refused(call("trust"), "trusted-plugins.jsonl", "line 2")


def test_the_command_that_is_suggested_runs_nothing_else(call, tmp_path):  # noqa: F811
    mine = write(tmp_path, plugin="a; touch obeyed; b.py")
    (tmp_path / "mine.py").rename(tmp_path / "a; touch obeyed; b.py")
    said = call("validate", mine).err
    command = re.search(r"`(gridtune trust .*)`", said)[1]
    words = subprocess.run(f"printf '%s|' {command}", shell=True, capture_output=True, text=True).stdout
    assert words == "gridtune|trust|a; touch obeyed; b.py|"
    assert not (tmp_path / "obeyed").exists()
