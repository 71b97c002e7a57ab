"""What the search of a federation is worth, against random search and against the settings of the papers.

    python -m tests.benchmarks.federation --rows docs/data/federation.json        # measures what is missing
    python docs/making/tables.py                                           # shows it in docs/federation.md

For every seed there are a search with the sampler that is the default and one with `random` that takes
equally many runs, those on fresh seeds included. The points that each keeps are run again on 30 random
streams that neither has used, and so is every combination of the settings that the papers themselves use.
Their quality is the hypervolume of the means; the reference point is the worst value of each objective among
all of them, so that only what stays at the edge counts for nothing.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from gridtune.optimize.budget import Budget
from gridtune.optimize.front.dominant_choice import dominant_choices
from gridtune.optimize.front.front import front
from gridtune.optimize.search import search
from gridtune.optimize.search_space.space import Point
from gridtune.scenarios.document.scenario import load
from gridtune.scenarios.execution.replicate import evaluate
from gridtune.scenarios.workers.pool import Pool

SCENARIO = "federation/small"
FRESH_SEED = 1_000_003
FRESH_RUNS = 30
BOTH = ("search", "random")

# What each paper recommends or compares; shares and bounds that none of them states are the scenario's.
MIDDLEWARE: dict[str, Point] = {
    "push": {"middleware.kind": "push", "middleware.update_period": 300.0},
    "pull": {
        "middleware.kind": "pull",
        "middleware.availability_epsilon": 0.3,
        "middleware.poll_period": 90.0,
    },
    "pilots": {
        "middleware.kind": "pilot",
        "middleware.availability_epsilon": 0.3,
        "middleware.poll_period": 90.0,
        "middleware.pilot_mode": "run-once",
    },
    "filling pilots": {
        "middleware.kind": "pilot",
        "middleware.availability_epsilon": 0.3,
        "middleware.poll_period": 90.0,
        "middleware.pilot_mode": "filling",
    },
}
HARVESTER: dict[str, Point] = {
    "tap": {"harvester.controller": "tap"},
    "PI": {
        "harvester.controller": "pi",
        "harvester.controller.reference": 32.0,
        "harvester.controller.kp": 0.5507,
        "harvester.controller.ki": 0.2249,
    },
}
CLIENT: dict[str, Point] = {
    "DIET": {"client.dispatch": "legacy"},
    "DIET-ethic": {"client.dispatch": "ethic", "client.dispatch.window": 1},
}


def settings_of_papers() -> dict[str, Point]:
    """Every combination of what the papers use, by a name."""
    made = {}
    for choice in product(MIDDLEWARE, HARVESTER, CLIENT):
        parts = zip((MIDDLEWARE, HARVESTER, CLIENT), choice, strict=True)
        made[", ".join(choice)] = {
            path: value for table, name in parts for path, value in table[name].items()
        }
    return made


def means(points: Sequence[Point], pool: Pool) -> list[list[float]]:
    """Objectives of points on the fresh streams, as means."""
    scenario = load(SCENARIO)
    names = scenario.spec.search.objectives if scenario.spec.search else []
    found: list[list[float]] = [[] for _ in points]
    for outcome in evaluate(scenario, points, FRESH_SEED, range(FRESH_RUNS), pool):
        if outcome.failure is not None:
            raise SystemExit(f"{points[outcome.index]}: {outcome.failure}")
        found[outcome.index] = [
            float(np.mean([metrics[name].value for metrics in outcome.value])) for name in names
        ]
    return found


def measure(seed: int, budget: Budget, which: str, pool: Pool, work: Path | None) -> dict[str, Any]:
    """One search, and what its front is worth on fresh streams."""
    sampler = "auto" if which == "search" else "random"
    out = None if work is None else work / f"{which}-{seed}"
    begun = out is not None and out.exists()
    archive = search(
        load(SCENARIO), budget=budget, sampler=sampler, seed=seed, pool=pool, out=out, resume=begun
    ).archive
    made = front(archive)
    kept = [member.evaluation.values for member in made.kept]
    kinds = sorted({str(point["middleware.kind"]) for point in kept})
    return {
        "seed": seed,
        "which": which,
        "sampler": archive.sampler,
        "evaluations": len(archive.evaluations),
        "runs": archive.runs + sum(one.fresh_replications for one in archive.evaluations),
        "members": len(made.members),
        "kinds": kinds,
        "said": list(map(str, dominant_choices(made))),
        "points": means(kept, pool),
    }


def main() -> None:
    """Measure what is missing, or print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--budget", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rows", type=Path, required=True, help="file of the measurements")
    parser.add_argument("--work", type=Path, help="folder that keeps the studies")
    parser.add_argument("--which", nargs="*", default=BOTH)
    chosen = parser.parse_args()
    known: dict[str, Any] = {"papers": {}, "rows": []}
    if chosen.rows.exists():
        known = json.loads(chosen.rows.read_text(encoding="utf-8"))
    with_pool = Pool(chosen.jobs)
    try:
        for seed, which in product(range(1, chosen.seeds + 1), chosen.which):
            found = {row["which"]: row for row in known["rows"] if row["seed"] == seed}
            if which in found:
                continue
            budget = Budget.of(chosen.budget)
            if which == "random":
                budget = Budget.of(None, runs=found["search"]["runs"])
            known["rows"].append(measure(seed, budget, which, with_pool, chosen.work))
            save(chosen.rows, known)
        if not known["papers"]:
            named = settings_of_papers()
            known["papers"] = dict(zip(named, means(list(named.values()), with_pool), strict=True))
            save(chosen.rows, known)
    finally:
        with_pool.close()


def save(path: Path, known: dict[str, Any]) -> None:
    """Keep the measurements, rounded to what they are good for."""

    def rounded(value: Any) -> Any:
        if isinstance(value, float):
            return float(f"{value:.5g}")
        if isinstance(value, list):
            return [rounded(one) for one in value]
        return {name: rounded(one) for name, one in value.items()} if isinstance(value, dict) else value

    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rounded(known)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
