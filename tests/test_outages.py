"""Nodes that fail, are drained and come back, and reserved processors."""

from math import inf
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridtune.agents.batch.availability import AdvanceReservation, Availability
from gridtune.agents.batch.batch_site import BatchSite
from gridtune.agents.batch.outages import Failures, Outage, schedule_outages, schedule_reservation
from gridtune.model.agenda import ARRIVAL
from gridtune.model.batch.nodes import Named, hosts_in
from gridtune.model.grid import Grid
from gridtune.model.job import CANCELLED, DONE, FAILED, State
from gridtune.model.policy import make
from gridtune.scenarios import ScenarioError, simulate
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.plots.gantt import draw_gantt
from gridtune.scenarios.plots.tables import run_tables
from gridtune.scenarios.results.files import tables

POLICIES = ["fcfs", "easy", "conservative", "fair-share", {"kind": "priority", "reservations": 2}]


def play(works, nodes, policy, *, outages=(), reservations=(), slots=1, laws=(), requeues=inf, until=None):
    """Run works (submit, runtime, processors, estimate, user) through a site whose nodes come and go."""
    grid = Grid(keep_events=True)
    pool = Named("n", [1.0] * nodes, slots)
    site = BatchSite(grid, "site", pool, make("batch", policy), requeues=requeues)
    availability = Availability(site, pool)
    schedule_outages(availability, [Outage(*outage) for outage in outages])
    for reservation, notice in reservations:
        schedule_reservation(availability, reservation, notice)
    for numbers, between, repair in laws:
        Failures(availability, numbers, f"failure {numbers}", iter(between).__next__, iter(repair).__next__)

    def arrive(work):
        submit, runtime, processors, estimate, *user = work
        site.submit(
            grid.record.job(*(user or ["ann"]), submit, runtime, processors=processors, estimate=estimate)
        )

    grid.agenda.feed((work[0], arrive, work) for work in works)
    grid.run()
    return grid, site, availability


def times(grid):
    return [(job.start, job.end) for job in grid.record.jobs]


def test_a_job_that_loses_its_node_runs_again_and_the_head_is_planned_anew():
    # Two nodes. Job 1 holds both for 10 s. Node 1 fails at 4 and is back at 20: job 1 needs it, and waits.
    # Job 2, one node for 12 s, came behind it: nobody knows when the node will be back, so it may start at 4.
    works = [(0, 10, 2, 10), (1, 12, 1, 12)]
    grid, site, availability = play(works, 2, "easy", outages=[(4.0, 20.0, [1], False)])
    assert times(grid) == [(20.0, 30.0), (4.0, 16.0)]
    first, second = grid.record.jobs
    assert (first.kills, first.wasted, second.kills) == (1, 8.0, 0)
    assert second.node == "n-000"
    assert grid.record.counters["killed_by_failure"] == 1
    assert availability.failures == 1
    assert grid.record.measures["unavailable"]() == 16.0
    assert (site.free, site.depth, site.running) == (2, 0, 0)


def test_a_job_is_lost_with_its_last_attempt():
    grid, *_ = play([(0, 10, 1, 10)], 1, "easy", outages=[(4.0, 5.0, [0], False), (9.0, 11.0, [0], False)],
                    requeues=1)  # fmt: skip
    (job,) = grid.record.jobs
    assert (job.state, job.end, job.wasted, job.kills) == (FAILED, 9.0, 8.0, 1)
    assert grid.record.counters["failed_jobs"] == 1


def test_nothing_starts_on_a_drained_node_but_what_runs_there_ends():
    # Node 0 is drained from 2 to 30. Job 1 ends there at 10; job 2 has node 1 alone; job 3 needs both.
    works = [(0, 10, 1, 10), (3, 5, 1, 5), (4, 6, 2, 6)]
    grid, *_ = play(works, 2, "easy", outages=[(2.0, 30.0, [0], True)])
    assert times(grid) == [(0, 10), (3, 8), (30, 36)]
    assert [job.node for job in grid.record.jobs] == ["n-000", "n-001", "n-[000-001]"]
    assert grid.record.counters["killed_by_failure"] == 0
    assert grid.record.measures["unavailable"]() == 28.0


@pytest.mark.parametrize("policy", POLICIES)
def test_the_head_of_a_drained_machine_is_planned_for_the_end_of_the_drain(policy):
    # Node 0 is drained from 1 to 20 while job 1 (promised to 10) runs there. The head needs both nodes: its
    # shadow is 20, not 10, so job 3 with 15 s on node 1 does not delay it - but one of 25 s would.
    works = [(0, 10, 1, 10), (2, 5, 2, 5), (3, 15, 1, 15), (3, 25, 1, 25)]
    grid, *_ = play(works, 2, policy, outages=[(1.0, 20.0, [0], True)])
    backfilled = 3 if policy != "fcfs" else 25
    assert [job.start for job in grid.record.jobs] == [0, 20, backfilled, 25]


