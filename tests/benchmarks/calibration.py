"""How often what a search says comes true, counted on the analytic stand-in for `federation/small`.

    python -m tests.benchmarks.calibration --rows docs/data/calibration.jsonl      # searches what is missing
    python -m tests.benchmarks.calibration --rows docs/data/calibration.jsonl --table

Each row is one search: for every evaluated point the probability that no other beats it and whether that is
true; for pairs of points that may be on the front whether the 95 % interval of each difference holds the true
one; the same for differences of members to today's setting, with the width of the interval beside that of
a paired t-test; the hypervolume that the probable points claim over their true one; by how much each
recommended point is beaten in truth; and for comparison the paired bootstrap over the validated points alone.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import moocore
import numpy as np

from gridtune.optimize.front.against_today import gains
from gridtune.optimize.front.front import comparable, front
from gridtune.optimize.front.recommendations import recommend
from gridtune.optimize.records.evaluations import Archive, Evaluation
from gridtune.optimize.replication.chances import probability_non_dominated
from gridtune.optimize.replication.compare import signs
from gridtune.optimize.replication.judgement import MATTERS
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
        **_against_today(archive, evaluations, true),
        **_bootstrap(archive, {one.number: bool(on) for one, on in zip(evaluations, best, strict=True)}),
    }


def _against_today(archive: Archive, evaluations: Sequence[Evaluation], true: np.ndarray) -> dict[str, Any]:
    """How often differences to today's setting lie in their intervals, and what recommendations are worth."""
    found = front(archive)
    paired = replace(found, judgement=None)
    worth = {one.number: row for one, row in zip(evaluations, true, strict=True)}
    sides = signs(archive.objectives)
    said: dict[str, list[Any]] = {"model": [], "paired": [], "narrower": []}
    for member in found.kept:
        number = member.evaluation.number
        gap = (worth[number] - worth[archive.today or 0]) * sides
        known = [gains(one, member.evaluation) for one in (found, paired)]
        for name, some in zip(("model", "paired"), known, strict=True):
            ends = np.array([(one.difference.low, one.difference.high) for one in some], dtype=float)
            if len(ends):
                said[name].append(((ends[:, 0] <= gap) & (gap <= ends[:, 1])).tolist())
        widths = [[one.difference.high - one.difference.low for one in some] for some in known]  # type: ignore[operator]
        if widths[0]:
            said["narrower"].append(np.divide(*widths).tolist())
    best = true[moocore.is_nondominated(true)]
    scaled = true / np.ptp(best, axis=0)
    places = {one.number: at for at, one in enumerate(evaluations)}
    advice = {one.member.evaluation.number: one for one in recommend(found)}
    beaten = [float((scaled[places[n]] - scaled).min(axis=1).max().clip(0)) for n in advice]
    return {
        "today": [np.mean(said[name], axis=0).tolist() for name in ("model", "paired")],
        "narrower": float(np.median(said["narrower"])),
        "beaten": [round(one, 4) for one in beaten],
        "expected_loss": [round(one.loss.expected, 4) if one.loss else None for one in advice.values()],
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
    shares = _shares(covered)
    claimed = np.mean([row["claimed"] for row in rows])
    model, paired = (_shares(np.mean([row["today"][at] for row in rows], axis=0)) for at in (0, 1))
    narrower = np.mean([row["narrower"] for row in rows])
    beaten = np.concatenate([row["beaten"] for row in rows])
    worst = np.mean([max(row["beaten"], default=0.0) > MATTERS for row in rows])
    lines += [
        "",
        f"{len(rows)} searches of {rows[0]['budget']} points.",
        "",
        "- 95 % intervals of differences between points that may be on the front hold the true one:",
        f"  {shares}.",
        f"- Those of differences between members and today's setting: {model}. They are {narrower:.2f} times",
        f"  as wide as those of paired t-tests on the fresh runs, which hold {paired}.",
        "- Hypervolume claimed by the points with a probability of at least one half, over their true one:",
        f"  {claimed:.3f}.",
        f"- Recommended points are beaten by more than {MATTERS:.0%} of the front's span in {worst:.0%} of",
        f"  searches, by {beaten.mean():.2%} on average.",
    ]
    return "\n".join(lines)


def _shares(some: np.ndarray) -> str:
    return ", ".join(f"{name} {share:.1%}" for name, share in zip(OBJECTIVES, some, strict=True))


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
