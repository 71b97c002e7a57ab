"""Preemption by QOS: who makes way for whom, what it costs, and that nothing is lost by it."""

from dataclasses import replace
from itertools import pairwise
from math import inf
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridtune.agents.batch.availability import Availability
from gridtune.agents.batch.batch_site import BatchSite
from gridtune.agents.batch.best_effort import BestEffortQueue, BestEffortRequest, Preemption
from gridtune.agents.batch.outages import Outage, schedule_outages
from gridtune.agents.batch.qos import QosPreemption, Terms
from gridtune.agents.batch.services import Services
from gridtune.model.batch.nodes import Named, hosts_in
from gridtune.model.batch.priority import HIGHEST
from gridtune.model.batch.queues import Queue
from gridtune.model.grid import Grid
from gridtune.model.job import CANCELLED, DONE, EXPIRED, FAILED, Job
from gridtune.model.metrics.harm import waited
from gridtune.model.metrics.lost import progress
from gridtune.model.metrics.summary import summarise
from gridtune.model.policy import make
from gridtune.scenarios import ScenarioError, simulate
from gridtune.scenarios.document.scenario import Scenario, load
from gridtune.scenarios.results.files import tables
from gridtune.scenarios.results.run import notes
from gridtune.scenarios.systems.outages import qos_notes
from tests.facts import unstated

LEVELS = {"urgent": 2.0, "normal": 1.0}


def play(
    works,
    nodes,
    terms,
    policy="easy",
    *,
    outages=(),
    best_effort=False,
    overrun="extend",
    speed=1.0,
    until=inf,
    **more,
):
    """Run works (submit, runtime, processors, estimate, kind) through a site."""
    grid = Grid(horizon=until, keep_events=True)
    pool = Named("n", [speed] * nodes)
    site = BatchSite(grid, "site", pool, make("batch", policy), overrun=overrun, **more)
    queue = BestEffortQueue(site, Preemption()) if best_effort else None
    if outages:
        schedule_outages(Availability(site, pool), [Outage(*outage) for outage in outages])
    if terms is not None:
        QosPreemption(site, terms)

    def arrive(work):
        submit, runtime, processors, estimate, kind = work
        facts = {"processors": processors, "estimate": estimate, "kind": kind}
        site.submit(grid.record.job("ann", submit, runtime, **facts))
        if queue is not None:
            again(grid.record.job("harvest", submit, runtime + 3.0, mandatory=False), 0.0)

    def again(job, _):
        if job.state is not DONE:
            queue.submit(BestEffortRequest(job, grid.agenda, 0.0, lambda job: None, again))

    grid.agenda.feed((work[0], arrive, work) for work in works)
    grid.run()
    return grid, site


def times(grid):
    return [(job.start, job.end) for job in grid.record.jobs]


# A job of 10 s on both nodes, and an urgent one of 3 s on one of them, which comes at 4.
WORKS = [(0, 10, 2, 10, "job"), (4, 3, 1, 3, "urgent")]


@pytest.mark.parametrize(
    ("terms", "expected", "wasted", "kept", "waited"),
    [
        ({"mode": "requeue"}, [(7, 17), (4, 7)], 8, 0, 7),
        ({"mode": "requeue", "grace": 3.0}, [(10, 20), (7, 10)], 14, 0, 10),
        ({"mode": "requeue", "exempt": 6.0}, [(9, 19), (6, 9)], 12, 0, 9),
        # The checkpoint takes 1 s of both nodes, from 4 to 5; 6 s of work are left, after 2 s to go on.
        ({"mode": "checkpoint", "checkpoint": 1.0, "restart": 2.0}, [(8, 16), (5, 8)], 2, 8, 4),
        ({"mode": "suspend"}, [(7, 13), (4, 7)], 0, 8, 3),
    ],
)
def test_a_job_makes_way_and_runs_again(terms, expected, wasted, kept, waited):
    grid, site = play(WORKS, 2, Terms(levels=LEVELS, **terms))
    assert times(grid) == expected
    job = grid.record.jobs[0]
    assert (job.kills, job.wasted, job.kept) == (terms["mode"] != "suspend", wasted, kept)
    assert (job.waiting_time, job.execution_time) == (waited, job.response_time - waited)
    assert grid.record.counters["preemptions"] == 1
    assert (site.free, site.running, site.cluster.ends) == (2, 0, [])


