"""What searches of shipped scenarios answer, and whether their recommendations hold on seeds they never used.

    python -m tests.benchmarks.answers --work /tmp/answers       # goes on where it was
    python docs/making/tables.py                                 # shows it in docs/answers.md

Each search runs as on a command line of 80 columns. Of each recommendation, of the configuration that it was
made from and of the baseline 60 new replications are run, under the same random numbers. They show whether
gains and harms are as printed, and how much harm a check of fewer replications tells.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from math import inf
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

import gridtune as gt
from gridtune.model.metrics.registry import Direction, definition
from gridtune.optimize.front.changes import change
from gridtune.optimize.recommend.harm import harms, harms_of_replay, ratio
from gridtune.optimize.records.difference import difference
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.replication.guards import OF_USER, delayed
from gridtune.optimize.runs.evaluator import with_users
from gridtune.scenarios.execution.replicate import Task
from gridtune.scenarios.tables.search import Starvation
from tests.benchmarks.rows import known_in, placeless

DATA = Path(__file__).parents[2] / "docs/data/answers.json"
KTH = Path(__file__).parents[3] / "shared/data/KTH-SP2-1996-2.1-cln.swf.gz"
SEARCHES = {
    "federation/small": ["--budget", "300"],
    "dirac/search": ["--budget", "100"],
    "egee/search": ["--budget", "100"],
    "cigri/search": ["--budget", "100"],
    "deadline/search": ["--budget", "100"],
    "diet/day-irregular": ["--budget", "100"],
    "batch/replay": ["--runs", "300", "--set", "workload.log.last=2000"],
}
NEW_SEED, REPLICATIONS = 2_000_003, 60
HALF, SURE = 1.5, 0.05  # times worse; p-value of the paired t-test
COUNTED = ("true", "told", "much", "much told", "all told", "wrong")
CHECKS, DRAWS = (6, 12), 100  # replications that confirm a recommendation; how often they are drawn


def called(words: list[str], folder: Path) -> str:
    """What a command prints at 80 columns.

    Raises:
        CalledProcessError: it fails.
    """
    done = subprocess.run(
        [sys.executable, "-m", "gridtune", *words],
        cwd=folder,
        env={**os.environ, "COLUMNS": "80"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


def measured(scenario: str, seed: int, work: Path) -> dict[str, Any]:
    """One search, its answer, and what its recommendations give on new seeds.

    Args:
        scenario: one of `SEARCHES`.
        seed: of the search.
        work: folder for its results.
    """
    work.mkdir(parents=True, exist_ok=True)
    words = SEARCHES[scenario]
    trace = ["--set", f"workload.log.trace={KTH}"] if scenario == "batch/replay" else []
    text = called(["search", scenario, *words, *trace, "--seed", str(seed), "--out", "found"], work)
    found = json.loads((work / "found/front.json").read_text(encoding="utf-8"))
    objectives = {one["name"]: one["direction"] for one in found["objectives"]}
    row = {"search": scenario, "seed": seed, "words": words, "text": placeless(text), "recommendations": []}
    start = runs_of(work, "baseline", []) if found["recommendations"] else []
    baseline = values(start, start)
    for one in found["recommendations"]:
        sparse, full = (values(runs_of(work, one["letter"], more), start) for more in ([], ["--full"]))
        row["recommendations"].append(
            {
                "letter": one["letter"],
                "changes": len(one["changes"]),
                "changes in full": len(one["changes"]) + len(one["without_effect"]),
                **held(objectives, baseline, sparse, full),
                **repeated(one, objectives, baseline, sparse),
                "checks": [checked(count, objectives, baseline, sparse) for count in CHECKS],
            }
        )
    return row


def runs_of(work: Path, which: str, more: list[str]) -> list[dict[str, float]]:
    """Metrics of a configuration in the new replications, and the wait of each user."""
    path = work / f"{which}{'-full' * bool(more)}.toml"
    path.write_text(called(["front", "found", "--export", which, *more], work), encoding="utf-8")
    tasks = [Task(gt.load(path), {}, NEW_SEED, k) for k in range(REPLICATIONS)]
    return [{name: metric.value for name, metric in with_users(task).items()} for task in tasks]


def values(runs: list[dict[str, float]], baseline: list[dict[str, float]]) -> dict[str, list[float]]:
    """Each metric by replication; of waits of users how many are delayed against the baseline."""
    told = [
        {name: value for name, value in run.items() if not name.startswith(OF_USER)}
        | delayed(run, start, Starvation())
        for run, start in zip(runs, baseline, strict=True)
    ]
    names = [name for name in told[0] if all(name in run for run in told)] if told else []
    return {name: [run[name] for run in told] for name in names}


def held(
    objectives: dict[str, Direction],
    baseline: dict[str, list[float]],
    sparse: dict[str, list[float]],
    full: dict[str, list[float]],
) -> dict[str, Any]:
    """Shares of significant gains that few changes keep, and what these make worse."""
    kept, lost = {}, []
    for name, direction in objectives.items():
        objective = Objective(name, direction, "")
        gain, left_out = (
            change(objective, start[name], to[name]) for start, to in ((baseline, full), (full, sparse))
        )
        if gain.beyond_noise and gain.better:
            kept[name] = (
                change(objective, baseline[name], sparse[name]).difference.mean / gain.difference.mean
            )
        elif left_out.beyond_noise and not left_out.better:
            lost.append(name)
    return {"kept": kept, "worse": lost}


def repeated(
    printed: dict[str, Any],
    objectives: dict[str, Direction],
    baseline: dict[str, list[float]],
    sparse: dict[str, list[float]],
) -> dict[str, Any]:
    """Printed gains and harms of a recommendation in the new replications.

    Returns:
        `again`: of each significant gain, the new over the printed one. `harms`: how many were printed of the
        runs that confirmed it; `harmed`: how many of these are worse by more than a tenth again; `unsaid`:
        metrics worse by more than half in the new replications (see `truly_worse`), printed nowhere.
    """
    again = {}
    for name, direction in objectives.items():
        known = printed["objectives"][name]["difference"]
        one = change(Objective(name, direction, ""), baseline[name], sparse[name])
        sign = 1 if direction == "maximize" else -1
        if known["low"] is not None and known["low"] * known["high"] > 0 and sign * known["mean"] > 0:
            again[name] = one.difference.mean / known["mean"]
    told = {one["metric"] for one in printed["harms"] if not one["replay"] and one["part"] is None}
    means = [({name: fmean(baseline[name])}, {name: fmean(sparse[name])}) for name in told]
    harmed = sum(bool(harms_of_replay(before, after)) for before, after in means)
    said = {values_of(one["metric"], baseline, sparse) for one in printed["harms"]}
    new = {values for values, times in truly_worse(objectives, baseline, sparse).items() if times > HALF}
    names = {values_of(name, baseline, sparse): name for name in reversed(baseline)}
    unsaid = sorted(names[one] for one in new - said)
    return {"again": again, "harms": len(told), "harmed": harmed, "unsaid": unsaid}


def checked(
    count: int,
    objectives: dict[str, Direction],
    baseline: dict[str, list[float]],
    sparse: dict[str, list[float]],
) -> dict[str, int]:
    """What checks of `count` of the new replications, drawn at random, tell of what is worse in all of them.

    Returns:
        Over all draws from a third of the replications: `true`: metrics that are worse by over a tenth in the
        others (see `truly_worse`); `told` of them; `much`: those worse by over half; `much told` of them;
        `all told`: what is told; `wrong` of it: what is not worse by a twentieth there.
    """
    last = range(REPLICATIONS // 3, REPLICATIONS)
    first, rest = ([chosen(side, part) for side in (baseline, sparse)] for part in (range(last[0]), last))
    true = truly_worse(objectives, *rest)
    much = {same for same, times in true.items() if times > HALF}
    draw = np.random.default_rng(count)
    found = Counter[str]()
    for _ in range(DRAWS):
        some = draw.choice(last[0], count, replace=False).tolist()
        told = {one.metric for one in harms(*(chosen(side, some) for side in first), objectives)}
        wrong = sum(worse(name, rest[0][name], rest[1][name]) < 0.05 for name in told)
        known = {values_of(name, *rest) for name in told}
        counts = (len(true), len(known & {*true}), len(much), len(known & much), len(told), wrong)
        found.update(dict(zip(COUNTED, counts, strict=True)))
    return {"replications": count, **found}


def chosen(side: dict[str, list[float]], replications: Iterable[int]) -> dict[str, list[float]]:
    """The values of some replications."""
    which = list(replications)
    return {name: [values[k] for k in which] for name, values in side.items()}


def values_of(name: str, *sides: dict[str, list[float]]) -> tuple[str, ...]:
    """What metrics of two names share if they are the same."""
    return tuple(f"{value:.9g}" for side in sides for value in side[name])


def truly_worse(
    objectives: dict[str, Direction], baseline: dict[str, list[float]], sparse: dict[str, list[float]]
) -> dict[tuple[str, ...], float]:
    """How many times worse each metric is, by its values, if by over a tenth and by a plain paired t-test."""
    means = ({name: fmean(values) for name, values in side.items()} for side in (baseline, sparse))
    found = {}
    for one in harms_of_replay(*means):
        doubt = difference(sparse[one.metric], baseline[one.metric]).p_value
        if one.metric not in objectives and doubt is not None and doubt < SURE:
            found[values_of(one.metric, baseline, sparse)] = ratio(one)
    return found


def worse(name: str, before: list[float], after: list[float]) -> float:
    """By how much of the baseline's mean a metric is worse."""
    meaning, start = definition(name), fmean(before)
    gap = fmean(after) - start
    way = -1 if meaning is not None and meaning.direction == "maximize" else 1
    return way * gap / abs(start) if start else way * gap * inf


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="folder for the searches")
    parser.add_argument("--rows", type=Path, default=DATA, help="file of the measurements")
    parser.add_argument("--seeds", type=int, default=2)
    asked = parser.parse_args()
    rows: list[dict[str, Any]] = known_in(asked.rows, [])
    known = {(row["search"], row["seed"]) for row in rows}
    for seed in range(1, asked.seeds + 1):
        for scenario in SEARCHES:
            if (scenario, seed) not in known:
                rows.append(measured(scenario, seed, asked.work / f"{scenario.replace('/', '-')}-{seed}"))
                asked.rows.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
