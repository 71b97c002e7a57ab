"""Speed of replays on batch sites, from scenario to metrics, in memory.

Times are CPU times of one core. Run with `pytest -n0 tests/benchmarks/bench_batch.py --benchmark-only`.
"""

import resource
import time

import pytest

from gridtune.scenarios import load, simulate
from gridtune.scenarios.traces import TraceError, find_trace

LPC = "LPC-EGEE-2004-1.2-cln.swf.gz"


def seconds(scenario, seed=1):
    """CPU time of one run from scenario to metrics."""
    began = time.process_time()
    simulate(scenario, seed)
    return time.process_time() - began


def mmc(customers):
    return load("queue/mmc").override({"queue.servers": 50, "queue.customers": customers})


@pytest.mark.benchmark(timer=time.process_time)
def test_jobs_per_second_first_come_first_served(benchmark):
    """100,000 jobs on 50 servers: at least 40,000 jobs/s end to end."""
    scenario = mmc(100_000)
    benchmark.pedantic(simulate, (scenario,), rounds=3, iterations=1)
    rate = 100_000 / benchmark.stats.stats.min
    benchmark.extra_info["jobs_per_s"] = rate
    assert rate >= 40_000


@pytest.mark.benchmark(timer=time.process_time)
@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "fair-share"])
def test_a_whole_trace_of_an_egee_site(benchmark, policy):
    """235,000 jobs on 140 processors, reading included: under 20 s with easy, under 1.5 GiB."""
    try:
        find_trace(LPC)
    except TraceError as error:
        pytest.skip(str(error))
    values = {"workload.trace": LPC, "site.cluster.nodes": 140, "site.cluster.policy": policy}
    scenario = load("batch/replay").override(values)
    run = benchmark.pedantic(simulate, (scenario,), rounds=1, iterations=1)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # GiB
    benchmark.extra_info.update(jobs=len(run.record.jobs), peak_gib=memory)
    assert run.metrics["completed"].value > 200_000
    assert benchmark.stats.stats.max < 20
    assert memory < 1.5


def test_cost_grows_with_the_number_of_jobs(benchmark):
    """A hundred times the jobs cost at most 130 times as much."""
    small, large = mmc(10_000), mmc(1_000_000)
    few = min(seconds(small) for _ in range(5))
    many = benchmark.pedantic(seconds, (large,), rounds=1, iterations=1)
    benchmark.extra_info["ratio"] = many / few
    assert many / few < 130
