"""The shipped scenarios of deadline scheduling, the laws behind them, and the paper's claims."""

from pathlib import Path

import numpy as np
import pytest

from gridtune.model.streams import Streams
from gridtune.scenarios import ScenarioError, build, load, simulate
from gridtune.scenarios.results.run import notes
from gridtune.scenarios.workloads.trace_tasks import TraceTasks
from tests.test_deadline import scenario

DATA = Path("../shared/data/excerpt-lpc-egee-busy-week.swf.gz")


def executed(name, seed=1, **values):
    made = load(name).override({key.replace("__", "."): value for key, value in values.items()})
    return simulate(made, seed).metrics["executed"].value


@pytest.mark.parametrize("count", [300, 1000])
@pytest.mark.parametrize("seed", [1, 2])
def test_fallback_among_equal_priorities_changes_nothing(count, seed):
    values = {"workload__count": count}
    without = executed("deadline/fig4a", seed, **values, agent__routing__fallback="none")
    assert executed("deadline/fig4a", seed, **values) == without


@pytest.mark.long
@pytest.mark.parametrize("name", ["fig4b", "fig4c", "fig4d"])
def test_random_priorities_execute_more_and_fallback_more_still_under_overload(name):
    equal = executed(f"deadline/{name}", workload__priority=5)
    without = executed(f"deadline/{name}", agent__routing__fallback="none")
    with_ = executed(f"deadline/{name}")
    assert with_ > without
    assert with_ > equal


def test_random_priorities_execute_more_without_fallback_too():
    assert executed("deadline/fig3") > 1.2 * executed("deadline/fig3", workload__priority=5)


@pytest.mark.long
def test_on_servers_of_different_speeds_priorities_and_fallback_gain_too():
    mixed = {
        "workload__count": 700,
        "server__count": 50,
        "server__speed": {"law": "uniform", "low": 0.5, "high": 1.5},
    }
    assert executed("deadline/fig3", **mixed) > 1.2 * executed("deadline/fig3", **mixed, workload__priority=5)
    without = executed("deadline/fig4b", **mixed, agent__routing__fallback="none")
    assert executed("deadline/fig4b", **mixed) > without


@pytest.mark.long
def test_sizes_over_many_decades_reverse_the_gain_of_fallback():
    values = {"workload__count": 2000}
    without = executed("deadline/wide-sizes", **values, agent__routing__fallback="none")
    assert executed("deadline/wide-sizes", **values) < without


def test_priorities_and_sizes_never_change_what_arrives_when():
    first, second = (
        load("deadline/fig4b").override(values).spec.workload[0].arrivals(Streams(1))
        for values in ({}, {"workload.priority": 3, "workload.input": {"law": "exponential", "mean": 5.0}})
    )
    assert [task[:3] for task in first] == [task[:3] for task in second]
    assert {task.priority for task in first} == set(range(1, 11))
    assert {task.priority for task in second} == {3}
    assert all(task.deadline == task.time + 5 * task.runtime for task in first)


def test_a_server_keeps_its_course_whoever_else_there_is():
    def availabilities(count):
        made = load("deadline/search").override({"server.count": count, "workload.count": 1})
        with build(made) as grid:
            servers = [agent for agent in grid.agents if type(agent).__name__ == "TaskServer"]
            return [[server.machine.availability.at(t) for t in range(0, 9000, 500)] for server in servers]

    few, many = availabilities(3), availabilities(5)
    assert many[:3] == few
    assert len({tuple(course) for course in many}) == 5


@pytest.mark.long
def test_correction_brings_biased_forecasts_back_to_the_truth():
    ratio = {}
    for correction in ("none", "average", "listing"):
        made = load("deadline/forecast-error").override(
            {
                "workload.count": 1500,
                "workload.window": 21600.0,
                "agent.forecast": {"kind": "nws", "bias": 0.5},
                "agent.correction": correction,
            }
        )
        ratio[correction] = simulate(made).metrics["forecast_ratio"].value
    assert ratio["none"] == pytest.approx(0.5, abs=0.05)
    assert ratio["average"] == pytest.approx(1.0, abs=0.12)
    assert ratio["listing"] == pytest.approx(0.5**0.5, abs=0.06)


