"""Masters and workers: dispatch, granularity, errors of several kinds, workers that wait, and sessions."""

from itertools import count

import pytest

from gridtune.agents.wms.overlay import Master, MasterHabits
from gridtune.agents.wms.vres_site import VresSite
from gridtune.agents.wms.workers import Errors
from gridtune.model.grid import Grid
from gridtune.model.job import DONE, FAILED
from gridtune.model.vres import ClassRules
from gridtune.model.wms.farming import ByKind, ByLength, Failure, InOrder, RetryCount, Verdict
from gridtune.scenarios import ScenarioError, load, simulate

HABITS = MasterHabits("u", "batch", 2, 5.0, 1e-9, 0.0, 2.0, None, 100.0)


def drawn(*values):
    """Draws that are True as listed, and False from then on."""
    numbers = count()
    return lambda: (k := next(numbers)) < len(values) and values[k]


def errors(application=(), system=(), connection=(), after=1.0):
    return Errors(drawn(*application), drawn(*system), drawn(*connection), lambda: after)


def farmed(runtimes, habits, slots=2):
    with Grid() as grid:
        site = VresSite(grid, "lal", [1.0] * slots, [ClassRules("batch")], [slots])
        tasks = [grid.record.job("u", 0.0, runtime, kind="task") for runtime in runtimes]
        master = Master(grid, tasks, habits, site)
        grid.agenda.at(0.0, master.begin)
        grid.run()
        return master, grid.record.counters


def test_long_tasks_first_leave_no_long_tail():
    for assignment, end in ((InOrder(), 6.0), (ByLength(), 4.0)):
        master, _ = farmed([1.0, 1.0, 1.0, 1.0, 4.0], HABITS._replace(assignment=assignment))
        assert max(task.end for task in master.tasks) == pytest.approx(end, abs=1e-6)


def test_errors_of_a_node_cost_its_worker_the_place_and_those_of_a_task_the_task():
    assert ByKind().decide(Failure("system", 1, 1, 1)) == Verdict(0.0, keep=False)
    assert ByKind(tolerance=3).decide(Failure("system", 2, 2, 2)) == Verdict(0.0)
    assert ByKind(tolerance=0).decide(Failure("system", 9, 9, 9)) == Verdict(0.0)
    assert ByKind().decide(Failure("application", 1, 1, 0)) == Verdict(None)
    assert ByKind(application_retries=1).decide(Failure("application", 1, 5, 0)) == Verdict(0.0)
    assert ByKind().decide(Failure("worker", 50, 50, 0)) == Verdict(0.0)
    assert RetryCount(2, 7.0).decide(Failure("system", 1, 2, 9)) == Verdict(7.0)
    assert RetryCount(2).decide(Failure("worker", 1, 3, 0)) == Verdict(None)


def test_a_wrongly_set_up_node_swallows_tasks_unless_its_worker_is_dismissed():
    sick = {"system": (True,)}
    kept, counters = farmed([10.0] * 8, HABITS._replace(errors=errors(**sick)))
    assert all(task.state is DONE for task in kept.tasks)
    assert (counters["workers_dismissed"], counters["task_errors"]) == (1, 1)
    lost, counters = farmed([10.0] * 8, HABITS._replace(errors=errors(**sick), recovery=RetryCount(1)))
    assert sum(task.state is FAILED for task in lost.tasks) == counters["tasks_given_up"] > 4
    assert counters["workers_dismissed"] == 0


def test_a_task_that_fails_wherever_it_runs_is_given_up_and_the_rest_are_done():
    faulty = errors(application=(False, True, False), after=3.0)
    master, counters = farmed([10.0] * 3, HABITS._replace(errors=faulty))
    assert [task.state for task in master.tasks] == [DONE, FAILED, DONE]
    assert master.tasks[1].wasted == pytest.approx(3.0)
    assert master.closed
    assert counters["task_errors"] == counters["tasks_given_up"] == 1


