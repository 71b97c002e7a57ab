"""Batch sites: published schedules, an independent reference, and what must hold whatever the workload."""

import csv
from itertools import pairwise
from math import inf, nan
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridtune.agents.batch.batch_site import BatchSite
from gridtune.model.batch.nodes import Counted, Named, host_list, hosts_in
from gridtune.model.batch.planning import plan
from gridtune.model.batch.policies import Easy, FairShare
from gridtune.model.batch.queues import Queue
from gridtune.model.grid import Grid
from gridtune.model.job import State
from gridtune.model.policy import make
from tests import reference_batch
from tests.reference_batch import Work

POLICIES = {
    "fcfs": reference_batch.fcfs,
    "easy": reference_batch.easy,
    "conservative": reference_batch.conservative,
}
ORACLES = Path(__file__).parents[2] / "shared" / "oracles"


def play(works, capacity, policy, *, nodes=None, groups=None, **site_facts):
    """Run works (id, submit, runtime, processors, estimate) through a site; the grid when all is over."""
    grid = Grid(keep_events=True)
    site = BatchSite(grid, "site", nodes or Counted(capacity), make("batch", policy), **site_facts)

    def arrive(work):
        user = f"user-{work.id % 3}"
        facts = {"processors": work.processors, "estimate": float(work.estimate)}
        facts["group"] = (groups or {}).get(user, "")
        site.submit(grid.record.job(user, work.submit, float(work.runtime), **facts))

    grid.agenda.feed((work.submit, arrive, work) for work in works)
    grid.run()
    grid.close()
    return grid


@st.composite
def workloads(draw, *, honest=False):
    """A capacity, and jobs by submission; run times may be above or below what was promised."""
    capacity = draw(st.integers(1, 8))
    gaps = draw(st.lists(st.integers(0, 4), min_size=1, max_size=25))
    works, now = [], 0
    for number, gap in enumerate(gaps, 1):
        now += gap
        runtime = draw(st.integers(0, 12))
        estimate = draw(st.integers(runtime if honest else 0, 15))
        works.append(Work(number, now, runtime, draw(st.integers(1, capacity)), estimate))
    return capacity, works


@pytest.mark.long
@pytest.mark.parametrize(
    ("policy", "short"), [*((policy, plan.SHORT) for policy in POLICIES), ("conservative", 2)]
)
@settings(max_examples=300, deadline=None)
@given(workload=workloads())
def test_every_start_is_that_of_the_reference(policy, short, workload):
    capacity, works = workload
    with patch.object(plan, "SHORT", short):  # jobs that wait, up to which no plan is kept
        grid = play(works, capacity, policy)
    reference_batch.schedule(works, capacity, POLICIES[policy])
    assert [(job.start, job.end) for job in grid.record.jobs] == [(work.start, work.end) for work in works]


@pytest.mark.parametrize("policy", [*POLICIES, "fair-share"])
@settings(deadline=None)
@given(workload=workloads())
def test_nothing_is_lost_and_no_processor_is_taken_twice(policy, workload):
    capacity, works = workload
    grid = play(works, capacity, policy)
    jobs = grid.record.jobs
    assert all(job.state is State.DONE and job.start >= job.submit for job in jobs)
    changes = sorted(
        change for job in jobs for change in ((job.start, 1, job.processors), (job.end, 0, -job.processors))
        if job.end > job.start
    )  # fmt: skip
    held = 0
    for _, _, change in changes:
        held += change
        assert 0 <= held <= capacity
    assert sum((job.end - job.start) * job.processors for job in jobs) == sum(
        work.runtime * work.processors for work in works
    )


@settings(deadline=None)
@given(workload=workloads(honest=True))
def test_the_head_never_starts_after_its_shadow_time(workload):
    capacity, works = workload
    promised = {}

    class Watched(Easy):
        def starts(self, cluster, now):
            chosen = super().starts(cluster, now)
            waiting = [job for job in cluster.in_order() if job not in chosen]
            if waiting:
                running = [
                    Work(end.job, 0, 0, end.processors, int(end.time), start=0) for end in cluster.ends
                ] + [Work(job.id, 0, 0, job.processors, int(now + job.estimate), start=0) for job in chosen]
                free = cluster.free - sum(job.processors for job in chosen)
                shadow, _ = reference_batch.shadow_of(waiting[0], running, [], free, now)
                promised.setdefault(waiting[0].id, shadow)
            return chosen

    grid = Grid()
    site = BatchSite(grid, "site", Counted(capacity), Watched())
    for work in works:
        job = grid.record.job(
            "user", work.submit, work.runtime, processors=work.processors, estimate=work.estimate
        )
        grid.agenda.at(work.submit, site.submit, job, order=1)
    grid.run()
    for job in grid.record.jobs:
        assert job.start <= promised.get(job.id, job.start)


