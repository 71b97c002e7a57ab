"""Push, pull and pilots in cases small enough to be worked out by hand."""

from collections import Counter
from math import inf

import pytest

from gridtune.agents.batch.batch_site import BatchSite
from gridtune.agents.middleware.messages import MemberSite
from gridtune.agents.middleware.pilot import Pilot
from gridtune.model.batch.nodes import Counted
from gridtune.model.batch.policies import Fcfs
from gridtune.model.grid import Grid
from gridtune.model.job import State
from gridtune.scenarios.systems.middleware import hand_in, place
from gridtune.scenarios.tables.middleware import MiddlewareSpec
from tests.meta_grid import Task, play

STREAM = [Task(10.0 * k, 1000.0) for k in range(30)]


def where(played):
    return Counter(task.site for task in played.tasks)


def test_push_without_news_sends_everything_to_the_first_site():
    assert where(play("push", [2, 2, 2], STREAM, update_period=inf)) == {"s0": 30}


def test_push_on_new_states_spreads_what_waits():
    played = play("push", [1, 1, 1], [Task(k, 100.0) for k in range(9)], update_period=0.0)
    # Waiting tasks count, running ones do not: the second task goes to the first site too, to wait there.
    assert [task.site for task in played.tasks] == ["s0", "s0", "s1", "s1", "s2", "s2", "s0", "s1", "s2"]


def test_push_goes_by_the_last_report_until_the_next():
    tasks = [Task(t, 1000.0) for t in (1, 2, 3, 4, 11, 12, 13, 21, 22)]
    played = play("push", [1, 1], tasks, update_period=10.0)
    assert [task.site for task in played.tasks] == ["s0"] * 4 + ["s1"] * 3 + ["s1"] * 2


def test_counting_what_was_sent_corrects_old_news():
    routing = {"kind": "depth", "count_sent": True}
    assert where(play("push", [2, 2, 2], STREAM, update_period=inf, routing=routing)) == {
        "s0": 10,
        "s1": 10,
        "s2": 10,
    }


def test_random_ties_spread_tasks_over_equal_sites():
    routing = {"kind": "depth", "tie": "random"}
    assert set(where(play("push", [2, 2, 2], STREAM, update_period=inf, routing=routing))) == {
        "s0",
        "s1",
        "s2",
    }


def test_estimated_traversal_prefers_the_fast_site_until_its_queue_costs_more():
    tasks = [Task(float(k), 100.0) for k in range(6)]
    played = play(
        "push", [1, 1], tasks, speeds=[[1.0], [4.0]], update_period=0.0, routing={"kind": "traversal"}
    )
    # Four times as fast: the fourth task would have to wait there for more than the 75 s that it saves.
    assert [task.site for task in played.tasks] == ["s1", "s1", "s1", "s0", "s1", "s1"]


def test_tasks_go_only_where_their_tags_are():
    tasks = [Task(0.0, 10.0, requires=frozenset({"cern"})), Task(0.0, 10.0)]
    for kind in ("push", "pull", "pilot"):
        played = play(kind, [1, 1], tasks, tags=[(), ("cern",)], poll_period=5.0)
        assert played.tasks[0].site == "s1"
        assert all(task.state is State.DONE for task in played.tasks)


@pytest.mark.parametrize("kind", ["push", "pull", "pilot"])
def test_what_no_site_can_run_is_refused_at_once(kind):
    tasks = [Task(0.0, 10.0, requires=frozenset({"moon"})), Task(0.0, 10.0, processors=5), Task(0.0, 10.0)]
    played = play(kind, [4], tasks, poll_period=5.0)
    assert [task.state for task in played.tasks] == [State.REJECTED, State.REJECTED, State.DONE]
    assert played.counters["refused"] == 2


