"""Searches on a real Dask cluster: alike for any number of workers, whatever happens to these."""

import json
import os
import pickle
import re
import signal
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest

import gridtune.model.metrics.custom as custom
import gridtune.scenarios.workers.dask_workers as dask_workers
import gridtune.scenarios.workers.pool as pool_module
from gridtune.optimize.report.progress import Progress
from gridtune.optimize.runs import stored
from gridtune.optimize.search import search
from gridtune.scenarios import ScenarioError, load
from gridtune.scenarios.api.experiment import Scenario
from gridtune.scenarios.api.sweep_result import sweep
from gridtune.scenarios.execution.replicate import replicate
from gridtune.scenarios.workers.dask_workers import DaskWorkers, dask_pool
from gridtune.scenarios.workers.local_workers import stop
from search_toys import VARY, toy
from tests.contents import content
from tests.facts import missing
from tests.processes import PATIENCE, until
from tests.test_cli import gridtune, refused

pytestmark = pytest.mark.long

pytest.importorskip("distributed", reason="needs the extra [dask]")
STUDY = "diet/day-regular"
SMALL = (
    "search",
    STUDY,
    "--budget",
    8,
    "--sampler",
    "nsga2",
    "--set",
    "workload.count=2",
    "--format",
    "json",
)


@pytest.fixture(scope="module")
def scenario():
    return load(STUDY)


@pytest.fixture(scope="module")
def cluster():
    import dask
    from distributed import LocalCluster

    page = "127.0.0.1:0"  # a port that is free
    patient = {"distributed.deploy.lost-worker-timeout": "1h"}  # or it closes workers that are being replaced
    with (
        dask.config.set(patient),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=page, silence_logs=100) as made,
    ):
        yield made


def scaled(cluster, workers):
    """The cluster with so many workers; `scale` takes one that is being replaced for missing."""
    until(lambda: len(cluster.scheduler.workers) == len(cluster.workers))
    cluster.scale(workers)
    until(lambda: len(cluster.scheduler.workers) == workers)
    return cluster.scheduler_address


def run(scenario, **options):
    return search(scenario, **{"budget": 40, "vary": VARY, "work": toy, "replications": 2, **options})


def noting(folder, task, seconds=0.03):
    """The toy, which leaves the process id of its worker while it runs, and a line for each start."""
    with Path(folder, "starts").open("a") as file:
        file.write(f"{os.getpid()}\n")
    running = Path(folder, f"running-{os.getpid()}")
    running.touch()
    time.sleep(seconds)
    running.unlink()
    return toy(task)


def starts(folder):
    return [int(line) for line in (folder / "starts").read_text().split()]


def square(number):
    if number < 0:
        raise ValueError(f"{number} has no root here")
    return number * number


def die_at_three(number):
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


class Act(Progress):
    """Does something once, when there are so many runs, two for each configuration."""

    def __init__(self, after, action):
        self.after, self.action = after, action

    def update(self, done, hypervolume=None, failures=0, best=""):
        if done >= self.after and self.action is not None:
            action, self.action = self.action, None
            action()


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_the_number_of_workers_does_not_change_the_search(scenario, cluster, tmp_path, workers):
    address = scaled(cluster, workers)
    with dask_pool(address, [scenario]) as pool:
        found = run(scenario, sampler="nsga2", pool=pool, work=partial(noting, str(tmp_path)))
        assert pool.jobs == workers
    assert content(found.archive) == content(run(scenario, sampler="nsga2").archive)
    assert len(set(starts(tmp_path))) == workers
    assert os.getpid() not in starts(tmp_path)


@pytest.mark.parametrize("allowed_failures", [3, 0])
def test_a_worker_killed_by_its_process_id_loses_no_evaluation(
    scenario, cluster, tmp_path, monkeypatch, allowed_failures
):
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", allowed_failures)
    address = scaled(cluster, 2)
    killed = []

    def kill():
        until(lambda: (tmp_path / "starts").exists() and len(starts(tmp_path)) > 20, period=0.002)
        until(lambda: list(tmp_path.glob("running-*")), period=0.002)
        killed.append(int(next(tmp_path.glob("running-*")).name.partition("-")[2]))
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    with dask_pool(address, [scenario]) as pool:
        killer.start()
        work = partial(noting, str(tmp_path), seconds=0.1)  # so that a new worker comes before the end
        found = run(scenario, sampler="nsga2", pool=pool, work=work)
        killer.join()
    assert found.archive.failed == ()
    assert content(found.archive) == content(run(scenario, sampler="nsga2").archive)
    assert len(starts(tmp_path)) > found.simulated, "nothing was under way when the worker was killed"
    assert len(set(starts(tmp_path)) - set(killed)) >= 2, "the worker should have been replaced"


