"""How long the whole LCG trace takes under each middleware; run with `pytest --benchmark-only`."""

import pytest

from gridtune.scenarios.document.scenario import load
from gridtune.scenarios.simulation.simulate import build
from gridtune.scenarios.trace_files import TraceError, find_trace


@pytest.mark.parametrize("kind", ["push", "pull", "pilot"])
def test_the_lcg_grid(benchmark, kind):
    scenario = load("grid/lcg").override({"middleware.kind": kind})
    try:
        find_trace(scenario.value("workload.trace"))
    except TraceError as error:
        pytest.skip(str(error))

    def run():
        with build(scenario) as grid:
            grid.run()
            return sum(job.state == "done" for job in grid.record.jobs)

    assert benchmark.pedantic(run, rounds=1) == 188_041
