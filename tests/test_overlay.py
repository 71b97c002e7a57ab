"""User-level scheduling: every task is done once whatever befalls its workers, and as fast as is possible."""

from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridtune.agents.wms.overlay import Master, MasterHabits
from gridtune.agents.wms.vres_site import VresSite
from gridtune.agents.wms.workers import Worker
from gridtune.model.grid import Grid
from gridtune.model.vres import ClassRules
from gridtune.scenarios import load, simulate

HABITS = MasterHabits("u", "batch", 3, 5.0, 1 / 120, 0.05, 2.0, None, 100.0)


def master_of(grid, runtimes, habits=HABITS, slots=4, limit=float("inf")):
    site = VresSite(grid, "lal", [1.0] * slots, [ClassRules("batch", wall_limit=limit)], [slots])
    tasks = [grid.record.job("u", 0.0, runtime, kind="task") for runtime in runtimes]
    master = Master(grid, tasks, habits, site)
    grid.agenda.at(0.0, master.begin)
    return master


@settings(max_examples=40, deadline=None)
@given(
    runtimes=st.lists(st.floats(0.01, 15), min_size=1, max_size=40),
    lives=st.lists(st.floats(1, 40), min_size=1, max_size=8),
    crash=st.booleans(),
    limit=st.sampled_from([40.0, float("inf")]),
)
def test_every_task_is_done_once_whatever_workers_crash_or_meet_limits(runtimes, lives, crash, limit):
    # Crashes stop after the first workers: else a task might never find one that lives long enough.
    drawn = (lives[k] if k < len(lives) else 1e9 for k in count())
    habits = HABITS._replace(lifetime=drawn.__next__ if crash else None)
    with Grid(keep_events=True) as grid:
        master = master_of(grid, runtimes, habits, limit=limit)
        grid.run()
        done = sorted(job for _, event, job, _, _ in grid.record.journal if event == "done" and job > 0)
        assert done == [task.id for task in master.tasks]
        assert master.left == 0
        assert not master.workers
        assert not any(isinstance(agent, Worker) for agent in grid.agents)
        assert max(task.end for task in master.tasks) >= sum(runtimes) / habits.workers


def test_a_master_dispatches_at_most_120_tasks_per_second():
    with Grid() as grid:
        master = master_of(grid, [0.01] * 600, HABITS._replace(workers=40, latency=0.0), slots=40)
        grid.run()
        starts = sorted(task.start for task in master.tasks)
        assert all(later - one >= 1 - 1e-9 for one, later in zip(starts, starts[120:], strict=False))
        assert starts[-1] == pytest.approx(5.0)


def test_workers_that_come_at_run_time_are_used():
    with Grid() as grid:
        master = master_of(grid, [10.0] * 12, HABITS._replace(workers=1))
        grid.agenda.at(12.0, lambda _: setattr(master, "habits", HABITS._replace(workers=4)))
        grid.run()
        assert len({task.node for task in master.tasks}) == 4
        assert max(task.end for task in master.tasks) < 60.0


def gptm3d(**values):
    run = simulate(load("egee/gptm3d").override({f"overlay.body.{name}": v for name, v in values.items()}))
    return run.metrics["makespan"].value, run.record.jobs


def test_fourteen_workers_reconstruct_in_less_than_two_minutes_and_one_takes_as_long_as_alone():
    makespan, tasks = gptm3d()
    alone = sum(task.runtime for task in tasks)
    assert max(83.0, alone / 14) <= makespan < 120 < 1000 < alone < 1400
    # Beside the work: at most a dispatch and two messages for each of 1000 slices.
    assert alone <= gptm3d(workers=1)[0] <= alone + 1000 * (2 * 0.02 + 1 / 120) + 1


def test_contours_come_at_their_rate():
    makespan, tasks = gptm3d(rate=2.0, tasks=200)
    assert [task.submit for task in tasks] == pytest.approx([60.0 + k / 2 for k in range(200)])
    assert all(task.start >= task.submit for task in tasks)
    assert makespan >= 99.5


def test_a_master_ends_before_the_plain_user():
    ends = [
        simulate(load("egee/diane-geant4").override({"overlay.geant4.mode": mode})).metrics["makespan"].value
        for mode in ("master", "plain")
    ]
    assert 974 <= ends[0] < ends[1]


def test_no_task_ends_before_it_comes_though_its_worker_had_ended_before():
    values = {"tasks": 3000, "rate": 0.05, "recovery": {"kind": "retry-count", "retries": 0}}
    run = simulate(load("egee/avian-flu").override({f"overlay.flu.{name}": v for name, v in values.items()}))
    assert run.metrics["tasks_given_up"].value > 100
    assert [task.id for task in run.record.jobs if task.end < task.queued] == []
