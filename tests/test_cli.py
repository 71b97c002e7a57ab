"""The command line as scripts rely on it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import pandas as pd
import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from gridtune import cli
from gridtune.scenarios.results.locks import FOLDER, holding_folder
from tests.calls import all_commands
from tests.facts import missing
from tests.forked import called
from tests.processes import environment

ROOT = Path(__file__).parent.parent


def gridtune(*arguments, cwd=None, env=None):
    """Run the command in a process of its own: where it has an environment of its own, in a new one."""
    if env is None:
        return called(list(map(str, arguments)), cwd or ROOT, timeout=120)
    return subprocess.run(
        [sys.executable, "-m", "gridtune", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd or ROOT,
        env=environment(**env),
        timeout=120,
        check=False,
    )


def refused(*arguments, **options):
    """Standard error of a call that must fail with one clear line."""
    result = gridtune(*arguments, **options)
    assert result.returncode == 2, result.stderr
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("gridtune: ")
    return lines[0]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("front nope 2>/dev/full", ""),
        ("front nope 2>&-", ""),
        ("scenarios >/dev/full", "gridtune: No space left on device\n"),
        ("scenarios --format json >&-", "gridtune: standard output is closed\n"),
    ],
)
def test_what_cannot_be_said_is_a_fault_of_the_user_all_the_same(command, said):
    result = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m gridtune {command}"],
        capture_output=True, text=True, cwd=ROOT, env=environment(), check=False,
    )  # fmt: skip
    assert (result.returncode, result.stdout, result.stderr) == (2, "", said)


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from gridtune import cli\n"
        "cli.app(['--help'], standalone_mode=False); print(sorted(sys.modules))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    loaded = result.stdout.splitlines()[-1]
    for heavy in (
        "mesa",
        "numpy",
        "pandas",
        "pydantic",
        "optuna",
        "pymoo",
        "matplotlib",
        "seaborn",
        "scenarios",
    ):
        assert f"'{heavy}'" not in loaded


@pytest.mark.long
@pytest.mark.parametrize(
    "command",
    ["", "run", "sweep", "search", "front", "plot", "reproduce", "identify", "validate", "policies", "schema",
     "scenarios", "scenarios list", "scenarios show", "trace info"],
)  # fmt: skip
def test_every_command_has_help_with_an_example(command):
    result = gridtune(*command.split(), "--help")
    assert result.returncode == 0
    assert "Usage:" in result.stdout
    assert not command or "Example: gridtune" in result.stdout


def test_run_prints_the_agreed_json_and_nothing_else():
    result = gridtune(
        "run", "diet/day-regular", "--set", "client.dispatch=legacy", "--set", "client.n_submit=190",
        "--replications", "2", "--format", "json",
    )  # fmt: skip
    assert result.returncode == 0
    made = json.loads(result.stdout)
    assert made.keys() == {"scenario", "seed", "replications", "metrics", "classes", "out"}
    assert (made["scenario"], made["seed"], made["replications"], made["out"]) == (
        "diet/day-regular",
        1,
        2,
        None,
    )
    assert made["metrics"]["completed"] == {
        "mean": 1890.0, "standard_error": 0.0, "values": [1890.0, 1890.0], "unit": "jobs",
    }  # fmt: skip
    assert {
        "unhappy_users", "unhappy_fraction", "unfairness", "completed", "completed_work", "makespan",
        "waiting_mean", "execution_mean", "response_mean", "utilisation", "killed", "wasted_work", "events",
    } <= made["metrics"].keys()  # fmt: skip


@pytest.mark.long
def test_a_sweep_prints_standard_errors_where_there_are_several_replications():
    words = ["sweep", "queue/mmc", "--set", "horizon=2000", "--vary", "queue.load=0.2,0.5"]
    words += ["--objective", "waiting_mean"]
    single, several = (gridtune(*words, "--replications", count).stdout for count in ("1", "2"))
    assert "±" not in single
    assert len(re.findall(r"0\.[25] .*\d.* ± \d", several)) == 2
    assert several.endswith("±: standard error\n")


@pytest.mark.long
@pytest.mark.parametrize("words", [("run",), ("sweep", "--vary", "sed.count=2,3")])
def test_one_command_at_a_time_writes_to_a_folder(tmp_path, words):
    command, *rest = words
    with holding_folder(tmp_path):
        said = refused(command, "diet/day-regular", *rest, "--out", tmp_path)
        assert said.startswith(f"gridtune: {tmp_path}: ")
        assert not missing(said, "another command", "--out")
        assert [path.name for path in tmp_path.iterdir()] == [FOLDER]
    assert gridtune(command, "diet/day-regular", *rest, "--out", tmp_path).returncode == 0


def test_results_on_disk_repeat_the_run(tmp_path):
    out = tmp_path / "out"
    first = gridtune("run", "diet/day-regular", "--out", out, "--events", "--seed", 7, "--format", "json")
    assert first.returncode == 0, first.stderr
    names = {path.name for path in out.iterdir()}
    assert {
        "manifest.json", "metrics.json", "jobs.parquet", "users.parquet", "signals.parquet", "events.parquet",
    } <= names  # fmt: skip
    jobs = pd.read_parquet(out / "jobs.parquet")
    assert {
        "id", "user", "kind", "site", "node", "submit", "queued", "start", "end", "processors", "runtime",
        "deadline", "state", "kills",
    } <= set(jobs.columns)  # fmt: skip
    metrics = json.loads(first.stdout)["metrics"]
    assert (jobs["state"] == "done").sum() == metrics["completed"]["mean"]
    again = gridtune("run", out / "manifest.json", "--seed", 7, "--format", "json")
    assert json.loads(again.stdout)["metrics"] == metrics


@pytest.mark.long
def test_replications_are_numbered_and_do_not_depend_on_the_number_of_workers(tmp_path):
    made = []
    for jobs in (1, 2):
        out = tmp_path / str(jobs)
        result = gridtune(
            "run", "diet/day-irregular", "--replications", 3, "--jobs", jobs, "--out", out, "--format", "json"
        )
        made.append(json.loads(result.stdout)["metrics"])
        assert set(pd.read_parquet(out / "jobs.parquet")["replication"]) == {0, 1, 2}
    assert made[0] == made[1]


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "diet/day-reguler"], "did you mean diet/day-regular"),
        (["run", "diet/day-regular", "--set", "client.n_submt=3"], "did you mean n_submit"),
        (
            ["run", "deadline/fig3", "--set", "workload.arrival=3"],
            "workload.task.arrival: no such key; known: count",
        ),
        (["run", "batch/replay", "--set", "workload.dependencies=3"], "workload.log.dependencies: "),
        (["run", "batch/replay", "--set", "workload.trace=3"], "workload.log.trace: 3"),
        (["run", "diet/day-regular", "--set", "client.n_submit=many"], "client.n_submit: 'many'"),
        (["run", "diet/day-regular", "--set", "workload.interval=-1"], "workload.user.interval: -1"),
        (["run", "diet/day-regular", "--set", "client.n_submit"], "expected PATH=VALUE"),
        (["run", "diet/day-regular", "--seed", "-1"], "--seed"),
        (["run", "diet/day-regular", "--format", "yaml"], "'--format': 'yaml' is not one of 'table', 'json'"),
        (["run"], "Missing argument"),
        (["run", "diet/day-regular", "--out", "o\udcff"], "'o\\udcff': is no text in UTF-8; rename it"),
        (["run", "--nonsense"], "No such option"),
        (["sweep", "diet/day-regular", "--vary", "client.n_submit=5:1:3"], "5 is not less than 1"),
        (["sweep", "diet/day-regular", "--vary", "nope=1,2"], "nope: no such key"),
        (["sweep", "diet/day-regular"], "nothing is varied; give --vary"),
        (
            ["sweep", "queue/mmc", "--vary", "queue.load=0.1,0.2", "--objective", "kild"],
            "did you mean killed?",
        ),
        (
            ["sweep", "queue/mmc", "--vary", "queue.load=0.1,0.2", "--objective", "premium_slowdown"],
            "premium_slowdown: not measured in this scenario",
        ),
        (["scenarios", "show", "nope"], "no such shipped scenario"),
        (["policies", "--family", "nope"], "no policy family 'nope'"),
        (["reproduce", "nope"], "no such paper"),
        (["reproduce", "diet/nope"], "no such experiment"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, message, tmp_path):
    assert message in refused(*arguments, cwd=tmp_path)
    assert not any(tmp_path.iterdir())


@pytest.mark.long
def test_results_cannot_be_written_into_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    assert "results cannot be written there" in refused("run", "diet/day-regular", "--out", tmp_path / "file")
    assert "results cannot be written there" in refused(
        "run", "diet/day-regular", "--out", tmp_path / "file/below"
    )


@pytest.mark.long
def test_a_shown_scenario_is_a_start_for_another(tmp_path):
    shown = gridtune("scenarios", "show", "diet/day-regular")
    path = tmp_path / "mine.toml"
    path.write_text(shown.stdout.replace("count = 10\ninterval", "count = 3\ninterval"))
    assert gridtune("validate", path).stdout == f"{path}: valid\n"
    made = json.loads(gridtune("run", path, "--format", "json").stdout)
    assert made["metrics"]["killed"]["mean"] == 6


@pytest.mark.parametrize(
    ("before", "after", "named"),
    [
        ('objectives = ["', 'objectives = ["nonsense", "', "nonsense"),
        ('"middleware.update_period" =', '"middleware.update_periods" =', "update_periods"),
        ('"middleware.kind" = ["push"', '"middleware.kind" = ["pushed", "push"', "pushed"),
    ],
)
def test_what_a_search_names_is_checked_with_the_rest_of_a_scenario(before, after, named, tmp_path):
    shown = gridtune("scenarios", "show", "dirac/search").stdout
    assert before in shown
    path = tmp_path / "mine.toml"
    path.write_text(shown.replace(before, after, 1))
    assert named in refused("validate", path)


def test_breaks_in_names_and_paths_stay_in_one_line(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('[[site]]\nname = "a\\nb"\n')
    said = gridtune("validate", path).stderr.splitlines()
    assert said
    assert all(line.startswith("gridtune: ") for line in said)
    assert any("a\\nb" in line for line in said)
    assert len(gridtune("run", "no\nfile.toml").stderr.splitlines()) == 1


@pytest.mark.long
def test_lists_are_json_on_demand():
    listed = json.loads(gridtune("scenarios", "--format", "json").stdout)
    assert all(row.keys() == {"name", "title", "source"} for row in listed)
    assert "diet/scalability" in {row["name"] for row in listed}
    policies = json.loads(gridtune("policies", "--format", "json").stdout)
    ethic = next(row for row in policies if (row["family"], row["name"]) == ("dispatch", "ethic"))
    assert ethic["parameters"][0]["name"] == "window"
    assert json.loads(gridtune("schema").stdout)["title"] == "ScenarioSpec"


def unread(code, **streams):
    """Run a program whose standard output nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    streams = {"stdout": writer, "stderr": subprocess.PIPE} | streams
    words = [sys.executable, "-c", code]
    try:
        return subprocess.run(words, text=True, cwd=ROOT, timeout=120, check=False, **streams)
    finally:
        os.close(writer)


