"""Power: what nodes draw, when they are switched off, what booting costs, and a cap."""

from dataclasses import replace
from math import inf
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridtune.agents.batch.availability import Availability
from gridtune.agents.batch.batch_site import BatchSite
from gridtune.agents.batch.outages import Outage, schedule_outages
from gridtune.agents.batch.power import JOULES, Power, PoweredNodes
from gridtune.model.batch.nodes import hosts_in
from gridtune.model.grid import Grid
from gridtune.model.job import DONE
from gridtune.model.policy import make
from gridtune.scenarios import ScenarioError, simulate
from gridtune.scenarios.document.scenario import Scenario

# Round numbers: 100 W idle, 200 W busy, 10 W off; off after 20 s, in 5 s and 300 J; up in 30 s and 6000 J.
ROUND = Power(100.0, 200.0, 10.0, 20.0, 5.0, 300.0, 30.0, 6000.0)


def play(works, nodes, power, *, slots=1, policy="easy", outages=()):
    """Run works (submit, runtime, processors) through a site whose nodes need power."""
    grid = Grid(keep_events=True)
    pool = PoweredNodes("n", [1.0] * nodes, slots, power, grid.agenda)
    site = BatchSite(grid, "site", pool, make("batch", policy))
    if outages:
        schedule_outages(Availability(site, pool), [Outage(*outage) for outage in outages])

    def arrive(work):
        submit, runtime, processors = work
        site.submit(grid.record.job("ann", submit, runtime, processors=processors))

    grid.agenda.feed((work[0], arrive, work) for work in works)
    grid.run()
    return grid, pool


def times(grid):
    return [(job.start, job.end) for job in grid.record.jobs]


def test_a_node_that_has_been_idle_for_long_is_off_and_boots_for_the_next_job():
    grid, pool = play([(0, 10, 1), (100, 10, 1)], 1, ROUND)
    assert times(grid) == [(0, 10), (100, 140)]
    assert pool.boots == 1
    # Busy, idle, shutdown, off from 35 to 100, boot, busy.
    assert pool.energy * JOULES == pytest.approx(10 * 200 + 20 * 100 + 300 + 65 * 10 + 6000 + 10 * 200)
    # A job that comes while the node goes off waits for that, too.
    grid, pool = play([(0, 10, 1), (32, 10, 1)], 1, ROUND)
    assert times(grid) == [(0, 10), (32, 75)]
    assert pool.energy * JOULES == pytest.approx(10 * 200 + 20 * 100 + 300 + 6000 + 10 * 200)


def test_jobs_get_nodes_that_are_on_before_others_and_some_are_kept_on():
    works = [(0, 50, 1), (0, 10, 1), (0, 40, 1), (60, 5, 1), (61, 5, 2)]
    grid, pool = play(works, 3, ROUND)
    # At 60 node 1, idle since 10, is off; node 0 and, since 40, node 2 are on or nearly so.
    assert [job.node for job in grid.record.jobs[3:]] == ["n-000", "n-[001-002]"]
    assert pool.boots == 2
    # Node 0 is off at 60, node 1 still on: idle since 50.
    grid, pool = play([(0, 10, 1), (0, 50, 1), (60, 5, 1)], 2, ROUND)
    assert (grid.record.jobs[2].node, pool.boots) == ("n-001", 0)
    kept, pool = play(works, 3, replace(ROUND, kept_on=3))
    busy = sum(job.runtime * job.processors for job in kept.record.jobs)
    assert pool.energy * JOULES == pytest.approx(3 * 100 * kept.now + 100 * busy)
    assert pool.boots == 0
    assert times(kept)[4] == (61, 66)


def test_without_switching_energy_is_that_of_idle_nodes_and_busy_slots():
    grid, pool = play([(0, 10, 3), (5, 4, 1), (30, 6, 2)], 2, Power(100.0, 180.0), slots=2)
    busy = sum((job.end - job.start) * job.processors for job in grid.record.jobs)
    assert pool.energy * JOULES == pytest.approx(2 * 100 * grid.now + 80 / 2 * busy)


@st.composite
def workloads(draw):
    nodes = draw(st.integers(1, 4))
    works, now = [], 0
    for gap in draw(st.lists(st.sampled_from([0, 1, 7, 19, 20, 23, 26, 60, 200]), min_size=1, max_size=12)):
        now += gap
        works.append((float(now), float(draw(st.integers(0, 30))), draw(st.integers(1, nodes))))
    return nodes, works


