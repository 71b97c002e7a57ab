"""Runs that would never end say so; those that only take long do not."""

import pytest

from gridtune.model import endless, grid
from gridtune.model.endless import EndlessRunError
from gridtune.model.grid import Grid
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.simulation.simulate import simulate


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    for module in (endless, grid):
        monkeypatch.setattr(module, "EVENTS", 500)


def leased(runtime, tmp_path, **more):
    """One request, at a server whose leases last 100 s, 10 s of which it starts."""
    made = {
        "title": "x",
        "site": [{"name": "c", "nodes": 1, "policy": "fcfs"}],
        "sed": [{"name": "s", "site": "c", "count": 1, "lease": {"length": 100.0, "startup": 10.0}}],
        "client": [{"dispatch": "legacy", "n_submit": 1}],
        "workload": [
            {"name": "w", "kind": "regular", "count": 1, "n_min": 1, "n_max": 1, "runtime": runtime}
            | {"deadline": 1000.0}
        ],
    }
    return simulate(Scenario("x", made | more, tmp_path), 1)


def test_a_request_that_fits_into_no_lease_does_not_run_for_ever(tmp_path):
    with pytest.raises(EndlessRunError, match="ended or ran through; jobs left: 1; a horizon would"):
        leased(95.0, tmp_path)
    assert leased(85.0, tmp_path).metrics["completed"].value == 1
    assert leased(95.0, tmp_path, horizon=1e5).end == 1e5


def recurring(whole, number=0):
    """Something that keeps a run going for 10,000 events."""
    if number < 10_000:
        whole.agenda.after(1.0, lambda _: recurring(whole, number + 1), None)


def test_a_job_that_runs_through_is_progress():
    whole = Grid()
    job = whole.record.job("u", 0.0, 9_999.0)
    recurring(whole)
    job.queue(0.0, "q")
    with pytest.raises(EndlessRunError):
        whole.run()
    whole = Grid()
    job = whole.record.job("u", 0.0, 9_999.0)
    recurring(whole)
    job.queue(0.0, "q")
    job.begin(0.0, "n")
    whole.run()
    assert whole.now == 10_000.0


def test_a_job_that_is_begun_again_and_again_is_no_progress():
    whole = Grid()
    job = whole.record.job("u", 0.0, 9_999.0)
    job.queue(0.0, "q")
    recurring(whole)

    def again(_):
        job.begin(whole.now, "n")
        whole.agenda.after(10.0, killed, None)

    def killed(_):
        job.kill(whole.now)
        again(None)

    again(None)
    with pytest.raises(EndlessRunError, match="jobs left: 1"):
        whole.run()


def test_jobs_that_end_are_progress_and_so_are_those_that_come_while_as_many_end():
    whole = Grid()
    recurring(whole)
    jobs = [whole.record.job("u", 0.0, 1.0) for _ in range(101)]
    whole.agenda.every(100.0, lambda _: jobs.pop().reject(whole.now))
    whole.run()
    assert len(jobs) == 0
    whole = Grid()
    recurring(whole)
    whole.agenda.every(100.0, lambda _: whole.record.job("u", whole.now, 1.0).reject(whole.now))
    whole.run()
    assert len(whole.record.jobs) == 101


def test_a_run_that_waits_for_what_will_happen_gets_on(monkeypatch):
    whole = Grid()
    recurring(whole)
    whole.agenda.feed([(10_001.0, lambda _: None, None)])
    whole.run()
    assert whole.now == 10_001.0
    whole = Grid()
    recurring(whole)
    whole.agenda.at(1e9, lambda _: None)  # such as the end of an outage
    whole.run()
    assert whole.now == 1e9
    monkeypatch.setattr(endless, "LOOKS", 5)
    whole = Grid()
    recurring(whole)
    whole.agenda.at(1e9, lambda _: None)
    with pytest.raises(EndlessRunError, match="from 2500 to 3000 s"):
        whole.run()


def test_jobs_that_come_are_progress():
    whole = Grid()
    recurring(whole)
    whole.agenda.every(100.0, lambda _: whole.record.job("u", whole.now, 1.0))
    whole.run()
    assert len(whole.record.jobs) == 101


def test_where_there_is_a_horizon_the_clock_has_to_move():
    whole = Grid(horizon=5_000.0)
    whole.record.job("u", 0.0, 1.0)
    recurring(whole)
    whole.run()
    assert whole.now == 5_000.0

    def at_once(_):
        whole.agenda.after(0.0, at_once, None)

    whole = Grid(horizon=5_000.0)
    at_once(None)
    with pytest.raises(EndlessRunError, match="from 0 to 0 s"):
        whole.run()


def crowded(count, tmp_path):
    """Jobs that come twice as fast as their site can run them."""
    made = {
        "title": "x",
        "site": [{"name": "c", "nodes": 1, "policy": "fcfs"}],
        "workload": [
            {"name": "w", "site": "c", "kind": "generated", "count": count}
            | {"interval": {"law": "constant", "value": 1.0}, "runtime": {"law": "constant", "value": 2.0}}
        ],
    }
    return Scenario("x", made, tmp_path)


def test_a_run_ends_once_a_job_waits_for_longer_than_there_is_patience(tmp_path):
    scenario = crowded(30_000, tmp_path)
    run = simulate(scenario, patience=3600.0)
    assert 3600.0 < run.metrics["waited_max"].value < 3 * 3600.0
    assert run.end < 30_000.0
    assert run.metrics["lost_fraction"].value > 0
    whole = simulate(crowded(8_000, tmp_path))
    longest = whole.metrics["waited_max"].value
    assert longest > 3600.0
    assert simulate(crowded(8_000, tmp_path), patience=longest).metrics == whole.metrics