@pytest.mark.parametrize("policy", POLICIES)
def test_jobs_that_would_run_into_a_maintenance_wait_for_its_end(policy):
    # All of the machine from 10 to 15. Job 1 ends before. Job 2 would not; job 3, behind it, would.
    maintenance = AdvanceReservation("upgrade", 10.0, 15.0, 2)
    works = [(0, 6, 1, 6), (1, 12, 1, 12), (2, 4, 1, 4)]
    grid, site, _ = play(works, 2, policy, reservations=[(maintenance, inf)])
    assert times(grid) == [(0, 6), (15, 27), (2, 6) if policy != "fcfs" else (15, 19)]
    assert grid.record.measures["reservation_shortfall"]() == 0.0
    assert site.free == 2


def test_a_maintenance_that_nobody_expected_gets_processors_as_they_come_free():
    # Announced when it begins, at 10: job 1 runs until 14, so one of two processors is 4 s late.
    grid, *_ = play([(0, 14, 1, 14), (11, 2, 1, 2)], 2, "easy",
                    reservations=[(AdvanceReservation("late", 10.0, 20.0, 2), 0.0)])  # fmt: skip
    assert times(grid) == [(0, 14), (20, 22)]
    assert grid.record.measures["reservation_shortfall"]() == 4.0


def test_members_start_in_their_reservation_and_others_do_not():
    # Two of three processors are ann's from 10 to 20. Bob's second job would run into that, and waits.
    held = AdvanceReservation("course", 10.0, 20.0, 2, frozenset(["ann"]))
    works = [
        (0, 30, 1, 30, "bob"),
        (5, 10, 1, 10, "bob"),  # two free processors, but both are promised
        (11, 4, 2, 4, "ann"),
        (12, 9, 1, 9, "ann"),  # would not end in time
        (13, 4, 1, 4, "ann"),
    ]
    grid, *_ = play(works, 3, "easy", reservations=[(held, inf)])
    assert times(grid) == [(0, 30), (20, 30), (11, 15), (20, 29), (15, 19)]


def test_a_failure_takes_what_was_reserved_if_nothing_else_is_free():
    # Three nodes; two reserved from 5 to 50 for ann; bob runs on the third. An idle node fails at 6.
    held = AdvanceReservation("course", 5.0, 50.0, 2, frozenset(["ann"]))
    works = [(0, 100, 1, 100, "bob"), (10, 5, 2, 5, "ann"), (11, 5, 1, 5, "ann")]
    grid, site, _ = play(works, 3, "easy", outages=[(6.0, 30.0, [2], False)], reservations=[(held, inf)])
    assert [job.start for job in grid.record.jobs] == [0, 30, 11]
    assert grid.record.measures["reservation_shortfall"]() == 24.0
    assert site.free == 3


def test_nodes_that_fail_together_by_laws_and_a_job_as_wide_as_the_site():
    # Both nodes work for 7 s and are repaired for 3; the job needs 5 s on all of them at once.
    forever = [[7.0] * 99, [3.0] * 99]
    grid, *_ = play([(5, 5, 2, 5)], 2, "easy", laws=[([0, 1], *forever)])
    assert times(grid) == [(10.0, 15.0)]
    assert grid.record.jobs[0].kills == 1
    # Each by itself: node 1 would fail at 8, but does not while the job only waits for node 0.
    grid, *_ = play([(3, 5, 2, 5)], 2, "easy", laws=[([0], *forever), ([1], [8.0] * 99, [9.0] * 99)])
    assert times(grid) == [(10.0, 15.0)]


def test_a_job_for_which_nodes_are_gone_for_ever_is_unfinished_and_the_run_ends():
    grid, *_ = play([(0, 5, 2, 5)], 2, "easy", outages=[(1.0, inf, [1], False)],
                    laws=[([0], [7.0] * 999, [3.0] * 999)])  # fmt: skip
    assert grid.record.jobs[0].state is State.QUEUED
    assert grid.now < 100


def test_a_job_that_ends_before_its_promise_leaves_a_drained_node_to_the_drain():
    # Promised beyond the drain, the job ends within it, as the last one on the machine for the time being.
    works = [(4, 2, 1, 9), (6, 3, 2, 3), (6, 1, 1, 1)]
    grid, *_ = play(works, 2, "easy", outages=[(5.0, 8.0, [0], True)])
    assert times(grid) == [(4, 6), (8, 11), (6, 7)]