COMMAND = "import sys; from gridtune import cli; sys.argv = ['gridtune', *{}]; cli.main()"


@pytest.mark.parametrize("words", [["reproduce", "--list"], ["schema"]])
def test_whoever_reads_only_the_first_lines_gets_them_without_an_error(words):
    result = unread(COMMAND.format(words))
    assert (result.returncode, result.stderr) == (0, "")


def test_a_command_whose_lines_nobody_reads_ends_as_any_other():
    columns = ("id", "experiment", "claim", "expected", "measured", "reason")
    claim = dict.fromkeys(columns, "") | {"verdict": "not met"}
    made = {"claims": [claim], "counts": {}, "left_out": ["x" * 99] * 999, "figures": []}
    code = f"import gridtune.scenarios.commands.reproduce as one\none.run_paper = lambda *a, **b: {made}\n"
    assert unread(code + COMMAND.format(["reproduce", "x"])).returncode == 1
    assert unread(COMMAND.format(["run", "none"]), stderr=subprocess.STDOUT).returncode == 2


def test_another_pipe_that_breaks_is_an_error():
    broken = "import gridtune.scenarios.commands.reproduce as one\n"
    broken += "def broken(*a, **b): raise BrokenPipeError(32, 'Broken pipe')\none.run_paper = broken\n"
    result = unread(broken + COMMAND.format(["reproduce", "x"]))
    assert (result.returncode, result.stderr) == (2, "gridtune: Broken pipe\n")


