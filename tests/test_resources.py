"""Sites with more than processors: schedules by hand and against a slow reference, and what is conserved."""

import random
from collections import Counter
from math import inf
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridtune.agents.batch.availability import AdvanceReservation, Availability
from gridtune.agents.batch.batch_site import BatchSite
from gridtune.agents.batch.outages import schedule_reservation
from gridtune.agents.batch.qos import QosPreemption, Terms
from gridtune.agents.batch.services import WHENEVER_NEEDED, Rounds
from gridtune.model.batch.nodes import Counted, Named
from gridtune.model.grid import Grid
from gridtune.model.policy import make
from gridtune.scenarios import ScenarioError, load, simulate
from tests import reference_batch
from tests.reference_batch import Work, reserving

HAS = {"gpu": 3, "memory": 10}


class Units(tuple):
    """Processors and resources, added up and compared one by one; a plain number is that of each."""

    def _with(self, other):
        return zip(self, other if isinstance(other, Units) else [other] * len(self), strict=True)

    def __add__(self, other):
        return Units(mine + theirs for mine, theirs in self._with(other))

    __radd__ = __add__

    def __sub__(self, other):
        return Units(mine - theirs for mine, theirs in self._with(other))

    def __le__(self, other):
        return all(mine <= theirs for mine, theirs in self._with(other))

    def __ge__(self, other):
        return all(mine >= theirs for mine, theirs in self._with(other))

    def __gt__(self, other):
        return not self <= other


def run(works, capacity, policy, has=HAS):
    """The jobs of a site, by number; `works` ask for `Units` of processors, GPUs and memory."""
    grid = Grid(seed=1)
    site = BatchSite(grid, "site", Counted(capacity), policy, resources=has)
    for work in works:
        job = grid.record.job(
            "ann",
            work.submit,
            work.runtime,
            processors=work.processors[0],
            estimate=work.estimate,
        )
        job.needs = dict(zip(has, work.processors[1:], strict=True))
        grid.agenda.at(work.submit, site.submit, job)
    grid.run()
    return grid.record.jobs


def starts(works, capacity, policy, has=HAS):
    return [job.start for job in run(works, capacity, policy, has)]


def test_who_waits_for_a_gpu_keeps_processors_only_as_far_as_it_must():
    """Four processors and one GPU. Job 1 has the GPU up to 10, job 2 wants it and all four processors.

    Job 3 (two processors) would end in time, job 4 would not, and would delay job 2; job 5 wants a GPU.
    """
    has = {"gpu": 1}
    works = [
        Work(1, 0, 10, Units((1, 1)), 10),
        Work(2, 1, 5, Units((4, 1)), 5),
        Work(3, 2, 8, Units((2, 0)), 8),
        Work(4, 3, 9, Units((1, 0)), 9),
        Work(5, 4, 1, Units((1, 1)), 1),
    ]
    assert starts(works, 4, make("batch", "fcfs"), has) == [0, 10, 15, 15, 15]
    assert starts(works, 4, make("batch", "easy"), has) == [0, 10, 2, 15, 15]
    assert starts(works, 4, make("batch", "conservative"), has) == [0, 10, 2, 15, 15]


def test_conservative_reserves_the_gpu_of_the_second_that_waits_and_easy_does_not():
    """Two GPUs, held up to 10 and 20. Job 3 wants two at 20, job 4 wants one: from 10 on it has it, for 10 s.

    Job 5 wants one as well, for 12 s: under EASY it only may not delay job 3, and so waits for job 3.
    """
    has = {"gpu": 2}
    works = [
        Work(1, 0, 10, Units((1, 1)), 10),
        Work(2, 0, 20, Units((1, 1)), 20),
        Work(3, 1, 5, Units((1, 2)), 5),
        Work(4, 2, 10, Units((1, 1)), 10),
        Work(5, 3, 12, Units((1, 1)), 12),
        Work(6, 4, 99, Units((1, 0)), 99),
    ]
    for policy in ("easy", "conservative"):
        assert starts(works, 9, make("batch", policy), has) == [0, 0, 20, 10, 25, 4]


