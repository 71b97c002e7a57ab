"""The comparison of samplers as tables, from rows that were measured."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import moocore
import numpy as np

from optimize.samplers import samplers
from tests.benchmarks.sampler_cases import CASES

ROWS = Path(__file__).parents[2] / "docs" / "data" / "samplers.jsonl"
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
    """Markdown: what each scenario's searches were worth, and what the proposals cost."""
    parts = [_scenario(name, [row for row in rows if row["scenario"] == name]) for name in CASES]
    return "\n".join(part for part in [*parts, _costs(rows)] if part)


def _scenario(name: str, rows: Sequence[Row]) -> str:
    """A row per sampler, a column per budget; best at the smallest budget first."""
    if not rows:
        return ""
    budgets = sorted({row["budget"] for row in rows})
    found = {budget: _by_sampler(row for row in rows if row["budget"] == budget) for budget in budgets}
    cells = {budget: _cells(by_sampler) for budget, by_sampler in found.items()}
    labels = dict.fromkeys(label for budget in budgets for label in cells[budget])
    lines = [
        _line([name, *(f"{budget} evaluations" for budget in budgets)]),
        _line(["---"] * (len(budgets) + 1)),
    ]
    lines += [_line([label, *(cells[budget].get(label, "") for budget in budgets)]) for label in labels]
    return "\n".join(lines) + "\n"


def _by_sampler(rows: Iterable[Row]) -> dict[str, dict[int, float]]:
    """Quality by seed, by sampler."""
    found: dict[str, dict[int, float]] = {}
    for row in rows:
        found.setdefault(_label(row), {})[row["seed"]] = quality(row)
    return found


def _label(row: Row) -> str:
    kind = samplers().get(row["sampler"])
    usual = kind is not None and row["batch"] == kind.batch_for(row["budget"])
    return row["sampler"] if usual else f"{row['sampler']}, batches of {row['batch']}"


def _cells(found: dict[str, dict[int, float]]) -> dict[str, str]:
    """By sampler, best first: rank, mean and standard error, and in how many seeds it beat random points."""
    random = found.get("random", {})
    order = sorted(found, key=lambda label: -fmean(found[label].values()))
    cells = {}
    for rank, label in enumerate(order, start=1):
        values = found[label]
        error = f" ± {stdev(values.values()) / sqrt(len(values)):.3f}" if len(values) > 1 else ""
        common = values.keys() & random.keys()
        wins = sum(values[seed] > random[seed] for seed in common)
        beaten = f", {wins}/{len(common)}" if label != "random" else f", {len(values)} seeds"
        cells[label] = f"{rank}. {fmean(values.values()):.3f}{error}{beaten}"
    return cells


def _costs(rows: Sequence[Row]) -> str:
    """CPU seconds per 1,000 proposals, which are milliseconds per proposal."""
    budgets = sorted({row["budget"] for row in rows})
    labels = sorted({_label(row) for row in rows})
    lines = [
        _line(["CPU s per 1,000 proposals", *(f"to {budget}" for budget in budgets)]),
        _line(["---"] * (len(budgets) + 1)),
    ]
    for label in labels:
        cells = []
        for budget in budgets:
            same = [row["proposal_ms"] for row in rows if _label(row) == label and row["budget"] == budget]
            cells.append(f"{fmean(same):.2g}" if same else "")
        lines.append(_line([label, *cells]))
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
