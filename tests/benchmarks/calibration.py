"""How often what a search says comes true, counted where the truth is known or can be had.

    python -m tests.benchmarks.calibration --rows docs/data/calibration.jsonl      # searches what is missing
    python -m tests.benchmarks.calibration --rows docs/data/calibration.jsonl --arena egee-sites --budget 100
    python docs/making/tables.py                                              # shows them in docs/method.md

It searches the analytic stand-in for `federation/small`, whose truths are exact, or a real scenario (see
`sampler_cases`), where truths are means of 200 runs under streams that no search has, of the points that may
be on the front and a sample of the others. Intervals are then widened by the error of the true difference.

Each row is one search: for every point judged the probability that no other beats it and whether that is
true; for pairs of points that may be on the front whether the 95 % interval of each difference holds the true
one; the same for differences of members to today's setting, with the width of the interval beside that of
a paired t-test; the hypervolume that the probable points claim over their true one; by how much each
recommended point is beaten in truth; how many points the search keeps rightly; and for comparison the paired
bootstrap over the validated points alone.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import moocore
import numpy as np

from gridtune.optimize.front.against_today import gains
from gridtune.optimize.front.front import Front, comparable, front
from gridtune.optimize.front.recommendations import recommend
from gridtune.optimize.inference.judgement import Judgement
from gridtune.optimize.records.evaluations import Evaluation
from gridtune.optimize.replication.chances import probability_non_dominated
from gridtune.optimize.replication.compare import signs
from gridtune.optimize.search import search
from gridtune.optimize.search_space.constraints import feasible
from tests.benchmarks.arenas import STAND_IN, TRUTH_SEED, Arena, arena
from tests.benchmarks.rows import rows_of

SEARCHES, BUDGET, PAIRS = 20, 300, 200
TRUTH_RUNS = 200
LIKELY = 0.05  # chance from which a point is judged where truths take runs
OTHERS = 10  # less likely points that are judged, too


def measure(where: Arena, seed: int, budget: int) -> dict[str, Any]:
    """Search, and count what came true, by truths of its own: no error of these is in all searches."""
    where = replace(where, truth_seed=TRUTH_SEED + seed, known={})
    archive = search(
        where.scenario, budget=budget, seed=seed, objectives=where.objectives, work=where.work, today=True,
        replications=1, max_replications=2,
    ).archive  # fmt: skip
    found = front(archive)
    known = found.judgement
    assert known is not None
    draws = np.random.default_rng(seed)
    evaluations = _judged(found, known, draws, exact=where.exact is not None)
    true = where.truth([evaluation.values for evaluation in evaluations], TRUTH_RUNS)
    worth = {one.number: row for one, row in zip(evaluations, true, strict=True)}
    best = moocore.is_nondominated(true, keep_weakly=True)
    on_front = {one.number: bool(on) for one, on in zip(evaluations, best, strict=True)}
    chances = {number: known.chances[number] for number in worth}
    likely = [number for number, chance in chances.items() if chance > 0.1]
    sides = signs(archive.objectives)
    points = {evaluation.number: evaluation.values for evaluation in evaluations}
    covered = []
    for _ in range(PAIRS):
        to, start = draws.choice(likely, 2, replace=False).tolist()
        gap = (worth[to] - worth[start]) * sides
        ends = [_ends(known.difference(to, start, objective)) for objective in archive.objectives]
        covered.append(_held(gap, np.array(ends), where.error(points[to], points[start], TRUTH_RUNS)))
    kept = [number for number, chance in chances.items() if chance >= 0.5]
    row = np.array([worth[number] for number in kept])
    expected = np.array([known.means(number) for number in kept])
    everyone = np.array([worth[n] - known.means(n) for n in worth])
    corner = true.max(axis=0)
    claimed = float(moocore.hypervolume(expected + everyone.mean(axis=0), ref=corner))
    return {
        "arena": where.name,
        "seed": seed,
        "budget": budget,
        "runs": archive.runs,
        "chances": [round(float(chance), 3) for chance in chances.values()],
        "true": [int(on) for on in on_front.values()],
        "covered": np.mean(covered, axis=0).tolist(),
        "claimed": claimed / moocore.hypervolume(row, ref=corner),
        **_kept(found, on_front),
        **_against_today(where, found, worth, true),
        **_bootstrap(found, on_front),
    }


def _judged(found: Front, known: Judgement, draws: np.random.Generator, *, exact: bool) -> list[Evaluation]:
    """Points whose truth is asked for: all, or the likely ones, members, today's setting, and some others."""
    archive = found.archive
    allowed = [one for one in comparable(archive) if one.number in known]
    today = [one for one in comparable(archive) if one.number == archive.today]
    if exact:
        return allowed
    allowed = [one for one in allowed if feasible(one, archive.constraints)]
    likely = [one for one in allowed if known.chances[one.number] >= LIKELY]
    members = [one.evaluation for one in found.kept]
    rest = [one for one in allowed if 0 < known.chances[one.number] < LIKELY]
    some = [rest[at] for at in draws.permutation(len(rest))[:OTHERS]]
    made = {one.number: one for one in (*today, *members, *likely, *some)}
    return [made[number] for number in sorted(made)]


