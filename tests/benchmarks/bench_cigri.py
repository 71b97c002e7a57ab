"""Speed of harvesting: `pytest tests/benchmarks/bench_cigri.py --benchmark-only`."""

from gridtune.scenarios import load, simulate


def test_the_paper_s_scenario(benchmark):
    run = benchmark.pedantic(simulate, (load("cigri/batcigri"),), rounds=10)
    assert run.metrics["best_effort_completed"].value == 500


def test_short_jobs_under_a_slow_file_system(benchmark):
    run = benchmark.pedantic(simulate, (load("cigri/sigri"),), rounds=3)
    assert run.metrics["best_effort_completed"].value == 25_000


def test_three_months_of_a_real_cluster_harvested(benchmark):
    run = benchmark.pedantic(simulate, (load("cigri/gaia"),), rounds=1)
    assert run.metrics["killed"].value > 0
