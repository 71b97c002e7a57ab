"""How CPU time and memory of a run grow with jobs, users, sites, nodes and servers.

    python -m tests.benchmarks.scaling --rows docs/data/scaling.jsonl
    python docs/making/tables.py            # shows them in docs/performance.md

Each row is a process of its own that does one run: CPU seconds of the run, and by how much it grew the
process at most. What the rows hold already is not done again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from tests.benchmarks.rows import add_missing

SCALES = (1, 4, 16)
SEED = 1


class Case(NamedTuple):
    """A scenario of which there is more and more.

    Attributes:
        scenario: name.
        grows: what is multiplied, by path.
        fixed: further values, by path.
        shrinks: what is divided, so that the load stays.
    """

    scenario: str
    grows: dict[str, float]
    fixed: dict[str, Any] = {}  # noqa: RUF012 - a tuple cannot change
    shrinks: dict[str, float] = {}  # noqa: RUF012


TASKS = {"workload.meta.count": 200, "workload.local.count": 200}
WIDER = {"workload.meta.interval.mean": 19.0}
CASES = {
    "queue, customers": Case("queue/mmc", {"queue.customers": 10_000}),
    "push, tasks": Case("dirac/search", TASKS, {"middleware.kind": "push"}),
    "pull, tasks": Case("dirac/search", TASKS, {"middleware.kind": "pull"}),
    "pilots, tasks": Case("dirac/search", TASKS, {"middleware.kind": "pilot"}),
    "push, sites and tasks": Case(
        "dirac/search", {"platform.sites": 3, "workload.meta.count": 200},
        {"middleware.kind": "push", "workload.local.count": 100}, WIDER,
    ),
    "pilots, sites and tasks": Case(
        "dirac/search", {"platform.sites": 3, "workload.meta.count": 200},
        {"middleware.kind": "pilot", "workload.local.count": 100}, WIDER,
    ),
    "harvesting, jobs": Case(
        "cigri/search",
        {"horizon": 9_000, "workload.premium.count": 40, "workload.sweep.count": 1_500,
         "workload.monte-carlo.count": 600, "workload.docking.count": 125},
    ),
    "virtual reservations, jobs": Case(
        "egee/search", {"workload.batch.count": 150, "workload.sdj.count": 1_000}
    ),
    "virtual reservations, nodes and jobs": Case(
        "egee/search", {"site.lal.nodes": 10, "workload.batch.count": 150, "workload.sdj.count": 1_000},
        {}, {"workload.batch.interval.mean": 120.0, "workload.sdj.interval.mean": 18.0},
    ),
    "deadlines, tasks": Case("deadline/search", {"workload.task.count": 200, "workload.task.window": 3_600}),
    "deadlines, servers and tasks": Case("deadline/search", {"server.count": 15, "workload.task.count": 100}),
    "GridRPC, users": Case("diet/scalability", {"workload.user.count": 10}, {"sed.count": 40}),
    "GridRPC, servers": Case("diet/scalability", {"sed.count": 10}, {"workload.user.count": 20}),
}  # fmt: skip

RUN = """
import json, resource, sys, time
from gridtune.scenarios.document.scenario import load
from gridtune.scenarios.simulation.simulate import simulate
name, values, seed = json.loads(sys.argv[1])
scenario = load(name)
simulate(scenario.override(json.loads(sys.argv[2])), seed)
scenario = scenario.override(values)
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
memory, begin = peak(), time.process_time()
run = simulate(scenario, seed)
seconds = time.process_time() - begin
print(json.dumps({"jobs": len(run.record.jobs), "seconds": seconds, "grown": peak() - memory}))
"""


def values_of(case: Case, scale: float) -> dict[str, Any]:
    """What is set in the scenario, by path."""
    grown = {path: type(base)(base * scale) for path, base in case.grows.items()}
    return {**case.fixed, **grown, **{path: base / scale for path, base in case.shrinks.items()}}


def measured(name: str, scale: int) -> Iterator[dict[str, Any]]:
    """A row."""
    case = CASES[name]
    words = [json.dumps([case.scenario, values_of(case, scale), SEED]), json.dumps(values_of(case, 1))]
    command = [sys.executable, "-W", "ignore", "-c", RUN, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    yield {"case": name, "scale": scale, **json.loads(done.stdout)}


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=Path, required=True, help="file of rows, gone on with")
    given = parser.parse_args()
    add_missing(given.rows, product(CASES, SCALES), ("case", "scale"), measured)


if __name__ == "__main__":
    main()