def test_all_that_a_job_needs_is_free_for_all_of_its_time():
    """Five processors, a GPU, 10 of memory. Job 3 gets its GPU and all memory from 10 to 14.

    Job 4 could have four processors and memory at 8, but memory for 2 s only: it is planned for 14, and job
    5 may run from 4 to 13.
    """
    has = {"gpu": 1, "memory": 10}
    works = [
        Work(1, 0, 8, Units((3, 0, 0)), 8),
        Work(2, 0, 10, Units((1, 1, 0)), 10),
        Work(3, 1, 4, Units((1, 1, 10)), 4),
        Work(4, 2, 3, Units((4, 0, 1)), 3),
        Work(5, 4, 9, Units((1, 0, 0)), 9),
    ]
    assert starts(works, 5, make("batch", "conservative"), has) == [0, 0, 10, 14, 4]


works = st.lists(
    st.builds(
        lambda gap, runtime, more, processors, gpus, memory: (
            gap, runtime, runtime + more, Units((processors, gpus, memory)),
        ),
        st.sampled_from([0, 0, 1, 3]), st.integers(0, 9), st.sampled_from([-2, 0, 0, 4]), st.integers(1, 4),
        st.sampled_from([0, 0, 0, 1, 2, 3]), st.integers(0, 10),
    ),
    min_size=1, max_size=25,
)  # fmt: skip
POLICIES = {
    "fcfs": (make("batch", "fcfs"), reference_batch.fcfs),
    "easy": (make("batch", "easy"), reference_batch.easy),
    "conservative": (make("batch", "conservative"), reference_batch.conservative),
    "priority 0": (make("batch", {"kind": "priority", "reservations": 0}), reference_batch.fcfs),
    "priority 3": (make("batch", {"kind": "priority", "reservations": 3}), reserving(3)),
    "priority all": (
        make("batch", {"kind": "priority", "reservations": "all"}),
        reference_batch.conservative,
    ),
}


@pytest.mark.parametrize("name", POLICIES)
@settings(max_examples=60)
@given(drawn=works)
def test_schedules_are_those_of_a_slow_reference_that_counts_all_units(name, drawn):
    policy, reference = POLICIES[name]
    jobs, now = [], 0
    for number, (gap, runtime, estimate, units) in enumerate(drawn, 1):
        now += gap
        jobs.append(Work(number, now, runtime, units, max(1, estimate)))
    found = run(jobs, 4, policy)
    reference_batch.schedule(jobs, Units((4, *HAS.values())), reference)
    assert [job.start for job in found] == [work.start for work in jobs]
    # Nothing is held twice, at any time.
    for work in jobs:
        together = [one for one in jobs if one.start <= work.start < one.end]
        assert sum((one.processors for one in together), Units((0, 0, 0))) <= Units((4, *HAS.values()))


SITE = {"name": "cluster", "nodes": 4, "policy": "easy", "resources": {"gpu": 1, "memory": 8}}
JOBS = {
    "kind": "generated",
    "count": 60,
    "interval": {"law": "exponential", "mean": 20.0},
    "runtime": {"law": "exponential", "mean": 60.0},
    "needs": {"gpu": {"law": "uniform", "low": 0.0, "high": 3.0}, "memory": 3.0},
}


def scenario(tmp_path, site=(), workload=()):
    import tomli_w

    path = tmp_path / "mine.toml"
    table = {"title": "x", "site": [SITE | dict(site)], "workload": [JOBS | dict(workload)]}
    path.write_text(tomli_w.dumps(table), encoding="utf-8")
    return load(str(path))


