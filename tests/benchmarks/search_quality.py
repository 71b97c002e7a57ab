"""How good searches are where the truth is known: volume, precision, calibration, at equal runs.

    python -m tests.benchmarks.search_quality stand-in 100 --seeds 301-308
    python -m tests.benchmarks.search_quality --table

Each search is a line of `docs/data/search_quality.jsonl`; those that are there are not run again. `alone` is
the sampler with all runs, one for each configuration, and the front of their means.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np

from gridtune.optimize import search as loop
from gridtune.optimize.front.front import Front, front
from gridtune.optimize.records.evaluations import Archive, Evaluation
from gridtune.optimize.replication.compare import costs, non_dominated
from gridtune.optimize.search_space.constraints import feasible
from tests.benchmarks.arenas import Arena, arena
from tests.benchmarks.rows import add_missing, rows_of, seeds_in

DATA = Path(__file__).parents[2] / "docs/data/search_quality.jsonl"
TRUTH = 100  # runs of a truth where it is not exact
BINS = ((0.0, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.0))


def searched(name: str, runs: int, seed: int, sampler: str, *, alone: bool) -> dict[str, Any]:
    """One search, judged by the truth.

    Args:
        name: of the arena.
        runs: simulations in all.
        seed: of the search.
        sampler: who proposes.
        alone: whether all runs go to new configurations, and the front is that of their means.
    """
    where = arena(name)
    limit = {"budget": runs} if alone else {"runs": runs}
    found = loop.search(
        where.scenario,
        **limit,
        seed=seed,
        sampler=sampler,
        replications=1,
        objectives=where.objectives,
        work=where.work,
        baseline=True,
        validation_replications=0 if alone else None,
    ).archive
    row = {"arena": name, "runs": runs, "seed": seed, "sampler": sampler, "alone": alone}
    return row | judged(where, found, alone=alone)


def judged(where: Arena, found: Archive, *, alone: bool = False) -> dict[str, Any]:
    """What is said of the configurations of a search, by the truth.

    Args:
        where: they were searched.
        found: all of them, with their runs.
        alone: whether the front is that of their means.
    """
    able = [one for one in found.evaluations if feasible(one, found.constraints)]
    made = None if alone else front(found)
    told = _alone(found, able) if made is None else [one.number for one in made.on_front]
    truth = where.truth([one.values for one in able], TRUTH)
    at = {one.number: place for place, one in enumerate(able)}
    best = set(non_dominated(truth))
    chosen = [at[number] for number in told if number in at]
    row = {
        "volume": where.volume(truth[chosen]),
        "on_front": len(chosen),
        "precision": fmean(place in best for place in chosen),
        "configurations": len(able),
        "chances": [],
        "intervals": [],
    }
    if made is not None:
        chances = {} if made.posterior is None else made.posterior.chances
        row["chances"] = [[round(p, 3), at[number] in best] for number, p in chances.items() if number in at]
        row["claimed"] = where.volume(np.array([made.means[able[place].number] for place in chosen]))
        row["intervals"] = _intervals(made, where, [able[place] for place in chosen])
    return row


def _alone(archive: Archive, able: list[Evaluation]) -> list[int]:
    rows = costs([one.objectives for one in able], archive.objectives)
    return [able[at].number for at in non_dominated(rows)]


def _intervals(made: Front, where: Arena, chosen: list[Evaluation]) -> list[bool]:
    """Whether 95 % intervals of differences to the baseline hold the truth, objective by objective."""
    posterior, baseline = made.posterior, made.archive.baseline
    if posterior is None or baseline is None or baseline not in posterior:
        return []
    start = where.truth([{}], TRUTH)[0]
    held = []
    for one in chosen:
        if one.number == baseline:
            continue
        gap = where.truth([one.values], TRUTH)[0] - start
        for at, objective in enumerate(made.objectives):
            told = posterior.difference(one.number, baseline, objective)
            told = told.times(posterior.factor_of(objective))
            sign = 1 if objective.direction == "minimize" else -1
            if told.low is not None and told.high is not None:
                held.append(bool(told.low <= sign * gap[at] <= told.high))
    return held


def table(rows: list[dict[str, Any]]) -> str:
    """Means with standard errors by arena, runs and sampler."""
    groups = defaultdict(list)
    for row in rows:
        groups[row["arena"], row["runs"], row["sampler"] + (" alone" if row["alone"] else "")].append(row)
    lines = ["| arena | runs | search | searches | true hypervolume | precision | on front | claimed / true "
             "| intervals | P off by |", "|" + "---|" * 10]  # fmt: skip
    for (name, runs, who), some in sorted(groups.items()):
        volumes = [row["volume"] for row in some]
        error = stdev(volumes) / len(volumes) ** 0.5 if len(volumes) > 1 else float("nan")
        claimed = [row["claimed"] / row["volume"] for row in some if row.get("claimed")]
        held = [one for row in some for one in row["intervals"]]
        lines.append(
            f"| {name} | {runs} | {who} | {len(some)} | {fmean(volumes):.3f} ± {error:.3f} "
            f"| {fmean(row['precision'] for row in some):.2f} | {fmean(row['on_front'] for row in some):.0f} "
            f"| {f'{fmean(claimed):.2f}' if claimed else ''} "
            f"| {f'{100 * fmean(held):.0f} %' if held else ''} | {_worst_bin(some)} |"
        )
    return "\n".join(lines)


def _worst_bin(rows: list[dict[str, Any]]) -> str:
    """The largest difference between what P says and how often it came true, over bins of P."""
    pairs = [pair for row in rows for pair in row["chances"]]
    gaps = []
    for low, high in BINS:
        inside = [(p, true) for p, true in pairs if low <= p < high or (high == 1.0 and p == 1.0)]
        if len(inside) >= 20:
            gaps.append(abs(fmean(p for p, _ in inside) - fmean(true for _, true in inside)))
    return f"{max(gaps):.2f}" if gaps else ""


def main() -> None:
    """Run what is asked for, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("arena", nargs="?")
    parser.add_argument("runs", nargs="?", type=int)
    parser.add_argument("--seeds", default="301-308")
    parser.add_argument("--sampler", default="auto")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args()
    if asked.arena:
        seeds = seeds_in(asked.seeds)
        searches = ((asked.arena, asked.runs, seed, asked.sampler, asked.alone) for seed in seeds)
        by = ("arena", "runs", "seed", "sampler", "alone")
        add_missing(DATA, searches, by, lambda *one: [searched(*one[:-1], alone=one[-1])])
    print(table(list(rows_of(DATA))))


if __name__ == "__main__":
    main()