@pytest.mark.long
def test_reproduce_draws_figures_and_exits_with_the_verdict(tmp_path):
    result = gridtune(
        "reproduce",
        "diet/day-regular",
        "--quick",
        "--replications",
        2,
        "--out",
        tmp_path / "out",
        "--format",
        "json",
    )
    made = json.loads(result.stdout)
    assert {
        "id", "experiment", "claim", "source", "expected", "measured", "verdict",
    } <= made["claims"][0].keys()  # fmt: skip
    assert result.returncode == 0
    assert {claim["verdict"] for claim in made["claims"]} == {"undecided"}  # two runs decide nothing
    assert made["counts"]["undecided"] == len(made["claims"])
    assert (tmp_path / "out" / "figure-6.png").stat().st_size > 10_000


@pytest.mark.long
def test_identify_prints_plant_and_gains():
    result = gridtune("identify", "cigri/file-system", "--format", "json")
    made = json.loads(result.stdout)
    assert {"a", "b", "fit", "kp", "ki"} <= made.keys()
    assert 0.5 < made["a"] < 0.9 < made["fit"]
    assert "gains below 0" not in result.stderr
    slow = gridtune("identify", "cigri/file-system", "--settling", 30, "--format", "json")
    assert json.loads(slow.stdout)["kp"] < 0
    assert "gains below 0" in slow.stderr
    assert "settling" in refused("identify", "cigri/file-system", "--settling", -1)
    assert "needs one harvester" in refused("identify", "diet/day-regular")
    assert "expected 0 <= low < high" in refused("identify", "cigri/file-system", "--low", 5, "--high", 1)


