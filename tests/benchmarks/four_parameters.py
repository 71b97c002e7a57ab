"""What each of the four parameters trades, in the federation and in the scenario of its own paper.

    python -m tests.benchmarks.four_parameters --work /tmp/four --seconds 500   # runs what is missing
    python -m tests.benchmarks.four_parameters --work /tmp/four --show          # data and pictures in docs
    python docs/making/tables.py                                 # shows the table in docs/four-parameters.md

All values of a parameter run under the same replications (common random numbers), so differences are taken
run by run. A difference counts beyond three of its standard errors.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple

import numpy as np

from gridtune.model.metrics.registry import METRICS
from gridtune.scenarios.document.scenario import load
from gridtune.scenarios.plots.sweeps import draw_sweep
from gridtune.scenarios.simulation.simulate import simulate
from tests.benchmarks.rows import rows_of

SEED, VALUES, SURE = 1, 6, 3.0
REPLICATIONS, FEW = 30, 10  # in the federation, and in the scenarios of the papers
OBJECTIVES = ("unhappy_users", "unfairness_jain", "completed_work")
DOCS = Path(__file__).parents[2] / "docs"
Runs = dict[float, dict[str, list[float]]]  # of each value, of each metric, by replication


class Sweep(NamedTuple):
    """A parameter in a scenario.

    Attributes:
        parameter: its name on the page.
        scenario: where it is varied.
        path: of the parameter.
        values: in their order.
        setting: what else is set.
        replications: of each value.
    """

    parameter: str
    scenario: str
    path: str
    values: Sequence[float]
    setting: dict[str, Any]
    replications: int = REPLICATIONS


def _log(low: float, high: float) -> list[float]:
    return [float(value) for value in np.geomspace(low, high, VALUES)]


PULL = {"middleware.kind": "pull"}
USERS = {"horizon": 12000, "workload.meta.users": 50, "workload.meta.deadline": 4000}
PREMIUM = {
    "harvester.controller.sensor": "load", "harvester.controller.reference": 4,
    "workload.premium.users": 40, "workload.premium.deadline": 1800,
}  # fmt: skip
EPSILON, PERIOD, GAIN = (
    "middleware.availability_epsilon",
    "middleware.update_period",
    "harvester.controller.kp",
)
SHARES = [round(0.1 * k, 1) for k in range(1, 8)]
SMALL = "federation/small"
SWEEPS = {  # by the name of their pictures
    "federation-epsilon": Sweep("availability epsilon", SMALL, EPSILON, _log(0.05, 2.0), PULL),
    "federation-period": Sweep("update period", SMALL, PERIOD, _log(5.0, 3600.0), {}),
    "federation-share": Sweep("share of virtual reservations", SMALL, "site.orsay.vres.sdj", SHARES, {}),
    "federation-gain": Sweep("gain of a controller", SMALL, GAIN, _log(0.02, 5.0), {}),
    "epsilon": Sweep("availability epsilon", "dirac/shared", EPSILON, _log(0.05, 2.0), PULL | USERS, FEW),
    "period": Sweep(
        "update period", "dirac/shared", PERIOD, _log(5.0, 3600.0), {"middleware.kind": "push"} | USERS, FEW
    ),
    "share": Sweep("share of virtual reservations", "egee/search", "site.lal.vres.sdj", SHARES, {}, FEW),
    "gain": Sweep("gain of a controller", "cigri/search", GAIN, _log(0.02, 5.0), PREMIUM, FEW),
}


def measure(work: Path, seconds: float, only: Sequence[str]) -> None:
    """Run what is missing, replication by replication over all sweeps, until the time is up.

    Args:
        work: folder of the rows.
        seconds: after which no run begins.
        only: names of sweeps; all if none is given.
    """
    began = time.monotonic()
    work.mkdir(parents=True, exist_ok=True)
    known = {(row["sweep"], row["value"], row["replication"]) for row in _rows(work)}
    with (work / "runs.jsonl").open("a", encoding="utf-8") as file:
        for replication in range(REPLICATIONS):
            for name, sweep in SWEEPS.items():
                if replication >= sweep.replications or (only and name not in only):
                    continue
                for value in sweep.values:
                    if (name, value, replication) in known:
                        continue
                    if time.monotonic() - began > seconds:
                        return
                    scenario = load(sweep.scenario).override(sweep.setting | {sweep.path: value})
                    metrics = simulate(scenario, SEED, replication).metrics
                    found = {key: metrics[key].value for key in OBJECTIVES}
                    row = {"sweep": name, "value": value, "replication": replication, "metrics": found}
                    file.write(json.dumps(row) + "\n")
                    file.flush()


def _rows(work: Path) -> Iterator[dict[str, Any]]:
    return rows_of(work / "runs.jsonl")


def better(metric: str, first: Sequence[float], second: Sequence[float]) -> float:
    """By how many standard errors the first values of a metric are better than the second, run by run."""
    sign = 1.0 if METRICS[metric].direction == "maximize" else -1.0
    differences = [sign * (a - b) for a, b in zip(first, second, strict=True)]
    error = stdev(differences) / sqrt(len(differences))
    return fmean(differences) / error if error else 0.0


def optima(values: Sequence[float], runs: Runs) -> dict[str, dict[str, float]]:
    """Of each objective the best value, if inside the range and significantly better than both ends.

    Args:
        values: of the parameter, in their order.
        runs: of each value.

    Returns:
        by objective the value, and by how many standard errors it is better than the nearer end.
    """
    found = {}
    for metric in OBJECTIVES:
        sign = 1.0 if METRICS[metric].direction == "maximize" else -1.0
        best = max(values, key=lambda value: sign * fmean(runs[value][metric]))
        ends = values[0], values[-1]
        if best in ends:
            continue
        margin = min(better(metric, runs[best][metric], runs[end][metric]) for end in ends)
        if margin > SURE:
            found[metric] = {"value": best, "margin": margin}
    return found


def opposed(values: Sequence[float], runs: Runs) -> list[dict[str, Any]]:
    """Pairs of objectives of which each significantly prefers another value, the surest first."""
    found = []
    for one, other in combinations(OBJECTIVES, 2):
        made = [
            {
                "objectives": [one, other],
                "values": [a, b],
                "margins": [
                    better(one, runs[a][one], runs[b][one]),
                    better(other, runs[b][other], runs[a][other]),
                ],
            }
            for a, b in permutations(values, 2)
        ]
        surest = max(made, key=lambda pair: min(pair["margins"]))
        if min(surest["margins"]) > SURE:
            found.append(surest)
    return sorted(found, key=lambda pair: -min(pair["margins"]))


def runs_of(work: Path) -> dict[str, Runs]:
    """What has been run of each sweep, under the replications that all of its values have."""
    table: dict[str, dict[float, dict[int, dict[str, float]]]] = {}
    for row in _rows(work):
        table.setdefault(row["sweep"], {}).setdefault(row["value"], {})[row["replication"]] = row["metrics"]
    found = {}
    for name, sweep in SWEEPS.items():
        made = table.get(name, {})
        each = [set(made.get(value, ())) for value in sweep.values]
        common = sorted(set.intersection(*each))
        if len(common) > 1:
            found[name] = {
                value: {metric: [made[value][k][metric] for k in common] for metric in OBJECTIVES}
                for value in sweep.values
            }
    return found


def summary(name: str, runs: Runs) -> dict[str, Any]:
    """Means, and standard errors of differences to the first value, and what the parameter trades."""
    sweep, first = SWEEPS[name], runs[SWEEPS[name].values[0]]
    return {
        "parameter": sweep.parameter,
        "scenario": sweep.scenario,
        "path": sweep.path,
        "replications": len(first[OBJECTIVES[0]]),
        "values": list(sweep.values),
        "means": {metric: [fmean(runs[value][metric]) for value in sweep.values] for metric in OBJECTIVES},
        "errors_to_first": {
            metric: [_error(runs[value][metric], first[metric]) for value in sweep.values]
            for metric in OBJECTIVES
        },
        "optima": optima(sweep.values, runs),
        "opposed": opposed(sweep.values, runs),
    }


def _error(values: Sequence[float], others: Sequence[float]) -> float:
    differences = [a - b for a, b in zip(values, others, strict=True)]
    return stdev(differences) / sqrt(len(differences))


def draw(name: str, runs: Runs, path: Path) -> None:
    """The picture that `gridtune sweep --plot` draws of these runs."""
    configurations = [
        {
            "values": {SWEEPS[name].path: value},
            "metrics": {
                metric: {"mean": fmean(made), "values": made, "unit": METRICS[metric].unit}
                for metric, made in runs[value].items()
            },
        }
        for value in SWEEPS[name].values
    ]
    draw_sweep(configurations, OBJECTIVES).savefig(path, dpi=80)


def show(work: Path) -> None:
    """Write the data and the pictures; of sweeps without runs what was known stays."""
    path = DOCS / "data" / "four_parameters.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for name, runs in runs_of(work).items():
        known[name] = summary(name, runs)
        draw(name, runs, DOCS / "figures" / f"{name}.png")
    data = {name: _rounded(known[name]) for name in SWEEPS if name in known}
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return {key: _rounded(one) for key, one in value.items()} if isinstance(value, dict) else value


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--work", type=Path, required=True, help="folder of the single runs")
    parser.add_argument("--seconds", type=float, default=500.0)
    parser.add_argument("--sweep", action="append", default=[], choices=SWEEPS)
    parser.add_argument("--show", action="store_true")
    chosen = parser.parse_args()
    if chosen.show:
        show(chosen.work)
    else:
        measure(chosen.work, chosen.seconds, chosen.sweep)


if __name__ == "__main__":
    main()
