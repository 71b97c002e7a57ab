"""Speed of replays on batch sites, from scenario to metrics, in memory.

Times are CPU times of one core. Run with `pytest -n0 tests/benchmarks/bench_batch.py --benchmark-only`.
"""

import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gridtune.scenarios import load, simulate
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.trace_files import TraceError, find_trace

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


KTH = "KTH-SP2-1996-2.1-cln.swf.gz"


def command_seconds(values):
    """CPU time of `gridtune run batch/replay`, from the start of the process to what it prints."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    sets = [part for path, value in values.items() for part in ("--set", f"{path}={value}")]
    subprocess.run(
        [sys.executable, "-m", "gridtune", "run", "batch/replay", *sets], check=True, capture_output=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


@pytest.mark.benchmark(timer=time.process_time)
def test_conservative_backfilling_under_growing_load(benchmark):
    """6,800 jobs on 100 processors, arrivals as logged, x1.5 and x2.25 closer: at most 4 times the CPU.

    That is of the command, and in memory, where the log has been read.
    """
    try:
        find_trace(KTH)
    except TraceError as error:
        pytest.skip(str(error))
    values = {"workload.trace": KTH, "workload.last": 6800, "site.cluster.policy": "conservative"}
    factors = [{"workload.compression": factor} for factor in (1.0, 1.5, 2.25)]
    loads = [load("batch/replay").override(values | factor) for factor in factors]
    simulate(loads[0])  # reads the trace
    times = [min(seconds(scenario) for _ in range(5)) for scenario in loads[:2]]
    benchmark.pedantic(seconds, (loads[2],), rounds=5, iterations=1)
    times.append(benchmark.stats.stats.min)
    whole = [min(command_seconds(values | factor) for _ in range(3)) for factor in factors]
    benchmark.extra_info.update(seconds=times, commands=whole)
    assert whole[2] / whole[0] <= 4
    assert times[2] / times[0] <= 4


def large_machine():
    """25,000 jobs on 8,192 processors, of which they keep most busy, promising up to ten times as much."""
    site = {"name": "cluster", "nodes": 8192, "policy": "conservative"}
    jobs = {
        "name": "jobs",
        "kind": "generated",
        "count": 25_000,
        "interval": {"law": "exponential", "mean": 22.0},
        "runtime": {"law": "lognormal", "median": 1200.0, "sigma": 1.0},
        "promise": {"law": "uniform", "low": 1.0, "high": 10.0},
        "processors": {"law": "uniform", "low": 1.0, "high": 180.0},
        "users": 50,
    }
    return Scenario("large", {"title": "a large machine", "site": [site], "workload": [jobs]}, Path())


@pytest.mark.benchmark(timer=time.process_time)
def test_conservative_backfilling_on_a_large_machine(benchmark):
    """25,000 jobs on 8,192 processors in under 30 s."""
    run = benchmark.pedantic(simulate, (large_machine(),), rounds=1, iterations=1)
    benchmark.extra_info.update(jobs=len(run.record.jobs), waiting_mean=run.metrics["waiting_mean"].value)
    assert benchmark.stats.stats.max < 30