@pytest.mark.parametrize("policy", ["fcfs", "easy", "cons"])
def test_the_published_schedule_of_a_tiny_workload(policy):
    if not ORACLES.is_dir():
        pytest.skip(f"no oracle files in {ORACLES}")
    works = []
    for line in (ORACLES / "tiny.8.swf").read_text().splitlines():
        if not line.startswith(";"):
            number, submit, _, runtime, *_ = fields = [int(field) for field in line.split()]
            works.append(Work(number, submit, runtime, fields[7], fields[8]))
    grid = play(works, 8, {"cons": "conservative"}.get(policy, policy))
    with (ORACLES / f"tiny.8.{policy}.csv").open() as file:
        expected = [tuple(map(float, row.values())) for row in csv.DictReader(file)]
    assert [(job.id, job.submit, job.start, job.end, job.processors) for job in grid.record.jobs] == expected


@pytest.mark.parametrize("policy", ["easy", "conservative"])
def test_jobs_beside_the_head_do_not_take_its_processors_together(policy):
    # Job 2 is planned for time 10, when it leaves one of four processors: enough for one long job.
    works = [Work(1, 0, 10, 2, 10), Work(2, 1, 5, 3, 5), Work(3, 1, 50, 1, 50), Work(4, 1, 50, 1, 50)]
    jobs = play(works, 4, policy).record.jobs
    assert [job.start for job in jobs] == [0, 10, 1, 15]


def test_fair_share_serves_the_owner_who_had_least():
    # User 1 runs for 10 s; then users 1 and 2 wait for the only processor, user 1 first in the queue.
    works = [Work(1, 0, 10, 1, 10), Work(4, 1, 5, 1, 5), Work(2, 2, 5, 1, 5)]
    starts = {
        policy: [job.start for job in play(works, 1, policy).record.jobs] for policy in ("fcfs", "fair-share")
    }
    assert starts == {"fcfs": [0, 10, 15], "fair-share": [0, 15, 10]}


def test_fair_share_follows_weights_and_forgets():
    works = [Work(1, 0, 10, 1, 10), Work(2, 0, 4, 1, 4), Work(4, 1, 5, 1, 5), Work(5, 2, 5, 1, 5)]
    even = play(works, 1, {"kind": "fair-share"}).record.jobs
    heavy = play(works, 1, {"kind": "fair-share", "weights": {"user-1": 9.0}}).record.jobs
    forgetful = play(works, 1, {"kind": "fair-share", "half_life": 0.5}).record.jobs
    assert [job.start for job in even] == [0, 10, 19, 14]  # 10 s of user 1 against 4 s of user 2
    assert [job.start for job in heavy] == [0, 10, 14, 19]  # 10/9 s against 4 s
    assert [job.start for job in forgetful] == [0, 10, 14, 19]  # what user 1 had is long ago


@pytest.mark.parametrize("weight", [0.0, -1.0, inf, nan, True, "2", None])
def test_fair_share_weights_are_positive_numbers(weight):
    with pytest.raises(ValueError, match=r"weights: user-1 must be numbers above 0$"):
        FairShare(weights={"user-1": weight, "user-2": 2})
    with pytest.raises(ValueError, match=r"weights: .* is not a table"):
        FairShare(weights=weight)


def test_queues_have_priorities_and_limits():
    queues = [Queue("short", 1.0, max_runtime=5.0), Queue("long", 0.0, slots=2, max_processors=2)]
    works = [
        Work(1, 0, 10, 2, 10),  # long; takes both of its slots
        Work(2, 0, 10, 1, 10),  # long; no slot left for its queue, though two processors are free
        Work(3, 0, 4, 2, 4),  # short
        Work(4, 1, 20, 3, 20),  # no queue accepts 3 processors for 20 s
        Work(5, 2, 4, 1, 4),  # short: before the long one that waits longer
        Work(6, 0, 4, 9, 4),  # larger than the site
    ]
    works.sort(key=lambda work: work.submit)
    grid = play(works, 4, "easy", queues=queues)
    jobs = {work.id: job for work, job in zip(works, grid.record.jobs, strict=True)}
    assert {number: jobs[number].start for number in (1, 2, 3, 5)} == {1: 0, 2: 10, 3: 0, 5: 4}
    assert jobs[4].state is jobs[6].state is State.REJECTED
    assert grid.record.counters["refused"] == 2