def test_a_task_that_kills_its_worker_every_time_fails_and_no_other_does(scenario, cluster, monkeypatch):
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    with dask_pool(scaled(cluster, 2), [scenario]) as pool:
        outcomes = pool.map(die_at_three, list(range(8)))
        again = pool.map(square, [5])
    assert [outcome.index for outcome in outcomes if outcome.failure] == [3]
    assert outcomes[3].failure.kind == "WorkerDied"
    assert [outcome.result for outcome in outcomes if not outcome.failure] == [n for n in range(8) if n != 3]
    assert again[0].value == 25


def test_tasks_fail_alone(scenario, cluster):
    with dask_pool(scaled(cluster, 2), [scenario]) as pool:
        outcomes = pool.map(square, [1, -2, 3])
        unsendable = pool.map(square, [2, (letter for letter in "abc")])
    assert [outcome.result for outcome in outcomes] == [1, None, 9]
    assert str(outcomes[1].failure) == "ValueError: -2 has no root here"
    assert unsendable[0].value == 4
    assert unsendable[1].failure.kind == "TypeError"


def test_an_interrupted_search_leaves_nothing_to_the_cluster_and_is_resumed(scenario, cluster, tmp_path):
    def interrupt():
        raise KeyboardInterrupt

    with dask_pool(scaled(cluster, 2), [scenario]) as pool:
        with pytest.raises(KeyboardInterrupt):
            run(scenario, sampler="nsga2", pool=pool, out=tmp_path, progress=Act(30, interrupt))
        until(lambda: not cluster.scheduler.tasks)
        assert len(stored.load(tmp_path).archive.evaluations) >= 13
        resumed = run(scenario, sampler="nsga2", pool=pool, out=tmp_path, resume=True)
    assert content(resumed.archive.evaluations) == content(run(scenario, sampler="nsga2").archive.evaluations)


def test_clients_that_leave_while_results_come_in_keep_nobody_waiting(scenario, cluster):
    address = scaled(cluster, 2)
    for number in range(30):
        workers = DaskWorkers(address, [scenario])
        answers = [workers.submit(abs, -n) for n in range(50)]
        assert answers[number].result(PATIENCE) == number
        stop(workers)


def test_the_command_line_runs_on_a_cluster(cluster):
    address = scaled(cluster, 2)
    here, there = gridtune(*SMALL, "--jobs", 1), gridtune(*SMALL, "--dask", address)
    assert there.returncode == 0, there.stderr
    assert json.loads(there.stdout) == json.loads(here.stdout)


def test_runs_and_sweeps_use_the_cluster_too(scenario, cluster, tmp_path):
    address = scaled(cluster, 2)
    mine = Scenario.of(scenario)
    there = mine.run(replications=3, dask=address)
    assert there.to_dict() == mine.run(replications=3).to_dict()
    there = sweep(mine, ["sed.speed=1,2"], replications=3, dask=address)
    assert there.to_dict() == sweep(mine, ["sed.speed=1,2"], replications=3).to_dict()


def test_a_worker_that_would_give_other_results_is_refused(scenario, cluster, monkeypatch):
    address = scaled(cluster, 2)
    with dask_pool(address, [scenario]) as pool:
        # A worker that joins later is found out by its first task.
        pool._start()._here = {"numpy": "1.0"}
        with pytest.raises(ScenarioError, match=r"a worker has .*numpy \d.*, not 1\.0"):
            pool.map(square, [1, 2, 3])
    monkeypatch.setattr(dask_workers, "_sources", lambda: "others")
    dask_workers.about.cache_clear()
    try:
        with pytest.raises(ScenarioError, match=r"worker tcp://.* sources \w{8}, not others$"):
            dask_pool(address, [scenario])
    finally:
        dask_workers.about.cache_clear()


