"""Tasks that wait at a site move to another one, as the policy says, and none is lost or run twice."""

from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridtune.model.job import Job
from gridtune.model.middleware.migration import Staying, ToFreeSlots, ToShorterQueue
from gridtune.model.middleware.routing import LeastTraversal, SiteView
from gridtune.scenarios import ScenarioError, load, simulate
from tests.meta_grid import Task, play


def view(site, *, depth=0, free=0, slots=4, sent=0, wanted=None, sent_slots=None):
    return SiteView(
        site, depth, free, slots, 1.0, sent,
        depth if wanted is None else wanted, sent if sent_slots is None else sent_slots,
    )  # fmt: skip


def test_a_task_moves_where_it_finds_a_slot_and_all_others_do_too():
    task, here = Job(1, "u", 0.0, 10.0, processors=2), view(0, depth=5)
    assert Staying().choose(task, here, [view(1, free=4)]) is None
    assert ToFreeSlots().choose(task, here, []) is None
    assert ToFreeSlots().choose(task, here, [view(1, free=2), view(2, free=4)]).site == 2
    assert ToFreeSlots().choose(task, here, [view(1, free=3, sent=1, sent_slots=2)]) is None
    assert ToFreeSlots().choose(task, here, [view(1, free=3, depth=1, wanted=2)]) is None


def test_a_task_moves_to_a_queue_that_is_shorter_by_the_margin():
    task, here = Job(1, "u", 0.0, 10.0), view(0, depth=8)  # 2 for each slot
    assert ToShorterQueue(1.0).choose(task, here, [view(1, depth=3)]) is None  # 4 of 4 with it
    assert ToShorterQueue(1.0).choose(task, here, [view(1, depth=2)]).site == 1
    assert ToShorterQueue(0.5).choose(task, here, [view(1, depth=3), view(2, free=1)]).site == 2


def test_tasks_pushed_by_old_news_are_taken_to_the_idle_site():
    tasks = [Task(float(k), 100.0) for k in range(3)]
    stay = play("push", [1, 1], tasks, update_period=inf)
    assert [task.start for task in stay.tasks] == [0.0, 100.0, 200.0]
    move = play("push", [1, 1], tasks, update_period=inf, migration="free-slots", migration_period=10.0)
    # The one that was submitted last moves first.
    assert [(task.site, task.start) for task in move.tasks] == [("s0", 0.0), ("s0", 100.0), ("s1", 10.0)]
    slow = play(
        "push", [1, 1], tasks, delay=5.0, update_period=inf, migration="free-slots", migration_period=10.0
    )
    assert [(task.site, task.start) for task in slow.tasks] == [("s0", 5.0), ("s0", 105.0), ("s1", 15.0)]


@settings(max_examples=30, deadline=None)
@given(
    rows=st.lists(st.tuples(st.floats(0, 200), st.floats(1, 60), st.integers(1, 2)), min_size=1, max_size=30),
    policy=st.sampled_from(["free-slots", {"kind": "shorter-queue", "margin": 0.0}]),
    delay=st.sampled_from([0.0, 3.0]),
)
def test_every_task_is_done_once_wherever_it_moves(rows, policy, delay):
    tasks = [Task(submit, runtime, processors=wide) for submit, runtime, wide in sorted(rows)]
    played = play(
        "push", [2, 2, 3], tasks, delay=delay, update_period=50.0, migration=policy, migration_period=7.0
    )
    assert all(task.state == "done" for task in played.tasks)
    assert [task.end - task.start for task in played.tasks] == pytest.approx([row[1] for row in sorted(rows)])
    assert all(task.kills == 0 and task.wasted == 0 for task in played.tasks)


def test_migration_helps_tasks_and_local_users_where_news_are_old():
    metrics = [
        simulate(load("dirac/migrating").override({"middleware.migration": kind})).metrics
        for kind in ("none", "free-slots")
    ]
    for name in ("meta_waiting_mean", "background_waiting_mean"):
        assert metrics[1][name].value < 0.6 * metrics[0][name].value


def test_tasks_do_not_move_between_queues_of_a_site():
    with pytest.raises(ScenarioError, match="tasks move between sites"):
        simulate(load("dirac/migrating").override({"middleware.per_queue": True}))


def test_traversal_counts_the_slots_that_waiting_tasks_need():
    task = Job(1, "u", 0.0, 100.0)
    sites = [view(0, depth=1, wanted=4), view(1, depth=2, wanted=2)]
    assert LeastTraversal().choose(sites, task, 100.0, None).site == 1
    sent = [view(0, free=4, sent=1, sent_slots=4), view(1, free=2, sent=1, sent_slots=1)]
    assert LeastTraversal().choose(sent, task, 100.0, None).site == 0
    assert LeastTraversal(count_sent=True).choose(sent, task, 100.0, None).site == 1