def test_epsilon_bounds_what_waits_at_a_site():
    tasks = [Task(0.0, 500.0) for _ in range(200)]
    played = play("pull", [20], tasks, availability_epsilon=0.3, poll_period=10.0, horizon=1900.0)
    # At the poll after each wave of 20: those that wait start, and 6 more are admitted to wait.
    starts = sorted((task.queued, 1) for task in played.tasks if task.site == "s0")
    ends = sorted((task.start, -1) for task in played.tasks if task.start == task.start)
    waiting = deepest = 0
    for _, change in sorted(starts + ends, key=lambda step: (step[0], step[1])):
        waiting += change
        deepest = max(deepest, waiting)
    assert deepest == 6


def test_a_site_agent_with_room_takes_tasks_until_none_is_left_and_no_more():
    played = play("pull", [20], [Task(0.0, 100.0) for _ in range(10)], poll_period=50.0)
    assert [task.start for task in played.tasks] == [0.0] * 10
    # 11 queries at time 0 (the last one empty), one more empty at 50; at 100 everything is done.
    assert (played.counters["site_probes"], played.counters["empty_answers"]) == (12, 2)


def test_local_jobs_lock_pull_out():
    local = [Task(0.0, 1000.0, site=0) for _ in range(4)]
    played = play("pull", [2], [*local, Task(1.0, 10.0)], poll_period=10.0, availability_epsilon=0.5)
    # Two local jobs wait until 1000: only then is there room.
    assert played.tasks[0].start == 2000.0
    assert played.tasks[0].queued == 1000.0


def test_messages_take_their_time():
    played = play("pull", [1], [Task(0.0, 10.0)], delay=2.0, poll_period=100.0)
    assert played.tasks[0].start == 4.0  # asked at 0, answered 4 s later
    assert play("push", [1], [Task(0.0, 10.0)], delay=2.0).tasks[0].start == 2.0
    assert play("pilot", [1], [Task(0.0, 10.0)], delay=2.0, poll_period=100.0).tasks[0].start == 8.0


def test_a_run_once_pilot_runs_one_task():
    played = play("pilot", [1], [Task(0.0, 10.0)] * 3, poll_period=100.0, pilot_mode="run-once")
    assert played.counters["pilots"] == 3
    assert all(pilot.end - pilot.start == 10.0 for pilot in played.grid.record.placeholders)
    # The second pilot waits at the site, for the third there is no room before the next poll.
    assert [task.end for task in played.tasks] == [10.0, 20.0, 110.0]


def test_a_filling_pilot_runs_tasks_while_there_is_time():
    tasks = [Task(0.0, 10.0)] * 5
    options = {"poll_period": 1000.0, "pilot_mode": "filling", "pilot_cap": 1, "pilot_longest": 10.0}
    played = play("pilot", [1], tasks, limit=35.0, **options)
    # A task after 30 s would end after the limit of 35 s, so one pilot runs three tasks.
    first, *_ = played.grid.record.placeholders
    assert (first.start, first.end) == (0.0, 30.0)
    assert [task.start for task in played.tasks[:3]] == [0.0, 10.0, 20.0]
    assert all(task.state is State.DONE for task in played.tasks)


def test_filling_without_a_longest_task_leaves_it_to_the_match():
    tasks = [Task(0.0, 30.0), Task(0.0, 30.0), Task(0.0, 4.0)]
    played = play("pilot", [1], tasks, limit=35.0, poll_period=1000.0, pilot_mode="filling", pilot_cap=1)
    assert [task.start for task in played.tasks[::2]] == [0.0, 30.0]  # 4 s still fit into the first pilot


def test_a_pilot_that_finds_nothing_dies():
    # One task for two pilots: both wait behind a local job, the first takes the task.
    tasks = [Task(0.0, 100.0, site=0), Task(1.0, 10.0)]
    played = play("pilot", [1], tasks, poll_period=5.0, availability_epsilon=2.0)
    assert played.counters["pilots"] == 2
    assert played.counters["aborted_pilots"] == 1
    assert played.grid.record.placeholders[1].end == 110.0


