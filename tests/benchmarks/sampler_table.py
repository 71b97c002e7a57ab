"""The comparison of samplers as a table, from rows that were measured."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import sqrt
from pathlib import Path
from typing import Any

import moocore
import numpy as np

from tests.benchmarks.sampler_cases import CASES

ROWS = Path(__file__).with_name("samplers.jsonl")
Row = dict[str, Any]


def read_rows(paths: Iterable[Path]) -> list[Row]:
    """Rows of all files that exist."""
    lines = [line for path in paths if path.exists() for line in path.read_text("utf-8").splitlines()]
    return [json.loads(line) for line in lines]


def quality(row: Row) -> float:
    """Hypervolume of a front in the box of its scenario, 0 to 1 (more if it exceeds the box)."""
    case = CASES[row["scenario"]]
    best, worst = np.array(case.best), np.array(case.worst)
    if not row["front"]:
        return 0.0
    return float(
        moocore.hypervolume((np.array(row["front"]) - best) / (worst - best), ref=np.ones(len(best)))
    )


def table(rows: Sequence[Row]) -> str:
    """Markdown: for every scenario and budget the samplers, best first."""
    groups: dict[tuple[str, int], dict[str, dict[int, Row]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        label = f"{row['sampler']}:{row['batch']}"
        groups[row["scenario"], row["budget"]][label][row["seed"]] = row
    return "\n".join(_part(*group, found) for group, found in sorted(groups.items()))


def _part(scenario: str, budget: int, found: dict[str, dict[int, Row]]) -> str:
    random = next((rows for label, rows in found.items() if label.startswith("random:")), {})
    entries = []
    for label, by_seed in found.items():
        values = [quality(row) for row in by_seed.values()]
        wins = [quality(row) > quality(random[seed]) for seed, row in by_seed.items() if seed in random]
        proposal = np.mean([row["proposal_ms"] for row in by_seed.values()])
        error = np.std(values, ddof=1) / sqrt(len(values)) if len(values) > 1 else float("nan")
        entries.append((float(np.mean(values)), error, label, len(values), sum(wins), len(wins), proposal))
    lines = [
        f"### {scenario}, {budget} evaluations\n",
        "| rank | sampler:batch | hypervolume | seeds | beats random | ms per proposal |",
        "|---|---|---|---|---|---|",
    ]
    for rank, (mean, error, label, seeds, wins, of, proposal) in enumerate(sorted(entries, reverse=True), 1):
        lines.append(
            f"| {rank} | {label} | {mean:.4f} ± {error:.4f} | {seeds} | {wins}/{of} | {proposal:.2f} |"
        )
    return "\n".join(lines) + "\n"
