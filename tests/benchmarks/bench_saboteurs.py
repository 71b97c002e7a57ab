"""Whether any twin that loses work holds its own against its honest original, scenario by scenario.

    python -m tests.benchmarks.bench_saboteurs --work /tmp/saboteurs SCENARIO…      # runs what is missing
    python -m tests.benchmarks.bench_saboteurs --work /tmp/saboteurs --rows docs/data/saboteurs.json
    python docs/making/tables.py                                              # shows them in docs/metrics.md

Each scenario is run unchanged and as each of its twins (`tests.saboteurs.kinds`) under ten seeds. What a
search would hold against a twin is counted: its objectives, or that it loses more. Without names all shipped
scenarios with `[search]` are run. Large ones are cut, see `SIZES`. With `--rows` a scenario's row is replaced
by one of as many seeds or more.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

from gridtune.model.metrics.registry import Metric
from gridtune.scenarios.document.scenario import load, shipped_names
from gridtune.scenarios.execution.prepare import prepare
from tests.benchmarks.rows import file_of, known_in, rows_of
from tests.saboteurs import SIZES, honest_and_twins, verdict

SEEDS = 10


def scenarios() -> list[str]:
    """All shipped scenarios with a `[search]`."""
    return [name for name in shipped_names() if load(name).spec.search is not None]


def measure(name: str, work: Path, seeds: int) -> None:
    """Run what is missing of a scenario."""
    scenario = load(name).override(SIZES.get(name, {}))
    path = file_of(work, name)
    known = {row["seed"] for row in rows_of(path)}
    with path.open("a", encoding="utf-8") as file:
        for seed in range(1, seeds + 1):
            if seed not in known:
                made = honest_and_twins(scenario, seed)
                values = {kind: {key: one.value for key, one in run.items()} for kind, run in made.items()}
                file.write(json.dumps({"seed": seed, "runs": values}) + "\n")
                file.flush()


def summed_up(name: str, work: Path) -> dict[str, Any]:
    """How often each verdict was given on each twin of a scenario."""
    scenario = load(name)
    prepare(scenario)  # a scenario's own classes have metrics of their own
    search = scenario.spec.search
    assert search is not None
    counts: dict[str, Counter[str]] = {}
    seeds = 0
    for row in rows_of(file_of(work, name)):
        runs = {kind: _metrics(values) for kind, values in row["runs"].items()}
        honest = runs.pop("honest")
        seeds += 1
        for kind, twin in runs.items():
            counts.setdefault(kind, Counter())[verdict(twin, honest, search.objectives)] += 1
    return {"seeds": seeds, "objectives": search.objectives, "twins": counts}


def _metrics(values: dict[str, float]) -> dict[str, Metric]:
    return {name: Metric(value, "") for name, value in values.items()}


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenarios", nargs="*")
    parser.add_argument("--work", type=Path, help="folder of the single runs")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--rows", type=Path, help="JSON file of the verdicts")
    chosen = parser.parse_args()
    names = chosen.scenarios or scenarios()
    chosen.work.mkdir(parents=True, exist_ok=True)
    if chosen.rows is None:
        for name in names:
            measure(name, chosen.work, chosen.seeds)
        return
    rows = known_in(chosen.rows, {})
    for name in names:
        made = summed_up(name, chosen.work)
        if made["seeds"] >= rows.get(name, {}).get("seeds", 1):
            rows[name] = made
    chosen.rows.write_text(json.dumps(dict(sorted(rows.items())), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