def test_what_a_suspended_job_had_is_no_waiting_and_counts_as_work():
    grid, _ = play(WORKS, 2, Terms("suspend", LEVELS))
    found, users = summarise(grid, allocated="occupied")
    metrics = {name: one.value for name, one in found.items()}
    # The first waits from 4 to 7 and runs for 10 s; the urgent one runs for 3 s.
    assert (metrics["waiting_mean"], metrics["waiting_max"], metrics["execution_mean"]) == (1.5, 3.0, 6.5)
    assert [waited(job, grid.now) for job in grid.record.jobs] == [3.0, 0.0]
    assert users["ann"].allocated == 10 * 2 + 3
    cut, _ = play(WORKS, 2, Terms("suspend", LEVELS), until=6.0)
    assert [progress(job, 6.0, 1.0) for job in cut.record.jobs] == [8.0, 2.0]
    assert [waited(job, 6.0) for job in cut.record.jobs] == [2.0, 0.0]


def test_what_a_job_promises_after_a_checkpoint_is_the_rest():
    # 4 of 10 s were done at 4, and the checkpoint takes no time.
    grid, _ = play(WORKS, 2, Terms("checkpoint", LEVELS))
    assert (grid.record.jobs[0].estimate, times(grid)) == (6, [(7, 13), (4, 7)])


@pytest.mark.parametrize("speed", [1.0, 0.7])
def test_who_keeps_a_promise_is_not_killed_however_often_interrupted(speed):
    # Rests of tenths and thirds are not exact.
    urgent = [(t, 1.3, 2, 2.0, "urgent") for t in (2.7, 6.5, 15.3, 25.4, 50.3)]
    for runtime in (51.7 + k / 7 for k in range(30)):
        works = [(0.0, runtime, 2, runtime, "job"), *urgent]
        grid, _ = play(works, 2, Terms("checkpoint", LEVELS), overrun="kill", speed=speed)
        assert grid.record.jobs[0].kills == 5
        assert grid.record.jobs[0].state is DONE


def test_the_rest_of_a_job_is_planned_and_its_kept_work_is_no_idle_time():
    # At 7 a slot is free until 14, for which the job of two nodes is planned: the 6 s left of 10 fit into it.
    works = [(0, 10, 1, 10, "job"), (0, 14, 1, 14, "normal"), (2, 5, 2, 5, "job"), (4, 3, 1, 3, "urgent")]
    grid, _ = play(works, 2, Terms("checkpoint", LEVELS))
    assert times(grid) == [(7, 13), (0, 14), (14, 19), (4, 7)]
    # All but one of 2 x 19 slot-seconds were of use.
    metrics, _ = summarise(grid)
    assert metrics["utilisation"].value == pytest.approx(37 / 38)


def test_short_jobs_preempt_longer_ones_and_what_is_left_of_a_job_does_not_make_it_short():
    """One node, 5 s are express: the job of 10 s is preempted at 8 and at 11, though 2 s of it are left."""
    works = [(0, 10, 1, 10, "job"), (8, 3, 1, 4, "job"), (11, 3, 1, 4, "job"), (12, 6, 1, 6, "job")]
    grid, _ = play(works, 1, Terms("checkpoint", express=5.0))
    assert times(grid) == [(14, 16), (8, 11), (11, 14), (16, 22)]
    # The order of those that wait is that of coming: without preemption all of them wait for the first.
    assert times(play(works, 1, Terms("checkpoint"))[0]) == [(0, 10), (10, 13), (13, 16), (16, 22)]
    # An express job of a higher kind preempts others of it; equal ones do not preempt each other.
    works = [(0, 9, 1, 9, "normal"), (1, 3, 1, 3, "job"), (2, 3, 1, 3, "normal"), (3, 3, 1, 3, "normal")]
    assert times(play(works, 1, Terms("requeue", LEVELS, express=5.0))[0]) == [
        (11, 20),
        (8, 11),
        (2, 5),
        (5, 8),
    ]