def test_a_job_beyond_its_promise_is_killed_or_left_to_run():
    works = [Work(1, 0, 10, 1, 4), Work(2, 0, 3, 1, 3)]
    extend, kill = (play(works, 1, "easy", overrun=overrun) for overrun in ("extend", "kill"))
    assert [job.start for job in extend.record.jobs] == [0, 10]
    first, second = kill.record.jobs
    assert (first.state, first.end, first.wasted) == (State.EXPIRED, 4, 4)
    assert (second.state, second.start) == (State.DONE, 4)
    assert kill.record.counters["killed_by_limit"] == 1
    assert (4, "expired", 1, "site", "") in kill.record.journal


def test_named_nodes_are_taken_lowest_free_first():
    works = [Work(1, 0, 4, 2, 4), Work(2, 0, 9, 1, 9), Work(3, 5, 2, 3, 2)]
    jobs = play(works, 4, "fcfs", nodes=Named("lal", [1.0] * 4)).record.jobs
    assert [job.node for job in jobs] == ["lal-[000-001]", "lal-002", "lal-[000-001,003]"]
    assert hosts_in(jobs[2].node) == ["lal-000", "lal-001", "lal-003"]


@given(nodes=st.sets(st.integers(0, 40), min_size=1, max_size=12))
def test_a_host_list_names_each_node_once(nodes):
    text = host_list("lal", sorted(nodes))
    assert hosts_in(text) == [f"lal-{node:03}" for node in sorted(nodes)]
    runs = sum(node - 1 not in nodes for node in nodes)
    assert text.count(",") == runs - 1
    assert text.count("-") == 1 + sum(node - 1 not in nodes and node + 1 in nodes for node in nodes)


def test_what_a_withdrawn_node_holds_stays_with_it_until_it_comes_back():
    nodes = Named("lal", [1.0] * 3, slots_per_node=2)
    one, other = nodes.take(3), nodes.take(1)
    assert (one.slots, other.slots) == ([0, 1, 2], [3])
    nodes.withdraw(1)
    assert nodes.any_out(one)
    nodes.give_back(one)
    assert sorted(nodes.free_slots) == [0, 1, 4, 5]
    assert nodes.idle_on(1) == 1
    assert not nodes.any_out(nodes.take(2))
    nodes.readmit(1)
    assert sorted(nodes.free_slots) == [2, 4, 5]


def test_nodes_of_different_speeds_run_jobs_at_their_own_speed():
    works = [Work(1, 0, 100, 1, 100), Work(2, 0, 100, 1, 100), Work(3, 0, 100, 2, 100)]
    jobs = play(works, 2, "fcfs", nodes=Named("site", [50.0, 20.0])).record.jobs
    assert [(job.start, job.end) for job in jobs] == [(0, 2), (0, 5), (5, 10)]


@settings(deadline=None)
@given(workload=workloads())
def test_no_node_runs_two_jobs_at_once(workload):
    capacity, works = workload
    held = {}
    for job in play(works, capacity, "easy", nodes=Named("site", [1.0] * capacity)).record.jobs:
        hosts = hosts_in(job.node)
        assert len(set(hosts)) == job.processors
        for host in hosts:
            held.setdefault(host, []).append((job.start, job.end))
    for intervals in held.values():
        assert all(end <= start for (_, end), (start, _) in pairwise(sorted(intervals)))


def test_services_of_head_node_and_nodes_take_their_time():
    from gridtune.agents.batch.services import Services

    services = Services(receive=lambda: 3.0, send=lambda: 2.0, overhead=lambda: 1.0)
    first, second = play([Work(1, 0, 4, 1, 4), Work(2, 0, 4, 1, 4)], 1, "fcfs", services=services).record.jobs
    assert (first.queued, first.start, first.end) == (3, 3, 8)
    assert (second.start, second.end) == (10, 15)


def test_owners_may_cancel_jobs_that_are_on_their_way_waiting_or_running():
    from gridtune.agents.batch.services import Services

    grid = Grid()
    services = Services(receive=lambda: 1.0)
    site = BatchSite(grid, "site", Counted(1), Easy(), services=services)
    heard = []
    jobs = [grid.record.job("user", 0.0, 10.0) for _ in range(4)]
    for job in jobs:
        site.submit(job, heard.append)
    for time, job in ((0.5, jobs[0]), (2.0, jobs[2]), (3.0, jobs[1]), (50.0, jobs[3])):
        grid.agenda.at(time, site.cancel, job)
    grid.run()
    assert [job.state for job in jobs] == [State.CANCELLED] * 3 + [State.DONE]
    assert jobs[1].wasted == 2.0
    assert jobs[3].start == 3.0
    assert heard == [jobs[3]]
    assert (site.free, site.depth, site.running) == (1, 0, 0)
