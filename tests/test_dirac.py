"""The experiments of RR-5576 on a few seeds."""

from math import inf
from statistics import fmean

import pytest

from gridtune.scenarios.document.scenario import load
from gridtune.scenarios.reproduction.dirac.runs import (
    DEDICATED,
    PULL,
    PUSH,
    SHARED,
    STRATEGIES,
    deviations,
    service_runs,
    time_at,
)
from gridtune.scenarios.simulation.simulate import simulate

SEEDS = range(5)


def mean(scenario, strategy, metric, seeds=SEEDS, **options):
    values = STRATEGIES[strategy] | {f"middleware.{name}": value for name, value in options.items()}
    chosen = load(scenario).override(values)
    return fmean(simulate(chosen, seed).metrics[metric].value for seed in seeds)


def test_static_agents_ask_about_as_often_as_in_the_paper():
    assert 820 <= mean(DEDICATED, PULL, "site_probes") <= 930


@pytest.mark.long
def test_push_and_pull_cross_at_an_update_period_of_about_a_minute():
    pull = mean(DEDICATED, PULL, "meta_waiting_mean")
    assert mean(DEDICATED, PUSH, "meta_waiting_mean", update_period=40.0) < pull
    assert mean(DEDICATED, PUSH, "meta_waiting_mean", update_period=130.0) > pull


def test_filling_is_better_than_push_by_about_half_on_shared_sites():
    push, filling = (mean(SHARED, name, "meta_response_mean", SEEDS[:3]) for name in (PUSH, "filling"))
    assert 0.35 <= 1 - filling / push <= 0.55


def test_tasks_in_pilots_never_wait_at_the_site():
    assert mean(DEDICATED, "run-once", "local_wait_mean", SEEDS[:1]) == 0


def test_the_wait_for_a_site_and_the_wait_at_it_make_up_the_wait():
    run = simulate(load(DEDICATED), 1)
    value = {name: metric.value for name, metric in run.metrics.items()}
    assert value["local_wait_mean"] + value["global_wait_mean"] == pytest.approx(value["meta_waiting_mean"])
    assert value["meta_waiting_mean"] + value["meta_execution_mean"] == pytest.approx(
        value["meta_response_mean"]
    )
    assert value["messages"] * 30_000 == value["message_bytes"]


def test_beyond_the_last_arrival_the_period_does_not_matter():
    waits = [
        mean(DEDICATED, PUSH, "meta_waiting_mean", [1], update_period=period) for period in (40000.0, inf)
    ]
    assert waits[0] == waits[1] > 5000


def test_the_workload_does_not_depend_on_the_strategy():
    works = {
        tuple(
            job.runtime
            for job in simulate(load(SHARED).override(values), 3).record.jobs
            if job.kind == "meta"
        )
        for values in STRATEGIES.values()
    }
    assert len(works) == 1


def test_a_task_is_as_long_as_its_law_says():
    lengths = [job.runtime for job in simulate(load(DEDICATED), 1).record.jobs]
    assert min(lengths) >= 37300
    assert max(lengths) <= 242800
    assert fmean(lengths) == pytest.approx(91430, rel=0.08)


def test_constant_service_times_are_nearer_to_drawn_ones_than_none():
    runs = service_runs(1, 2)
    errors = {name: fmean(map(fmean, deviations(runs, name))) for name in ("none", "constant")}
    assert errors["constant"] < 0.5 * errors["none"]
    assert all(fmean(values) == 0 for values in deviations({**runs, "same": runs["real"]}, "same"))


def test_the_small_cluster_prefers_no_node_by_speed():
    run = simulate(load("dirac/validation-cluster"), 1)
    assert {job.node for job in run.record.jobs} == {"cluster-000", "cluster-001", "cluster-002"}
    assert min(job.queued - job.submit for job in run.record.jobs) == pytest.approx(3.75)


def test_every_shipped_search_varies_paths_that_exist():
    for name in ("dirac/search", DEDICATED, SHARED, "grid/lcg-day"):
        scenario = load(name)
        for path, parameter in scenario.spec.search.space.items():
            values = getattr(parameter, "choices", None) or [parameter.low, parameter.high]
            for value in values:
                scenario.override({path: value})


def test_the_time_at_which_tasks_run_together_is_counted_exactly():
    run = simulate(load(DEDICATED).override({"workload.count": 3, "workload.interval": 1.0}), 1)
    starts, ends = (sorted(getattr(job, name) for job in run.record.jobs) for name in ("start", "end"))
    assert time_at(run, 1) == pytest.approx(ends[-1] - starts[0])
    assert time_at(run, 3) == pytest.approx(ends[0] - starts[-1])
    assert time_at(run, 4) == 0
