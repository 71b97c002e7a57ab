"""Looks and reports without news are dealt with together: all that a run leaves is as if they were not."""

from pathlib import Path

import pytest

from gridtune.agents.middleware.broker import Broker
from gridtune.agents.middleware.polling import Polling
from gridtune.agents.middleware.trouble import Trouble
from gridtune.scenarios.document.scenario import Scenario, load
from gridtune.scenarios.simulation.simulate import build, simulate


def left(scenario, seed):
    """All that a run leaves, in its order."""
    run = simulate(scenario, seed, keep_events=True)
    record = run.record
    rows = [[repr(getattr(job, key)) for key in type(job).__slots__ if key != "journal"]
            for job in (*record.jobs, *record.placeholders)]  # fmt: skip
    kept = repr((record.journal, list(record.messages.items()), dict(record.counters), record.signals))
    return rows, kept, repr(run.metrics)


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    "values",
    [
        {"middleware.kind": "pull"},
        {"middleware.kind": "pilot", "middleware.pilot_mode": "filling"},
        {"middleware.kind": "pilot", "middleware.pilot_mode": "run-once", "middleware.poll_period": 7},
        {"middleware.kind": "pull", "record.message_bin": 0.5, "record.sample_period": 100},
    ],
)
def test_looks_passed_over_leave_what_single_looks_leave(values, seed, monkeypatch):
    scenario = load("dirac/search").override(values)
    together = left(scenario, seed)
    monkeypatch.setattr(Polling, "_pass_over", lambda _, number: number)
    assert left(scenario, seed) == together


@pytest.mark.long
def test_a_site_is_looked_at_as_soon_as_it_is_shunned_no_longer(monkeypatch):
    monkeypatch.setattr(Trouble, "shuns", lambda trouble, site: trouble.grid.now // 333 % 2 == 1)
    scenario = load("dirac/search").override({"middleware.kind": "pull", "middleware.poll_period": 2})
    together = left(scenario, 1)
    monkeypatch.setattr(Polling, "_pass_over", lambda _, number: number)
    assert left(scenario, 1) == together


@pytest.mark.parametrize("routing", ["depth", "traversal"])
def test_reports_without_news_leave_what_new_ones_leave(routing, monkeypatch):
    values = {
        "middleware.kind": "push",
        "middleware.update_period": 30,
        "middleware.routing": {"kind": routing, "count_sent": True},
        "workload.local.processors": {"law": "uniform", "low": 0.0, "high": 3.0},
    }
    scenario = load("dirac/search").override(values)
    again = left(scenario, 1)
    monkeypatch.setattr(Broker, "_measure_again", Broker.measure)
    assert left(scenario, 1) == again


def test_looks_without_effect_take_no_time_of_their_own(monkeypatch):
    calls = []
    single = Polling._look
    monkeypatch.setattr(Polling, "_look", lambda *arguments: (calls.append(1), single(*arguments)))
    with build(
        load("dirac/search").override({"middleware.kind": "pull", "middleware.poll_period": 1})
    ) as grid:
        grid.run()
        assert len(calls) < grid.agenda.fired / 5
        assert grid.agenda.fired > 10_000


def test_step_by_step_nothing_is_counted_before_its_time():
    scenario = load("dirac/search").override({"middleware.kind": "pull", "step_length": 50})
    with build(scenario) as grid:
        while grid.running:
            grid.step()
            latest = max((moment for _, _, moment in grid.record.messages), default=0)
            assert latest * grid.record.message_bin <= grid.now


@pytest.mark.parametrize("migration", ["none", "free-slots"])
@pytest.mark.parametrize("service", [0.0, 1.0])
def test_a_push_whose_sites_are_out_for_good_ends_without_a_horizon(service, migration, monkeypatch):
    report, looks = Broker._report, iter(range(1000))  # an endless run fails there

    def counted(broker, what):
        next(looks)
        report(broker, what)

    monkeypatch.setattr(Broker, "_report", counted)
    made = {
        "title": "x",
        "middleware": {
            "kind": "push",
            "update_period": 60,
            "migration": {"kind": migration},
            "information": {"time": service},
        },
        "site": [
            {"name": name, "nodes": 1, "policy": "fcfs", "outage": [{"start": start}]}
            for name, start in (("a", 38), ("b", 60))
        ],
        "workload": [
            {"name": "w", "kind": "generated", "role": "meta", "count": 6, "interval": 20, "runtime": 15}
        ],
    }
    run = simulate(Scenario("x", made, Path()), 1)
    assert run.metrics["lost_jobs"].value == 6 - run.metrics["completed"].value
    assert 0 < run.metrics["completed"].value < 6
    assert run.end < 600
