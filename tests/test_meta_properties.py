"""What holds for every middleware, whatever is thrown at it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridtune.model.job import State
from tests.meta_grid import Task, play

KINDS = [
    ("push", {}),
    ("pull", {}),
    ("pilot", {"pilot_mode": "run-once"}),
    ("pilot", {"pilot_mode": "filling"}),
]


@st.composite
def worlds(draw):
    slots = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    task = st.tuples(
        st.integers(0, 60).map(float),
        st.integers(1, 30).map(float),
        st.none() | st.integers(1, 30).map(float),
        st.none() | st.integers(0, len(slots) - 1),
        st.sampled_from("ab"),
    ).map(lambda facts: Task(*facts[:4], group=facts[4]))
    tasks = draw(st.lists(task, min_size=1, max_size=25))
    if all(task.site is not None for task in tasks):
        tasks[0] = tasks[0]._replace(site=None)
    options = {
        "update_period": draw(st.sampled_from([0.0, 7.0])),
        "availability_epsilon": draw(st.sampled_from([0.2, 0.5, 1.5])),
        "poll_period": draw(st.sampled_from([1.0, 5.0, 13.0])),
        "pilot_idle": draw(st.sampled_from([0.0, 10.0])),
        "pilot_retry": 3.0,
        "pilot_cap": draw(st.sampled_from([1, 2, 50])),
        "delay": draw(st.sampled_from([0.0, 0.25])),
        "limit": draw(st.sampled_from([float("inf"), 45.0, 32.0])),
    }
    return slots, tasks, options


def held_at_once(spans):
    """The most of these spans that overlap; what ends at an instant makes room for what starts then."""
    changes = sorted(change for start, end in spans if end > start for change in ((start, 1), (end, -1)))
    held = most = 0
    for _, change in changes:
        held += change
        most = max(most, held)
    return most


@pytest.mark.parametrize(("kind", "extra"), KINDS)
@settings(deadline=None, max_examples=60)
@given(world=worlds())
def test_every_task_is_done_once_and_no_slot_is_taken_twice(kind, extra, world):
    slots, tasks, options = world
    played = play(kind, slots, tasks, **options, **extra)
    jobs = played.grid.record.jobs
    assert len(jobs) == len(tasks)
    assert {job.state for job in jobs} == {State.DONE}
    assert all(job.end - job.start == pytest.approx(job.runtime) and job.start >= job.submit for job in jobs)
    assert played.gateway.waiting == 0
    assert played.gateway.unfinished == 0
    placeholders = played.grid.record.placeholders
    for site, count in zip(played.sites, slots, strict=True):
        ran = [(job.start, job.end) for job in jobs if job.site == site.name]
        assert held_at_once(ran) <= count
        holders = [job for job in (*jobs, *placeholders) if job.site == site.name and job.start == job.start]
        if kind == "pilot":
            holders = [job for job in holders if job.kind != "meta"]
        for node in {job.node for job in holders}:
            assert held_at_once((job.start, job.end) for job in holders if job.node == node) <= 1
        assert site.running == 0
        assert site.free == count


@settings(deadline=None, max_examples=60)
@given(world=worlds(), mode=st.sampled_from(["run-once", "filling"]))
def test_tasks_run_inside_pilots_one_at_a_time(world, mode):
    slots, tasks, options = world
    played = play("pilot", slots, tasks, pilot_mode=mode, **options)
    pilots = [pilot for pilot in played.grid.record.placeholders if pilot.start == pilot.start]
    for task in played.tasks:
        around = [
            pilot for pilot in pilots
            if pilot.node == task.node and pilot.start <= task.start and task.end <= pilot.end
        ]  # fmt: skip
        assert around
    for node in {task.node for task in played.tasks}:
        assert held_at_once((task.start, task.end) for task in played.tasks if task.node == node) <= 1
    counters = played.counters
    assert counters["pilot_requests"] >= len(played.tasks)
    if mode == "run-once" and counters["killed_pilots"] == 0:
        started = len(pilots)
        assert started - counters["aborted_pilots"] == len(played.tasks)
