"""What a batch site keeps of its waiting jobs while they come and go: counts, limits, and the kept plan."""

from math import inf
from unittest.mock import patch

import numpy as np
import pytest

from gridtune.model.agenda import Agenda
from gridtune.model.batch.cluster import Cluster
from gridtune.model.batch.planning import plan
from gridtune.model.batch.planning.plan import planned_anew, planned_starts, reserved_starts
from gridtune.model.batch.planning.profile import Profile
from gridtune.model.batch.planning.waiting import Waiting
from gridtune.model.batch.policies import FairShare
from gridtune.model.batch.queues import Queue
from gridtune.model.infrastructure.file_system import FileSystem
from gridtune.model.job import Job
from tests.reference_batch import Work
from tests.test_batch import play


def job(number, processors=1, length=10.0):
    return Job(number, "user", 0.0, length, processors=processors, estimate=length)


def filled(capacity, queues, *jobs):
    """A cluster where jobs wait, each given with its queue."""
    cluster = Cluster(capacity, queues=queues)
    for one, queue in jobs:
        cluster.enqueue(one, queue)
    return cluster


def test_counts_follow_what_comes_and_goes():
    a, b, c = job(1, 3), job(2, 2), job(3, 2)
    cluster = filled(4, [Queue("x"), Queue("y")], (a, 0), (b, 1), (c, 1))
    assert (cluster.wanted, cluster.depth, cluster.narrowest, cluster.free) == (7, 3, 2, 4)
    assert [cluster.waiting_in(k) for k in (0, 1)] == [1, 2]
    assert [cluster.wanted_in(k) for k in (0, 1)] == [3, 4]
    cluster.start(b, 0.0, 10.0)
    assert (cluster.wanted, cluster.depth, cluster.narrowest, cluster.free) == (5, 2, 2, 2)
    cluster.withdraw(c)
    assert (cluster.wanted, cluster.depth, cluster.narrowest) == (3, 1, 3)
    assert (a in cluster, b in cluster, c in cluster) == (True, True, False)
    cluster.put_back(b, 0.0, 10.0)
    assert (cluster.wanted, cluster.depth, cluster.narrowest, cluster.free) == (5, 2, 2, 4)
    cluster.withdraw(a)
    cluster.withdraw(b)
    assert (cluster.wanted, cluster.depth, cluster.narrowest, cluster.lanes) == (0, 0, inf, {})


def test_jobs_start_together_only_if_they_wait_and_fit():
    a, b, c = job(1, 3), job(2, 1), job(3, 2)
    cluster = filled(4, [Queue()], (a, 0), (b, 0), (c, 0))
    assert cluster.can_start([a, b]) is True
    assert cluster.can_start([a, c]) is False
    assert cluster.can_start([b, b]) is False
    assert cluster.can_start([job(9)]) is False
    cluster.start(b, 0.0, 10.0)
    assert cluster.can_start([b]) is False
    assert cluster.can_start([a]) is True
    assert cluster.queue_of(b).name == Queue().name


def test_who_is_put_back_is_the_first_of_its_lane():
    a, b = job(1), job(2)
    cluster = filled(4, [Queue()], (a, 0), (b, 0))
    cluster.settle(0.0)
    cluster.start(a, 0.0, 10.0)
    cluster.put_back(a, 0.0, 10.0)
    assert list(cluster.in_order()) == [a, b]
    assert cluster.shuffled


def test_a_queue_admits_until_the_next_would_exceed_its_slots():
    queues = [Queue("x", slots=3), Queue("y")]
    wide, narrow, other, late = job(1, 2), job(2, 2), job(3, 4), job(4, 1)
    cluster = filled(8, queues, (wide, 0), (narrow, 0), (other, 1), (late, 0))
    assert list(cluster.in_order()) == [wide, other], "nobody passes the one that has no slots left"
    assert list(cluster.admitted([wide, narrow, other, late])) == [wide, other]
    assert list(cluster.admitted([late, narrow, wide, other])) == [late, narrow, other]
    assert list(cluster.admitted([narrow, late, wide])) == [narrow, late]
    assert (cluster.free_for(0), cluster.free_for(1)) == (3, 8)
    cluster.start(wide, 0.0, 10.0)
    assert (cluster.free_for(0), cluster.free_for(1)) == (1, 6)
    assert list(cluster.in_order()) == [other]
    cluster.stop(wide, 10.0, 10.0)
    assert list(cluster.in_order()) == [narrow, other, late], "queues of equal priority are served together"


def test_who_promises_more_than_is_permitted_waits():
    a, b = job(1, length=100.0), job(2, length=10.0)
    cluster = filled(4, [Queue()], (a, 0), (b, 0))
    cluster.settle(0.0)
    cluster.permit(inf)
    assert not cluster.disturbed
    cluster.permit(50.0)
    assert cluster.disturbed
    assert list(cluster.in_order()) == [b]
    cluster.settle(1.0)
    cluster.enqueue(job(3, length=60.0))
    assert cluster.newly_queued == []
    cluster.enqueue(job(4, length=50.0))
    assert [one.id for one in cluster.newly_queued] == [4]


@pytest.mark.parametrize(("to", "same"), [(0, False), (1, True)])
def test_only_who_comes_in_at_the_tail_leaves_the_plan_as_it_is(to, same):
    cluster = filled(4, [Queue("high", 1.0), Queue("low", 0.0)], (job(1), 0), (job(2), 1))
    cluster.settle(0.0)
    assert cluster.as_planned(0.0)
    cluster.enqueue(job(3), to)
    assert cluster.as_planned(0.0) == same
    assert cluster.shuffled != same


