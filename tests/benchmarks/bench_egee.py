"""Speed of virtual reservations: `pytest tests/benchmarks/bench_egee.py --benchmark-only`."""

import pytest

from gridtune.scenarios import ScenarioError, load, simulate
from gridtune.scenarios.trace_files import find_trace

TRACE = "LPC-EGEE-2004-1.2-cln.swf.gz"


def test_the_whole_lpc_trace(benchmark):
    try:
        find_trace(TRACE)
    except ScenarioError as error:
        pytest.skip(str(error))
    run = benchmark.pedantic(simulate, (load("egee/lpc"),), rounds=1)
    assert run.metrics["completed"].value > 200_000