def drawn(power, intervals, end):
    """J that one node draws, whose slot is held in some intervals (from, to), by stepping through them."""
    total, idle = 0.0, 0.0
    on_at = 0.0
    for start, stop in [*intervals, (end, end)]:
        gap = start - idle
        off = idle >= on_at and gap >= power.idle_time and start < end
        on = min(gap, power.idle_time)
        total += on * power.idle
        leaving = min(gap - on, power.shutdown)
        total += leaving / power.shutdown * power.shutdown_energy + (gap - on - leaving) * power.off
        if off:
            rest = power.shutdown - leaving
            total += rest / power.shutdown * power.shutdown_energy + power.boot_energy
            on_at = start + rest + power.boot
            total += (stop - on_at) * power.busy
        else:
            total += (stop - start) * power.busy
        idle = stop
    return total


@settings(deadline=None, max_examples=150)
@given(workload=workloads())
def test_every_joule_is_that_of_an_independent_account(workload):
    nodes, works = workload
    grid, pool = play(works, nodes, ROUND)
    held = {f"n-{node:03}": [] for node in range(nodes)}
    for job in grid.record.jobs:
        assert job.state is DONE
        assert (
            job.end - job.start - job.runtime in (0.0, 30.0) or 30 < job.end - job.start - job.runtime <= 35
        )
        for host in hosts_in(job.node):
            held[host].append((job.start, job.end))
    merged = {}
    for host, intervals in held.items():
        merged[host] = []
        for start, stop in sorted(intervals):
            if merged[host] and start <= merged[host][-1][1]:
                merged[host][-1] = merged[host][-1][0], max(stop, merged[host][-1][1])
            else:
                merged[host].append((start, stop))
    expected = sum(drawn(ROUND, intervals, grid.now) for intervals in merged.values())
    assert pool.energy * JOULES == pytest.approx(expected)


def test_nodes_that_are_out_are_not_booted_and_come_back():
    outages = [(15.0, 70.0, [0], True), (90.0, 91.0, [1], False)]
    grid, pool = play([(0, 5, 2), (60, 5, 1), (100, 5, 2)], 2, ROUND, outages=outages)
    # Node 1 boots at 60 for the second job, fails at 90, and node 0 boots for it; node 1 again at 125.
    assert times(grid) == [(0, 5), (90, 125), (125, 160)]
    assert ("started", 2, "n-001") in [(row[1], row[2], row[4]) for row in grid.record.journal]
    assert [job.node for job in grid.record.jobs] == ["n-[000-001]", "n-000", "n-[000-001]"]
    assert pool.boots == 3
    assert sorted(pool.free_slots) == [0, 1]


def test_a_node_that_is_off_and_out_is_given_to_nobody():
    # At 60 node 0 is booted, and nodes 1 and 2 are known to be off. Node 1 is drained at 61.
    outages = [(61.0, 200.0, [1], True)]
    grid, _ = play([(0, 5, 3), (60, 50, 1), (62, 5, 1)], 3, ROUND, outages=outages)
    assert [job.node for job in grid.record.jobs[1:]] == ["n-000", "n-002"]


def scenario(power, interval=40.0):
    site = {"name": "m", "nodes": 4, "slots": 2, "policy": "conservative", "power": power}
    work = {
        "kind": "generated",
        "count": 80,
        "interval": {"law": "exponential", "mean": interval},
        "runtime": {"law": "uniform", "low": 10.0, "high": 200.0},
        "processors": {"law": "uniform", "low": 0.0, "high": 4.0},
    }
    return Scenario("test", {"title": "t", "site": [site], "workload": [work]}, Path())


def test_a_cap_is_kept_and_costs_time_and_switching_saves_energy():
    plain = simulate(scenario({}))
    # 4 idle nodes draw 380 W; each of 8 slots 47.85 W more: under 600 W four may be busy, under 1000 all.
    capped = simulate(scenario({"cap": 600.0}))
    assert simulate(scenario({"cap": 1000.0})).metrics["waiting_mean"] == plain.metrics["waiting_mean"]
    assert capped.metrics["waiting_mean"].value > plain.metrics["waiting_mean"].value
    changes = sorted(
        change
        for job in capped.record.jobs
        for change in ((job.start, 1, job.processors), (job.end, 0, -job.processors))
    )
    held = most = 0
    for _, _, change in changes:
        held += change
        most = max(most, held)
    assert most == 4
    # Under 480 W two may be busy: wider jobs are refused, all others are done.
    narrow = simulate(scenario({"cap": 480.0}))
    assert narrow.metrics["refused"].value == sum(job.processors > 2 for job in plain.record.jobs)
    assert narrow.metrics["completed"].value + narrow.metrics["refused"].value == 80