def test_nothing_is_as_planned_once_a_job_is_overdue():
    cluster = filled(4, [Queue()], (job(1), 0), (job(2), 0))
    cluster.start(next(iter(cluster.in_order())), 0.0, 10.0)
    cluster.settle(0.0)
    assert [cluster.as_planned(time) for time in (9.0, 10.0)] == [True, False]


def randomly(seed, count=40):
    draw = np.random.default_rng(seed)
    works, now = [], 0
    for number in range(1, count + 1):
        now += int(draw.integers(0, 3))
        runtime = int(draw.integers(1, 12))
        estimate = runtime + int(draw.integers(0, 6))
        works.append(Work(number, now, runtime, int(draw.integers(1, 5)), estimate))
    return works


@pytest.mark.parametrize(
    "queues",
    [
        [Queue("short", 1.0, max_runtime=8.0), Queue("long", 0.0)],
        [Queue("short", 0.0, max_runtime=8.0), Queue("long", 1.0)],
        [Queue("short", 1.0, max_runtime=8.0, slots=5), Queue("long", 0.0, slots=4)],
        [Queue("short", 0.0, max_runtime=8.0, running=2), Queue("long", 0.0)],
    ],
)
def test_a_kept_plan_starts_whom_a_new_one_would_whatever_queue_they_come_to(queues):
    for seed in range(8):
        starts = []
        for short in (0, 1000):
            with patch.object(plan, "SHORT", short):
                grid = play(randomly(seed), 6, "conservative", queues=queues)
            starts.append([work.start for work in grid.record.jobs])
        assert starts[0] == starts[1]
        assert None not in starts[0]


def test_starts_of_a_plan_are_those_that_delay_nobody_before():
    cluster = filled(
        4, [Queue()], *((one, 0) for one in (job(1, 3), job(2, 3, 5.0), job(3, 1, 10.0), job(4, 1, 11.0)))
    )
    for starts in (planned_starts, planned_anew):
        assert [one.id for one in starts(cluster, list(cluster.in_order()), 0.0)] == [1, 3]
    assert [one.id for one in reserved_starts(cluster, cluster.in_order(), 0.0, 0, inf)] == [1, 3]
    cluster.start(next(iter(cluster.in_order())), 0.0, 10.0)
    order = list(cluster.in_order())
    assert [one.id for one in reserved_starts(cluster, order, 0.0, 1, inf)] == [3]
    assert [one.id for one in reserved_starts(cluster, order[::-1], 0.0, 0, inf)] == [4]
    assert [one.id for one in reserved_starts(cluster, [order[0], order[2]], 0.0, 1, 9.0)] == [4], (
        "10 s is too late for a reservation"
    )


def test_the_profile_says_for_how_long_how_many_stay_free():
    profile = Profile(0.0, 1, [(5.0, 2), (9.0, 1)])
    assert (profile.times, profile.free) == ([0.0, 5.0, 9.0], [1, 3, 4])
    assert profile.place(2, 1.0, limit=5.0) == inf
    assert profile.place(2, 1.0, until=5.5) == 5.0
    assert profile.place(5, 1.0) == inf
    assert (profile.times, profile.free) == ([0.0, 5.0, 9.0], [1, 3, 4])  # nothing was reserved
    assert profile.place(3, 2.0) == 5.0
    assert (profile.times, profile.free) == ([0.0, 5.0, 7.0, 9.0], [1, 0, 3, 4])
    assert profile.place(2, 2.0) == 7.0
    assert profile.free == [1, 0, 1, 4]
    assert profile.place(1, 0.0) == 0.0
    assert profile.free == [1, 0, 1, 4]
    profile.advance(6.0)
    assert (profile.times, profile.free) == ([6.0, 7.0, 9.0], [0, 1, 4])
    overdue = Profile(10.0, 1, [(4.0, 2), (10.0, 1), (12.0, 1)])
    assert (overdue.times, overdue.free) == ([10.0, 12.0], [4, 5])
    dip = Profile(0.0, 2, [(4.0, -1), (6.0, 2)])
    assert dip.runs(inf) == ([1, 2, 3], [inf, inf, inf])
    assert dip.runs(5.0)[0] == [1, 2]
    assert dip.kept(4).tolist() == [inf, inf, 4.0, -inf, -inf]
    assert Profile(0.0, 0, [(4.0, 2)]).kept(1).tolist() == [inf, -inf]


def test_waiting_jobs_keep_their_places_as_they_come_and_leave():
    jobs = [job(k, k, 10.0 * k) for k in range(1, 41)]
    waiting = Waiting(jobs[:2], 2.0)
    waiting.planned[0] = True
    waiting.extend(jobs[2:])
    waiting.remove([jobs[1], jobs[39]])
    assert [one.id for one in waiting.jobs] == [1, *range(3, 40)]
    assert waiting.processors.tolist() == [1, *range(3, 40)]
    assert waiting.durations.tolist() == [5.0 * k for k in (1, *range(3, 40))]
    assert waiting.planned.tolist() == [True] + [False] * 37
    assert list(waiting.asked_for(np.array([0, 2]))) == [(0, 1, 5.0), (2, 4, 20.0)]
    assert len(waiting) == 38


def test_values_of_practice_where_none_is_given():
    assert FileSystem(Agenda(), 8).time_constant == 60.0, "the load average over a minute"
    assert FairShare().half_life == 7 * 24 * 3600.0, "a week"