def test_jobs_that_promise_nothing_are_not_express_where_nobody_is():
    job = Job(1, "u", 0.0, 1.0)
    assert Terms(express=0.0).level(job, 0.0) == 0.0
    assert [Terms(express=5.0).level(job, promised) for promised in (5.0, 5.1)] == [1.0, 0.0]


def test_a_checkpoint_that_a_failure_interrupts_is_none():
    # Written from 4 to 7; a node fails at 5, and is back at 6. The urgent job starts on the other one at 5.
    terms = Terms("checkpoint", LEVELS, checkpoint=3.0)
    grid, _ = play(WORKS, 2, terms, outages=[(5.0, 6.0, [0], False)])
    first = grid.record.jobs[0]
    assert (first.kept, first.wasted, first.kills, first.estimate) == (0, 10, 1, 10)
    assert times(grid) == [(8, 18), (5, 8)]


def test_a_job_that_is_cancelled_for_another_is_lost():
    grid, _ = play(WORKS, 2, Terms(mode="cancel", levels=LEVELS))
    first, second = grid.record.jobs
    assert (first.state, first.end, first.wasted, second.start) == (FAILED, 4, 8, 4)
    assert grid.record.counters["preempted_jobs"] == 1


def test_a_job_is_preempted_as_soon_as_best_effort_jobs_have_let_it_start():
    # A best-effort job has the node until 15, 10 s after the first job wants it; the urgent one comes at 6.
    grid = Grid()
    site = BatchSite(grid, "site", Named("n", [1.0]), make("batch", "easy"))
    queue = BestEffortQueue(site, Preemption(grace=10.0))
    QosPreemption(site, Terms(levels=LEVELS))
    harvest = grid.record.job("harvest", 0.0, 60.0, mandatory=False)
    request = BestEffortRequest(harvest, grid.agenda, 0.0, lambda job: None, lambda job, _: None)
    grid.agenda.at(0.0, queue.submit, request)
    for submit, runtime, kind in ((5.0, 100.0, "job"), (6.0, 5.0, "urgent")):
        grid.agenda.at(submit, site.submit, grid.record.job("ann", submit, runtime, kind=kind))
    grid.run()
    assert times(grid)[1:] == [(20, 120), (15, 20)]


def test_a_job_that_ends_within_its_grace_is_not_preempted():
    grid, _ = play([(0, 6, 2, 6, "job"), WORKS[1]], 2, Terms(levels=LEVELS, grace=3.0))
    assert times(grid) == [(0, 6), (6, 9)]
    assert grid.record.counters["preemptions"] == 0


def test_the_lowest_class_goes_first_and_of_it_the_youngest_and_no_more_than_need_be():
    works = [
        (0, 50, 1, 50, "job"),
        (1, 50, 1, 50, "job"),
        (2, 50, 2, 50, "job"),
        (3, 50, 1, 50, "normal"),
        (4, 5, 2, 5, "urgent"),  # the third is the youngest of the lowest, and enough
    ]
    assert [job.kills for job in play(works, 5, Terms(levels=LEVELS))[0].record.jobs] == [0, 0, 1, 0, 0]
    oldest = play(works, 5, Terms(levels=LEVELS, victims="oldest"))[0].record.jobs
    assert [job.kills for job in oldest] == [1, 1, 0, 0, 0]
    wide = [*works[:4], (4, 5, 5, 5, "urgent")]
    assert [job.kills for job in play(wide, 5, Terms(levels=LEVELS))[0].record.jobs] == [1, 1, 1, 1, 0]
    # The youngest alone are too few, and of no use beside an older one that is enough.
    broad = [(0, 50, 3, 50, "job"), (1, 50, 1, 50, "job"), (4, 5, 3, 5, "urgent")]
    assert [job.kills for job in play(broad, 4, Terms(levels=LEVELS))[0].record.jobs] == [1, 0, 0]
    # Of its own class a job preempts nobody.
    same = [*works[:4], (4, 5, 5, 5, "normal")]
    assert play(same, 5, Terms(levels=LEVELS))[0].record.jobs[-1].start > 50


