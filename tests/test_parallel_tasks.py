"""Tasks of several processors: nobody loses one that fits somewhere, and no slot holds two."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridtune.model.batch.nodes import hosts_in
from gridtune.model.job import State
from gridtune.optimize.front.front import front
from gridtune.optimize.search import search
from gridtune.scenarios import load, simulate
from gridtune.scenarios.trace_files import TraceError, find_trace
from tests.meta_grid import Task, play
from tests.meta_worlds import KINDS, most_at_once, worlds


@pytest.mark.long
@pytest.mark.parametrize(("kind", "extra"), KINDS)
@settings(deadline=None, max_examples=60)
@given(world=worlds(most_slots=6, widest=7))
def test_what_fits_somewhere_is_done_once_and_no_slot_holds_two(kind, extra, world):
    slots, tasks, options = world
    played = play(kind, slots, tasks, **options, **extra)
    jobs, pilots = played.grid.record.jobs, played.grid.record.placeholders
    meta = {task.id for task in played.tasks}
    for job in jobs:
        fits = job.processors <= (max(slots) if job.id in meta else slots[int(job.user)])
        assert job.state is (State.DONE if fits else State.REJECTED)
    done = [job for job in jobs if job.state is State.DONE]
    assert all(job.end - job.start == pytest.approx(job.runtime) and job.start >= job.submit for job in done)
    assert played.gateway.waiting == played.gateway.unfinished == 0
    for site, count in zip(played.sites, slots, strict=True):
        there = [job for job in done if job.site == site.name]
        assert most_at_once((job.start, job.end, job.processors) for job in there) <= count
        holders = [job for job in there if kind != "pilot" or job.id not in meta]
        holders += [pilot for pilot in pilots if pilot.site == site.name and pilot.start == pilot.start]
        for host in {host for job in holders for host in hosts_in(job.node)}:
            assert most_at_once((job.start, job.end, 1) for job in holders if host in hosts_in(job.node)) <= 1
        assert all(len(hosts_in(job.node)) == job.processors for job in holders)
        assert (site.running, site.free) == (0, count)


@pytest.mark.long
@settings(deadline=None, max_examples=80)
@given(world=worlds(most_slots=6, widest=7), mode=st.sampled_from(["run-once", "filling"]))
def test_pilots_hold_what_their_tasks_take_and_the_rest_is_idle(world, mode):
    slots, tasks, options = world
    played = play("pilot", slots, tasks, pilot_mode=mode, **options)
    pilots = [pilot for pilot in played.grid.record.placeholders if pilot.start == pilot.start]
    used = 0.0
    for pilot in pilots:
        inside = [
            task for task in played.tasks
            if task.state is State.DONE and task.site == pilot.site and task.node == pilot.node
            and pilot.start <= task.start and task.end <= pilot.end
        ]  # fmt: skip
        assert most_at_once((task.start, task.end, task.processors) for task in inside) <= pilot.processors
        if mode == "run-once":
            assert [task.processors for task in inside] in ([], [pilot.processors])
        used += sum((task.end - task.start) * task.processors for task in inside)
    # Every task is done in exactly one pilot, and what pilots held was done, killed or idle.
    done = [task for task in played.tasks if task.state is State.DONE]
    assert used == pytest.approx(sum(task.runtime * task.processors for task in done))
    wasted = sum(task.wasted for task in played.tasks)
    held = sum((pilot.end - pilot.start) * pilot.processors for pilot in pilots)
    assert played.grid.record.measures["pilot_idle"]() == pytest.approx(held - used - wasted, abs=1e-6)
    assert held - used - wasted >= -1e-6
    if mode == "run-once" and options["limit"] == float("inf") and not options["delay"]:
        assert played.counters["pilots"] - played.counters["aborted_pilots"] == len(done)


def test_a_filling_pilot_of_four_slots_runs_tasks_side_by_side_and_comes_free_for_wide_ones():
    tasks = [
        Task(0.0, 10.0, processors=4),  # brings a pilot of four slots
        Task(1.0, 5.0),
        Task(2.0, 8.0, processors=2),
        Task(3.0, 10.0, processors=4),
        Task(21.0, 6.0, processors=3),
        Task(22.0, 2.0),
        Task(23.0, 10.0),
    ]
    played = play("pilot", [4], tasks, poll_period=100.0, pilot_mode="filling")
    assert [(task.start, task.end) for task in played.tasks] == [
        (0.0, 10.0),
        (20.0, 25.0),  # behind the task that needs all slots
        (20.0, 28.0),  # beside it
        (10.0, 20.0),
        (28.0, 34.0),  # needs three, and two were free at 25
        (25.0, 27.0),  # promised to end before 28
        (28.0, 38.0),  # did not
    ]
    (pilot,) = played.grid.record.placeholders
    assert (pilot.start, pilot.end, pilot.processors) == (0.0, 38.0, 4)
    # 4 x 38 less the work.
    assert played.grid.record.measures["pilot_idle"]() == 152.0 - (40 + 5 + 16 + 40 + 18 + 2 + 10)


def test_a_run_once_pilot_is_as_wide_as_its_task():
    tasks = [Task(0.0, 10.0, processors=3), Task(0.0, 10.0), Task(0.0, 10.0, processors=2)]
    played = play("pilot", [4], tasks, poll_period=100.0, queues="all", availability_epsilon=1.0)
    # One pilot for the wide one; then the first of the others that has none waiting, again and again.
    assert [task.start for task in played.tasks] == [0.0, 0.0, 10.0]
    started = [pilot for pilot in played.grid.record.placeholders if pilot.start == pilot.start]
    assert sorted(pilot.processors for pilot in started)[-2:] == [2, 3]


def test_no_more_wide_pilots_wait_than_wide_tasks():
    tasks = [Task(0.0, 50.0, site=0, processors=4), *[Task(1.0, 10.0, processors=2)] * 2]
    played = play("pilot", [4], tasks, poll_period=5.0, availability_epsilon=10.0)
    assert played.counters["pilots"] == 2
    assert [task.start for task in played.tasks] == [50.0, 50.0]


def test_a_task_that_no_queue_of_a_site_takes_goes_where_one_does():
    limits = [[(4, 20.0), (1, 100.0)], [(2, 100.0)]]
    tasks = [Task(0.0, 50.0, processors=2), Task(0.0, 50.0), Task(0.0, 10.0, processors=4)]
    tasks.append(Task(0.0, 50.0, processors=3))
    for kind, extra in KINDS:
        played = play(kind, [4, 4], tasks, limits=limits, poll_period=5.0, **extra)
        assert played.tasks[0].site == "s1"
        assert played.tasks[2].site == "s0"
        assert [task.state for task in played.tasks[:3]] == [State.DONE] * 3
        assert played.tasks[3].state is State.REJECTED


def test_the_task_that_had_all_the_life_of_a_killed_pilot_is_lost_and_those_beside_it_go_back():
    patient = {"pilot_idle": 10.0, "pilot_retry": 3.0}
    # The pilot of two slots dies at 52; the second task promised 10 s and needs 40.
    tasks = [Task(0.0, 5.0, processors=2), Task(6.0, 60.0, estimate=10.0), Task(6.0, 40.0, estimate=10.0)]
    played = play("pilot", [2], tasks, limit=52.0, poll_period=400.0, pilot_mode="filling", **patient)
    _, first, second = played.tasks
    assert played.counters["killed_pilots"] >= 1
    assert (first.kills, second.kills) == (1, 0)
    assert (first.state, second.state) == (State.EXPIRED, State.DONE)


@pytest.fixture(scope="module")
def beginning():
    """The first 250 jobs of the log of a parallel machine, over three sites and under reservations."""
    try:
        find_trace("KTH-SP2-1996-2.1-cln.swf.gz")
    except TraceError as error:
        pytest.skip(str(error))
    return {name: load(name).override({"workload.last": 250}) for name in ("grid/kth", "grid/kth-vres")}


@pytest.mark.long
@pytest.mark.parametrize("name", ["grid/kth", "grid/kth-vres"])
@pytest.mark.parametrize(("kind", "extra"), KINDS)
def test_every_way_completes_all_jobs_of_a_log_that_fit(beginning, name, kind, extra):
    settings = {f"middleware.{key}": value for key, value in {"kind": kind, **extra}.items()}
    run = simulate(beginning[name].override(settings), 1)
    widest = {"grid/kth": 100, "grid/kth-vres": 40}[name]
    jobs = run.record.jobs
    assert len(jobs) == 250
    assert sum(job.processors > 1 for job in jobs) > 100
    assert [job.state == State.DONE for job in jobs] == [job.processors <= widest for job in jobs]
    assert [job.state for job in jobs if job.processors > widest] == [State.REJECTED] * sum(
        job.processors > widest for job in jobs
    )


@pytest.mark.long
def test_no_configuration_of_the_front_over_push_pull_and_pilots_leaves_jobs_undone(beginning):
    found = search(beginning["grid/kth"], budget=12, seed=1, validation_replications=1)
    kinds = {evaluation.values["middleware.kind"] for evaluation in found.archive.evaluations}
    assert kinds == {"push", "pull", "pilot"}
    assert {evaluation.metrics["meta_completed"] for evaluation in found.archive.evaluations} == {250}
    assert front(found.archive)
