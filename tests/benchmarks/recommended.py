"""Whether searches recommend what is better than the baseline, and nothing else.

    python -m tests.benchmarks.recommended --seeds 301-320       # goes on where it was
    python -m tests.benchmarks.recommended --table

The truth is 200 new runs of a configuration and of the baseline, paired. A search *could* recommend something
if a configuration with validation runs is better there in an objective, by more than 5 % of the baseline's
value, significantly both there and by the paired t-test of its validation runs, and nothing forbids it: no
objective may be significantly worse there, by more than half; constraints hold, and no class of jobs fails.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

from gridtune.optimize import search as loop
from gridtune.optimize.front.changes import Change, change, changes
from gridtune.optimize.front.front import front, keeps
from gridtune.optimize.records.evaluations import Objective, Value
from gridtune.optimize.replication.guards import failing
from gridtune.scenarios import load
from gridtune.scenarios.execution.replicate import Task, metrics_of
from tests.benchmarks.rows import add_missing, rows_of, seeds_in

DATA = Path(__file__).parents[2] / "docs/data/recommended.jsonl"
SCENARIOS, BUDGETS = ("diet/day-irregular", "diet/day-regular"), (40, 120)
TRUTH, TRUTH_SEED = 200, 3_000_017
MATTERS = 0.05  # of the baseline's value


def true_changes(name: str, values: Mapping[str, Value], objectives: tuple[Objective, ...]) -> list[Change]:
    """What happens to each objective from the baseline to a configuration, in new runs."""
    scenario, made = load(name), []
    for some in ({}, dict(values)):
        runs = [metrics_of(Task(scenario, some, TRUTH_SEED, k)) for k in range(TRUTH)]
        made.append({one.name: [run[one.name].value for run in runs] for one in objectives})
    return [change(one, made[0][one.name], made[1][one.name]) for one in objectives]


def better(one: Change) -> bool:
    """Whether an objective is truly better, by what matters."""
    return one.better and one.significant and abs(one.difference.mean) > MATTERS * abs(one.start)


def measured(name: str, budget: int, seed: int) -> dict[str, Any]:
    """One search: which recommendations are better, and whether it could have recommended something."""
    archive = loop.search(load(name), budget=budget, seed=seed).archive
    told = [
        any(one.better and one.significant for one in true_changes(name, advice.values, archive.objectives))
        for advice in archive.recommendations
    ]
    row = {"scenario": name, "budget": budget, "seed": seed, "better": told, "missed": []}
    baseline = archive.standing
    if told or baseline is None or not baseline.validated:
        return row
    found = front(archive)
    start = {metric: estimate.values for metric, estimate in baseline.validated.items()}
    for one in found.members:
        if not one.validated or not keeps(one, archive.constraints) or one.number == baseline.number:
            continue
        to = {metric: estimate.values for metric, estimate in one.validated.items()}
        seen = {c.metric.name for c in changes(archive.objectives, start, to) if c.better and c.beyond_noise}
        if not seen or failing(one.metrics, baseline.metrics):
            continue
        true = true_changes(name, one.values, archive.objectives)
        forbidden = any(found.unbearable(c) for c in true)
        if not forbidden and any(better(c) and c.metric.name in seen for c in true):
            row["missed"].append(one.number)
    return row


def table(rows: list[dict[str, Any]]) -> str:
    """Counts by scenario and budget."""
    groups = defaultdict(list)
    for row in rows:
        groups[row["scenario"], row["budget"]].append(row)
    titles = [
        "scenario",
        "configurations",
        "searches",
        "recommend something",
        "recommendations",
        "of them better",
    ]
    titles.append("recommend nothing, but could")
    lines = [f"| {' | '.join(titles)} |", "|---" + "|---:" * (len(titles) - 1) + "|"]
    for (name, budget), some in sorted(groups.items()):
        told = [one for row in some for one in row["better"]]
        lines.append(
            f"| `{name}` | {budget} | {len(some)} | {sum(bool(row['better']) for row in some)} "
            f"| {len(told)} | {sum(told)} | {sum(bool(row['missed']) for row in some)} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="301-320")
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args()
    seeds = () if asked.table else seeds_in(asked.seeds)
    searches = ((name, budget, seed) for seed, name, budget in product(seeds, SCENARIOS, BUDGETS))
    add_missing(DATA, searches, ("scenario", "budget", "seed"), lambda *one: [measured(*one)])
    print(table(list(rows_of(DATA))))


if __name__ == "__main__":
    main()