def test_what_happens_to_an_empty_machine_neither_delays_the_end_nor_is_forgotten():
    grid, _, availability = play([(0, 2, 1, 2), (40, 2, 1, 2)], 1, "easy",
                                    outages=[(10.0, 50.0, [0], False), (90.0, 95.0, [0], False)])  # fmt: skip
    assert times(grid) == [(0, 2), (50, 52)]
    assert grid.now == 52.0
    assert availability.failures == 1
    assert grid.record.measures["unavailable"]() == 40.0


@st.composite
def lives(draw):
    """A machine, its work, outages, drains and reservations."""
    nodes, slots = draw(st.integers(1, 4)), draw(st.integers(1, 2))
    capacity = nodes * slots
    works, now = [], 0
    for gap in draw(st.lists(st.integers(0, 4), min_size=1, max_size=15)):
        now += gap
        runtime = draw(st.integers(0, 12))
        user = draw(st.sampled_from(["ann", "bob"]))
        works.append((now, runtime, draw(st.integers(1, capacity)), draw(st.integers(0, 15)), user))
    outages = []
    for _ in range(draw(st.integers(0, 4))):
        start = float(draw(st.integers(0, 40)))
        some = draw(st.lists(st.integers(0, nodes - 1), min_size=1, max_size=nodes, unique=True))
        outages.append((start, start + draw(st.integers(1, 25)), some, draw(st.booleans())))
    reservations = []
    for number in range(draw(st.integers(0, 2))):
        start = float(draw(st.integers(0, 40)))
        users = frozenset(draw(st.sampled_from([[], ["ann"]])))
        made = AdvanceReservation(str(number), start, start + draw(st.integers(1, 20)),
                                  draw(st.integers(1, capacity)), users)  # fmt: skip
        reservations.append((made, draw(st.sampled_from([0.0, 5.0, inf]))))
    return nodes, slots, works, outages, reservations


@pytest.mark.long
@pytest.mark.parametrize("policy", POLICIES, ids=str)
@settings(deadline=None, max_examples=60)
@given(life=lives())
def test_no_job_is_lost_and_no_node_runs_two_jobs_or_any_while_it_is_out(policy, life):
    nodes, slots, works, outages, reservations = life
    grid, site, _ = play(works, nodes, policy, slots=slots, outages=outages, reservations=reservations)
    jobs = grid.record.jobs
    assert all(job.state is DONE for job in jobs)
    grid.agenda.run(until=1000.0)  # all that was to happen to the empty machine is over
    assert (site.free, site.depth, site.running) == (nodes * slots, 0, 0)
    assert not site.cluster.ends
    # Work given is work done plus work wasted.
    spans, open_spans = [], {}
    for time, event, number, _, node in grid.record.journal:
        if event == "started":
            open_spans[number] = time, node
        elif event in ("done", "killed"):
            spans.append((number, *open_spans.pop(number), time, event))
    given = sum((end - start) * jobs[number - 1].processors for number, start, _, end, _ in spans)
    assert given == sum(job.work + job.wasted for job in jobs)
    # No more slots are held at a time than there are, less those of nodes that failed and reservations.
    for moment in sorted({start for _, start, *_ in spans}):
        held = sum(jobs[n - 1].processors for n, start, _, end, _ in spans if start <= moment < end)
        down = {node for start, end, some, drain in outages if not drain and start <= moment < end
                for node in some}  # fmt: skip
        assert held <= (nodes - len(down)) * slots
        out = {node for start, end, some, _ in outages if start <= moment < end for node in some}
        begun = [(node, n) for n, start, node, _, _ in spans if start == moment]
        for names, number in begun:
            if spans and jobs[number - 1].runtime:
                assert not {f"n-{node:03}" for node in out} & set(hosts_in(names))


MACHINE = {"name": "m", "nodes": 4, "policy": "easy"}
WORK = {
    "name": "work",
    "kind": "generated",
    "count": 120,
    "interval": {"law": "exponential", "mean": 30.0},
    "runtime": {"law": "uniform", "low": 1.0, "high": 90.0},
    "processors": {"law": "uniform", "low": 0.0, "high": 4.0},
}


def scenario(base=Path(), **site):
    return Scenario("test", {"title": "t", "site": [{**MACHINE, **site}], "workload": [WORK]}, base)


def test_the_same_nodes_fail_at_the_same_times_under_every_policy():
    laws = {"between": {"law": "exponential", "mean": 600.0}, "repair": 60.0, "together": 2}
    told = {}
    for policy in ("fcfs", "easy"):
        run = simulate(scenario(failures=laws, policy=policy), keep_events=True)
        assert run.metrics["completed"].value + run.metrics["failed_jobs"].value == 120
        assert run.metrics["node_failures"].value > 4
        told[policy] = [
            row[:2] + row[4:] for row in run.record.journal if row[1] in ("node lost", "node back")
        ]
    fewer = min(len(rows) for rows in told.values())
    assert told["fcfs"][:fewer] == told["easy"][:fewer]


