"""Several agents over the same servers, what benchmarks tell of routines, and disk space."""

import numpy as np
import pytest

from gridtune.agents.deadline.monitor import Monitor
from gridtune.agents.deadline.task_server import TaskServer
from gridtune.model.deadline.platform import Link, Machine, Steps, Task
from gridtune.model.deadline.regression import fitted, polynomial
from gridtune.model.grid import Grid
from gridtune.model.gridrpc.disciplines import Fcfs
from gridtune.model.policy import make
from gridtune.model.streams import Streams
from gridtune.scenarios import ScenarioError, load, simulate
from tests.test_deadline import scenario


def tasks(*arrivals):
    """Tasks of 10 s at either of two servers, as (arrival, user)."""
    times = {"a": 10.0, "b": 10.0}
    return [{"arrival": at, "user": user, "deadline": 1e6, "times": times} for at, user in arrivals]


def sites(arrivals, **agent):
    document = {
        "server": [{"name": "a"}, {"name": "b"}],
        "agent": {"routing": "mct", "probe_period": 4.0, **agent},
        "workload": [{"name": "task", "kind": "task-list", "tasks": tasks(*arrivals)}],
    }
    return [job.site for job in simulate(scenario(document)).record.jobs]


def test_agents_learn_of_each_others_tasks_when_servers_report():
    # The second agent hears of servers at 2 s, 6 s, …: at 3 s it knows of nothing that came after 2 s.
    arrivals = [(2.5, "u"), (3.0, "v")]
    assert sites(arrivals) == ["a", "b"]
    assert sites(arrivals, count=2) == ["a", "a"]
    assert sites([(2.5, "u"), (7.0, "v")], count=2) == ["a", "b"]


def test_without_load_correction_an_agent_forgets_what_it_has_placed_until_servers_report():
    arrivals = [(1.0, "u"), (2.0, "u"), (5.0, "u")]
    assert sites(arrivals, load_correction=False) == ["a", "a", "b"]
    assert sites(arrivals) == ["a", "b", "a"]


def test_reported_work_is_done_as_time_passes():
    # 10 s of work reported at 4 s: at 13 s 1 s of it is left, and the empty server is still better.
    assert sites([(2.5, "u"), (3.9, "w"), (7.9, "v")], count=2)[2] == "b"


def test_a_server_says_which_of_an_agents_tasks_will_be_late():
    with Grid() as grid:
        server = TaskServer(grid, Machine("a"), 0, Fcfs())
        made = [grid.record.job("u", 0.0, 10.0, deadline=d, data=Task()) for d in (11.0, 15.0, 25.0, 35.0)]
        for job in made:
            server.queue.push(job)
        assert server.hopeless(lambda _: True) == [made[1]]  # the third is in time if the second goes
        assert server.hopeless(lambda job: job is not made[1]) == [made[2]]
        assert server.backlog(lambda job: job in made[:3]) == 30.0


@pytest.mark.long
def test_old_views_cost_deadlines_and_the_oldest_most():
    few = {"workload.task.count": 300, "workload.task.window": 8640.0}
    missed = [
        simulate(load("deadline/several-agents").override(few | values)).metrics["missed_fraction"].value
        for values in ({"agent.count": 1}, {}, {"agent.probe_period": 1200.0})
    ]
    assert missed == sorted(missed)
    assert missed[0] < 0.5 * missed[1] < missed[1] < 0.7 * missed[2]


def test_a_regression_finds_the_polynomial_and_averages_noise():
    sizes = np.repeat(np.array([500.0, 1000.0, 2000.0, 4000.0]), 2)
    truth = [3.0, 0.0, 1e-6, 2e-9]
    assert fitted(sizes, polynomial(truth, sizes), 3) == pytest.approx(truth, rel=1e-6, abs=1e-9)
    assert polynomial(truth, np.array([10.0]))[0] == pytest.approx(3.0 + 1e-4 + 2e-6)
    noisy = polynomial(truth, sizes) * np.tile([0.9, 1.1], 4)
    assert polynomial(fitted(sizes, noisy, 0), sizes) == pytest.approx(  # relative errors count
        [np.sum(1 / noisy) / np.sum(1 / noisy**2)] * 8
    )


