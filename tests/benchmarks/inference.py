"""What each part of the statistical model is good for: searches of known truth, judged without it.

    python -m tests.benchmarks.inference --rows docs/data/inference.jsonl     # does what is missing
    python docs/making/tables.py                                              # shows it in docs/method.md

Each search of 100 runs is made once, by the whole model. What its runs say is then worked out again, each
time with one part left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import fmean, stdev
from typing import Any
from unittest.mock import patch

import numpy as np

from gridtune.optimize import search as loop
from gridtune.optimize.inference import gaussian_process, noise
from gridtune.optimize.replication.compare import Array
from tests.benchmarks.arenas import arena
from tests.benchmarks.rows import add_missing
from tests.benchmarks.search_quality import judged

RUNS = 100
SEEDS = {"stand-in": 20, "dirac-wide": 16, "egee-sites": 20}  # searches, from `FIRST` on
FIRST = 401
WHOLE = "nothing"
SHOWN = {
    "true hypervolume": "volume", "Brier score of P": "brier", "coverage": "coverage",
    "claimed / true hypervolume": "claimed",
}  # fmt: skip


def no_effects(runs: Array, seen: Array) -> tuple[Array, Array, Array]:
    """As `compare.explained`, without effects of replications."""
    means = runs.sum(axis=1) / seen.sum(axis=1)
    return np.zeros(runs.shape[1]), means, np.where(seen, runs - means[:, None], 0.0)


PARTS: Mapping[str, tuple[tuple[Any, str, Any], ...]] = {
    WHOLE: (),
    "raised odds": ((gaussian_process, "_missing_odds", lambda *_: 0.0),),
    "correlated noise": ((noise, "SHARES", (1e-6,)),),
    "effects of replications": (
        (gaussian_process, "explained", no_effects),
        (noise, "explained", no_effects),
    ),
}


@contextmanager
def without(part: str) -> Iterator[None]:
    """The model without one of `PARTS`."""
    with ExitStack() as stack:
        for where, name, other in PARTS[part]:
            stack.enter_context(patch.object(where, name, other))
        yield


def measured(name: str, seed: int) -> Iterator[dict[str, Any]]:
    """What is said of one search with and without each part, in numbers."""
    where = arena(name)
    found = loop.search(
        where.scenario,
        runs=RUNS,
        seed=seed,
        replications=1,
        objectives=where.objectives,
        work=where.work,
        baseline=True,
    ).archive
    for part in PARTS:
        with without(part):
            row = judged(where, found)
        pairs, held = row["chances"], row["intervals"]
        yield {
            "arena": name,
            "seed": seed,
            "without": part,
            "volume": row["volume"],
            "brier": fmean((p - true) ** 2 for p, true in pairs) if pairs else None,
            "coverage": fmean(held) if held else None,
            "claimed": row["claimed"] / row["volume"] if row["volume"] else None,
        }


def table(rows: list[dict[str, Any]]) -> str:
    """Means of the whole model, and what leaving a part out changes, with standard errors."""
    lines = [f"| scenario | left out | {' | '.join(SHOWN)} |", f"|---|---|{'---:|' * len(SHOWN)}"]
    known = {(row["arena"], row["without"], row["seed"]): row for row in rows}
    for name in SEEDS:
        seeds = sorted({seed for arena, _, seed in known if arena == name})
        for part in PARTS if seeds else ():
            if any((name, part, seed) not in known for seed in seeds):
                continue
            whole, other = ([known[name, which, seed] for seed in seeds] for which in (WHOLE, part))
            cells = [_cell(whole, other, measure, part) for measure in SHOWN.values()]
            head = f"`{name}` ({len(seeds)} searches)" if part == WHOLE else ""
            lines.append(f"| {head} | {part} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(whole: list[dict[str, Any]], other: list[dict[str, Any]], measure: str, part: str) -> str:
    pairs = [(a[measure], b[measure]) for a, b in zip(whole, other, strict=True)]
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    numbers = [a if part == WHOLE else b - a for a, b in known]
    sign = "" if part == WHOLE else "+"
    return f"{fmean(numbers):{sign}.3f} ± {stdev(numbers) / len(numbers) ** 0.5:.3f}"


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=Path, required=True, help="file of the measurements")
    asked = parser.parse_args()
    searches = ((name, seed) for name, count in SEEDS.items() for seed in range(FIRST, FIRST + count))
    add_missing(asked.rows, searches, ("arena", "seed"), measured)


if __name__ == "__main__":
    main()