def test_an_idle_pilot_waits_with_growing_pauses():
    tasks = [Task(0.0, 10.0), Task(95.0, 10.0)]
    options = {"pilot_mode": "filling", "pilot_idle": 1000.0, "pilot_retry": 10.0, "poll_period": 10_000.0}
    played = play("pilot", [1], tasks, **options)
    # Asks at 10, 20, 40, 80 and 160.
    assert played.tasks[1].start == 160.0
    assert played.counters["pilots"] == 1


def test_the_cap_bounds_waiting_pilots():
    tasks = [Task(0.0, 100.0)] * 50
    free = play("pilot", [2], tasks, availability_epsilon=10.0, poll_period=1000.0, horizon=50.0)
    capped = play(
        "pilot", [2], tasks, availability_epsilon=10.0, poll_period=1000.0, horizon=50.0, pilot_cap=3
    )
    assert free.counters["pilots"] == 22
    assert capped.counters["pilots"] == 5


def test_a_task_in_a_killed_pilot_goes_back_unless_it_had_the_pilot_to_itself():
    # The first two promise 10 s and take 40 of the 52 s that a pilot may live; the third needs 60.
    tasks = [Task(0.0, 40.0, estimate=10.0), Task(0.0, 40.0, estimate=10.0), Task(0.0, 60.0, estimate=10.0)]
    played = play("pilot", [1], tasks[:2], limit=52.0, poll_period=5.0, pilot_mode="filling", pilot_cap=1)
    second = played.tasks[1]
    assert (second.kills, second.state) == (1, State.DONE)
    assert played.counters["killed_pilots"] == 1
    alone = play("pilot", [1], tasks[2:], limit=52.0, poll_period=5.0)
    assert alone.tasks[0].state is State.EXPIRED
    assert alone.tasks[0].end == 52.0
    assert alone.counters["killed_by_limit"] == 1


def test_queues_of_groups_are_served_in_turn():
    tasks = [Task(0.0, 10.0, group=group) for group in "aaaabbc"]
    played = play("pull", [1], tasks, poll_period=1.0, availability_epsilon=0.5)
    by_start = sorted(played.tasks, key=lambda task: task.start)
    assert "".join(task.group for task in by_start) == "abcabaa"


@pytest.mark.parametrize(("matching", "order"), [("oldest", [5, 1, 3]), ("shortest", [1, 3, 5])])
def test_other_ways_to_match(matching, order):
    tasks = [Task(0.0, 7.0), Task(0.1, 5.0), Task(0.2, 1.0, group="b"), Task(0.3, 3.0)]
    played = play("pull", [1], tasks, matching=matching, poll_period=0.5, availability_epsilon=0.5)
    first, *rest = sorted(played.tasks, key=lambda task: task.start)
    assert first.runtime == 7.0
    assert [task.runtime for task in rest] == order


def test_pilots_are_agents_of_the_grid_as_long_as_they_live():
    alive = []
    with Grid() as grid:
        site = BatchSite(grid, "s0", Counted(2), Fcfs())
        entrance = place(grid, MiddlewareSpec(kind="pilot", poll_period=100.0), [MemberSite(site)])
        tasks = [(10.0 * k, entrance.submit, grid.record.job("u", 10.0 * k, 15.0)) for k in range(2)]
        hand_in(grid, entrance, tasks)
        for time in (5.0, 12.0, 50.0, 105.0, 110.0, 120.0):
            grid.agenda.run(time)
            alive.append(sum(isinstance(agent, Pilot) for agent in grid.agents))
        grid.run()
        assert not any(isinstance(agent, Pilot) for agent in grid.agents)
    # The look at 0 comes after the first task does; the second one's pilot is sent at 100.
    assert alive == [1, 1, 0, 1, 1, 0]


def test_pilots_count_in_no_metric_of_jobs():
    played = play("pilot", [2], [Task(0.0, 10.0)] * 4, poll_period=5.0)
    assert len(played.grid.record.jobs) == 4
    assert all(pilot.id < 0 for pilot in played.grid.record.placeholders)
