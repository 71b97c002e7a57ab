"""What holds for every middleware, whatever is thrown at it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridtune.model.job import State
from tests.meta_grid import play
from tests.meta_worlds import KINDS, most_at_once, worlds


def held_at_once(spans):
    """The most of these spans that overlap."""
    return most_at_once((start, end, 1) for start, end in spans)


@pytest.mark.long
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