def test_a_scenario_says_what_nodes_have_and_jobs_need(tmp_path):
    made = simulate(scenario(tmp_path))
    jobs = made.record.jobs
    assert {job.needs["gpu"] for job in jobs} == {0, 1, 2}
    assert all(job.needs["memory"] == 3 and job.state == "done" for job in jobs)
    for one in jobs:
        together = [job for job in jobs if job.start <= one.start < job.end]
        assert sum(job.needs["gpu"] for job in together) <= 4
        assert sum(job.needs["memory"] for job in together) <= 32
    # The jobs are the same where more is needed of one resource: each has a stream of its own.
    more = simulate(scenario(tmp_path, workload={"needs": JOBS["needs"] | {"memory": 32.0}}))
    assert [(job.submit, job.needs["gpu"]) for job in more.record.jobs] == [
        (job.submit, job.needs["gpu"]) for job in jobs
    ]
    ends = sorted(job.end for job in more.record.jobs)
    assert sorted(job.start for job in more.record.jobs)[1:] >= ends[:-1]  # one after the other
    too_much = simulate(scenario(tmp_path, workload={"needs": {"memory": 33.0}}))
    assert {job.state for job in too_much.record.jobs} == {"rejected"}


@pytest.mark.parametrize(
    ("site", "workload", "fault"),
    [
        ({}, {"needs": {"tpu": 1.0}}, "cluster has no tpu; its resources: gpu, memory"),
        ({"resources": {}}, {}, "cluster has no gpu, memory; its resources: none"),
        ({"outage": [{"start": 5.0}]}, {}, "leave them out, or outage"),
        ({"preemption": {"qos": {"a": 1.0}, "mode": "suspend"}}, {}, "only processors can be kept"),
        ({"preemption": {"qos": {"a": 1.0}, "grace": 1.0}}, {}, "neither grace nor checkpoint s"),
        ({"resources": {"gpu": -1}}, {}, "resources.gpu"),
    ],
)
def test_resources_that_make_no_sense_are_refused(tmp_path, site, workload, fault):
    with pytest.raises(ScenarioError, match=fault):
        scenario(tmp_path, site, workload)


def test_cancelled_jobs_give_back_all_that_they_hold():
    rng = random.Random(3)
    grid = Grid(seed=1)
    site = BatchSite(grid, "site", Counted(4), make("batch", "easy"), resources=HAS)
    for number in range(200):
        job = grid.record.placeholder("ann", float(number), 9.0, processors=rng.randint(1, 4))
        job.needs = {"gpu": rng.randint(0, 3), "memory": rng.randint(0, 10)}
        grid.agenda.at(number, site.submit, job)
        grid.agenda.at(number + rng.randint(1, 30), site.cancel, job)
    held = SimpleNamespace(least=inf)

    def look(_):
        resources = site.cluster.resources
        held.least = min(held.least, *resources.free.values())
        running = [job for job in grid.record.placeholders if job.state == "running"]
        for name, units in HAS.items():
            assert resources.free[name] == units - sum(job.needs[name] for job in running)

    for number in range(240):
        grid.agenda.at(number + 0.5, look, None)
    grid.run()
    resources = site.cluster.resources
    assert (held.least, resources.free, resources.held) == (0, HAS, {})


def lived(works, nodes, terms, policy="easy", has=HAS, reservations=(), **more):
    """Run works (submit, runtime, units, estimate, kind, user) where some preempt, and some is reserved."""
    grid = Grid(seed=1, keep_events=True)
    pool = Named("n", [1.0] * nodes)
    site = BatchSite(grid, "site", pool, make("batch", policy), resources=has, **more)
    if reservations:
        availability = Availability(site, pool)
        for one in reservations:
            schedule_reservation(availability, one, inf)
    if terms is not None:
        QosPreemption(site, terms)
    for submit, runtime, units, estimate, kind, user in works:
        facts = {"processors": units[0], "estimate": estimate, "kind": kind}
        job = grid.record.job(user, submit, runtime, **facts)
        job.needs = dict(zip(has, units[1:], strict=True))
        grid.agenda.at(submit, site.submit, job)
    grid.run()
    return grid, site


def most_held(grid, names):
    """The most that jobs held at once, processors and units by name, by the journal alone."""
    held, running = Counter(), {}
    most = Counter()
    jobs = {job.id: job for job in grid.record.jobs}
    for _, event, number, *_ in grid.record.journal:
        if number not in jobs:
            continue
        units = {"processors": jobs[number].processors} | {name: jobs[number].needs[name] for name in names}
        if event == "started":
            assert number not in running
            running[number] = units
            held.update(units)
        elif event in ("done", "killed", "failed", "expired", "cancelled"):
            held.subtract(running.pop(number, {}))
        most |= held
    assert not running
    return most


