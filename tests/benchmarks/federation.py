"""What searches of a federation find, against random search and against the settings of the papers.

    python -m tests.benchmarks.federation --work /tmp/fronts --rows docs/data/federation.json
    python -m tests.benchmarks.federation --scenario federation/lcg-week --runs 160 --seeds 1 --validation 5 \
        --samplers auto --work /tmp/week --rows docs/data/federation_week.json
    python docs/making/tables.py                                   # shows both in docs/federation.md

Each seed has a search by the default sampler and a random one with as many runs. The fronts come from
`gridtune search … --format json`. Every configuration of a front, the baseline and every combination of the
papers' settings then run under replications that no search has used. Interrupted, it goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from gridtune.scenarios.document.scenario import Scenario, load
from gridtune.scenarios.execution.replicate import evaluate
from gridtune.scenarios.workers.pool import Pool
from tests.benchmarks.rows import known_in

VALIDATION_SEED = 1_000_003
BASELINE = "baseline"
RUNS = ("replications", "validation_replications")  # behind the estimates of a member of a front
Configuration = Mapping[str, Any]

# What each paper recommends or compares; shares and bounds that none of them states are the scenario's.
POLL = {"middleware.availability_epsilon": 0.3, "middleware.poll_period": 90.0}
MIDDLEWARE: dict[str, Configuration] = {
    "push": {"middleware.kind": "push", "middleware.update_period": 300.0},
    "pull": {"middleware.kind": "pull", **POLL},
    "pilots": {"middleware.kind": "pilot", "middleware.pilot_mode": "run-once", **POLL},
    "filling pilots": {"middleware.kind": "pilot", "middleware.pilot_mode": "filling", **POLL},
}
HARVESTER: dict[str, Configuration] = {
    "tap": {"harvester.controller": "tap"},
    "PI": {
        "harvester.controller": "pi",
        "harvester.controller.kp": 0.5507,
        "harvester.controller.ki": 0.2249,
    },
}
CLIENT: dict[str, Configuration] = {
    "DIET": {"client.dispatch": "legacy"},
    "DIET-ethic": {"client.dispatch": "ethic", "client.dispatch.window": 1},
}


def settings_of_papers(scenario: Scenario) -> dict[str, Configuration]:
    """Every combination of what the papers use, by a name; the reference of controllers is the scenario's."""
    (harvester,) = scenario.spec.harvester
    reference = harvester.controller.reference
    made = {}
    for choice in product(MIDDLEWARE, HARVESTER, CLIENT):
        tables = zip((MIDDLEWARE, HARVESTER, CLIENT), choice, strict=True)
        values = {path: value for table, name in tables for path, value in table[name].items()}
        if choice[1] == "PI":
            values["harvester.controller.reference"] = reference
        made[", ".join(choice)] = values
    return made


def searched(scenario: str, seed: int, sampler: str, runs: int, jobs: int, work: Path) -> dict[str, Any]:
    """The front of one search by the command line, resumed if it has begun.

    Args:
        scenario: its name.
        seed: of the search.
        sampler: its name; `auto` for the default.
        runs: simulations in all.
        jobs: worker processes.
        work: folder that keeps the studies.

    Returns:
        the JSON document of the search.
    """
    out = work / f"{scenario.replace('/', '-')}-{sampler}-{seed}"
    words = [sys.executable, "-m", "gridtune", "search", scenario, "--runs", str(runs), "--seed", str(seed)]
    words += ["--jobs", str(jobs), "--out", str(out), "--format", "json"]
    words += ["--sampler", sampler] if sampler != "auto" else []
    words += ["--resume"] if out.exists() else []
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def replicated(
    scenario: Scenario,
    configurations: Sequence[Configuration],
    objectives: Sequence[str],
    validation: int,
    pool: Pool,
) -> list[dict[str, list[float]]]:
    """Objectives of configurations by replication, all under the same ones.

    Args:
        scenario: in which they are set.
        configurations: values by path.
        objectives: names of metrics.
        validation: number of replications.
        pool: who runs the simulations.

    Raises:
        SystemExit: one cannot be run.
    """
    found: list[dict[str, list[float]]] = [{} for _ in configurations]
    for outcome in evaluate(scenario, configurations, VALIDATION_SEED, range(validation), pool):
        if outcome.failure is not None:
            raise SystemExit(f"{configurations[outcome.index]}: {outcome.failure}")
        runs = outcome.value
        found[outcome.index] = {name: [run[name].value for run in runs] for name in objectives}
    return found


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scenario", default="federation/small")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=450, help="simulations of each search, in all")
    parser.add_argument("--validation", type=int, default=30, help="new replications of each configuration")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--samplers", nargs="*", default=("auto", "random"))
    parser.add_argument("--work", type=Path, required=True, help="folder that keeps the studies")
    parser.add_argument("--rows", type=Path, required=True, help="file of the measurements")
    chosen = parser.parse_args()
    scenario, pool = load(chosen.scenario), Pool(chosen.jobs)
    assert scenario.spec.search is not None
    objectives = scenario.spec.search.objectives
    known: dict[str, Any] = known_in(chosen.rows, {"objectives": objectives, "papers": {}, "fronts": []})
    try:
        if BASELINE not in known["papers"]:
            named = {BASELINE: {}, **settings_of_papers(scenario)}
            runs = replicated(scenario, list(named.values()), objectives, chosen.validation, pool)
            known["papers"] = dict(zip(named, runs, strict=True))
            save(chosen.rows, known)
        for seed, sampler in product(range(1, chosen.seeds + 1), chosen.samplers):
            if any((row["seed"], row["sampler"]) == (seed, sampler) for row in known["fronts"]):
                continue
            found = searched(chosen.scenario, seed, sampler, chosen.runs, chosen.jobs, chosen.work)
            front = [member["values"] for member in found["front"]]
            runs = replicated(scenario, front, objectives, chosen.validation, pool)
            known["fronts"].append(
                {
                    "seed": seed, "sampler": sampler, "runs": chosen.runs, "front": front, "objectives": runs,
                    "estimated": [member["estimated"] for member in found["front"]],
                    "runs of each": [sum(member[count] for count in RUNS) for member in found["front"]],
                    "tried": found["evaluations"], "excluded": found["infeasible"],
                    "recommended": [
                        [change["path"] for change in one["changes"]] for one in found["recommendations"]
                    ],
                }
            )  # fmt: skip
            save(chosen.rows, known)
    finally:
        pool.close()


def save(path: Path, known: dict[str, Any]) -> None:
    """Keep the measurements, rounded to what they are good for."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(_rounded(known)) + "\n", encoding="utf-8")


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return {name: _rounded(one) for name, one in value.items()} if isinstance(value, dict) else value


if __name__ == "__main__":
    main()
