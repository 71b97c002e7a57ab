"""What the search of a federation is worth, against random search and against the settings of the papers.

    python -m tests.benchmarks.federation --rows docs/data/federation.json        # measures what is missing
    python -m tests.benchmarks.federation --scenario federation/lcg-week --runs 160 --seeds 1 --fresh 0 \
        --samplers auto --tests 0 --rows docs/data/federation_week.json   # twenty minutes of CPU
    python docs/making/tables.py                                           # shows it in docs/federation.md

For every seed there are a search with the sampler that is the default and one with `random` that takes
equally many runs, those on fresh seeds included. The points that each keeps are run again on 30 random
streams that neither has used, and so is every combination of the settings that the papers themselves use.
Their quality is the hypervolume of the means; the reference point is the worst value of each objective among
all of them, so that only what stays at the edge counts for nothing.

Counted is also how often each kind of system was evaluated, and kept. What a search says of kinds that its
front does not hold is tested with 50 runs (`--tests`) of each in the place of those that it does, on other
streams.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from gridtune.optimize.explanation.transplants import streams_of, tested
from gridtune.optimize.front.dominant_choice import dominant_choices

from gridtune.optimize.budget import Budget
from gridtune.optimize.front.front import Front, front
from gridtune.optimize.replication.validation import FreshRuns
from gridtune.optimize.search import search
from gridtune.optimize.search_space.settings import Settings
from gridtune.optimize.search_space.space import Point
from gridtune.scenarios.document.scenario import Scenario, load
from gridtune.scenarios.execution.replicate import evaluate
from gridtune.scenarios.workers.pool import Pool

FRESH_SEED = 1_000_003
TESTS = 50  # runs of each kind that is put into a point of a front
SAMPLERS = ("auto", "random")
KINDS = ("middleware.kind", "harvester.controller", "client.dispatch")

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


def means(scenario: Scenario, points: Sequence[Point], runs: int, pool: Pool) -> list[list[float]]:
    """Objectives of points on so many fresh streams, as means."""
    names = scenario.spec.search.objectives if scenario.spec.search else []
    found: list[list[float]] = [[] for _ in points]
    for outcome in evaluate(scenario, points, FRESH_SEED, range(runs), pool):
        if outcome.failure is not None:
            raise SystemExit(f"{points[outcome.index]}: {outcome.failure}")
        found[outcome.index] = [
            float(np.mean([metrics[name].value for metrics in outcome.value])) for name in names
        ]
    return found


def chances(found: Front) -> dict[str, dict[str, list[int]]]:
    """How often each value of each choice between kinds was evaluated, and how often it is kept."""
    tried = [one.values for one in found.archive.evaluations]
    kept = [member.evaluation.values for member in found.kept]
    values = {path: sorted({str(one[path]) for one in tried if path in one}) for path in KINDS}
    return {
        path: {
            value: [sum(str(one.get(path)) == value for one in points) for points in (tried, kept)]
            for value in known
        }
        for path, known in values.items()
    }


def tested_again(made: Front, settings: Settings, tests: int, pool: Pool) -> list[dict[str, Any]]:
    """What a front says of the kinds that it does not hold, and what so many runs in their place say."""
    choices = dominant_choices(made)
    fresh = FreshRuns(settings, tests, pool, first=streams_of(made)[0])
    said = {
        (choice.path, one.value): one.tested.verdict if one.tested else "undecided"
        for choice in choices
        for one in choice.alternatives
    }
    return [
        {
            "path": one.path,
            "front": one.kind,
            "value": one.value,
            "said": said[one.path, one.value],
            "verdict": one.verdict,
            "count": dict(one.count),
        }
        for one in tested(made, settings.space, choices, fresh)
    ]


def kept_points(found: Front) -> list[dict[str, Any]]:
    """The kinds of each point kept, and its objectives on fresh seeds with their standard errors."""
    return [
        {
            "kinds": [str(member.evaluation.values[path]) for path in KINDS],
            "objectives": {name: [one.mean, one.standard_error] for name, one in member.estimates.items()},
        }
        for member in found.kept
    ]


def measure(
    scenario: Scenario,
    seed: int,
    budget: Budget,
    sampler: str,
    fresh: int,
    tests: int,
    pool: Pool,
    work: Path | None,
) -> dict[str, Any]:
    """One search, and what its front is worth on fresh streams."""
    out = None if work is None else work / f"{sampler}-{seed}"
    begun = out is not None and out.exists()
    found = search(scenario, budget=budget, sampler=sampler, seed=seed, pool=pool, out=out, resume=begun)
    archive = found.archive
    made = front(archive)
    kept = [member.evaluation.values for member in made.kept]
    kinds = sorted({str(point["middleware.kind"]) for point in kept})
    return {
        "seed": seed,
        "asked": sampler,
        "sampler": archive.sampler,
        "evaluations": len(archive.evaluations),
        "runs": archive.runs + sum(one.fresh_replications for one in archive.evaluations),
        "members": len(made.members),
        "kinds": kinds,
        "said": list(map(str, dominant_choices(made))),
        "tried": chances(made),
        "tests": tests,
        "tested": tested_again(made, found.settings, tests, pool) if tests else [],
        "kept": kept_points(made),
        "points": means(scenario, kept, fresh, pool) if fresh else [],
    }


def main() -> None:
    """Measure what is missing, or print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scenario", default="federation/small")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--budget", type=int, default=300, help="points to evaluate")
    parser.add_argument("--runs", type=int, help="simulations in all, in place of a number of points")
    parser.add_argument("--fresh", type=int, default=30, help="new streams for what is kept; 0 for none")
    parser.add_argument("--tests", type=int, default=TESTS, help="runs of each kind in another's place")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rows", type=Path, required=True, help="file of the measurements")
    parser.add_argument("--work", type=Path, help="folder that keeps the studies")
    parser.add_argument("--samplers", nargs="*", default=SAMPLERS)
    chosen = parser.parse_args()
    known: dict[str, Any] = {"papers": {}, "rows": []}
    if chosen.rows.exists():
        known = json.loads(chosen.rows.read_text(encoding="utf-8"))
    scenario, with_pool = load(chosen.scenario), Pool(chosen.jobs)
    try:
        for seed, sampler in product(range(1, chosen.seeds + 1), chosen.samplers):
            found = {row["asked"]: row for row in known["rows"] if row["seed"] == seed}
            if sampler in found:
                continue
            budget = Budget.of(None if chosen.runs else chosen.budget, runs=chosen.runs)
            if sampler == "random":
                budget = Budget.of(None, runs=found["auto"]["runs"])
            row = measure(scenario, seed, budget, sampler, chosen.fresh, chosen.tests, with_pool, chosen.work)
            known["rows"].append(row)
            save(chosen.rows, known)
        if not known["papers"] and chosen.fresh:
            named = settings_of_papers()
            found = means(scenario, list(named.values()), chosen.fresh, with_pool)
            known["papers"] = dict(zip(named, found, strict=True))
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