def test_a_worker_without_gridtune_is_named(scenario, cluster, monkeypatch):
    monkeypatch.setattr(dask_workers, "packed", lambda *_: b"cgridtune_is_not_here\nabout\n.")
    with pytest.raises(ScenarioError, match=r"worker tcp://.* gridtune: No module"):
        dask_pool(scaled(cluster, 2), [scenario])


def test_what_results_depend_on_is_known(tmp_path):
    (tmp_path / "mine.py").write_text("")
    mine = (STUDY, {**load(STUDY).document, "plugins": ["mine.py"]}, tmp_path, True)
    found = dask_workers.about(pickle.dumps([mine]))
    assert found["Python"] == f"{sys.version_info.major}.{sys.version_info.minor}"
    assert set(found) == {"gridtune's sources", "Python", "mesa", "numpy", "mine.py"}
    week = load("diet/egee-week")
    both = dask_workers.about(pickle.dumps([mine, (week.name, week.document, week.base)]))
    assert "mine.py" in both
    assert any(name.startswith("workload ") for name in both)


def test_metrics_registered_here_are_measured_there(scenario, cluster, monkeypatch):
    monkeypatch.setattr(custom, "_known", {})

    @custom.metric("here", unit="", direction="maximize")
    def here(run):
        return len(run.jobs)

    with dask_pool(scaled(cluster, 2), [scenario]) as pool:
        there = replicate(scenario, 1, 2, pool)
        monkeypatch.setattr(custom, "_known", {})
        after = replicate(scenario, 1, 2, pool)
    assert all(metrics["here"].value > metrics["completed"].value > 0 for metrics in there)
    assert not any("here" in metrics for metrics in after)


def test_a_scheduler_that_cannot_be_reached_is_refused(scenario, tmp_path):
    message = refused(*SMALL, "--dask", "tcp://127.0.0.1:1", "--out", tmp_path / "out")
    assert not missing(message, "tcp://127.0.0.1:1", "Dask scheduler")
    assert not (tmp_path / "out").exists()
    for address in ("nonsense", "ftp://127.0.0.1:1"):
        with pytest.raises(ScenarioError, match=f"{address}: no Dask scheduler"):
            dask_pool(address, [scenario])


def test_a_cluster_without_workers_is_refused(scenario, cluster, monkeypatch):
    monkeypatch.setattr(dask_workers, "TIMEOUT", 1.0)
    with pytest.raises(ScenarioError, match=r"has no workers \(yet\)"):
        dask_pool(scaled(cluster, 0), [scenario])


def lone(number):
    """Takes long enough for its worker to go."""
    time.sleep(0.5)
    return number


def test_without_workers_it_is_said_and_waited_for_one(scenario, cluster, monkeypatch, caplog):
    monkeypatch.setattr(dask_workers, "NOTICE", 0.3)
    monkeypatch.setattr(pool_module, "CHECK_SECONDS", 0.1)
    caplog.set_level("INFO", "gridtune")
    with dask_pool(scaled(cluster, 1), [scenario]) as pool:
        assert [outcome.value for outcome in pool.map(square, [2, 3])] == [4, 9]
        back = threading.Timer(2.0, cluster.scale, [1])
        outcomes = pool.run(lone, [1, 2, 3])
        first = next(outcomes)
        scaled(cluster, 0)
        back.start()
        rest = list(outcomes)
    assert sorted(outcome.value for outcome in (first, *rest)) == [1, 2, 3]
    said = [record.getMessage() for record in caplog.records if record.name == "gridtune"]
    assert len(said) == 1
    assert not missing(said[0], "no workers", "600 s")
    assert re.search(r"keeps the [3-5] finished runs", said[0])


def test_nobody_waits_for_workers_for_ever(scenario, cluster, monkeypatch):
    monkeypatch.setattr(dask_workers, "LIMIT", 1.0)
    monkeypatch.setattr(pool_module, "CHECK_SECONDS", 0.1)
    with dask_pool(scaled(cluster, 1), [scenario]) as pool:
        outcomes = pool.run(lone, [1, 2, 3])
        next(outcomes)
        scaled(cluster, 0)
        with pytest.raises(ScenarioError, match=r"tcp://.*: no workers for 1 s; .* --resume"):
            list(outcomes)
