"""Nodes that fail under pilots and best-effort jobs: nothing is lost, and nothing runs there."""

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridtune.agents.batch.availability import Availability
from gridtune.agents.batch.batch_site import BatchSite
from gridtune.agents.batch.best_effort import BestEffortQueue, BestEffortRequest, Preemption
from gridtune.agents.batch.outages import Outage, schedule_outages, schedule_reservation
from gridtune.agents.batch.services import Rounds
from gridtune.agents.wms.vres_outages import VresAvailability
from gridtune.agents.wms.vres_site import VresSite
from gridtune.model.batch.nodes import Named, hosts_in
from gridtune.model.grid import Grid
from gridtune.model.job import DONE, FAILED, REJECTED
from gridtune.model.policy import make
from gridtune.model.vres import ClassRules
from gridtune.scenarios import simulate
from gridtune.scenarios.document.scenario import Scenario
from tests.test_outages import lives


@pytest.mark.long
@settings(deadline=None, max_examples=150)
@given(life=lives(), grace=st.sampled_from([0.0, 3.0]), round_length=st.sampled_from([0.0, 2.0]))
def test_best_effort_jobs_make_way_for_whatever_happens_to_nodes(life, grace, round_length):
    nodes, slots, works, outages, reservations = life
    grid = Grid(keep_events=True)
    pool = Named("n", [1.0] * nodes, slots)
    site = BatchSite(grid, "site", pool, make("batch", "easy"), rounds=Rounds(duration=lambda: round_length))
    queue = BestEffortQueue(site, Preemption(grace=grace))
    availability = Availability(site, pool)
    schedule_outages(availability, [Outage(*outage) for outage in outages])
    for reservation, notice in reservations:
        schedule_reservation(availability, reservation, notice)

    def again(job, _):
        if job.state is not DONE:
            queue.submit(BestEffortRequest(job, grid.agenda, 0.0, lambda job: None, again))

    def arrive(work):
        submit, runtime, processors, estimate, user = work
        site.submit(grid.record.job(user, submit, runtime, processors=processors, estimate=estimate))
        job = grid.record.job("harvest", submit, runtime + 5.0, mandatory=False)
        again(job, 0.0)

    def look(_):
        assert site.cluster.free >= 0

    grid.agenda.every(0.5, look)
    grid.agenda.feed((work[0], arrive, work) for work in works)
    grid.run()
    assert all(job.state is DONE for job in grid.record.jobs)
    grid.agenda.run(until=1000.0)
    assert (site.free, queue.idle, queue.held) == (nodes * slots, nodes * slots, 0)
    spans, running = {}, {}
    for time, event, number, _, node in grid.record.journal:
        if event == "started":
            running[number] = time, node
        elif event in ("done", "killed"):
            start, names = running.pop(number)
            hosts = hosts_in(names)
            for host in hosts:
                spans.setdefault(host, []).append((start, time))
    for number in range(nodes):
        lost = [outage[:2] for outage in outages if number in outage[2] and not outage[3]]
        for start, end in spans.get(f"n-{number:03}", []):
            assert not any(start < to and since < end for since, to in lost)
    if slots == 1:
        for intervals in spans.values():
            assert all(end <= start for (_, end), (start, _) in pairwise(sorted(intervals)))