def test_a_file_lists_outages(tmp_path):
    (tmp_path / "out.csv").write_text("node,start,end,drain\n1,100,200,0\n0,50,,1\n")
    run = simulate(scenario(tmp_path, outages="out.csv"), keep_events=True)
    told = [(time, event, node) for time, event, _, _, node in run.record.journal if event.startswith("node")]
    assert told == [(50, "node drained", "m-000"), (100, "node lost", "m-001"), (200, "node back", "m-001")]
    assert not [job for job in run.record.jobs if job.start >= 50 and "m-000" in hosts_in(job.node)]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("node,start\n", "no column end"),
        ("node,start,end\n1,x,2\n", "out.csv:2: no outage"),
        ("node,start,end\n1,5,2\n", "0 <= start < end"),
        ("node,start,end\n4,1,2\n", "node 4; the nodes are 0 to 3"),
    ],
)
def test_a_file_that_lists_no_outages_is_refused(tmp_path, text, fault):
    (tmp_path / "out.csv").write_text(text)
    with pytest.raises(ScenarioError, match=fault):
        simulate(scenario(tmp_path, outages="out.csv"))


@pytest.mark.parametrize(
    ("site", "fault"),
    [
        ({"outage": {"start": 1.0, "nodes": [4]}}, "no node 4"),
        ({"outage": {"start": 1.0, "nodes": [1, 1]}}, "different numbers"),
        ({"reservation": {"name": "r", "start": 0.0, "duration": 1.0, "processors": 5}}, "the site has 4"),
        (
            {"reservation": {"name": "r", "start": 0.0, "duration": 9.0, "every": 5.0, "times": 2}},
            "every: 5 s",
        ),
        (
            {"reservation": {"name": "r", "start": 0.0, "duration": 9.0, "every": 50.0}},
            "every: 50 s: set times",
        ),
        ({"failures": {"between": inf, "repair": 1.0}}, "inf"),
        ({"failures": {"between": 0.0, "repair": 1.0}}, "0 is not more than 0"),
    ],
)
def test_what_a_site_does_not_have_is_refused(site, fault):
    with pytest.raises(ScenarioError, match=fault):
        scenario(**site).spec  # noqa: B018 (it is checked when it is asked for)


def test_a_repeated_reservation_may_take_place_once():
    once = {"name": "r", "start": 0.0, "duration": 9.0, "every": 50.0, "times": 1}
    assert scenario(reservation=once).spec.site[0].reservation[0].times == 1


def test_a_picture_shows_when_nodes_were_out():
    run = simulate(scenario(outage={"start": 100.0, "end": 300.0, "nodes": [2]}), keep_events=True)
    drawn = run_tables("test", [tables(run)])
    assert drawn.outages == [("m-002", 100.0, 300.0)]
    legend = draw_gantt(drawn).axes[0].get_legend()
    assert "node out" in [text.get_text() for text in legend.get_texts()]


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@settings(deadline=None, max_examples=30)
@given(life=lives(), patience=st.lists(st.integers(0, 30), min_size=15, max_size=15))
def test_what_users_cancel_gives_its_processors_back_whatever_happens_to_nodes(policy, life, patience):
    nodes, slots, works, outages, reservations = life
    grid = Grid(keep_events=True)
    pool = Named("n", [1.0] * nodes, slots)
    site = BatchSite(grid, "site", pool, make("batch", policy))
    availability = Availability(site, pool)
    schedule_outages(availability, [Outage(*outage) for outage in outages])
    for reservation, notice in reservations:
        schedule_reservation(availability, reservation, notice)

    def arrive(work):
        submit, runtime, processors, estimate, user = work
        job = grid.record.job(user, submit, runtime, processors=processors, estimate=estimate)
        site.submit(job)
        grid.agenda.after(patience[job.id - 1], site.cancel, job, ARRIVAL)

    grid.agenda.feed((work[0], arrive, work) for work in works)
    grid.run()
    jobs = grid.record.jobs
    assert all(job.state in (DONE, CANCELLED) for job in jobs)
    assert all(job.end <= job.submit + patience[job.id - 1] for job in jobs)
    grid.agenda.run(until=1000.0)
    assert (site.free, site.depth, site.running, site.cluster.ends) == (nodes * slots, 0, 0, [])
    held, since = 0.0, {}
    for time, event, number, *_ in grid.record.journal:
        if event == "started":
            since[number] = time
        elif number in since and event in ("done", "killed", "cancelled"):
            held += (time - since.pop(number)) * jobs[number - 1].processors
    assert held == sum(job.wasted + (job.work if job.state is DONE else 0.0) for job in jobs)
