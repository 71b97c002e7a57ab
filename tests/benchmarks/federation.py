"""What the search of a federation is worth, against random search and against the settings of the papers.

    python -m tests.benchmarks.federation --rows docs/data/federation.json        # measures what is missing
    python -m tests.benchmarks.federation --rows docs/data/federation.json --table

For every seed there are a search with the sampler that is the default and one with `random`, of the same
budget and with the same replications. The points that each keeps (those that its own validation found
non-dominated) are run again on 30 random streams that neither has used, and so is every combination of the
settings that the papers themselves use. Their quality is the hypervolume of the means; the reference point
is the worst value of each objective among all of them, so that only what stays at the edge counts for
nothing.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

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
SHARE: dict[str, Point] = {f"{share:g} SDJ": {"site.orsay.vres.sdj": share} for share in (0.2, 0.4)}
FALLBACK: dict[str, Point] = {
    "no fallback": {"agent.routing.fallback": "none"},
    "fallback": {"agent.routing.fallback": "displaced"},
}


def settings_of_papers() -> dict[str, Point]:
    """Every combination of what the papers use, by a name."""
    made = {}
    for choice in product(MIDDLEWARE, HARVESTER, CLIENT, SHARE, FALLBACK):
        parts = zip((MIDDLEWARE, HARVESTER, CLIENT, SHARE, FALLBACK), choice, strict=True)
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


def measure(seed: int, budget: int, which: str, pool: Pool) -> dict[str, Any]:
    """One search, and what its front is worth on fresh streams."""
    sampler = "auto" if which == "search" else "random"
    made = front(search(load(SCENARIO), budget=budget, sampler=sampler, seed=seed, pool=pool).archive)
    kept = [member.evaluation.values for member in made.kept]
    kinds = sorted({str(point["middleware.kind"]) for point in kept})
    return {
        "seed": seed,
        "which": which,
        "sampler": made.archive.sampler,
        "budget": budget,
        "runs": made.archive.runs,
        "kinds": kinds,
        "points": means(kept, pool),
    }


def table(rows: Sequence[dict[str, Any]], papers: dict[str, list[float]]) -> Iterable[str]:
    """The measurements as Markdown."""
    every = [point for row in rows for point in row["points"]] + list(papers.values())
    signs = np.array([1.0, 1.0, -1.0])  # unhappy users, unfairness, completed work
    worst = (np.array(every) * signs).max(axis=0)
    scale = np.ptp(np.array(every) * signs, axis=0)

    def volume(points: Sequence[Sequence[float]]) -> float:
        import moocore

        return float(moocore.hypervolume((np.array(points) * signs - worst) / scale, ref=np.zeros(3)))

    alone = {name: volume([point]) for name, point in papers.items()}
    best = max(alone, key=lambda name: alone[name])
    titles = ("seed", "search", "its front", "middleware on it", "random", "papers: best", "papers: all")
    yield f"| {' | '.join(titles)} |"
    yield "|---" * len(titles) + "|"
    won = 0
    by_seed = {row["seed"]: {r["which"]: r for r in rows if r["seed"] == row["seed"]} for row in rows}
    seeds = sorted(seed for seed, found in by_seed.items() if len(found) == len(BOTH))
    for seed in seeds:
        one, other = (by_seed[seed][which] for which in BOTH)
        mine, chance = volume(one["points"]), volume(other["points"])
        together = volume([*papers.values()])
        won += mine > max(chance, alone[best])
        yield (
            f"| {seed} | **{mine:.3f}** | {len(one['points'])} points | {', '.join(one['kinds'])} "
            f"| {chance:.3f} | {alone[best]:.3f} | {together:.3f} |"
        )
    yield ""
    yield f"The search beat random search and the best setting of the papers in {won} of {len(seeds)} seeds."
    yield f"The best single setting of the papers is: {best}."


def main() -> None:
    """Measure what is missing, or print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--budget", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rows", type=Path, required=True, help="file of the measurements")
    parser.add_argument("--table", action="store_true", help="print what is measured")
    chosen = parser.parse_args()
    known: dict[str, Any] = {"papers": {}, "rows": []}
    if chosen.rows.exists():
        known = json.loads(chosen.rows.read_text(encoding="utf-8"))
    if chosen.table:
        print("\n".join(table(known["rows"], known["papers"])))
        return
    with_pool = Pool(chosen.jobs)
    try:
        if not known["papers"]:
            named = settings_of_papers()
            known["papers"] = dict(zip(named, means(list(named.values()), with_pool), strict=True))
            save(chosen.rows, known)
        for seed, which in product(range(1, chosen.seeds + 1), BOTH):
            if not any((row["seed"], row["which"]) == (seed, which) for row in known["rows"]):
                known["rows"].append(measure(seed, chosen.budget, which, with_pool))
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