@pytest.mark.parametrize("kind", ["push", "pull", "pilot"])
def test_tasks_of_a_middleware_outlive_the_nodes_on_which_they_ran(kind):
    laws = {
        "between": {"law": "exponential", "mean": 3000.0},
        "repair": {"law": "exponential", "mean": 600.0},
    }
    sites = [
        {"name": name, "nodes": 6, "policy": "fcfs", "failures": laws, "requeues": 1000}
        for name in ("a", "b")
    ]
    work = {
        "name": "task",
        "kind": "generated",
        "count": 300,
        "interval": {"law": "exponential", "mean": 25.0},
        "runtime": {"law": "uniform", "low": 50.0, "high": 350.0},
    }
    document = {"title": "t", "site": sites, "middleware": {"kind": kind}, "workload": [work]}
    run = simulate(Scenario("test", document, Path()), keep_events=True)
    assert {str(job.state) for job in run.record.jobs} == {"done"}
    assert run.metrics["killed_by_failure"].value > 10
    assert run.metrics["killed"].value > 10
    pilots = [job for job in run.record.placeholders if job.state is FAILED]
    assert bool(pilots) == (kind == "pilot")
    out, down = [], {}
    for time, event, _, _, node in run.record.journal:
        if event == "node lost":
            down[node] = time
        elif event == "node back":
            out.append((node, down.pop(node), time))
    assert out
    for job in run.record.jobs:
        assert not any(node == job.node and job.start < end and start < job.end for node, start, end in out)


def vres_site(grid, nodes, outages, requeues=99.0):
    """A site of two classes with two slots on each processor, the second of which lets nobody wait."""
    classes = [
        ClassRules("batch", kinds=frozenset(["job"])),
        ClassRules("short", kinds=frozenset(["sdj"]), full="reject"),
    ]
    site = VresSite(grid, "n", [1.0] * nodes, classes, [nodes, nodes])
    schedule_outages(VresAvailability(site, requeues), [Outage(*outage) for outage in outages])
    return site


def test_a_job_on_a_shared_node_that_fails_is_offered_again():
    # Job 1 has the first of two processors, the other two share the second. The first fails at 4 until 50.
    grid = Grid(keep_events=True)
    site = vres_site(grid, 2, [(4.0, 50.0, [0], False)])
    jobs = [grid.record.job("ann", 0.0, 10.0, kind=kind) for kind in ("job", "sdj", "job")]
    for job in jobs:
        site.submit(job)
    grid.run()
    # Job 1 waits for the only slot of its class that is left, and then has the processor for itself.
    assert [(job.start, job.end, job.kills) for job in jobs] == [(20, 30, 1), (0, 20, 0), (0, 20, 0)]
    assert (jobs[0].wasted, jobs[0].node) == (4.0, "n-001")
    assert grid.record.counters["killed_by_failure"] == 1
    assert grid.record.measures["unavailable"]() == 26.0


@pytest.mark.long
@settings(deadline=None, max_examples=100)
@given(life=lives(), requeues=st.sampled_from([0.0, 1.0, 99.0]))
def test_jobs_on_shared_processors_are_done_or_counted_and_never_on_a_node_that_is_lost(life, requeues):
    nodes, _, works, outages, _ = life
    grid = Grid(keep_events=True)
    site = vres_site(grid, nodes, outages, requeues)

    def arrive(work):
        submit, runtime, processors, _, user = work
        kind = "job" if user == "ann" else "sdj"
        site.submit(
            grid.record.job(user, submit, float(runtime), processors=min(processors, nodes), kind=kind)
        )

    grid.agenda.feed((work[0], arrive, work) for work in works)
    grid.run()
    states = Counter(str(job.state) for job in grid.record.jobs)
    assert set(states) <= {"done", "failed", "rejected"}
    assert states["failed"] == grid.record.counters["failed_jobs"]
    assert not any(job.kind == "job" and job.state is REJECTED for job in grid.record.jobs)
    grid.agenda.run(until=1000.0)
    site.submit(grid.record.job("ann", 1000.0, 1.0, kind="job"))  # somebody looks
    assert [known.free for known in site.classes] == [nodes - 1, nodes]
    for job in grid.record.jobs[:-1]:
        for start, end, some, drain in outages:
            lost = {f"n-{node:03}" for node in some} & set(hosts_in(job.node))
            if job.state is DONE and lost and not drain:
                assert not (job.start < end and start < job.end)
            if job.state is DONE and lost and drain and job.runtime:
                assert not start < job.start < end  # who ends as a drain begins hands its slots on first