def test_the_plan_knows_when_those_who_make_way_leave():
    # Notice at 4, both nodes free at 7, the urgent job has one from 7 to 10. The other one is free from 7 on,
    # for jobs that came before the preempted one waited again: that needs both, and gets them at 19.
    works = [*WORKS, (5, 3, 1, 3, "job"), (5, 9, 1, 9, "job")]
    grid, _ = play(works, 2, Terms(levels=LEVELS, grace=3.0))
    assert times(grid) == [(19, 29), (7, 10), (7, 10), (10, 19)]


def test_a_job_on_a_drained_node_is_let_be():
    # The job of four nodes may preempt from 4 on, when node 0 is drained: it waits for the job there.
    works = [(0, 5, 1, 5, "job"), (1, 4, 1, 0, "job"), (1, 2, 4, 2, "normal")]
    grid, site = play(works, 4, Terms(levels=LEVELS, exempt=3.0), outages=[(4.0, 9.0, [0], True)])
    assert times(grid) == [(0, 5), (1, 5), (9, 11)]
    assert (site.free, site.cluster.ends) == (4, [])


def executions(grid):
    """Start, end and nodes of every execution, by job."""
    made, begun = {}, {}
    for time, event, number, _, nodes in grid.record.journal:
        if event == "started":
            begun[number] = time, hosts_in(nodes)
        elif number in begun:
            start, hosts = begun.pop(number)
            made.setdefault(number, []).append((start, time, hosts))
    return made


def test_who_is_suspended_keeps_its_slots_from_its_own_class_and_not_from_a_higher_one():
    works = [
        (0, 10, 3, 10, "job"),  # on nodes 0 to 2
        (1, 4, 1, 4, "normal"),  # on node 3
        (4, 6, 1, 6, "normal"),  # on node 0 until 10: the first one has nodes 1 and 2 in memory
        (4, 1, 1, 1, "job"),  # not there, but on node 3 from 5 on
        (5, 2, 2, 2, "urgent"),  # there, and suspends nobody
        (6, 3, 1, 3, "job"),
    ]
    grid, site = play(works, 4, Terms("suspend", LEVELS))
    assert executions(grid) == {
        1: [(0, 4, ["n-000", "n-001", "n-002"]), (10, 16, ["n-000", "n-001", "n-002"])],
        2: [(1, 5, ["n-003"])],
        3: [(4, 10, ["n-000"])],
        4: [(5, 6, ["n-003"])],
        5: [(5, 7, ["n-001", "n-002"])],
        6: [(6, 9, ["n-003"])],
    }
    assert grid.record.counters["preemptions"] == 1
    assert (site.free, site.cluster.ends) == (4, [])


def test_idle_slots_of_who_is_suspended_are_had_even_if_only_the_highest_class_runs():
    works = [
        (0, 10, 3, 10, "job"),  # on nodes 0 to 2
        (1, 20, 2, 20, "urgent"),  # on nodes 0 and 1: the first one has node 2 in memory
        (4, 3, 2, 3, "urgent"),  # there and on node 3
    ]
    grid, _ = play(works, 4, Terms("suspend", LEVELS))
    assert executions(grid) == {
        1: [(0, 1, ["n-000", "n-001", "n-002"]), (21, 30, ["n-000", "n-001", "n-002"])],
        2: [(1, 21, ["n-000", "n-001"])],
        3: [(4, 7, ["n-002", "n-003"])],
    }
    assert grid.record.counters["preemptions"] == 1


def test_slots_go_back_to_who_was_suspended_last():
    works = [(0, 10, 2, 10, "job"), (2, 10, 2, 10, "normal"), (4, 3, 1, 3, "urgent")]
    grid, _ = play(works, 2, Terms("suspend", LEVELS))
    pair = ["n-000", "n-001"]
    assert executions(grid) == {
        1: [(0, 2, pair), (15, 23, pair)],
        2: [(2, 4, pair), (7, 15, pair)],
        3: [(4, 7, ["n-000"])],
    }