@pytest.mark.long
def test_an_interrupted_command_says_so():
    code = (
        "import sys\n"
        "from gridtune import cli\n"
        "import gridtune.scenarios.document.scenario as module\n"
        "def stop():\n"
        "    raise KeyboardInterrupt\n"
        "module.shipped_names = stop\n"
        "sys.argv = ['gridtune', 'scenarios']\n"
        "cli.main()\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert ended.returncode == 130
    assert ended.stderr.strip() == "gridtune: interrupted"


def number(parameter):
    return parameter.type_descriptor.annotation in (int, float)


def help_faults(command):
    """What the help of a command fails to say of its options and arguments."""
    context = command.make_context("x", [], resilient_parsing=True)
    for one in command.get_params(context):
        record = one.get_help_record(context)
        said = (one.help or "").strip()
        if not record or not said or not said[0].isupper() or not said.endswith((".", ".)")):
            yield f"{one.name}: no sentence: {said!r}"
        if number(one):
            if one.min is None or one.max is None or ".." not in record[0]:
                yield f"{one.name}: no bounds: {record[0]}"
            if "[default: " not in record[1]:
                yield f"{one.name}: no default: {record[1]}"


def test_help_has_a_sentence_for_each_option_and_bounds_and_default_of_each_number():
    commands = list(all_commands(get_command(cli.app)))
    assert len(commands) > 15
    numbers = 0
    for words, command in commands:
        assert list(help_faults(command)) == [], words
        numbers += sum(map(number, command.params))
    assert numbers > 30


@pytest.mark.long
def test_help_fits_a_terminal():
    runner = CliRunner()
    for words, _ in all_commands(get_command(cli.app)):
        shown = runner.invoke(cli.app, [*words, "--help"], prog_name="gridtune", terminal_width=80).output
        assert [line for line in shown.splitlines() if len(line) > 80] == [], words


def test_help_without_a_sentence_bounds_or_default_is_found():
    app = typer.Typer()

    @app.command()
    def made(
        name: Annotated[str, typer.Option()] = "",
        size: Annotated[int | None, typer.Option(help="Set the size.")] = None,
    ):
        """Do it."""

    found = " ".join(help_faults(get_command(app)))
    assert [word in found for word in ("name: no sentence", "size: no bounds", "size: no default")] == [
        True
    ] * 3


def test_the_seed_of_a_search_is_refused_before_anything_is_read():
    assert "4294967295" in refused("search", "diet/day-regular", "--seed", 2**32)
    assert gridtune("run", "diet/day-regular", "--seed", 2**64 - 1).returncode == 0
