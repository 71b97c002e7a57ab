"""What a search takes and what it is worth, beside an older checkout of gridtune.

    git worktree add /tmp/older COMMIT
    python -m tests.benchmarks.search_before_after /tmp/older --rows docs/data/search_before_after.jsonl
    python docs/making/tables.py            # shows them in docs/performance.md

Each search is a whole command of either checkout, with its defaults, its pages and its pictures: what the
older one needs beside this one's packages has to be there. Each configuration of a front is then run by this
checkout under streams that no search has used; the mean of these is what it is worth. Scenarios are those of
which both checkouts do the same runs, and one of the older checkout as its file describes it. What the rows
hold already is not done again.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from gridtune.model.metrics.registry import METRICS
from gridtune.scenarios.document.scenario import load
from gridtune.scenarios.simulation.simulate import simulate
from tests.benchmarks.before_after import arguments, scenario_of
from tests.benchmarks.rows import rows_of

FIRST_VALIDATION = 5_000_000  # streams from here on are those of no search
CASES: dict[str, tuple[str, ...]] = {  # objectives, which are those of both
    "dirac/search": ("meta_response_mean", "background_waiting_mean", "messages"),
    "cigri/search": ("best_effort_work", "premium_slowdown", "campaign_unfairness", "wasted_work"),
    "federation/small, older": ("unhappy_users", "unfairness", "completed_work"),
}
SEARCHES = {"before": 300, "now": 300, "now, a third": 100}  # budgets


def searched(
    checkout: Path, scenario: str, objectives: tuple[str, ...], budget: int, seed: int
) -> dict[str, Any]:
    """Wall time, CPU time and settings of the front of one search."""
    source = checkout / "src"
    path = str(source if source.is_dir() else checkout)
    environment = dict(os.environ, PYTHONPATH=path, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    with tempfile.TemporaryDirectory() as folder:
        words = [
            "search",
            scenario,
            "--budget",
            str(budget),
            "--seed",
            str(seed),
            "--jobs",
            "2",
            "--out",
            folder,
        ]
        words += [word for name in objectives for word in ("--objective", name)]
        cpu, wall = children(), time.monotonic()
        subprocess.run(
            [sys.executable, "-W", "ignore", "cli.py", *words],
            cwd=checkout, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        wall, cpu = time.monotonic() - wall, children() - cpu
        found = json.loads((Path(folder) / "front.json").read_text(encoding="utf-8"))
    return {"wall": wall, "cpu": cpu, "settings": [member["values"] for member in found["front"]]}


def children() -> float:
    """CPU seconds of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def worth(scenario: str, objectives: tuple[str, ...], settings: dict[str, Any], streams: int) -> list[float]:
    """Means of the objectives over validation seeds."""
    chosen = load(scenario).override(settings)
    runs = [simulate(chosen, 1, FIRST_VALIDATION + k).metrics for k in range(streams)]
    return [sum(run[name].value for run in runs) / streams for name in objectives]


def measured(older: Path, case: str, search: str, seed: int, streams: int) -> dict[str, Any]:
    """A row."""
    scenario, objectives = scenario_of(case, case.partition(",")[0], older), CASES[case]
    checkout = older if search == "before" else Path.cwd()
    found = searched(checkout, scenario, objectives, SEARCHES[search], seed)
    settings = found.pop("settings")
    means = [worth(scenario, objectives, one, streams) for one in settings]
    larger = [METRICS[name].direction == "maximize" for name in objectives]
    about = {"case": case, "search": search, "seed": seed, "streams": streams, "larger_is_better": larger}
    return {**about, **found, "worth": means}


def main() -> None:
    """Measure what is missing."""
    parser = arguments(__doc__.splitlines()[0] if __doc__ else "", list(CASES))
    parser.add_argument("--streams", type=int, default=30)
    given = parser.parse_args()
    done = {(row["case"], row["search"], row["seed"]) for row in rows_of(given.rows)}
    for seed in range(1, given.seeds + 1):
        for case in given.cases:
            for search in SEARCHES:
                if (case, search, seed) not in done:
                    row = measured(given.older.resolve(), case, search, seed, given.streams)
                    with given.rows.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
