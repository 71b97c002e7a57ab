"""Searches from the command line: the agreed JSON, files that are left, refusals."""

import json
from operator import itemgetter

import pytest

from tests.test_cli import gridtune, refused


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    out = tmp_path_factory.mktemp("search") / "out"
    result = gridtune(
        "search", "diet/day-regular", "--budget", 12, "--replications", 2, "--jobs", 2, "--out", out,
        "--set", "workload.count=3", "--sampler", "random", "--format", "json",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return out, json.loads(result.stdout)


def test_the_agreed_json(searched):
    _, made = searched
    assert made["evaluations"] == 12
    assert made["objectives"] == [
        {"name": "unhappy_users", "direction": "minimize"},
        {"name": "unfairness", "direction": "minimize"},
        {"name": "completed", "direction": "maximize"},
    ]
    assert made["hypervolume"] >= 0
    for member in made["front"]:
        assert {"values", "objectives", "validated", "probability_non_dominated"} <= member.keys()
        assert member["objectives"].keys() == {"unhappy_users", "unfairness", "completed"}
    for member in filter(itemgetter("validated"), made["front"]):
        assert member["validated"]["completed"].keys() == {"mean", "standard_error"}
        assert member["estimated"].keys() == {"unhappy_users", "unfairness", "completed"}


def test_the_folder_holds_the_front_in_every_form(searched):
    out, made = searched
    names = {path.name for path in out.iterdir()}
    assert {"front.json", "front.csv", "front.html", "pairs.png"} <= names
    assert not {"parallel.png", "parameters.png", "history.png"} & names, "which are drawn on request"
    assert json.loads((out / "front.json").read_text()) == made
    page = (out / "front.html").read_text()
    assert not any(f'{kind}="http' in page for kind in ("src", "href"))


@pytest.mark.parametrize(
    ("format", "start"),
    [
        ("table", "diet/day-regular: 12 configurations"),
        ("csv", "number,"),
        ("latex", "\\begin{tabular}"),
        ("json", "{"),
    ],
)
def test_a_kept_front_is_shown_in_every_format(searched, format, start):
    out, _ = searched
    shown = gridtune("front", out, "--format", format)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith(start)


@pytest.mark.long
def test_a_front_is_drawn_by_suffix(searched, tmp_path):
    out, _ = searched
    for suffix in ("png", "svg", "pdf", "html"):
        picture = tmp_path / f"front.{suffix}"
        for _ in range(2):  # it takes the place of its own
            assert gridtune("front", out, "--plot", picture).returncode == 0
        assert picture.stat().st_size > 5_000
    assert "front.gif" in refused("front", out, "--plot", tmp_path / "front.gif")
    mine = tmp_path / "mine.html"
    mine.write_text("precious")
    assert "has not drawn it" in refused("front", out, "--plot", mine)
    assert mine.read_text() == "precious"
    assert "holds a search" in refused("run", "queue/mmc", "--set", "horizon=10", "--out", out)


@pytest.mark.long
def test_an_existing_study_is_not_overwritten_but_resumed_on_demand(searched):
    out, _ = searched
    before = (out / "front.json").read_text()
    arguments = [
        "search", "diet/day-regular", "--replications", 2, "--out", out, "--set", "workload.count=3",
        "--sampler", "random", "--format", "json",
    ]  # fmt: skip
    assert "--resume" in refused(*arguments, "--budget", 14)
    assert (out / "front.json").read_text() == before
    more = gridtune(*arguments, "--budget", 14, "--resume")
    assert more.returncode == 0, more.stderr
    assert json.loads(more.stdout)["evaluations"] == 14


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["diet/day-regular", "--sampler", "nope"], "no such sampler"),
        (["diet/day-regular", "--objective", "nope"], "nope"),
        (["diet/day-regular", "--vary", "nope.x=1:5"], "nope"),
        (["diet/day-regular", "--storage", "sqlite:////no/such/folder/x.db"], "x.db"),
        (["diet/day-regular", "--storage", "postgresql://localhost:1/none"], "postgresql"),
        (["diet/day-regular", "--scenario", "diet/day-regulr"], "did you mean diet/day-regular"),
        (["diet/day-regular", "--scenario", "queue/mmc"], "queue/mmc: client.dispatch, "),
        (["diet/day-regular", "--robust", "worst"], "there is one case only"),
        (
            ["diet/day-regular", "--seeds", "1,2", "--robust", "quantile:2"],
            "expected mean, worst or quantile",
        ),
        (["diet/day-regular", "--seeds", "1,b"], "--seeds 1,b: expected whole numbers"),
        (["diet/day-regular", "--require", "utilisation>=much"], "expected METRIC<=NUMBER"),
        (["diet/day-regular", "--require", "utilization>=0.5"], "did you mean utilisation"),
        (["EMPTY"], "space"),
    ],
)
def test_what_cannot_be_searched_is_refused_at_once(arguments, message, tmp_path):
    if arguments == ["EMPTY"]:
        text = gridtune("scenarios", "show", "diet/day-regular").stdout
        (tmp_path / "empty.toml").write_text(text[: text.index("[search]")])
        arguments = [tmp_path / "empty.toml"]
    assert message in refused("search", *arguments, "--budget", 5, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_several_scenarios_and_constraints_from_the_command_line(tmp_path):
    arguments = [
        "search", "diet/day-regular", "--set", "workload.count=3", "--budget", 6, "--sampler", "random",
        "--scenario", "diet/day-regular:workload.interval=3", "--seeds", "1,2", "--robust", "quantile:0.75",
        "--require", "utilisation>=0.01", "--require", "makespan<1e6", "--out", tmp_path, "--jobs", 1,
        "--format", "json",
    ]  # fmt: skip
    result = gridtune(*arguments)
    assert result.returncode == 0, result.stderr
    made = json.loads(result.stdout)
    assert made["robust"] == "quantile:0.75"
    assert made["scenarios"] == [
        f"diet/day-regular{variant}, seed {seed}"
        for variant in ("", ":workload.interval=3")
        for seed in (1, 2)
    ]
    assert made["constraints"] == ["utilisation>=0.01", "makespan<1000000", "excess_loss<=0"]
    assert all(entry["scenarios"].keys() == set(made["scenarios"]) for entry in made["front"])
    assert json.loads((tmp_path / "front.json").read_text()) == made
    assert json.loads(gridtune("front", tmp_path, "--format", "json").stdout) == made
    assert made["scenarios"][-1] in gridtune("front", tmp_path, "--statistics").stdout


@pytest.mark.long
def test_a_search_without_a_feasible_configuration_is_done_and_says_so(tmp_path):
    result = gridtune(
        "search", "diet/day-regular", "--set", "workload.count=2", "--budget", 4, "--sampler", "random",
        "--require", "utilisation>=5", "--out", tmp_path, "--jobs", 1,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    said = " ".join(result.stdout.split())
    assert "No configuration keeps the constraints (utilisation>=5, excess_loss<=0)" in said
    assert gridtune("front", tmp_path).stdout.count("Nearest: no. ") == 3
    assert {"front.json", "front.csv", "study.journal"} <= {path.name for path in tmp_path.iterdir()}
    shown = gridtune("front", tmp_path, "--plot", tmp_path / "front.html")
    assert shown.returncode == 0, shown.stderr
    assert "No configuration keeps the constraints" in (tmp_path / "front.html").read_text()


def test_samplers_are_listed():
    listed = gridtune("search", "diet/day-regular", "--sampler", "list", "--format", "json")
    names = {row["sampler"] for row in json.loads(listed.stdout)}
    assert {"random", "tpe", "nsga2", "nsga3", "pymoo-nsga2"} <= names
