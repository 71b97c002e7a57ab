"""Servers on lease: jobs of a site among all others, which they delay and which delay them."""

from pathlib import Path

import pytest

from gridtune.scenarios import ScenarioError, load, simulate
from gridtune.scenarios.document.scenario import Scenario
from tests.meta_worlds import most_at_once


def grid(lease, *, nodes=2, own=0, count=1, n_max=20, n_min=2, horizon=3500.0, sessions=1, **more):
    workload = [
        {
            "name": "rpc",
            "kind": "regular",
            "count": sessions,
            "interval": 2000.0,
            "n_min": n_min,
            "n_max": n_max,
            "deadline": 1000.0,
            "runtime": 100.0,
        }
    ]
    if own:
        workload.append(
            {
                "name": "own",
                "kind": "generated",
                "count": own,
                "site": "a",
                "interval": 1e-3,
                "runtime": 500.0,
            }
        )
    return simulate(
        Scenario(
            "t",
            {
                "title": "t",
                "horizon": horizon,
                "site": {"name": "a", "nodes": nodes, "policy": "fcfs"},
                "sed": {"count": count, "site": "a", "overhead": 0.0, "lease": lease},
                "client": {"dispatch": "ethic"},
                "workload": workload,
                **more,
            },
            Path(),
        ),
        keep_events=True,
    )


def executions(run):
    return [(job.start, job.end) for job in run.record.jobs if job.state == "done" and job.kind != "job"]


def test_a_server_works_once_its_lease_has_started_up():
    run = grid({"startup": 30.0})
    assert min(start for start, _ in executions(run)) == pytest.approx(30.0, abs=0.1)
    assert run.slots == 2  # none is counted twice


def test_a_lease_that_ends_interrupts_what_runs_and_the_next_begins_it_anew():
    run = grid({"length": 250.0})
    starts = sorted(start for start, _ in executions(run))
    # Two requests of 100 s in each 250 s; the third is interrupted after 50 s and begins anew.
    assert starts[:4] == pytest.approx([0.0, 100.0, 250.0, 350.0], abs=0.1)
    assert run.metrics["leases"].value >= 4
    assert run.metrics["killed"].value >= 3


def test_a_lease_must_be_longer_than_its_server_takes_to_start_up():
    with pytest.raises(ScenarioError, match="must be less than length"):
        grid({"length": 30.0, "startup": 30.0})


def test_an_idle_server_gives_its_lease_back_and_asks_again_when_requests_come():
    # Two sessions of 1,000 s, the second of which begins at 2,000 s.
    kept, given = grid({}, sessions=2), grid({"idle": 50.0}, sessions=2)
    assert kept.metrics["leases"].value == 1
    assert kept.metrics["lease_idle"].value >= 900.0
    assert given.metrics["leases"].value == 2
    assert given.metrics["lease_idle"].value <= 102.0
    assert given.metrics["completed"].value == kept.metrics["completed"].value


def test_local_jobs_and_servers_wait_for_each_other():
    # Two nodes: the lease holds one of them from 0 to 250 s, and is renewed behind four jobs of 500 s.
    alone, beside = grid({"length": 250.0}), grid({"length": 250.0}, own=4)
    assert [start for start, _ in sorted(executions(alone))][2] == pytest.approx(250.0, abs=0.1)
    assert len(executions(beside)) == 2  # its turn comes at 1,000 s, when the session is over
    waits = [job.start for job in beside.record.jobs if job.kind == "job"]
    assert waits == pytest.approx([0.0, 250.0, 500.0, 750.0], abs=0.1)


def test_what_runs_on_a_node_that_is_lost_is_not_lost():
    fault = {"kind": "power", "between": 150.0, "repair": 60.0}
    run = grid({}, n_min=5, n_max=5, fault=fault)
    assert run.metrics["lost_jobs"].value == 0
    assert run.metrics["killed"].value >= 1


def test_leases_on_broken_nodes_fail_and_are_counted_for_what_they_held():
    fault = {"kind": "broken", "after": 20.0, "between": 1.0, "repair": 500.0}
    run = grid({"length": 50.0}, nodes=1, fault=fault, horizon=1000.0)
    asked = run.metrics["leases"].value
    assert asked > 20
    # The first begins before the node breaks; those after it fail after 20 s each, until 501 s.
    assert 900.0 < run.metrics["lease_work"].value <= 1000.0


def test_servers_for_tasks_are_placed_anew_when_a_lease_ends():
    changed = load("federation/small").override(
        {f"parts.{part}": part in ("deadline", "local") for part in load("federation/small").spec.parts}
        | {"server.server.lease": {"length": 1800.0, "startup": 20.0}}
    )
    run = simulate(changed, seed=1)
    tasks = [job for job in run.record.jobs if job.kind == "task"]
    assert sum(job.state == "done" for job in tasks) > len(tasks) / 2
    assert run.metrics["leases"].value > 8
    assert run.metrics["resubmissions"].value > 0