def _held(gap: np.ndarray, ends: np.ndarray, error: np.ndarray) -> list[bool]:
    """Whether intervals hold true differences, by objective; widened by the error of these, if any."""
    half = np.hypot(np.ptp(ends, axis=1) / 2, 1.96 * error)
    return (np.abs(gap - ends.mean(axis=1)) <= half * (1 + 1e-9)).tolist()


def _ends(difference: Any) -> tuple[float, float]:
    return difference.low, difference.high


def _kept(found: Front, on_front: dict[int, bool]) -> dict[str, Any]:
    """How many members are kept, how many of these are on the true front, and how many of all are."""
    known = [one for one in found.members if one.evaluation.number in on_front]
    right = [one for one in known if on_front[one.evaluation.number]]
    shown = sum(one.non_dominated for one in known)
    return {"kept": [shown, sum(one.non_dominated for one in right), len(right)]}


def _against_today(
    where: Arena, found: Front, worth: dict[int, np.ndarray], true: np.ndarray
) -> dict[str, Any]:
    """How often differences to today's setting lie in their intervals, and what recommendations are worth."""
    archive, paired = found.archive, replace(found, judgement=None)
    today = next(one.values for one in archive.evaluations if one.number == archive.today)
    sides = signs(archive.objectives)
    said: dict[str, list[Any]] = {"model": [], "paired": [], "narrower": []}
    for member in found.kept:
        number = member.evaluation.number
        gap = (worth[number] - worth[archive.today or 0]) * sides
        error = where.error(member.evaluation.values, today, TRUTH_RUNS)
        known = [gains(one, member.evaluation) for one in (found, paired)]
        ends = [np.array([_ends(one.difference) for one in some], dtype=float) for some in known]
        for name, some in zip(("model", "paired"), ends, strict=True):
            if len(some):
                said[name].append(_held(gap, some, error))
        if len(ends[0]):
            widths = [np.ptp(some, axis=1) for some in ends]
            said["narrower"] += (widths[0] / widths[1])[widths[1] > 0].tolist()
    best = true[moocore.is_nondominated(true)]
    span = np.ptp(best, axis=0)
    scaled = true / np.where(span > 0, span, np.inf)
    places = {number: at for at, number in enumerate(worth)}
    advice = {one.member.evaluation.number: one for one in recommend(found)}
    ahead = span > 0
    beaten = [float((scaled[places[n]] - scaled)[:, ahead].min(axis=1).max().clip(0)) for n in advice]
    return {
        "today": [np.mean(said[name], axis=0).tolist() for name in ("model", "paired")],
        "narrower": float(np.median(said["narrower"])),
        "beaten": [round(one, 4) for one in beaten],
        "expected_loss": [round(one.loss.expected, 4) if one.loss else None for one in advice.values()],
    }


def _bootstrap(found: Front, on_front: dict[int, bool]) -> dict[str, Any]:
    """The same for the bootstrap over the points that were validated."""
    members = [one for one in found.members if one.evaluation.number in on_front]
    estimates = [member.estimates for member in members]
    chances = probability_non_dominated(estimates, found.objectives)
    return {
        "bootstrap": [round(float(chance or 0), 3) for chance in chances],
        "bootstrap_true": [int(on_front[member.evaluation.number]) for member in members],
    }


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--arena", default=STAND_IN, help="or a name of sampler_cases")
    parser.add_argument("--searches", type=int, default=SEARCHES)
    parser.add_argument("--first", type=int, default=1, help="seed of the first search")
    parser.add_argument("--budget", type=int, default=BUDGET)
    parser.add_argument("--seconds", type=float, default=np.inf, help="after which no search is begun")
    given = parser.parse_args()
    known = {(row["arena"], row["budget"], row["seed"]) for row in rows_of(given.rows)}
    where, began = arena(given.arena), time.monotonic()
    for seed in range(given.first, given.first + given.searches):
        late = time.monotonic() - began > given.seconds
        if not late and (where.name, given.budget, seed) not in known:
            row = measure(where, seed, given.budget)
            with given.rows.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