def test_who_holds_the_gpu_that_an_urgent_job_needs_makes_way_and_nobody_else():
    """Four processors, one GPU. Job 2 is younger than job 1, which holds the GPU; two processors are free."""
    works = [
        (0, 10, (1, 1), 10, "job", "ann"),
        (1, 10, (1, 0), 10, "job", "ann"),
        (4, 3, (1, 1), 3, "urgent", "ann"),
    ]
    for mode, again in (("requeue", (7, 17)), ("checkpoint", (7, 13))):
        grid, site = lived(works, 4, Terms(mode, {"urgent": 1.0}), has={"gpu": 1})
        assert [(job.start, job.end) for job in grid.record.jobs] == [again, (1, 11), (4, 7)]
        assert (site.cluster.resources.free, site.free, site.cluster.ends) == ({"gpu": 1}, 4, [])
    # Where processors are missing, too, both make way for one that needs everything.
    works[2] = (4, 3, (4, 1), 3, "urgent", "ann")
    grid, _ = lived(works, 4, Terms("requeue", {"urgent": 1.0}), has={"gpu": 1})
    assert [(job.start, job.end) for job in grid.record.jobs] == [(7, 17), (7, 17), (4, 7)]


def test_members_of_a_reservation_wait_for_the_gpu_that_others_hold():
    """Bob's two processors from 5 to 20: his second job has to wait for the GPU of his first one."""
    works = [
        (0, 8, (1, 1), 8, "job", "ann"),
        (1, 4, (1, 1), 4, "job", "bob"),
        (2, 4, (1, 1), 4, "job", "bob"),
    ]
    course = AdvanceReservation("course", 5.0, 20.0, 2, frozenset({"bob"}))
    grid, _ = lived(works, 3, None, has={"gpu": 1}, reservations=[course])
    assert [(job.start, job.end) for job in grid.record.jobs] == [(0, 8), (8, 12), (12, 16)]


@pytest.mark.long
@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", {"kind": "priority", "reservations": 2}])
@settings(max_examples=60, deadline=None)
@given(drawn=works, data=st.data())
def test_nothing_is_held_twice_whoever_preempts_and_whatever_is_reserved(policy, drawn, data):
    jobs, now = [], 0
    for gap, runtime, estimate, units in drawn:
        now += gap
        kind, user = data.draw(st.sampled_from(["job", "urgent"])), data.draw(st.sampled_from(["ann", "bob"]))
        jobs.append((now, runtime, units, max(1, estimate), kind, user))
    mode = data.draw(st.sampled_from(["requeue", "cancel", "checkpoint"]))
    levels = {"urgent": data.draw(st.sampled_from([0.0, 1.0]))}
    terms = Terms(
        mode, levels, restart=float(mode == "checkpoint"), express=data.draw(st.sampled_from([0.0, 3.0]))
    )
    start = float(data.draw(st.integers(0, 30)))
    course = AdvanceReservation("course", start, start + 12.0, 2, frozenset({"bob"}))
    rounds = data.draw(st.sampled_from([WHENEVER_NEEDED, Rounds(2.0, 20.0, lambda: 1.5)]))
    grid, site = lived(jobs, 4, terms, policy, reservations=[course], rounds=rounds)
    most = most_held(grid, HAS)
    assert most["processors"] <= 4
    assert all(most[name] <= units for name, units in HAS.items())
    lost = [job for job in grid.record.jobs if job.state != "done"]
    assert len(lost) == grid.record.counters["preempted_jobs"]
    assert mode == "cancel" or not lost
    grid.agenda.run(until=1000.0)
    assert (site.free, site.depth, site.cluster.ends) == (4, 0, [])
    assert (site.cluster.resources.free, site.cluster.resources.held) == (HAS, {})