def test_neither_limits_nor_start_up_begin_anew_after_a_suspension():
    # 2 s of start-up, of which 1 s is over at 1; then 9 s are allowed, of which none counts while suspended.
    works = [(0, 12, 1, 20, "job"), (1, 5, 1, 5, "urgent"), (11, 5, 1, 5, "urgent")]
    more = {"queues": [Queue(max_runtime=30.0)], "services": Services(overhead=lambda: 2.0)}
    grid, _ = play(works, 1, Terms("suspend", LEVELS), **more)
    assert [ends[:2] for ends in executions(grid)[1]] == [(0, 1), (8, 11), (18, 28)]
    more["queues"] = [Queue(max_runtime=9.0)]
    works[0] = (0, 12, 1, 9, "job")
    grid, _ = play(works, 1, Terms("suspend", LEVELS), **more)
    assert [ends[:2] for ends in executions(grid)[1]] == [(0, 1), (8, 11), (18, 25)]
    assert grid.record.jobs[0].state is EXPIRED


def test_a_suspended_job_that_is_withdrawn_gives_its_slots_back():
    grid, site = play([], 2, Terms("suspend", LEVELS))
    first = grid.record.job("ann", 0.0, 10.0, processors=2, kind="job")
    site.submit(first)
    grid.agenda.at(4.0, site.submit, grid.record.job("ann", 4.0, 9.0, kind="urgent"))
    grid.agenda.at(5.0, site.submit, grid.record.job("ann", 5.0, 1.0, kind="job"))
    grid.agenda.at(6.0, site.cancel, first)
    grid.run()
    assert [(job.state, job.end) for job in grid.record.jobs] == [(CANCELLED, 6), (DONE, 13), (DONE, 7)]
    assert (site.free, site.nodes.free_slots, site.cluster.ends) == (2, [0, 1], [])


@st.composite
def lives(draw, modes=("requeue", "cancel", "checkpoint")):
    nodes = draw(st.integers(1, 5))
    works, now = [], 0
    for gap in draw(st.lists(st.integers(0, 4), min_size=1, max_size=14)):
        now += gap
        runtime = draw(st.integers(0, 12))
        kind = draw(st.sampled_from(["job", "normal", "urgent"]))
        works.append((now, runtime, draw(st.integers(1, nodes)), draw(st.integers(0, 14)), kind))
    terms = Terms(
        draw(st.sampled_from(modes)),
        LEVELS,
        draw(st.sampled_from([0.0, 2.0])),
        draw(st.sampled_from([0.0, 3.0])),
        draw(st.sampled_from(["youngest", "oldest"])),
        draw(st.sampled_from([0.0, 1.0])),
        draw(st.sampled_from([0.0, 1.0])),
        draw(st.sampled_from([0.0, 0.0, 3.0])),
    )
    outages = []
    for _ in range(draw(st.integers(0, 2))):
        start = float(draw(st.integers(0, 30)))
        some = [draw(st.integers(0, nodes - 1))]
        outages.append((start, start + draw(st.integers(1, 15)), some, draw(st.booleans())))
    return nodes, works, terms, outages


@pytest.mark.long
@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", {"kind": "priority", "reservations": 2}])
@settings(deadline=None, max_examples=100)
@given(life=lives(), best_effort=st.booleans())
def test_no_job_is_lost_unless_cancelled_and_all_time_is_accounted_for(policy, life, best_effort):
    nodes, works, terms, outages = life
    grid, site = play(works, nodes, terms, policy, outages=outages, best_effort=best_effort)
    jobs = grid.record.jobs
    lost = [job for job in jobs if job.state is not DONE]
    assert len(lost) == grid.record.counters["preempted_jobs"]
    assert terms.mode == "cancel" or not lost
    highest = max(LEVELS.values()) + bool(terms.express)
    assert not any(site.qos.level(job) == highest and job.state is FAILED for job in jobs)
    grid.agenda.run(until=1000.0)
    assert (site.free, site.depth, site.running) == (nodes, 0, 0)
    assert not site.cluster.ends
    # Slot-seconds held are those of the work done, of what was kept of it, and of what was lost; what a
    # job needs to go on from a checkpoint is overhead of its last execution.
    held, running = 0.0, {}
    for time, event, number, *_ in grid.record.journal:
        if event == "started":
            running[number] = time
        elif number in running and event in ("done", "killed", "failed"):
            held += (time - running.pop(number)) * jobs[number - 1].processors
    last = sum((job.end - job.start) * job.processors for job in jobs if job.state is DONE)
    assert held == pytest.approx(last + sum(job.wasted + job.kept for job in jobs))
    for job in jobs:
        if job.state is DONE:
            restart = (job.end - job.start) - (job.runtime - job.kept / job.processors)
            assert restart == pytest.approx(0.0) or (job.kills and restart == pytest.approx(terms.restart))


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", {"kind": "priority", "rule": "sjf"}])
@settings(deadline=None, max_examples=40)
@given(life=lives(modes=["requeue", "cancel", "suspend"]), lowest=st.sampled_from([1.0, 2.0]))
def test_jobs_start_as_if_there_were_none_of_a_lower_class(policy, life, lowest):
    nodes, works, terms, _ = life
    terms = replace(terms, grace=0.0, exempt=0.0, express=0.0)
    counts = [LEVELS.get(kind, 0.0) >= lowest for *_, kind in works]
    crowded, _ = play(works, nodes, terms, policy)
    alone, _ = play([work for work, one in zip(works, counts, strict=True) if one], nodes, terms, policy)
    assert times(alone) == [found for found, one in zip(times(crowded), counts, strict=True) if one]


