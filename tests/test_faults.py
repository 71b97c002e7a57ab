"""What breaks, what a middleware makes of it, and that nothing is lost without being counted."""

from pathlib import Path

import pytest

from gridtune.agents.infrastructure.faults import Fault
from gridtune.model.grid import Grid
from gridtune.model.middleware.retrying import ByFailures, Limited, Never, Trusting
from gridtune.scenarios import load, simulate
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError

KINDS = ["push", "pull", "pilot"]
ONCE = {"between": 100.0, "repair": 200.0}  # broken from 100 to 300 s, then from 400 to 600 s, and so on


def ran(document, seed=1, **options):
    return simulate(Scenario("test", document, Path()), seed=seed, **options)


def grid_of(kind, fault, *, count=4, interval=10.0, runtime=150.0, sites=2, nodes=2, **middleware):
    return {
        "title": "t",
        "horizon": 5000.0,
        "network": {"sharing": "max-min", "bandwidth": 1e9},
        "site": [
            {"name": f"s{k}", "nodes": nodes, "named_nodes": True, "policy": "fcfs"} for k in range(sites)
        ],
        "middleware": {"kind": kind, "poll_period": 20.0, **middleware},
        "workload": [
            {"name": "m", "kind": "generated", "count": count, "interval": interval, "runtime": runtime}
        ],
        **({"fault": fault} if fault else {}),
    }


def test_a_fault_begins_and_is_mended_for_as_long_as_anything_happens():
    grid, seen = Grid(), []
    Fault(
        grid,
        "f",
        lambda: 10.0,
        lambda: 5.0,
        lambda: seen.append(("begins", grid.now)),
        lambda: seen.append(("ends", grid.now)),
    )
    grid.agenda.at(32.0, lambda _: None)
    grid.run()
    assert seen == [("begins", 10.0), ("ends", 15.0), ("begins", 25.0), ("ends", 30.0)]
    assert grid.record.counters["faults"] == 2


def test_policies_decide_by_what_has_failed():
    assert [Limited(retries=2, pause=10.0, growth=3.0).wait(k) for k in (1, 2, 3)] == [10.0, 30.0, None]
    assert Never().wait(1) is None
    shun = ByFailures(count=2, window=100.0, period=500.0).shun
    assert [shun([0.0], 0.0), shun([0.0, 50.0], 50.0), shun([0.0, 200.0], 200.0)] == [0.0, 500.0, 0.0]
    assert Trusting().shun([1.0] * 100, 1.0) == 0.0


@pytest.mark.parametrize("kind", KINDS)
def test_what_starts_on_a_broken_node_fails_and_is_tried_again_elsewhere(kind):
    fault = {"kind": "broken", "site": "s0", "together": 2, "after": 5.0, "between": 1.0, "repair": 4000.0}
    lost = ran(grid_of(kind, fault))
    again = ran(grid_of(kind, fault, retry={"kind": "limited", "retries": 9, "pause": 10.0}))
    shunned = ran(
        grid_of(
            kind,
            fault,
            retry={"kind": "limited", "retries": 9, "pause": 10.0},
            blacklist={"kind": "failures", "count": 1},
        )
    )
    if kind == "pilot":  # only pilots fail: they look at their node before they ask for a task
        assert lost.metrics["lost_jobs"].value == 0
    else:
        assert lost.metrics["lost_jobs"].value > 0
        assert lost.metrics["broken_executions"].value == lost.metrics["lost_jobs"].value
    assert [job.site for job in again.record.jobs if job.state == "done"].count("s0") == 0
    assert shunned.metrics["lost_jobs"].value == 0
    assert shunned.metrics["broken_executions"].value <= again.metrics["broken_executions"].value
    assert shunned.metrics["shunned"].value >= 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_power_cut_kills_what_runs_and_silences_who_asks(kind):
    site = {"name": "s0", "nodes": 4, "policy": "fcfs"}
    fault = {"kind": "power", **ONCE}
    run = ran(grid_of(kind, fault, count=12, runtime=60.0) | {"site": site}, keep_events=True)
    assert run.metrics["node_failures"].value >= 4
    assert all(not 100.0 < job.start < 300.0 for job in run.record.jobs)
    assert {job.state for job in run.record.jobs} == {"done"}  # all are run again, or fetched again


@pytest.mark.parametrize("reserved", [False, True])
def test_a_task_that_is_tried_again_at_a_site_is_a_new_job_there(reserved):
    # Its node up for 100 s at a time, the site never ends a task of 150 s: each try is one run and one more.
    document = grid_of("push", None, count=1, sites=1, nodes=1)
    document["middleware"]["retry"] = {"kind": "limited", "retries": 1}
    document["site"][0] |= {"requeues": 1, "failures": [{"between": 100.0, "repair": 200.0}]}
    if reserved:
        document["site"][0]["vres"] = {"batch": 1.0}
        document["workload"][0]["role"] = "batch"
    record = ran(document).record
    assert record.jobs[0].state == "failed"
    assert (record.counters["retried"], record.counters["killed_by_failure"]) == (1, 4)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_crosses_a_link_that_is_cut(kind):
    run = ran(grid_of(kind, {"kind": "link", "between": 5.0, "repair": 500.0}, count=2))
    assert all(job.start >= 505.0 for job in run.record.jobs)
    assert ran(grid_of(kind, None, count=2)).record.jobs[0].start < 50.0


