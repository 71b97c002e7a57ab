"""Nodes that fail under pilots and best-effort jobs: nothing is lost, and nothing runs there."""

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
from gridtune.model.batch.nodes import Named, hosts_in
from gridtune.model.grid import Grid
from gridtune.model.job import DONE, FAILED
from gridtune.model.policy import make
from gridtune.scenarios import simulate
from gridtune.scenarios.document.scenario import Scenario
from tests.test_outages import lives


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
