"""Two versions of the statistical inference, on equal archives and in whole searches of stand-ins.

    python -m tests.benchmarks.inference few-layers --archives 40 --searches 16    # in either version
    python -m tests.benchmarks.inference --table

The archives are of `nsga2`, which uses no model: 80 configurations with one run, and four validation runs of
those that look best. Each row is a line of `docs/data/inference.jsonl`; no row is made twice.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

from gridtune.optimize import search as loop
from gridtune.optimize.front.front import Front, front
from gridtune.optimize.records.evaluations import Archive
from gridtune.optimize.replication.paired import difference
from tests.benchmarks.arenas import STAND_IN, Arena, arena
from tests.benchmarks.rows import rows_of
from tests.benchmarks.search_quality import judged, searched

DATA = Path(__file__).parents[2] / "docs/data/inference.jsonl"
RUNS = 100  # of a whole search
FIRST = {"archive": 501, "search": 401}  # seeds
SHOWN = {
    "true hypervolume": "volume", "Brier score of P": "brier", "coverage of 95 % intervals": "coverage",
    "claimed / true hypervolume": "claimed", "width / paired test's": "width",
}  # fmt: skip
BEFORE, AFTER = "many-layers", "few-layers"


def archive(where: Arena, seed: int) -> Archive:
    """An archive that no model had a hand in."""
    return loop.search(
        where.scenario,
        budget=80,
        seed=seed,
        sampler="nsga2",
        replications=1,
        objectives=where.objectives,
        work=where.work,
        baseline=True,
        validation_replications=4,
    ).archive


def width(made: Front) -> float:
    """Median over the validated of the front of an interval against the baseline, by the paired test's."""
    start, posterior = made.archive.standing, made.posterior
    if start is None or posterior is None:
        return float("nan")
    ratios = []
    for one in (member.evaluation for member in made.on_front if member.evaluation.number != start.number):
        for goal in made.objectives if one.validated and start.validated else ():
            pairs = [found.validated[goal.name].values for found in (one, start)]
            paired, told = difference(*pairs).half, posterior.difference(one.number, start.number, goal).half
            if paired and told is not None:
                ratios.append(told / paired)
    return median(ratios) if ratios else float("nan")


def measured(kind: str, name: str, seed: int) -> dict[str, Any]:
    """What is said of one archive or by one search, in numbers."""
    where, ratio = arena(name), float("nan")
    if kind == "archive":
        found = archive(where, seed)
        row, ratio = judged(where, found), width(front(found))
    else:
        row = searched(name, RUNS, seed, "auto", alone=False)
    pairs, held = row["chances"], row["intervals"]
    return {
        "volume": row["volume"],
        "brier": fmean((p - true) ** 2 for p, true in pairs) if pairs else None,
        "coverage": fmean(held) if held else None,
        "claimed": row["claimed"] / row["volume"],
        "width": ratio if ratio == ratio else None,
    }


def table(rows: list[dict[str, Any]], before: str = BEFORE, after: str = AFTER) -> str:
    """Means of two versions over equal seeds, and the paired difference with its standard error."""
    lines = [f"| stand-in | on | seeds | {' | '.join(SHOWN)} |", "|" + "---|" * (3 + len(SHOWN))]
    known = {(row["version"], row["kind"], row["arena"], row["seed"]): row for row in rows}
    for name, kind in sorted({(row["arena"], row["kind"]) for row in rows}):
        here = [place[3] for place in known if place[:3] == (before, kind, name)]
        pairs = [
            (known[before, kind, name, seed], known[after, kind, name, seed])
            for seed in here
            if (after, kind, name, seed) in known
        ]
        cells = [_compared(pairs, measure) for measure in SHOWN.values()]
        lines.append(f"| {name} | {kind} | {len(pairs)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _compared(pairs: list[tuple[dict[str, Any], dict[str, Any]]], measure: str) -> str:
    both = [(a[measure], b[measure]) for a, b in pairs if a[measure] is not None and b[measure] is not None]
    if len(both) < 2:
        return ""
    gaps = [b - a for a, b in both]
    first, second = (fmean(one) for one in zip(*both, strict=True))
    return f"{first:.3f} → {second:.3f} ({fmean(gaps):+.3f} ± {stdev(gaps) / len(gaps) ** 0.5:.3f})"


def wanted(archives: int, searches: int) -> Iterator[tuple[str, str, int]]:
    """Kinds, stand-ins and seeds."""
    for kind, count in (("archive", archives), ("search", searches)):
        for name in STAND_IN:
            for seed in range(FIRST[kind], FIRST[kind] + count):
                yield kind, name, seed


def main() -> None:
    """Measure what is missing, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version", nargs="?", help="how the rows of this code are called")
    parser.add_argument("--archives", type=int, default=40)
    parser.add_argument("--searches", type=int, default=16)
    parser.add_argument("--table", action="store_true", help="of the two versions that the page compares")
    asked = parser.parse_args()
    rows = list(rows_of(DATA))
    done = {(row["version"], row["kind"], row["arena"], row["seed"]) for row in rows}
    for place in wanted(asked.archives, asked.searches) if asked.version else ():
        if (asked.version, *place) not in done:
            row = {"version": asked.version, **dict(zip(("kind", "arena", "seed"), place, strict=True))}
            with DATA.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row | measured(*place)) + "\n")
    if asked.table:
        print(table(list(rows_of(DATA))))


if __name__ == "__main__":
    main()