def test_a_wide_job_is_not_starved_by_narrow_ones_that_pass_it_before_a_lower_one_would_end():
    """One node is free from 40 on, the other one has a job of the lowest class until 900."""
    narrow = [(6 + k, 200, 1, 200, "urgent") for k in range(3)]
    works = [(0, 40, 1, 40, "urgent"), (0, 900, 1, 900, "job"), (5, 20, 2, 20, "urgent"), *narrow]
    for policy in ("fcfs", "easy", "conservative"):
        grid, _ = play(works, 2, Terms(levels=LEVELS), policy)
        assert [job.start for job in grid.record.jobs] == [0, 260, 40, 60, 60, 260]
    # A short one passes it, and makes the lowest way, as that delays nobody.
    works[3:] = [(6, 10, 1, 10, "urgent")]
    assert [start for start, _ in times(play(works, 2, Terms(levels=LEVELS))[0])] == [0, 60, 40, 6]


@pytest.mark.parametrize("mode", ["requeue", "cancel", "checkpoint", "suspend"])
def test_nobody_is_started_in_front_of_a_higher_class_to_make_way_at_once(mode):
    works = [(0, 10, 1, 10, "urgent"), (1, 50, 1, 50, "job"), (2, 20, 1, 20, "urgent")]
    grid, _ = play(works, 1, Terms(mode, LEVELS, exempt=600.0))
    assert times(grid) == [(0, 10), (30, 80), (10, 30)]
    assert grid.record.counters["preemptions"] == 0


@pytest.mark.long
@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", {"kind": "priority", "reservations": 2}])
@settings(deadline=None, max_examples=40)
@given(life=lives(modes=["suspend"]), overhead=st.sampled_from([0.0, 1.5]))
def test_who_is_suspended_goes_on_in_its_own_slots_and_loses_nothing(policy, life, overhead):
    nodes, works, terms, _ = life
    grid, site = play(works, nodes, terms, policy, services=Services(overhead=lambda: overhead))
    jobs, ran = grid.record.jobs, executions(grid)
    assert all(job.state is DONE and not job.wasted for job in jobs)
    assert (site.free, site.nodes.free_slots, site.cluster.ends) == (nodes, list(range(nodes)), [])
    suspensions = [event for _, event, *_ in grid.record.journal].count("suspended")
    assert grid.record.counters["preemptions"] == suspensions
    held = {host: [] for spans in ran.values() for *_, hosts in spans for host in hosts}
    for number, spans in ran.items():
        job = jobs[number - 1]
        assert sum(end - start for start, end, _ in spans) == pytest.approx(job.runtime + overhead)
        assert (len(spans[0][2]), len({tuple(hosts) for *_, hosts in spans})) == (job.processors, 1)
        for start, end, hosts in spans:
            for host in hosts:
                held[host].append((start, end, number))
    for spans in held.values():
        spans.sort()
        assert all(one[1] <= other[0] for one, other in pairwise(spans))
    for number, spans in ran.items():
        for (_, left, hosts), (back, *_) in pairwise(spans):
            there = [one for host in hosts for one in held[host] if one[2] != number]
            between = [one for one in there if left <= one[0] and one[1] <= back]
            assert back in {end for _, end, _ in between}
            longer = [jobs[other - 1] for start, end, other in between if start < end]
            assert all(site.qos.level(other) > site.qos.level(jobs[number - 1]) for other in longer)
            assert not any(max(left, start) < min(back, end) for start, end, _ in set(there) - set(between))


