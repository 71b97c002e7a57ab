"""How busy a search keeps its workers, and what it costs beside them.

Run with `pytest tests/benchmarks/bench_search.py --benchmark-only -s`. Each evaluation burns 5 ms of CPU
time; the busy share is the CPU time that evaluations burned over workers times wall time. It says something
only on a machine that has two cores for this alone.
"""

import time

import pytest

from gridtune.model.metrics.registry import Metric
from gridtune.optimize.search import search
from gridtune.scenarios import load
from gridtune.scenarios.workers.pool import Pool

SECONDS = 0.005
BUDGET = 1000
SHARES = {
    "client.dispatch": ["ethic", "legacy"],
    "client.n_submit": {"low": 3, "high": 1000, "log": True, "when": {"client.dispatch": "legacy"}},
    "client.dispatch.window": {"low": 1, "high": 8, "when": {"client.dispatch": "ethic"}},
    "sed.speed": {"low": 0.5, "high": 2.0, "log": True},
    "network.latency": {"low": 0.001, "high": 0.1, "log": True},
}


def burn(task):
    """Burn CPU time, then give numbers."""
    end = time.process_time() + SECONDS
    while time.process_time() < end:
        pass
    return numbers(task)


def numbers(task):
    """Three numbers that trade off, at once."""
    speed, latency = task.values["sed.speed"], task.values["network.latency"]
    share = task.values.get("client.n_submit", 30) / 1000
    return {
        "unhappy_users": Metric(1 - share + latency, "users"),
        "unfairness": Metric(share + speed, ""),
        "completed": Metric(share * speed, "jobs"),
    }


@pytest.mark.parametrize("sampler", ["nsga2", "pymoo-nsga2", "random"])
def test_two_workers_are_busy_with_evaluations_of_5_ms(benchmark, tmp_path, sampler):
    scenario = load("diet/day-regular").override({"search.space": SHARES})
    runs = iter(range(100))

    def once(pool):
        search(
            scenario,
            budget=BUDGET,
            sampler=sampler,
            replications=1,
            validation_replications=0,
            out=tmp_path / str(next(runs)),
            pool=pool,
            work=burn,
        )

    with Pool(2) as pool:
        pool.map(len, [""] * 4)  # workers are there
        benchmark.pedantic(once, (pool,), rounds=3)
    busy = BUDGET * SECONDS / (2 * benchmark.stats["min"])
    benchmark.extra_info["busy share of two workers"] = round(busy, 3)
    print(f"\n{sampler}: two workers busy {busy:.0%} of the time")
    assert busy >= 0.7


@pytest.mark.parametrize(
    ("sampler", "once_each"), [("random", True), ("pymoo-nsga2", True), ("nsga2", True), ("nsga2", False)]
)
def test_a_configuration_costs_a_search_little_beside_its_runs(benchmark, tmp_path, sampler, once_each):
    """CPU time of a search whose runs take none; with all defaults, validation included."""
    scenario = load("diet/day-regular").override({"search.space": SHARES})
    plain = {"replications": 1, "validation_replications": 0} if once_each else {}

    def searched():
        begin = time.process_time()
        with Pool(1) as pool:
            search(scenario, budget=BUDGET, sampler=sampler, out=tmp_path, pool=pool, work=numbers, **plain)
        return time.process_time() - begin

    spent = 1000 * benchmark.pedantic(searched, rounds=1) / BUDGET
    benchmark.extra_info["ms a configuration"] = round(spent, 2)
    kind = "one run each" if once_each else "all defaults"
    print(f"\n{sampler}, {kind}: {spent:.2f} ms of CPU a configuration")
    assert spent < 5
