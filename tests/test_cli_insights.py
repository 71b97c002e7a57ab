"""`gridtune sensitivity` and `gridtune explain` as scripts rely on them."""

import csv
import io
import json

import pytest

from tests.test_cli import gridtune, refused

pytestmark = pytest.mark.long

QUICK = ("--set", "workload.count=3")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    out = tmp_path_factory.mktemp("search") / "out"
    result = gridtune(
        "search", "diet/day-regular", *QUICK, "--budget", 24, "--replications", 2, "--jobs", 1, "--out", out,
        "--sampler", "random", "--format", "json",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return out, json.loads(result.stdout)


def test_sensitivity_of_a_scenario_leaves_numbers_and_a_picture(tmp_path):
    out = tmp_path / "out"
    result = gridtune(
        "sensitivity", "diet/day-regular", *QUICK, "--vary", "sed.speed=0.5:2.0:log", "--samples", 3,
        "--jobs", 1, "--objective", "completed", "--out", out, "--format", "json",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    made = json.loads(result.stdout)
    assert (made["method"], made["samples"], made["subject"]) == ("morris", 3, "diet/day-regular")
    assert [objective["name"] for objective in made["objectives"]] == ["completed"]
    rows = made["objectives"][0]["parameters"]
    assert {row["path"] for row in rows} == {
        "client.dispatch", "client.dispatch.window", "client.n_submit", "sed.speed",
    }  # fmt: skip
    assert json.loads((out / "sensitivity.json").read_text()) == made
    assert (out / "sensitivity.csv").read_text().startswith("objective,parameter,mu_star,mu_star_conf,mu,")
    assert (out / "sensitivity.png").stat().st_size > 10_000


def test_sensitivity_of_a_study_simulates_nothing(study, tmp_path):
    out, _ = study
    result = gridtune("sensitivity", out, "--format", "csv", "--plot", tmp_path / "importances.svg")
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert {row["objective"] for row in rows} <= {"unhappy_users", "unfairness", "completed"}
    assert all(int(row["active"]) <= int(row["of"]) == 24 for row in rows)
    assert (tmp_path / "importances.svg").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["STUDY", "--samples", 3], "--samples"),
        (["STUDY", "--set", "sed.speed=2"], "--set"),
        (["STUDY", "--objective", "nope"], "nope: no such metric"),
        (["diet/day-regula"], "did you mean diet/day-regular"),
        (["diet/day-regular", "--method", "fast"], "there are morris, sobol"),
        (["diet/day-regular", "--method", "sobol", "--samples", 100], "64 or 128"),
        (["diet/day-regular", "--plot", "x.gif"], "x.gif"),
        (["egee/plain"], "nothing to search"),
    ],
)
def test_a_sensitivity_that_cannot_be_is_refused_in_one_line(study, arguments, message, tmp_path):
    arguments = [study[0] if argument == "STUDY" else argument for argument in arguments]
    out = tmp_path / "out"
    assert message in refused("sensitivity", *arguments, "--out", out)
    assert not out.exists()


def test_explain_answers_in_words_and_in_json(study):
    out, made = study
    last = next(one for one in reversed(made["front"]) if one["validation_replications"])
    number = last["number"]
    words = gridtune("explain", out, number, "--jobs", 1, "--no-ablate", "--all")
    assert words.returncode == 0, words.stderr
    assert words.stdout.startswith(f"Configuration {number} ")
    assert "Against the baseline" in words.stdout
    brief = gridtune("explain", out, number, "--jobs", 1, "--no-ablate")
    assert len(brief.stdout.splitlines()) <= 24
    result = gridtune("explain", out, number, "--jobs", 1, "--replications", 2, "--format", "json")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert (found["number"], found["on_front"], found["replications"]) == (number, True, 2)
    assert [change["metric"] for change in found["against_baseline"]] == [
        "unhappy_users", "unfairness", "completed",
    ]  # fmt: skip
    validated = last["validation_replications"]
    assert all(change["difference"]["pairs"] == validated > 1 for change in found["against_baseline"])
    assert {setting["path"] for setting in found["settings"]} >= {"client.dispatch"}


def test_explaining_what_is_not_there_is_refused_in_one_line(study, tmp_path):
    out, made = study
    said = refused("explain", out, 999)
    assert "999" in said
    assert str(made["front"][0]["number"]) in said
    assert str(tmp_path) in refused("explain", tmp_path, 1)
    assert "--replications" in refused("explain", out, 1, "--replications", 0)