def test_without_classes_of_their_own_jobs_run_as_without_preemption():
    works = [(k, 5 + k % 7, 1 + k % 3, 12, "job") for k in range(40)]
    assert times(play(works, 4, Terms())[0]) == times(play(works, 4, None)[0])


def test_a_scenario_says_who_preempts_whom():
    def run(**preemption):
        work = {"kind": "generated", "interval": 3.0, "processors": 2.0}
        document = {
            "title": "t",
            "site": [{"name": "m", "nodes": 4, "policy": "easy", "preemption": preemption}],
            "workload": [
                work | {"name": "batch", "count": 60, "runtime": 9.0},
                work | {"name": "hot", "role": "urgent", "count": 6, "runtime": 5.0, "interval": 31.0},
            ],
        }
        return simulate(Scenario("test", document, Path()))

    plain, hot = run(qos={}), run(qos={"urgent": 1.0})
    assert plain.metrics["preemptions"].value == 0
    assert hot.metrics["preemptions"].value > 0
    assert hot.metrics["waiting_max.urgent"].value == 0 < plain.metrics["waiting_max.urgent"].value
    assert run(qos={"urgent": 1.0}, mode="cancel").metrics["preempted_jobs"].value > 0
    short = run(express=5.0)
    assert short.metrics["waiting_max.urgent"].value == 0 < short.metrics["preemptions"].value
    suspended = run(qos={"urgent": 1.0}, mode="suspend").metrics
    assert suspended["waiting_max.urgent"].value == suspended["wasted_work"].value == 0
    assert suspended["preemptions"].value > 0
    for wrong, fault in (
        ({}, "say which jobs have a higher one"),
        ({"express": -1.0}, "express"),
        ({"qos": {}, "restart": 1.0}, "restart are for mode"),
        ({"qos": {}, "mode": "checkpoint", "grace": 1.0}, "leave grace out"),
        ({"qos": {}, "mode": "suspend", "grace": 1.0}, "leave grace out"),
        ({"qos": {}, "mode": "gang"}, "requeue"),
    ):
        with pytest.raises(ScenarioError, match=fault):
            run(**wrong)


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"outage": {"start": 5.0, "end": 9.0, "nodes": [0]}}, "failures, outages, reservations"),
        ({"power": {}}, "power"),
        ({"file_system": {"io_share": 0.5}}, "a file system"),
    ],
)
def test_suspension_is_refused_beside_what_else_decides_over_slots(more, named):
    document = {
        "title": "t",
        "site": {"name": "m", "nodes": 4, "policy": "easy", "preemption": {"mode": "suspend", "qos": {}}}
        | more,
        "workload": {"kind": "generated", "count": 1, "interval": 1.0, "runtime": 5.0},
    }
    with pytest.raises(ScenarioError, match=f"no suspension beside {named}"):
        simulate(Scenario("test", document, Path()))


def replay_of_two_qos(tmp_path, **site):
    """One processor: a job of 900 s and QOS normal at 0, one of 100 s and QOS high 100 s later."""
    rows = ["JobID|Submit|Start|End|AllocCPUS|ReqCPUS|TimelimitRaw|State|User|QOS"]
    rows += ["1|60|60|960|1|1|20|COMPLETED|ann|normal", "2|160|960|1060|1|1|20|COMPLETED|bob|high"]
    path = tmp_path / "log.txt"
    path.write_text("\n".join(rows) + "\n")
    values = {"workload.trace": str(path), "site.cluster.nodes": 1}
    return load("batch/replay").override(values | {f"site.cluster.{key}": one for key, one in site.items()})