@pytest.mark.parametrize("kind", KINDS)
def test_tasks_wait_while_the_broker_or_match_maker_stands_still(kind):
    run = ran(grid_of(kind, {"kind": "service", "between": 5.0, "repair": 500.0}))
    assert min(job.start for job in run.record.jobs) >= 505.0


def test_push_goes_by_old_news_and_by_lies():
    # Reports every 50 s; s0 is said to be idle, so that all go there however many wait.
    def placed(fault):
        jobs = ran(grid_of("push", fault, count=40, interval=20.0, update_period=50.0)).record.jobs
        return [job.site for job in jobs].count("s0")

    honest = placed(None)
    lies = {"kind": "report", "site": "s0", "says": "idle", "between": 1.0, "repair": 4000.0}
    assert placed(lies) == 40
    assert honest < 30
    stuck = {"kind": "service", "service": "information", "between": 1.0, "repair": 4000.0}
    old = {"kind": "report", "says": "old", "between": 1.0, "repair": 4000.0}
    assert placed(old) == 40  # nothing is heard, and ties go to the first site
    waiting = ran(grid_of("push", stuck, update_period=50.0))
    assert min(job.start for job in waiting.record.jobs) >= 4001.0  # questions wait, too


def test_pull_has_no_information_system_that_could_fail():
    stuck = {"kind": "service", "service": "information", "between": 1.0, "repair": 4000.0}
    plain, with_fault = ran(grid_of("pull", None)), ran(grid_of("pull", stuck))
    assert [job.start for job in plain.record.jobs] == [job.start for job in with_fault.record.jobs]
    assert with_fault.metrics["faults"].value == 0


def test_faults_of_services_that_are_switched_off_do_not_count():
    run = simulate(load("federation/small").override({"parts.meta": False, "parts.faults": True}), 1)
    assert run.metrics["faults"].value == 11  # 16 with those of the broker and of its information system


@pytest.mark.parametrize("off", [True, False])
def test_links_that_are_not_shared_cannot_be_cut_whatever_is_switched_off(off):
    document = grid_of("pull", [{"kind": "link", "between": 5.0, "repair": 5.0}])
    document["network"] = {}
    if off:
        document |= {"parts": {"b": False}}
        document["fault"].append({"name": "g", "kind": "node", "part": "b", "between": 1.0, "repair": 1.0})
    with pytest.raises(ScenarioError, match="only links that are shared are cut"):
        ran(document)


@pytest.mark.parametrize("kind", KINDS)
def test_tasks_lost_on_their_way_are_counted_and_found_again(kind):
    lost = ran(grid_of(kind, None, count=60, loss=0.3))
    assert 0 < lost.metrics["lost_on_the_way"].value == lost.metrics["lost_jobs"].value
    again = ran(grid_of(kind, None, count=60, loss=0.3, retry="limited", detection=30.0))
    assert again.metrics["retried"].value > 0
    assert again.metrics["lost_jobs"].value < lost.metrics["lost_jobs"].value


def test_best_effort_jobs_on_a_broken_node_go_back_into_their_bag():
    document = {
        "title": "t",
        "horizon": 2000.0,
        "site": {"name": "a", "nodes": 2, "policy": "fcfs"},
        "harvester": {"site": "a", "controller": "tap", "cycle": 10.0},
        "workload": {"name": "bag", "kind": "campaign", "count": 6, "runtime": 30.0},
        "fault": {"kind": "broken", "after": 5.0, "between": 5.0, "repair": 100.0},
    }
    run = ran(document)
    assert run.metrics["broken_executions"].value > 0
    assert {job.state for job in run.record.jobs} == {"done"}


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ({"kind": "link", "network": {}}, "max-min"),
        ({"kind": "power", "site": "nowhere"}, "no site 'nowhere'"),
        ({"kind": "node", "between": 0.0}, "between"),
        ({"kind": "report", "middleware": None}, "middleware"),
        (
            {"kind": "broken", "site": "*", "site_of": {"name": "v", "nodes": 2, "vres": {"job": 1.0}}},
            "batch scheduler",
        ),
    ],
)
def test_faults_of_what_is_not_there_are_refused(fault, words):
    fault = dict(fault)
    change = {key: fault.pop(key) for key in ("network", "middleware") if key in fault}
    if "site_of" in fault:
        change["site"] = fault.pop("site_of") | {"policy": "fcfs"}
    document = grid_of("push", ONCE | fault) | change
    if "middleware" in change:
        del document["middleware"]
        document["workload"][0]["site"] = "s0"
    with pytest.raises(ScenarioError, match=words):
        ran(document)


@pytest.mark.parametrize("kind", ["node", "broken"])
def test_many_faults_keep_each_other_no_more_than_a_run_from_ending(kind):
    # Of 20 nodes some are always being mended: a fault that saw another one would begin for ever.
    fault = {"kind": kind, "between": {"law": "exponential", "mean": 100.0}, "repair": 100.0}
    document = grid_of("push", fault, nodes=10) | {"horizon": 1e5}
    run = ran(document)
    assert {job.state for job in run.record.jobs} <= {"done", "failed"}
    assert 0 < run.metrics["faults"].value < 200


def test_pilots_lose_nothing_where_push_and_pull_do():
    def lost(kind):
        changed = load("dirac/deteriorating").override({"middleware.kind": kind, "workload.meta.count": 200})
        return sum(simulate(changed, seed=seed).metrics["lost_jobs"].value for seed in (1, 2))

    assert lost("pilot") == 0
