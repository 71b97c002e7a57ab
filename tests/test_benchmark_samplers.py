"""The comparison of samplers measures what it says, once."""

import pytest

from gridtune.optimize.samplers import samplers
from gridtune.scenarios.execution.replicate import Task, metrics_of
from tests.benchmarks.sampler_cases import CASES, Case
from tests.benchmarks.sampler_runs import Runs
from tests.benchmarks.sampler_table import ROWS, quality, read_rows, table

TOY = "diet/night-simultaneous"


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setitem(CASES, TOY, Case(TOY, best=(0.0, 0.0, 1000.0), worst=(10.0, 10.0, 0.0)))


def test_sites_that_are_run_one_by_one_give_what_they_give_together(tmp_path):
    case = CASES["egee-sites"]
    runs = Runs(case, tmp_path / "runs")
    point = runs.rounded(case.space.at([0.3] * len(case.space)))
    apart, together = (work(Task(case.scenario, point, seed=1, replication=2)) for work in (runs, metrics_of))
    for goal in case.goals:
        assert apart[goal.name].value == pytest.approx(together[goal.name].value)


def test_a_run_is_done_once_for_all_points_that_are_rounded_to_the_same(tmp_path):
    memory = tmp_path / "runs"
    runs = Runs(CASES[TOY], memory)

    def value(n_submit, runs=runs):
        point = {"client.dispatch": "legacy", "client.n_submit": n_submit}
        return runs(Task(CASES[TOY].scenario, point, 1, 0))["completed"].value

    assert value(1000) != value(20)
    lines = memory.read_text("utf-8")
    assert value(990) == value(1000) == value(1000, Runs(CASES[TOY], memory))
    assert memory.read_text("utf-8") == lines


def test_quality_is_the_share_of_the_box_that_is_dominated():
    row = {"scenario": TOY, "front": [[0.0, 5.0, 500.0], [20.0, 0.0, 1000.0]]}
    assert quality(row) == pytest.approx(0.25)  # the second point is outside of the box
    assert quality({**row, "front": []}) == 0.0


def test_the_table_ranks_samplers_and_compares_them_with_random_points():
    def row(sampler, seed, height):
        batch = samplers()[sampler].batch_for(9)
        facts = {"scenario": TOY, "batch": batch, "budget": 9, "proposal_ms": 1.0}
        return {**facts, "sampler": sampler, "seed": seed, "front": [[10.0 - height, 0.0, 1000.0]]}

    measured = [
        row("random", 1, 4),
        row("random", 2, 6),
        row("tpe", 1, 5),
        row("tpe", 2, 7),
        row("qmc", 1, 1),
    ]
    lines = table(measured).splitlines()
    assert lines[0] == f"| {TOY} | 9 evaluations |"
    assert lines[2:5] == [
        "| tpe | 1. 0.600 ± 0.100, 2/2 |",
        "| random | 2. 0.500 ± 0.100, 2 seeds |",
        "| qmc | 3. 0.100, 0/1 |",
    ]
    assert lines[6:11] == [
        "| mean hypervolume, mean rank | 9 evaluations, 1 scenarios |",
        "| --- | --- |",
        "| tpe | 0.600, 1.0 |",
        "| random | 0.500, 2.0 |",
        "| qmc | 0.100, 3.0 |",
    ]


def test_the_tables_in_the_documentation_are_those_of_the_rows():
    page = ROWS.parents[1] / "samplers.md"
    assert table(read_rows([ROWS])).strip() in page.read_text("utf-8")
