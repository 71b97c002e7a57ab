"""Sites whose nodes come and go against the slow reference, and what must not depend on unrelated things."""

import pytest

from tests.reference_site import Task, World
from tests.site_conformance import KINDS_OF_SITES, differing_starts, starts


@pytest.mark.parametrize("kind", KINDS_OF_SITES)
def test_every_start_is_that_of_the_slow_reference(kind):
    assert sum(differing_starts(kind, 40, seed) for seed in range(20)) == 0


# Four nodes: job 3 needs all of them and has no planned start, so job 4 has the reservation, at 50 s.
QUEUE = [(8, 10, 4), (10, 60, 2), (12, 100, 1)]
EXPECTED = [50, 110]  # of jobs 4 and 5: the latter must not delay the former
ONE = {"kind": "priority", "reservations": 1}


def works(*first):
    rows = [*first, *QUEUE]
    return [Task(k, float(row[0]), row[1], row[2], row[1]) for k, row in enumerate(rows, 1)]


@pytest.mark.parametrize("reserved", [[], [(1e9, 1e9 + 1.0, 4)]])
@pytest.mark.parametrize("policy", ["easy", "fair-share", ONE, ONE | {"reservations": 2}], ids=str)
def test_who_cannot_be_planned_passes_the_reservation_on_whatever_is_reserved(policy, reserved):
    world = World(4, outages=[(5.0, 2000.0, [3], False)], reservations=reserved)
    made = starts(world, policy, works((0, 1000, 1), (0, 50, 1)))
    assert made == [0, 0, 2000, *EXPECTED]


@pytest.mark.parametrize("reserved", [[], [(1e9, 1e9 + 1.0, 4)]])
@pytest.mark.parametrize("resources", [None, {"gpu": 1}])
def test_who_is_planned_beyond_the_window_passes_the_reservation_on(reserved, resources):
    if reserved and resources:
        pytest.skip("sites with resources have nodes without names")
    made = starts(
        World(4, reservations=reserved), ONE | {"window": 100.0}, works((0, 1000, 2), (0, 50, 1)), resources
    )
    assert made == [0, 0, 1000, *EXPECTED]


def tasks(*rows):
    """Jobs by submission, run time, processors and level."""
    return [Task(k, float(row[0]), row[1], row[2], row[1], row[3]) for k, row in enumerate(rows, 1)]


def test_each_urgent_job_preempts_as_soon_as_one_more_can_be():
    # Job 1 can be preempted from 30 on, job 3 from 46 on. Before, both urgent jobs have been looked at.
    rows = tasks((0, 1000, 1, 0), (0, 1, 1, 2), (16, 1000, 1, 0), (19, 200, 1, 2), (20, 200, 1, 2))
    assert starts(World(2, exempt=30.0), "fcfs", rows)[3:] == [30, 46]


def test_a_job_is_preempted_at_the_very_time_to_which_it_was_exempt():
    # 2.3 + 1.3 is 3.5999999999999996: less than 1.3 after 2.3.
    rows = tasks((0, 50, 1, 0), (2.4, 5, 1, 2))
    assert (2.3 + 1.3) - 2.3 < 1.3
    rows[0].submit = 2.3
    assert starts(World(1, exempt=1.3), "fcfs", rows)[1] == 2.3 + 1.3


def test_a_run_does_not_wait_for_the_end_of_an_exemption_that_nobody_needs():
    # The urgent job starts at 10, when the first one ends; it was to be looked at again at 1000.
    world, ends = World(1, exempt=1000.0), []
    assert starts(world, "fcfs", tasks((0, 10, 1, 0), (5, 20, 1, 2)), ends=ends) == [0, 10]
    assert ends == [30]


@pytest.mark.parametrize(("unrelated", "left"), [(1, 100), (300, 300)])
def test_an_urgent_job_takes_free_processors_whoever_runs(unrelated, left):
    # Job 3 needs all four nodes and waits for job 2 (and for job 1, where that runs on).
    rows = tasks((0, unrelated, 1, 0), (0, 100, 1, 2), (1, 50, 4, 0), (2, 10, 1, 2))
    assert starts(World(4, exempt=0.0), "fcfs", rows) == [0, 0, left, 2]


@pytest.mark.parametrize("lower", [[], [(1, 5, 2, 0)]])
def test_an_urgent_job_leaves_a_reservation_what_it_will_need(lower):
    # Both nodes are reserved from 10 to 20; the job of 15 s comes at 1, with or without a lower one behind.
    world = World(2, reservations=[(10.0, 20.0, 2)], exempt=0.0)
    made = starts(world, "fcfs", tasks((0, 3, 2, 2), (1, 15, 1, 2), *lower))
    assert made[:2] == [0, 20]
    # One node is reserved: who runs beyond 10 s makes way for it, though the other node is free.
    world.reservations = [(10.0, 20.0, 1)]
    assert starts(world, "fcfs", tasks((0, 50, 1, 0), (1, 15, 1, 2))) == [16, 1]