def test_a_trace_gives_times_and_owners_and_the_rest_is_generated(tmp_path):
    (tmp_path / "t.swf").write_text(
        "; MaxProcs: 4\n"
        "1 100 0 60 1 -1 -1 1 90 -1 1 7 1 1 1 1 -1 -1\n"
        "2 130 0 10 2 -1 -1 2 90 -1 1 8 1 1 1 1 -1 -1\n"
        "3 500 0 30 1 -1 -1 1 90 -1 1 7 1 1 1 1 -1 -1\n"
    )
    workload = TraceTasks(
        name="t", kind="trace-tasks", trace=str(tmp_path / "t.swf"), end=300.0, compression=3.0
    )
    made = workload.arrivals(Streams(1))
    assert [(task.time, task.user, task.runtime, task.deadline) for task in made] == [
        (0.0, "7", 60.0, 300.0),
        (10.0, "8", 10.0, 60.0),
    ]
    assert str(tmp_path / "t.swf") in workload.provenance()
    with pytest.raises(ScenarioError, match="submitted between start and end"):
        TraceTasks(name="t", kind="trace-tasks", trace=str(tmp_path / "t.swf"), start=900.0).arrivals(
            Streams(1)
        )


def test_without_the_log_a_generated_workload_stands_in_and_a_note_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRIDTUNE_DATA", raising=False)
    made = load("deadline/trace")
    (note,) = notes(made)
    assert "a small generated workload (excerpt-lpc-egee-busy-week.swf.gz was not found" in note
    assert "deadlines, priorities and data sizes are generated" in note
    metrics = simulate(made).metrics
    assert metrics["executed"].value + metrics["missed"].value == 1500


@pytest.mark.skipif(not DATA.exists(), reason="needs ../shared/data/excerpt-lpc-egee-busy-week.swf.gz")
def test_a_real_week_with_priorities():
    made = load("deadline/trace").override({"workload.end": 86400.0})
    assert any("excerpt-lpc-egee-busy-week" in note for note in notes(made))
    run = simulate(made)
    assert run.metrics["executed"].value > 300
    assert len({job.user for job in run.record.jobs}) > 5


@pytest.mark.parametrize(
    ("course", "expected"),
    [
        (0.5, [0.5, 0.5]),
        ({"course": "listed", "steps": [[0, 2.0], [10, 0.001]]}, [1.0, 0.01]),
        ({"law": "uniform", "low": 0.2, "high": 0.4}, None),
    ],
)
def test_courses_are_kept_within_sense(course, expected):
    document = load("deadline/fig4c").document
    server = {**document["server"][0], "availability": course}
    spec = scenario({**document, "server": [server]}).spec
    steps = spec.server[0].availability.steps(np.random.default_rng(1), 0.01, 1.0)
    values = [steps.at(t) for t in (0.0, 20.0)]
    if expected is None:
        assert values[0] == values[1]
        assert 0.2 <= values[0] < 0.4
    else:
        assert values == expected


def test_a_task_without_another_place_stays_and_fallback_gains_by_it():
    made = load("deadline/fig4b").override({"workload.count": 700})
    run = simulate(made, keep_events=True)
    assert any(event == "put back" for _, event, *_ in run.record.journal)
    assert all(job.state in ("done", "rejected") for job in run.record.jobs)
    assert run.metrics["scheduling_cost"].value > 100  # every one of 100 servers, and again after fallback
    rejecting = simulate(made.override({"agent.routing.unplaced": "reject"}))
    assert run.metrics["executed"].value > rejecting.metrics["executed"].value
    assert run.metrics["rejected"].value < rejecting.metrics["rejected"].value


def test_one_correction_for_all_servers_is_learnt_from_all():
    bias = {"kind": "nws", "bias": 0.5}
    made = load("deadline/forecast-error").override(
        {"agent.forecast": bias, "agent.correction": "average", "workload.count": 200}
    )
    together, apart = (
        simulate(made.override({"agent.corrected": how})).metrics["forecast_ratio"].value
        for how in ("together", "apart")
    )
    assert abs(together - 1) < abs(apart - 1)


def test_priorities_follow_sizes_or_deadlines():
    def tasks(**priority):
        made = load("deadline/fig4b").override({"workload.count": 100, "workload.priority": priority})
        return made.spec.workload[0].arrivals(Streams(1))

    short = sorted(tasks(by="runtime", low=1, high=10), key=lambda task: task.runtime)
    assert [task.priority for task in short] == sorted((k // 10 + 1 for k in range(100)), reverse=True)
    long = sorted(tasks(by="deadline", first="large", low=1, high=4), key=lambda task: task.runtime)
    assert [task.priority for task in long] == sorted(k // 25 + 1 for k in range(100))
