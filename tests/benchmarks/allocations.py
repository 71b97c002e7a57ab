"""How runs are best spent: ways to allocate an equal number of them, judged by true values.

    python -m tests.benchmarks.allocations --rows docs/data/allocations.jsonl       # searches what is missing
    python -m tests.benchmarks.allocations --rows docs/data/allocations.jsonl --table

Each row is one search of the analytic stand-in for `federation/small` (19 parameters, 11 of them conditional;
exact truth, noise as measured) with one plan and a number of runs in all, those on fresh seeds included. What
counts is the hypervolume of the true values of the points that the search keeps, as a share of a fixed box;
what the search claims of them beside it; and how many of them none of the others beats in truth.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import moocore
import numpy as np

from gridtune.optimize.budget import Budget
from gridtune.optimize.front.front import front
from gridtune.optimize.records.evaluations import Archive
from gridtune.optimize.replication.compare import costs, signs
from gridtune.optimize.search import search
from gridtune.scenarios.document.scenario import load
from tests.benchmarks.analytic import OBJECTIVES, run, today, truth
from tests.benchmarks.other_allocations import mocba, rtea
from tests.benchmarks.rows import rows_of

BEST, WORST = (
    np.array([8.0, 0.7, -1.0e6]),
    np.array([25.0, 1.3, -7.0e5]),
)  # corners of the box, to be minimised
TITLES = ("searches", "points", "true hypervolume", "claimed over true", "kept", "of these right", "CPU s")
SEEDS = range(1, 11)
RUNS = (300, 1100)


def planned(sampler: str, most: int, fresh: int | None = None) -> Callable[[int, int], Archive]:
    """A plan of the search itself: its sampler, runs of a point at most, and fresh ones of a member."""

    def plan(seed: int, runs: int) -> Archive:
        return search(
            load("federation/small"),
            budget=Budget.of(None, runs=runs),
            sampler=sampler,
            seed=seed,
            replications=1,
            max_replications=most,
            validation_replications=fresh,
            objectives=OBJECTIVES,
            work=run,
            today=True,
        ).archive

    return plan


PLANS: dict[str, Callable[[int, int], Archive]] = {
    "tpe, 1 to 4 runs": planned("tpe", 4),
    "tpe, 1 run, 12 fresh": planned("tpe", 1, 12),
    "nsga2, 1 to 4 runs": planned("nsga2", 4),
    "nsga2, 1 run, 12 fresh": planned("nsga2", 1, 12),
    "surrogate, 1 to 4 runs": planned("surrogate", 4),
    "surrogate, 1 run, 12 fresh": planned("surrogate", 1, 12),
    "tpe, then MOCBA": mocba,
    "RTEA": rtea,
    "random, 1 to 4 runs": planned("random", 4),
}


def measure(plan: str, seed: int, runs: int) -> dict[str, Any]:
    """Search once, and judge what it keeps."""
    began = time.process_time()
    archive = PLANS[plan](seed, runs)
    spent = time.process_time() - began
    found = front(archive)
    kept = found.kept
    sides = signs(archive.objectives)
    true = np.array([truth(member.evaluation.values or today()) for member in kept]) * sides
    claimed = costs([member.estimates for member in kept], archive.objectives)
    claimed = claimed + (true - claimed).mean(axis=0)  # what the streams do to all points
    return {
        "plan": plan,
        "seed": seed,
        "runs": runs,
        "taken": archive.runs + sum(one.fresh_replications for one in archive.evaluations),
        "points": len(archive.evaluations),
        "kept": len(kept),
        "quality": volume(true),
        "claimed": volume(claimed),
        "right": float(moocore.is_nondominated(true, keep_weakly=True).mean()),
        "seconds": round(spent, 1),
    }


def volume(points: np.ndarray) -> float:
    """Hypervolume of points as a share of the box."""
    return float(moocore.hypervolume((points - BEST) / (WORST - BEST), ref=np.ones(len(BEST))))


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """The plans, the best first, in Markdown."""
    for runs in sorted({row["runs"] for row in rows}):
        some = [row for row in rows if row["runs"] == runs]
        plans = {plan: [row for row in some if row["plan"] == plan] for plan in PLANS}
        plans = {plan: known for plan, known in plans.items() if known}
        yield f"| {runs:,} runs | {' | '.join(TITLES)} |"
        yield "|---|---|---|---|---|---|---|---|"
        for plan, known in sorted(plans.items(), key=lambda item: -mean(item[1], "quality")):
            quality = [row["quality"] for row in known]
            error = f" ± {np.std(quality, ddof=1) / len(known) ** 0.5:.3f}" if known[1:] else ""
            cells = (
                plan,
                str(len(known)),
                f"{mean(known, 'points'):.0f}",
                f"{np.mean(quality):.3f}{error}",
                f"{np.mean([row['claimed'] / row['quality'] for row in known]):.2f}",
                f"{mean(known, 'kept'):.0f}",
                f"{mean(known, 'right'):.0%}",
                f"{mean(known, 'seconds'):.0f}",
            )
            yield f"| {' | '.join(cells)} |"
        yield ""


def mean(rows: list[dict[str, Any]], name: str) -> float:
    """Of a column."""
    return float(np.mean([row[name] for row in rows]))


def main() -> None:
    """Measure what is missing, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--runs", type=int, nargs="*", default=RUNS)
    parser.add_argument("--plan", nargs="*", default=list(PLANS))
    parser.add_argument("--seeds", type=int, default=len(SEEDS))
    parser.add_argument("--seconds", type=float, default=np.inf, help="after which no search is begun")
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    rows = list(rows_of(given.rows))
    known = {(row["plan"], row["seed"], row["runs"]) for row in rows}
    began = time.monotonic()
    for seed in range(1, 1 + given.seeds) if not given.table else ():
        for runs in given.runs:
            for plan in given.plan:
                late = time.monotonic() - began > given.seconds
                if (plan, seed, runs) not in known and not late:
                    rows.append(measure(plan, seed, runs))
                    with given.rows.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(rows[-1]) + "\n")
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
