"""Users and metrics by class of jobs: as metrics, in the output of a run, and on disk."""

import json
from pathlib import Path

import pandas as pd
import pytest

from gridtune.model.metrics.registry import CLASS_METRICS, METRICS, define, directions
from gridtune.model.metrics.summary import measured
from gridtune.scenarios import build, load, simulate
from gridtune.scenarios.api.experiment import Scenario as Runnable
from gridtune.scenarios.document.scenario import Scenario, shipped_names
from gridtune.scenarios.simulation.classes import by_class, classes_of, split
from tests.test_cli import gridtune
from tests.test_unhappiness import VRES, jobs

MIXED = {
    "title": "mixed",
    "site": [VRES],
    "workload": [
        jobs("ann", count=4, role="sdj", users=2),
        jobs("bob", count=2, role="batch"),
        jobs("cid", count=2, role="batch", response_bound={"factor": 1.5}),
    ],
}


@pytest.fixture(scope="module")
def run():
    return simulate(Scenario("mixed", MIXED, Path()))


def test_classes_are_the_roles_of_the_workloads_where_they_differ():
    assert classes_of(load("diet/day-regular").spec) == ("mandatory", "optional")
    assert set(classes_of(load("egee/vres-node").spec)) == {"batch", "dteam", "sdj"}
    assert classes_of(load("dirac/dedicated").spec) == ()
    assert classes_of(load("deadline/fig3").spec) == ()


@pytest.mark.parametrize(
    "name", ["egee/gptm3d", "egee/portal", "dirac/search", "cigri/search", "deadline/fig3"]
)
def test_every_job_of_a_shipped_scenario_belongs_to_a_class_that_was_announced(name):
    done = simulate(load(name))
    kinds = {job.kind for job in done.record.jobs}
    assert kinds <= set(done.record.classes) or (len(kinds) == 1 and not done.record.classes)


def test_counts_by_class_add_up_to_those_of_all_jobs(run):
    assert run.record.classes == ("sdj", "batch")
    for name in ("jobs", "completed"):
        total = sum(run.metrics[f"{name}.{kind}"].value for kind in run.record.classes)
        assert total == (len(run.record.jobs) if name == "jobs" else run.metrics[name].value)
    failed = sum(user.mandatory_failed for user in run.users.values())
    assert sum(run.metrics[f"mandatory_failed.{kind}"].value for kind in run.record.classes) == failed


def test_users_are_unhappy_in_the_classes_in_which_their_work_failed(run):
    assert {name for name, user in run.users.items() if user.classes.get("batch") and user.unhappy} == {
        "cid-000"
    }
    assert run.metrics["unhappy_users.batch"].value == 1
    assert run.metrics["users.batch"].value == run.metrics["users.sdj"].value == 2
    both = run.metrics["unhappy_users.batch"].value + run.metrics["unhappy_users.sdj"].value
    assert both == run.metrics["unhappy_users"].value  # nobody has jobs of both


def test_means_by_class_weigh_jobs_and_users(run):
    batch = [job for job in run.record.jobs if job.kind == "batch"]
    mean = sum(job.end - job.submit for job in batch) / len(batch)
    assert run.metrics["response_mean.batch"].value == pytest.approx(mean)
    content = [run.users[name].satisfaction for name in ("bob-000", "cid-000")]
    assert run.metrics["satisfaction_mean.batch"].value == pytest.approx(sum(content) / 2)


def test_metrics_of_classes_are_known_with_unit_and_direction(run):
    for kind in run.record.classes:
        for name, definition in CLASS_METRICS.items():
            assert METRICS[f"{name}.{kind}"] == definition
            assert run.metrics[f"{name}.{kind}"].unit == definition.unit


def test_a_run_prints_and_writes_the_breakdown(tmp_path):
    made = Runnable("mixed", MIXED, tmp_path).run(replications=2, out=tmp_path / "out").to_dict()
    assert made["classes"]["sdj"]["jobs"]["values"] == [4.0, 4.0]
    assert made["classes"] == by_class(made["metrics"], ("sdj", "batch"))
    overall, classes = split(made)
    assert overall.keys() | {f"{name}.{kind}" for kind in ("sdj", "batch") for name in CLASS_METRICS} == (
        made["metrics"].keys()
    )
    assert classes == made["classes"]
    table = pd.read_parquet(tmp_path / "out" / "classes.parquet")
    users = pd.read_parquet(tmp_path / "out" / "users.parquet")
    assert (
        table.groupby(["replication", "user"])["jobs"].sum().tolist()
        == users.sort_values(["replication", "user"])["jobs"].tolist()
    )
    assert json.loads((tmp_path / "out" / "metrics.json").read_text())["completed.sdj"]["unit"] == "jobs"


def test_a_name_stands_for_one_metric_in_all_parts_of_a_grid():
    define("completed", "jobs", "maximize", METRICS["completed"].meaning)
    with pytest.raises(ValueError, match="metric completed: defined already, as 'completed jobs'"):
        define("completed", "jobs", "maximize", "something else")


def test_classes_that_are_known_before_a_run_can_be_objectives():
    with build(Scenario("mixed", MIXED, Path())) as grid:
        names = measured(grid)
    assert {f"{name}.{kind}" for name in CLASS_METRICS for kind in ("sdj", "batch")} <= set(names)
    assert directions(["unhappy_users.sdj", "completed.batch"]) == ["minimize", "maximize"]


@pytest.mark.long
def test_the_command_prints_a_table_of_classes_where_there_are_several():
    several = gridtune("run", "diet/day-regular", "--set", "workload.count=3").stdout.splitlines()
    heading = next(k for k, line in enumerate(several) if line.split()[:2] == ["by", "class"])
    assert several[heading].split()[2:] == ["mandatory", "optional"]
    assert [line.split()[0] for line in several[heading + 2 :] if line] == [*CLASS_METRICS]
    assert max(map(len, several)) < 80
    assert not any(line.split()[0].endswith(".mandatory") for line in several[:heading] if line.split())
    single = gridtune("run", "dirac/dedicated").stdout
    assert "completed" in single
    assert "by class" not in single


def test_a_run_with_one_class_is_not_broken_down(tmp_path):
    single = MIXED | {"workload": [jobs("bob", role="batch")]}
    made = Runnable("one", single, tmp_path).run(out=tmp_path / "out").to_dict()
    assert "classes" not in made
    assert split(made) == (made["metrics"], {})
    assert not (tmp_path / "out" / "classes.parquet").exists()


def test_all_shipped_scenarios_have_classes_with_names_of_their_own():
    for name in shipped_names():
        classes = classes_of(load(name).spec)
        assert len(classes) != 1
        assert len(set(classes)) == len(classes)
