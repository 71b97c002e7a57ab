"""Services that take time: against queueing theory, and what loads each of them."""

from itertools import accumulate
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

from gridtune.agents.infrastructure.service import Service, load
from gridtune.model.batch.queueing_theory import mg1_wait, mmc_wait
from gridtune.model.grid import Grid
from gridtune.scenarios import load as scenario
from gridtune.scenarios import simulate
from gridtune.scenarios.document.scenario import Scenario
from tests.meta_grid import Task, play


def waits(time, *, mean_gap=1.0, count=40_000, threads=1, seed=3):
    """Waits of Poisson requests, s."""
    rng = np.random.default_rng(seed)
    grid = Grid()
    service = Service(grid, "desk", lambda: time(rng), threads=threads)
    total = []

    def come(since):
        service.serve(lambda since: total.append(grid.now - since), since)

    grid.agenda.feed((t, come, t) for t in accumulate(rng.exponential(mean_gap, count).tolist()))
    grid.run()
    assert len(total) == service.begun == count
    assert service.requests == 0
    return service.waited / count, service


@pytest.mark.parametrize(
    ("variation", "time"), [(1.0, lambda rng: rng.exponential(0.7)), (0.0, lambda _: 0.7)]
)
def test_one_thread_is_the_queue_of_pollaczek_and_khinchine(variation, time):
    mean, service = waits(time)
    # Means of ten seeds are within 3 % of theory; one run of 40,000 requests within 8 %.
    assert mean == pytest.approx(mg1_wait(0.7, 0.7, variation), rel=0.08)
    assert load([service], service.model.now) == pytest.approx(0.7, rel=0.03)


def test_several_threads_are_the_queue_of_erlang():
    mean, _ = waits(lambda rng: rng.exponential(2.1), threads=3)
    assert mean == pytest.approx(mmc_wait(3, 0.7, 2.1), rel=0.08)


def test_exponential_times_wait_twice_as_long_as_constant_ones():
    assert mg1_wait(0.5, 1.0, 1.0) == pytest.approx(mmc_wait(1, 0.5, 1.0)) == 2 * mg1_wait(0.5, 1.0, 0.0)
    with pytest.raises(ValueError, match="between 0 and 1"):
        mg1_wait(1.0, 1.0, 1.0)


@pytest.mark.long
def test_a_broker_that_takes_time_is_a_queue_of_its_own():
    # Poisson tasks every 10 s, 6 s each: 6 s + 9 s where times are exponential, 6 s + 4.5 s where constant.
    values = {
        "middleware.kind": "push",
        "workload.meta.count": 3_000,
        "workload.meta.interval.mean": 10.0,
        "workload.meta.runtime": 96.0,
    }
    for time, expected in (({"law": "exponential", "mean": 6.0}, 15.0), (6.0, 10.5)):
        changed = scenario("dirac/dedicated").override(values | {"middleware.service.time": time})
        means = [simulate(changed, seed=seed).metrics["global_wait_mean"].value for seed in (1, 2)]
        assert fmean(means) == pytest.approx(expected, rel=0.1)


TASKS = [Task(float(k), 50.0) for k in range(6)]


def wait_of(kind, **options):
    played = play(kind, [2, 2], TASKS, **options)
    assert all(task.state == "done" for task in played.tasks)
    return [task.start for task in played.tasks], played


@pytest.mark.parametrize("kind", ["push", "pull", "pilot"])
def test_what_costs_nothing_changes_nothing_and_what_costs_delays(kind):
    free, _ = wait_of(kind)
    assert wait_of(kind, service={"time": 0.0})[0] == free
    slow, played = wait_of(kind, service={"time": 5.0})
    assert slow[0] > free[0]  # for later ones the agents may look again in time
    services = [agent for agent in played.grid.agents if isinstance(agent, Service)]
    assert [service.name for service in services] == ["broker" if kind == "push" else "match-maker"]
    queries = played.counters["site_probes"] + played.counters["pilot_requests"]
    assert services[0].begun == len(TASKS) + (0 if kind == "push" else queries)