def capped(works, nodes, slots, cap, policy="easy", outages=()):
    """Run works (submit, runtime, processors), 1 s later each, under a cap in W; 100 W idle, 200 W busy."""
    site = {"name": "m", "nodes": nodes, "slots": slots, "policy": policy}
    site |= {"power": {"idle": 100.0, "busy": 200.0, "cap": cap}, "outage": list(outages), "requeues": 99}
    loads = [
        {"name": f"w{number}", "kind": "generated", "count": 1, "interval": submit + 1.0}
        | {"runtime": runtime, "processors": float(processors)}
        for number, (submit, runtime, processors) in enumerate(works)
    ]
    document = {"title": "t", "site": [site], "workload": loads}
    return simulate(Scenario("test", document, Path()), keep_events=True)


def watts(run, nodes, slots):
    """What all nodes draw after each change, W, by the journal alone; those that are out count as idle."""
    size = {job.id: job.processors for job in run.record.jobs}
    held, found = {}, []
    changes = {"started", "done", "killed", "failed"}
    rows = [row for row in run.record.journal if row[2] in size and row[1] in changes]
    for place, (time, event, number, *_) in enumerate(rows):
        if event == "started":
            held[number] = size[number]
        else:
            held.pop(number, None)
        drawn = 100.0 * nodes + sum(held.values()) * 100.0 / slots
        if place + 1 == len(rows) or rows[place + 1][0] > time:
            found.append(drawn)
    assert not held
    return found


def test_a_cap_by_hand():
    """Two nodes of two slots: 200 W idle, 50 W for each slot. Under 340 W two are used, and 40 W are left.

    Job 1 has one slot up to 10 s, job 2 wants two and waits, job 3 of 4 s is backfilled, job 4 wants three.
    """
    works = [(0.0, 10.0, 1), (1.0, 5.0, 2), (2.0, 4.0, 1), (3.0, 1.0, 3)]
    run = capped(works, 2, 2, 340.0)
    jobs = {job.submit - 1: job for job in run.record.jobs}
    assert [(jobs[at].start - 1, jobs[at].end - 1) for at in (0, 1, 2)] == [(0, 10), (10, 15), (2, 6)]
    assert jobs[3].state == "rejected"
    assert watts(run, 2, 2) == [250, 300, 250, 300, 200]
    # From 1 to 16 s 200 W and 50 W for each of 10 + 10 + 4 slot-seconds, and before 200 W.
    assert run.metrics["energy"].value * JOULES == pytest.approx(16 * 200 + 50 * (10 + 10 + 4))


@settings(deadline=None, max_examples=40)
@given(
    nodes=st.integers(1, 4),
    slots=st.integers(1, 3),
    part=st.floats(0.0, 1.0),
    policy=st.sampled_from(["fcfs", "easy", "conservative"]),
    data=st.data(),
)
def test_a_cap_holds_at_every_moment_and_refuses_none_that_could_run(nodes, slots, part, policy, data):
    cap = 100.0 * nodes + max(100.0 / slots, part * 100.0 * nodes)
    works = data.draw(
        st.lists(
            st.tuples(
                st.sampled_from([0.0, 1.0, 2.0, 5.0]),
                st.sampled_from([1.0, 3.0, 7.0]),
                st.integers(1, nodes * slots),
            ),
            min_size=1,
            max_size=10,
        )
    )
    outages = [
        {"start": 3.0, "end": 9.0, "nodes": [0], "drain": drain}
        for drain in data.draw(st.sampled_from([[], [False], [True]]))
    ]
    run = capped(works, nodes, slots, cap, policy, outages)
    assert max(watts(run, nodes, slots), default=0.0) <= cap + 1e-6
    for job in run.record.jobs:
        alone = 100.0 * nodes + job.processors * 100.0 / slots
        assert job.state == ("done" if alone <= cap + 1e-6 else "rejected")


def test_switching_saves_energy_where_nodes_are_idle_for_longer_than_a_boot_pays():
    energy = {}
    for interval in (40.0, 4000.0):
        for idle_time in (60.0, inf):
            run = simulate(scenario({"idle_time": idle_time}, interval))
            assert run.metrics["completed"].value == 80
            assert (run.metrics["node_boots"].value > 0) == (idle_time < inf)
            energy[interval, idle_time] = run.metrics["energy"].value
    assert energy[4000.0, 60.0] < 0.4 * energy[4000.0, inf]
    assert energy[40.0, 60.0] > energy[40.0, inf]


@pytest.mark.parametrize(
    ("power", "fault"),
    [
        ({"cap": 400.0}, "too little for one processor"),
        ({"cap": 600.0, "idle_time": 5.0}, "leave out cap, or idle_time"),
        ({"idle": 300.0}, "must not be less than idle"),
    ],
)
def test_a_power_table_that_makes_no_sense_is_refused(power, fault):
    with pytest.raises(ScenarioError, match=fault):
        simulate(scenario(power))