def test_forecasts_are_as_good_as_the_regression():
    def errors(**values):
        changes = {f"workload.dgemm.benchmark.{key}": value for key, value in values.items()}
        few = {"workload.dgemm.count": 300, "workload.dgemm.routine.slower": 1.0}
        return simulate(load("deadline/fast").override(few | changes)).metrics["forecast_error"].value

    assert errors(degree=3, noise=0.0) < 1e-9
    assert errors(degree=3, noise=0.0) < 0.3 * errors(degree=2, noise=0.0) < errors(degree=1, noise=0.0)


def test_memory_by_regression_and_disk_space_decide_where_a_routine_can_run():
    workload = load("deadline/fast").override({"workload.dgemm.count": 200}).spec.workload[0]
    sizes = workload.size.draw(Streams(1).stream("workload:dgemm"), 200)
    needs = [arrival.task.memory for arrival in workload.arrivals(Streams(1))]
    assert needs == pytest.approx((24.0 * sizes**2).tolist(), rel=1e-6)
    for job in simulate(load("deadline/fast")).record.jobs:
        if job.site.startswith("small"):
            assert job.data.memory <= 4e8
            assert job.data.disk <= 2e9
    assert not Machine("m", disk=1.0).can_do(Task(disk=2.0))


def test_a_regression_needs_more_sizes_than_its_degree():
    with pytest.raises(ScenarioError, match="degree 6 needs 7"):
        simulate(load("deadline/fast").override({"workload.dgemm.benchmark.degree": 6}))


def test_every_client_sends_by_its_own_link():
    # 400 B to the near server take 4 s, to the far one 80 s; west falls to a hundredth for east at 30 s.
    falling = {"course": "listed", "steps": [[0, 100.0], [30, 1.0]]}
    near, far = {"bandwidth": 100.0}, {"bandwidth": 5.0, "latency": 0.5}
    task = {"times": {"w": 1.0, "e": 1.0}, "input": 400.0}
    document = {
        "server": [
            {"name": "w", "bandwidth": 10.0, "links": {"west": near, "east": far}},
            {"name": "e", "bandwidth": 20.0, "links": {"east": near | {"bandwidth": falling}}},
        ],
        "agent": {"routing": "mct", "forecast": "measured", "probe_period": 10.0},
        "workload": [
            {"name": name, "kind": "task-list", "tasks": [task | {"arrival": at} for at in (0.0, 100.0)]}
            for name in ("west", "east", "anywhere")
        ],
    }
    run = simulate(scenario(document))
    made = {(job.user, job.submit): (job.site, job.end - job.start) for job in run.record.jobs}
    assert made["west-1", 0.0] == made["west-2", 100.0] == ("w", 5.0)
    assert made["east-1", 0.0] == ("e", 5.0)
    assert made["east-2", 100.0] == ("w", pytest.approx(81.5))
    assert made["anywhere-1", 0.0] == made["anywhere-2", 100.0] == ("e", 21.0)


def test_the_way_back_is_learnt_for_each_client_apart():
    grid = Grid()
    slowing = Steps([(0.0, 100.0), (50.0, 10.0)])
    machine = Machine("m", links={"far": Link(slowing)}, link=Link(Steps([(0.0, 100.0), (50.0, 50.0)])))
    monitor = Monitor(grid, [TaskServer(grid, machine, 0, Fcfs())], make("forecast", "measured"))
    job = grid.record.job("u", 0.0, 0.0, data=Task(output=100.0, client="far"))
    other = grid.record.job("u", 0.0, 0.0, data=Task(output=100.0))
    assert monitor.times(job).forecast == monitor.times(other).forecast == [1.0]
    monitor.learn(0, job.data, 1.0, 1.0, machine.service(job, job.data, 60.0))
    assert (monitor.times(job).forecast, monitor.times(other).forecast) == ([10.0], [1.0])