def test_jobs_of_a_log_preempt_by_the_qos_that_it_names(tmp_path):
    levels = {"normal": 0.0, "high": 1.0}
    starts = {}
    for name, table in (
        ("none", {"express": 0.0}),
        ("named", {"qos": levels}),
        ("others", {"qos": {"x": 1.0}}),
    ):
        run = simulate(replay_of_two_qos(tmp_path, preemption=table))
        starts[name] = [job.start for job in run.record.jobs]
    assert list(tables(run)["jobs"].qos) == ["normal", "high"]
    assert "qos" not in tables(simulate(load("batch/replay")))["jobs"]
    assert starts == {"none": [0.0, 900.0], "named": [200.0, 100.0], "others": [0.0, 900.0]}
    assert not any("QOS" in line for line in notes(replay_of_two_qos(tmp_path, preemption={"qos": levels})))
    *_, said = notes(replay_of_two_qos(tmp_path, preemption={"qos": {"hihg": 1.0}}))
    assert not unstated([said], ["preemption.qos", "hihg", "high", "normal"])


def test_a_priority_of_a_qos_that_no_job_has_is_said(tmp_path):
    policy = {"kind": "priority", "weight_qos": 5.0, "qos": {"hihg": 9.0, HIGHEST: 10.0}}
    *_, said = notes(replay_of_two_qos(tmp_path, policy=policy))
    assert not unstated([said], ["policy.qos", "hihg", "high"])
    assert HIGHEST not in said


def test_a_policy_of_a_users_own_may_have_another_parameter_of_that_name():
    site = SimpleNamespace(name="m", preemption=None, policy=SimpleNamespace(qos=1.0))
    assert list(qos_notes(SimpleNamespace(workload=[], overlay=[], site=[site]))) == []


def test_a_job_that_its_owner_took_back_has_its_qos(tmp_path):
    """It waits for the processor, and would have preempted: so it does until it is cancelled."""
    scenario = replay_of_two_qos(tmp_path, preemption={"qos": {"high": 1.0}})
    path = tmp_path / "log.txt"
    path.write_text(
        path.read_text().replace("160|960|1060|1|1|20|COMPLETED|bob", "160|Unknown|400|0|1|20|CANCELLED|bob")
    )
    first, *_ = simulate(scenario).record.jobs
    assert first.kills == 1
    assert first.start == 340.0


def test_a_qos_that_a_table_does_not_name_counts_as_its_kind():
    job = Job(1, "u", 0.0, 1.0, kind="local")
    job.qos = "high"
    assert [job.level(table) for table in ({"high": 2.0, "local": 1.0}, {"local": 1.0}, {"": 3.0})] == [
        2,
        1,
        0,
    ]


def test_the_priority_of_a_qos_is_weighed(tmp_path):
    rows = ["JobID|Submit|Start|End|AllocCPUS|ReqCPUS|TimelimitRaw|State|User|QOS"]
    qos = enumerate(("low", "low", "mid", "top"), 1)
    rows += [f"{k}|{k}|900|1000|1|1|20|COMPLETED|u|{name}" for k, name in qos]
    path = tmp_path / "log.txt"
    path.write_text("\n".join(rows) + "\n")
    policy = {"kind": "priority", "weight_qos": 1000.0, "qos": {"mid": 5.0, "top": 10.0, "none": 20.0}}
    values = {"workload.trace": str(path), "site.cluster.nodes": 1}
    for weight, order in ((1000.0, [0, 3, 2, 1]), (0.0, [0, 1, 2, 3])):
        site = {"site.cluster.policy": policy | {"weight_qos": weight}}
        run = simulate(load("batch/replay").override(values | site))
        assert sorted(range(4), key=lambda at: run.record.jobs[at].start) == order


def test_a_qos_of_jobs_that_no_workload_has_is_said():
    def said(qos):
        document = {
            "title": "t",
            "site": [{"name": "m", "nodes": 4, "policy": "easy", "preemption": {"qos": qos}}],
            "workload": {"kind": "generated", "role": "urgent", "count": 1, "interval": 1.0, "runtime": 5.0},
        }
        return notes(Scenario("test", document, Path()))

    assert said({"urgent": 1.0, "pilot": 1.0}) == []
    assert not unstated(said({"urgnt": 1.0}), ["site m", "preemption.qos", "urgnt", "urgent"])