def test_a_result_that_is_lost_is_missed_after_the_detection_and_computed_again():
    habits = HABITS._replace(workers=1, errors=errors(connection=(True,)))
    master, counters = farmed([10.0], habits)
    (task,) = master.tasks
    assert (task.start, task.end) == pytest.approx((12.0, 22.0), abs=1e-6)
    assert task.wasted == pytest.approx(10.0)
    assert counters["tasks_given_up"] == 0


def test_pieces_of_one_task_come_fail_and_run_together():
    def run(bundle):
        values = {"tasks": 10, "rate": 2.0, "bundle": bundle, "first_task": 0.0, "runtime": 1.0}
        scenario = load("egee/gptm3d").override(
            {f"overlay.body.{key}": value for key, value in values.items()}
        )
        return simulate(scenario).record.jobs

    tasks = run(4)
    assert [task.runtime for task in tasks] == [4.0, 4.0, 2.0]
    assert [task.submit for task in tasks] == [1.5, 3.5, 4.5]  # with the last of their pieces
    assert sum(task.runtime for task in run(1)) == 10.0


def test_a_worker_that_waits_too_long_is_taken_elsewhere():
    few = {"overlay.itu.tasks": 4000}
    waits = simulate(load("egee/diane-itu").override(few))
    moves = simulate(load("egee/diane-itu").override(few | {"overlay.itu.patience": 120.0}))

    def pool(run):
        return max(value for _, name, value in run.record.signals if name == "itu.pool")

    assert pool(waits) < 200 == pool(moves)
    assert moves.metrics["workers_moved"].value > 0
    assert {job.state for job in moves.record.placeholders} <= {"done", "cancelled"}


SESSION = {
    "tasks": 4,
    "rate": 1e9,
    "runtime": 1.0,
    "workers": 4,
    "first_task": 60.0,
    "latency": 0.02,
    "session": {"reconstructions": 2, "think": 10.0, "bridge": 0.5, "renewed": 0.5}
    | {"result_bytes": 100.0, "bandwidth": 1000.0, "acceptable": 2.4},
}


def session(**values):
    settings = {f"overlay.body.{key}": value for key, value in (SESSION | values).items()}
    return simulate(load("egee/gptm3d").override(settings))


def test_a_user_sees_all_slices_thinks_and_asks_again():
    run = session()
    # Bridge, dispatch, message, slice and message; results cross the link in turn; and the bridge again.
    first, second = (0.5 + 1 / 120 + 0.02 + 1.0 + 0.02 + slices * 0.1 + 0.5 for slices in (4, 2))
    assert run.metrics["reconstruction_mean"].value == pytest.approx((first + second) / 2)
    assert run.metrics["slow_reconstructions"].value == 0.5  # 2.45 s and 2.25 s
    assert run.record.jobs[4].submit == pytest.approx(60.0 + first + 10.0 + 0.5)
    assert len(run.record.jobs) == 6


def test_a_session_without_slots_is_slow_and_never_shown():
    run = session(workers=1, role="unknown")
    assert run.metrics["slow_reconstructions"].value == 1.0
    assert run.metrics["reconstruction_mean"].value == float("inf")


def test_users_at_once_wait_longer_for_each_other():
    name, few = "egee/gptm3d-sessions", {"overlay.body.session.users": 1}
    alone, four = (simulate(load(name).override(change)).metrics for change in (few, {}))
    assert alone["slow_reconstructions"].value == 0 < four["slow_reconstructions"].value
    assert alone["reconstruction_mean"].value < four["reconstruction_mean"].value


def test_plain_jobs_have_neither_errors_nor_sessions():
    for table in ({"errors": {"system": 0.1}}, {"session": {"users": 2}}):
        changes = {f"overlay.body.{key}": value for key, value in ({"mode": "plain"} | table).items()}
        with pytest.raises(ScenarioError, match="needs mode = 'master'"):
            simulate(load("egee/gptm3d").override(changes))
