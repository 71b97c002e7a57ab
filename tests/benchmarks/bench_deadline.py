"""Speed of deadline scheduling: `pytest tests/benchmarks/bench_deadline.py --benchmark-only`."""

import pytest

from gridtune.scenarios import load, simulate


@pytest.mark.parametrize("count", [2_000, 20_000])
@pytest.mark.parametrize("fallback", ["none", "displaced"])
def test_tasks_on_100_servers(benchmark, count, fallback):
    scenario = load("deadline/fig4c").override({"workload.count": count, "agent.routing.fallback": fallback})
    run = benchmark.pedantic(simulate, (scenario,), rounds=1 if count > 2_000 else 3)
    assert run.metrics["executed"].value + run.metrics["missed"].value == count
