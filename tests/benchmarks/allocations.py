"""How runs are best spent: ways to allocate an equal number of them, judged by true values.

    python -m tests.benchmarks.allocations --rows docs/data/allocations.jsonl       # searches what is missing
    python -m tests.benchmarks.allocations --rows docs/data/allocations.jsonl --arena egee-sites --runs 300
    python docs/making/tables.py                                            # shows them in docs/samplers.md

Each row is one search with one plan and a number of runs in all, those on fresh seeds included. It
searches the analytic stand-in for `federation/small` (19 parameters, 11 of them conditional; exact truth,
noise as measured) or a real scenario (`sampler_cases`), where truths are means of 30 runs under streams that
no search has. What counts is the hypervolume of the true values of the points that the search keeps, as a
share of a fixed box; what the search claims of them beside it; and how many of them none of the others beats
in truth. Points may lose more work than the scenario as it stands: not every plan could tell which do.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import moocore
import numpy as np

from gridtune.optimize.budget import Budget
from gridtune.optimize.front.front import front
from gridtune.optimize.records.evaluations import Archive
from gridtune.optimize.search import search
from tests.benchmarks.arenas import STAND_IN, Arena, arena
from tests.benchmarks.other_allocations import mocba, rtea
from tests.benchmarks.rows import rows_of

SEEDS = 10
RUNS = (300, 1100)
TRUTH_RUNS = 30
Plan = Callable[[Arena, int, int], Archive]


def planned(sampler: str, most: int, fresh: int | None = None) -> Plan:
    """A plan of the search itself: its sampler, runs of a point at most, and fresh ones of a member."""

    def plan(where: Arena, seed: int, runs: int) -> Archive:
        return search(
            where.scenario,
            budget=Budget.of(None, runs=runs),
            sampler=sampler,
            seed=seed,
            replications=1,
            max_replications=most,
            validation_replications=fresh,
            objectives=where.objectives,
            work=where.work,
            today=True,
            allow_loss=True,
        ).archive

    return plan


PLANS: dict[str, Plan] = {
    "tpe, 1 to 4 runs, 5 fresh": planned("tpe", 4, 5),
    "tpe, 1 to 2 runs": planned("tpe", 2),
    "tpe, 1 run, 12 fresh": planned("tpe", 1, 12),
    "nsga2, 1 to 2 runs": planned("nsga2", 2),
    "nsga2, 1 run, 12 fresh": planned("nsga2", 1, 12),
    "pymoo-nsga2, 1 run, 12 fresh": planned("pymoo-nsga2", 1, 12),
    "surrogate, 1 to 2 runs": planned("surrogate", 2),
    "surrogate, 1 to 4 runs": planned("surrogate", 4),
    "surrogate, 1 run, 12 fresh": planned("surrogate", 1, 12),
    "tpe, then MOCBA": mocba,
    "RTEA": rtea,
    "random, 1 to 2 runs": planned("random", 2),
}


def measure(plan: str, where: Arena, seed: int, runs: int) -> dict[str, Any]:
    """Search once, and judge what it keeps."""
    began = time.process_time()
    archive = PLANS[plan](where, seed, runs)
    spent = time.process_time() - began
    found = front(archive)
    kept = found.kept
    true = where.truth([member.evaluation.values for member in kept], TRUTH_RUNS)
    claimed = found.costs(kept)
    claimed = claimed + (true - claimed).mean(axis=0)  # what the streams do to all points
    return {
        "plan": plan,
        "arena": where.name,
        "seed": seed,
        "runs": runs,
        "taken": archive.runs + sum(one.fresh_replications for one in archive.evaluations),
        "points": len(archive.evaluations),
        "kept": len(kept),
        "quality": where.volume(true),
        "claimed": where.volume(claimed),
        "right": float(moocore.is_nondominated(true, keep_weakly=True).mean()),
        "seconds": round(spent, 1),
    }


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--arena", default=STAND_IN, help="or a name of sampler_cases")
    parser.add_argument("--runs", type=int, nargs="*", default=RUNS)
    parser.add_argument("--plan", nargs="*", default=list(PLANS))
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--seconds", type=float, default=np.inf, help="after which no search is begun")
    given = parser.parse_args()
    known = {(row["arena"], row["runs"], row["plan"], row["seed"]) for row in rows_of(given.rows)}
    where, began = arena(given.arena), time.monotonic()
    for seed, runs, plan in product(range(1, 1 + given.seeds), given.runs, given.plan):
        late = time.monotonic() - began > given.seconds
        if not late and (where.name, runs, plan, seed) not in known:
            row = measure(plan, where, seed, runs)
            with given.rows.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