@pytest.mark.parametrize("site", [None, "nowhere"])
def test_a_lease_needs_a_site_with_a_batch_scheduler(site):
    document = {
        "title": "t",
        "site": {"name": "a", "nodes": 2, "policy": "fcfs"},
        "sed": {"count": 1, "lease": {}} | ({"site": site} if site else {}),
        "client": {"dispatch": "ethic"},
        "workload": {
            "kind": "regular",
            "count": 1,
            "interval": 1.0,
            "n_min": 1,
            "n_max": 1,
            "deadline": 9.0,
            "runtime": 1.0,
        },
    }
    with pytest.raises(ScenarioError, match="site"):
        simulate(Scenario("t", document, Path()))


def most_leases(run):
    held = [job for job in run.record.placeholders if job.start == job.start]
    return most_at_once((job.start, job.end if job.end == job.end else run.end, 1) for job in held)


def test_a_pool_grows_and_shrinks_with_the_requests_that_wait():
    def pooled(n_max, **pool):
        lease = {"idle": 50.0, "pool": {"kind": "by-demand", **pool}}
        return grid(lease, nodes=12, count=8, n_min=n_max, n_max=n_max)

    few, many = pooled(8, least=1, requests=4), pooled(60, least=1, requests=4)
    assert (most_leases(few), most_leases(many)) == (2, 8)  # one for every four; there are eight servers
    assert most_leases(pooled(60, least=1, requests=1000)) == 1
    assert most_leases(pooled(8, least=5, requests=1000)) == 5
    for run in (few, many):
        assert run.metrics["lost_jobs"].value == 0  # all is done though servers wait their turn
    # Grown leases are given back 50 s after the last request, the least of them never.
    open_at_the_end = [job for job in many.record.placeholders if job.state == "running"]
    assert len(open_at_the_end) == 1


def test_a_lease_that_idles_while_others_wait_for_one_is_handed_over():
    # One lease for all, which no idle time takes away: each of four servers has its turn.
    lease = {"pool": {"kind": "by-demand", "least": 1, "requests": 1000}}
    run = grid(lease, count=4, n_min=8, n_max=8)
    assert {job.site for job in run.record.jobs if job.state == "done"} == {f"sed-{k:03}" for k in range(4)}
    assert most_leases(run) == 1
    assert run.metrics["lost_jobs"].value == 0


@pytest.mark.parametrize("head_node", [{}, {"time": 20.0}])
def test_leases_overflow_to_further_sites_where_the_first_gives_no_node_in_time(head_node):
    sites = [
        {"name": "a", "nodes": 1, "policy": "fcfs", "head_node": head_node},
        {"name": "b", "nodes": 3, "policy": "fcfs"},
    ]

    def overflowing(**lease):
        return grid({"startup": 5.0, **lease}, own=4, count=2, site=sites)

    def first_start(run, server):
        return min(job.start for job in run.record.jobs if job.site == server and job.state == "done")

    # The first server holds the only node of a; local jobs and the second server wait for that.
    stuck = overflowing()
    assert not [job for job in stuck.record.jobs if job.site == "sed-001" and job.state == "done"]
    run = overflowing(overflow=["b"], patience=60.0)
    assert first_start(run, "sed-000") == pytest.approx(5.0 + head_node.get("time", 0.0), abs=0.1)
    assert first_start(run, "sed-001") == pytest.approx(65.0, abs=0.1)
    assert run.metrics["leases_moved"].value == 1
    assert [job.site for job in run.record.placeholders if job.start == job.start] == ["a", "b"]


def test_what_cannot_overflow_is_refused():
    for lease, words in (
        ({"overflow": ["nowhere"], "patience": 9.0}, "lease.overflow: no"),
        ({"overflow": ["a"], "patience": 9.0}, "twice"),
        ({"patience": 9.0}, "needs overflow"),
        ({"pool": {"kind": "by-demand", "requests": 0}}, "requests"),
    ):
        with pytest.raises(ScenarioError, match=words):
            grid(lease)


@pytest.mark.parametrize(("io_share", "took"), [(0.0, 100.0), (0.5, 200.0)])
def test_executions_on_leases_are_as_fast_as_the_file_server_of_the_site_lets_them_be(io_share, took):
    site = {"name": "a", "nodes": 2, "policy": "fcfs"}
    # Two processes that want 0.5 each, and get a quarter each: 0.5 / (0.5 + 0.5 x 3).
    site |= {"file_system": {"threads": 0.5, "io_share": io_share}}
    run = grid({}, count=2, n_max=2, site=site)
    assert [end - start for start, end in executions(run)] == pytest.approx([took] * 2, abs=0.01)