def test_a_search_through_what_waits_costs_by_what_waits():
    free, _ = wait_of("pull", service={"time": 1.0})
    slow, _ = wait_of("pull", service={"time": 1.0, "per_waiting": 4.0})
    assert slow[-1] > free[-1]


def test_reports_and_questions_load_the_information_system():
    _, played = wait_of("push", update_period=10.0, information={"time": 1.0})
    (service,) = [agent for agent in played.grid.agents if isinstance(agent, Service)]
    reports = sum(
        count for (_, kind, _), count in played.grid.record.messages.items() if kind == "information"
    )
    assert service.begun == len(TASKS) + reports
    _, asked = wait_of("push", information={"time": 1.0})
    (service,) = [agent for agent in asked.grid.agents if isinstance(agent, Service)]
    assert service.begun == 2 * len(TASKS)  # without reports both sites are asked for each task


def test_an_information_system_that_cannot_keep_up_makes_news_old():
    # Two sites report every 10 s, and a report takes 8 s: the news is later and later.
    tasks = [Task(1.0 + k, 400.0) for k in range(40)]

    def deepest(**options):
        played = play("push", [4, 4], tasks, update_period=10.0, **options)
        placed = [task.site for task in played.tasks]
        return max(placed.count("s0"), placed.count("s1"))

    assert deepest(information={"time": 8.0}) > deepest()


SITE = {
    "title": "a head node",
    "site": [{"name": "a", "nodes": 4, "policy": "fcfs", "head_node": {"time": 10.0}}],
    "workload": [
        {"name": "w", "kind": "generated", "count": 5, "interval": 1.0, "runtime": 100.0},
    ],
}


def made(document):
    from pathlib import Path

    from gridtune.scenarios.document.scenario import Scenario

    return simulate(Scenario("test", document, Path()))


def test_submissions_queue_at_the_head_node():
    jobs = made(SITE).record.jobs
    # They come at 1, 2, ... s and are taken in one after the other, 10 s each.
    assert [job.queued for job in jobs] == [11.0, 21.0, 31.0, 41.0, 51.0]


def test_a_round_takes_longer_the_more_jobs_wait():
    quick = SITE | {"site": [SITE["site"][0] | {"head_node": {"time": 0.0}, "rounds": {"gap": 0.0}}]}
    slow = SITE | {
        "site": [SITE["site"][0] | {"head_node": {"time": 0.0}, "rounds": {"gap": 0.0, "per_waiting": 3.0}}]
    }
    assert [job.start for job in made(quick).record.jobs][:4] == [1.0, 2.0, 3.0, 4.0]
    # The first round sees one job and takes 3 s; those who came meanwhile make the second take 9 s.
    assert [job.start for job in made(slow).record.jobs][:4] == [4.0, 13.0, 13.0, 13.0]


def test_best_effort_jobs_and_their_kills_cost_the_head_node_too():
    def run(time):
        values = {"site.dahu.head_node": {"time": time}} if time else {}
        return simulate(scenario("cigri/batcigri").override(values | {"workload.bag.count": 60}))

    free, paid = run(0.0), run(20.0)
    assert paid.metrics["makespan"].value > free.metrics["makespan"].value
    assert paid.metrics["best_effort_completed"].value == free.metrics["best_effort_completed"].value
    assert "service_wait_mean" not in free.metrics
    assert paid.metrics["service_wait_mean"].value > 0


def test_a_site_with_virtual_reservations_has_no_head_node_of_the_kind():
    from gridtune.scenarios.errors import ScenarioError

    with pytest.raises(ScenarioError, match="head_node"):
        scenario("egee/search").override({"site.lal.head_node": {"time": 1.0}})


def test_a_request_under_way_at_the_end_of_a_run_counts_until_then():
    run = simulate(Scenario("x", {
        "title": "x",
        "horizon": 100.0,
        "site": [{"name": "a", "nodes": 1, "policy": "fcfs", "head_node": {"time": 60.0}}],
        "workload": [{"name": "w", "kind": "generated", "count": 1, "interval": 90.0, "runtime": 1.0}],
    }, Path()))  # fmt: skip
    assert run.metrics["service_load"].value == pytest.approx(0.1)
