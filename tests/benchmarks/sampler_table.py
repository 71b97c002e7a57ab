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

from gridtune.optimize.samplers import samplers
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
    return "\n".join(part for part in [*parts, _together(rows), _costs(rows)] if part)


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


def _together(rows: Sequence[Row]) -> str:
    """Means over the scenarios in which random points were measured; samplers measured in all of them."""
    budgets = sorted({row["budget"] for row in rows})
    found: dict[int, dict[str, tuple[float, float]]] = {}
    counts = {}
    for budget in budgets:
        at_budget = [row for row in rows if row["budget"] == budget]
        scenarios = {row["scenario"] for row in at_budget if row["sampler"] == "random"}
        counts[budget] = len(scenarios)
        each = [_by_sampler(row for row in at_budget if row["scenario"] == name) for name in scenarios]
        common = set.intersection(*(set(part) for part in each)) if each else set()
        ranked = [sorted(common, key=lambda label: -fmean(part[label].values())) for part in each]
        found[budget] = {
            label: (
                fmean(fmean(part[label].values()) for part in each),
                fmean(order.index(label) + 1 for order in ranked),
            )
            for label in common
        }
    labels = dict.fromkeys(
        label for budget in budgets for label in sorted(found[budget], key=lambda one: -found[budget][one][0])
    )
    heads = (f"{budget} evaluations, {counts[budget]} scenarios" for budget in budgets)
    lines = [_line(["mean hypervolume, mean rank", *heads]), _line(["---"] * (len(budgets) + 1))]
    for label in labels:
        known = (found[budget].get(label) for budget in budgets)
        lines.append(_line([label, *(f"{one[0]:.3f}, {one[1]:.1f}" if one else "" for one in known)]))
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
            cells.append(_short(fmean(same)) if same else "")
        lines.append(_line([label, *cells]))
    return "\n".join(lines) + "\n"


def _short(value: float) -> str:
    """Two digits, or all before the point."""
    return f"{value:.2g}" if value < 100 else f"{value:.0f}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
