"""Replications share random numbers across configurations; their summaries say what they lack."""

import pickle
from math import isnan, nan, sqrt

import pytest

from gridtune.model.metrics.registry import Metric
from gridtune.scenarios import ScenarioError, load, simulate
from gridtune.scenarios.execution.replicate import Summary, Task, evaluate, replicate, summarise
from gridtune.scenarios.execution.sweep import Bounds, grid, parse_variation, parse_vary, sweep
from gridtune.scenarios.workers.pool import Pool, TaskError

SMALL = {"workload.count": 2, "workload.interval": 1.0, "workload.deadline": 10.0}


@pytest.fixture(scope="module")
def scenario():
    return load("diet/day-regular").override(SMALL)


def draw(task):
    """A metric that depends on everything a task holds."""
    window = task.values.get("client.dispatch.window", 1)
    if window == 4 and task.replication > 0:
        raise RuntimeError(f"replication {task.replication} broke")
    return {"x": Metric(float(window * 100 + task.seed * 10 + task.replication), "s")}


@pytest.mark.parametrize("jobs", [1, 2])
def test_replications_equal_single_runs(scenario, jobs):
    with Pool(jobs) as pool:
        runs = replicate(scenario, 5, 3, pool)
    assert runs == [simulate(scenario, 5, k).metrics for k in range(3)]


def test_a_failing_replication_is_named(scenario):
    broken = scenario.override({"client.dispatch.window": 1})

    def work(task):
        raise RuntimeError("no")

    with pytest.raises(TaskError, match="day-regular: replication 0: RuntimeError: no"):
        replicate(broken, 1, 2, Pool(1), work)


def test_a_task_survives_pickling(scenario):
    task = Task(scenario, {"client.dispatch.window": 3}, 2, 7)
    copy = pickle.loads(pickle.dumps(task))
    assert copy == task
    assert copy.resolved().value("client.dispatch.window") == 3


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_configuration_sees_the_same_replications(scenario, jobs):
    configurations = [{"client.dispatch.window": window} for window in (1, 2, 4, 5)]
    with Pool(jobs) as pool:
        outcomes = {o.index: o for o in evaluate(scenario, configurations, 3, [0, 1, 9], pool, draw)}
    assert [run["x"].value for run in outcomes[1].value] == [230, 231, 239]
    assert [run["x"].value for run in outcomes[3].value] == [530, 531, 539]
    assert str(outcomes[2].failure) == "RuntimeError: replication 1 broke"


def test_a_summary_is_mean_and_standard_error():
    summary = Summary.of([1.0, 2.0, 6.0], "s")
    assert summary.mean == 3.0
    assert summary.standard_error == pytest.approx(sqrt(7 / 3))
    assert Summary.of([4.0]).standard_error is None
    with pytest.raises(ValueError, match="no values"):
        Summary.of([])


def test_what_a_replication_lacks_leaves_no_mean():
    summaries = summarise([{"a": Metric(1.0, "s")}, {"a": Metric(nan, "s"), "b": Metric(2.0, "")}])
    assert isnan(summaries["a"].mean)
    assert isnan(summaries["b"].mean)
    assert summaries["a"].as_json() == {
        "mean": None,
        "standard_error": None,
        "values": [1.0, None],
        "unit": "s",
    }


@pytest.mark.parametrize(
    ("text", "path", "values"),
    [
        ("a.b=1,2.5,x", "a.b", [1, 2.5, "x"]),
        ("a=[1,2],{k=1,l=2}", "a", [[1, 2], {"k": 1, "l": 2}]),
        ('a="x,y",true', "a", ["x,y", True]),
        ("a=1:10:4", "a", [1, 4, 7, 10]),
        ("a=1:3:9", "a", [1, 2, 3]),
        ("a=0:1.0:3", "a", [0, 0.5, 1.0]),
        ("a=-2:2:5", "a", [-2, -1, 0, 1, 2]),
        ("a=1:1000:4:log", "a", [1, 10, 100, 1000]),
        ("a=1e-2:1.0:3:log", "a", [0.01, 0.1, 1.0]),
        ("a=legacy", "a", ["legacy"]),
    ],
)
def test_values_of_a_sweep(text, path, values):
    parsed = parse_vary(text)
    assert parsed[0] == path
    assert parsed[1] == (pytest.approx(values) if isinstance(values[0], float) else values)


def test_bounds_of_a_search():
    assert parse_variation("a=3:1000:log") == ("a", Bounds(3, 1000, None, True))
    assert parse_variation("a=0.5:2") == ("a", Bounds(0.5, 2))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a", "expected PATH=V1"),
        ("=1,2", "expected PATH=V1"),
        ("a=", "expected PATH=V1"),
        ("a=1,,2", "a value is empty"),
        ("a=1,2,1", "given twice"),
        ("a=1,2,1.0", "given twice"),
        ("a=5:1:3", "5 is not less than 1"),
        ("a=0:1:3:log", "start above 0"),
        ("a=1:5", "LOW:HIGH:COUNT"),
        ("a=1:5:1", "at least 2 values"),
    ],
)
def test_unclear_variations_are_refused(text, message):
    with pytest.raises(ScenarioError, match=message):
        parse_vary(text)


def test_a_grid_is_every_combination_in_order():
    assert grid([("a", [1, 2]), ("b", ["x", "y"])]) == [
        {"a": 1, "b": "x"},
        {"a": 1, "b": "y"},
        {"a": 2, "b": "x"},
        {"a": 2, "b": "y"},
    ]
    with pytest.raises(ScenarioError, match="a: varied twice"):
        grid([("a", [1]), ("a", [2])])


def test_a_sweep_reports_every_configuration_and_its_failures(scenario):
    configurations = grid([("client.dispatch.window", [3, 4])])
    found = dict(sweep(scenario, configurations, 1, 2, Pool(1), draw))
    assert found[0].metrics["x"].values == (310, 311)
    assert found[0].metrics["x"].unit == "s"
    assert found[1].metrics == {}
    assert "replication 1 broke" in str(found[1].failure)


def test_a_sweep_refuses_what_the_scenario_refuses_before_it_runs(scenario):
    def never(task):
        raise AssertionError("ran")

    with pytest.raises(ScenarioError) as caught:
        sweep(scenario, grid([("client.windw", [3, 4]), ("sed.count", [1, 0])]), 1, 1, Pool(1), never)
    assert len(caught.value.faults) == 2
    assert "windw" in caught.value.faults[0]
