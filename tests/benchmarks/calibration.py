"""How often what a search says comes true, counted on the analytic stand-in for `federation/small`.

    python -m tests.benchmarks.calibration --rows docs/data/calibration.jsonl      # searches what is missing
    python -m tests.benchmarks.calibration --rows docs/data/calibration.jsonl --table

Each row is one search: for every evaluated point the probability that no other beats it and whether that is
true; for pairs of points that may be on the front whether the 95 % interval of each difference holds the true
one; the hypervolume that the probable points claim over their true one; and for comparison the paired
bootstrap over the validated points alone.
"""

from __future__ import annotations

import argparse
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import moocore
import numpy as np

from gridtune.optimize.front.front import comparable, front
from gridtune.optimize.records.evaluations import Archive
from gridtune.optimize.replication.chances import probability_non_dominated
from gridtune.optimize.replication.compare import signs
from gridtune.optimize.replication.posterior import fit, runs_of
from gridtune.optimize.search import search
from gridtune.scenarios.document.scenario import load
from tests.benchmarks.analytic import OBJECTIVES, run, truth
from tests.benchmarks.rows import rows_of

SEARCHES, BUDGET, PAIRS = 20, 300, 200
BINS = (0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0)


def measure(seed: int, budget: int) -> dict[str, Any]:
    """Search, and count what came true."""
    scenario = load("federation/small")
    archive = search(scenario, budget=budget, seed=seed, objectives=OBJECTIVES, work=run, today=True).archive
    evaluations = comparable(archive)
    true = np.array([truth(evaluation.values) for evaluation in evaluations]) * signs(archive.objectives)
    best = moocore.is_nondominated(true, keep_weakly=True)
    found = fit(runs_of(evaluations, archive.objectives), [one.values for one in evaluations], seed=seed)
    assert found is not None
    chances = found.non_dominated()
    likely = np.flatnonzero(chances > 0.1)
    draws = np.random.default_rng(seed)
    covered = []
    for _ in range(PAIRS):
        to, start = draws.choice(likely, 2, replace=False)
        _, low, high = found.difference(to, start)
        covered.append((low <= true[to] - true[start]) & (true[to] - true[start] <= high))
    kept = np.flatnonzero(chances >= 0.5)
    claimed = found.means[kept] + (true - found.means).mean(axis=0)
    corner = true.max(axis=0)
    return {
        "seed": seed,
        "budget": budget,
        "runs": archive.runs,
        "chances": [round(float(chance), 3) for chance in chances],
        "true": [int(one) for one in best],
        "covered": np.mean(covered, axis=0).tolist(),
        "claimed": float(
            moocore.hypervolume(claimed, ref=corner) / moocore.hypervolume(true[kept], ref=corner)
        ),
        **_bootstrap(archive, {one.number: bool(on) for one, on in zip(evaluations, best, strict=True)}),
    }


def _bootstrap(archive: Archive, best: dict[int, bool]) -> dict[str, Any]:
    """The same for the bootstrap over the points that were validated."""
    members = front(archive).members
    chances = probability_non_dominated([member.estimates for member in members], archive.objectives)
    return {
        "bootstrap": [round(float(chance or 0), 3) for chance in chances],
        "bootstrap_true": [int(best[member.evaluation.number]) for member in members],
    }


def table(rows: list[dict[str, Any]]) -> str:
    """What was said and what came true, in Markdown."""
    lines = [
        "| said | points | on average | came true | bootstrap: points | on average | came true |",
        "|---|---|---|---|---|---|---|",
    ]
    columns = []
    for names in (("chances", "true"), ("bootstrap", "bootstrap_true")):
        said, came = (np.concatenate([row[name] for row in rows]) for name in names)
        part = []
        for low, high in pairwise(BINS):
            inside = (said >= low) & ((said < high) | (high == BINS[-1]))
            part.append((int(inside.sum()), said[inside].mean(), came[inside].mean()))
        columns.append(part)
    for (low, high), model, bootstrap in zip(pairwise(BINS), *columns, strict=True):
        cells = [f"{count} | {said:.2f} | {came:.2f}" for count, said, came in (model, bootstrap)]
        lines.append(f"| {low:g} to {high:g} | {' | '.join(cells)} |")
    covered = np.mean([row["covered"] for row in rows], axis=0)
    shares = ", ".join(f"{name} {share:.1%}" for name, share in zip(OBJECTIVES, covered, strict=True))
    claimed = np.mean([row["claimed"] for row in rows])
    lines += [
        "",
        f"{len(rows)} searches of {rows[0]['budget']} points. 95 % intervals of differences hold the",
        f"true one: {shares}. Hypervolume claimed by the points with a probability of at least one",
        f"half, over their true one: {claimed:.3f}.",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure what is missing, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--searches", type=int, default=SEARCHES)
    parser.add_argument("--budget", type=int, default=BUDGET)
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    rows = list(rows_of(given.rows))
    for seed in range(1, 1 + given.searches) if not given.table else ():
        if not any((row["seed"], row["budget"]) == (seed, given.budget) for row in rows):
            rows.append(measure(seed, given.budget))
            with given.rows.open("a", encoding="utf-8") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    print(table([row for row in rows if row["budget"] == given.budget]))


if __name__ == "__main__":
    main()
