"""How much a metric says about a setting, and how much is the noise of one run.

    python -m tests.benchmarks.bench_signal --work /tmp/signal SCENARIO…      # runs what is missing
    python -m tests.benchmarks.bench_signal --work /tmp/signal --rows docs/data/signal.json SCENARIO…
    python docs/making/tables.py                                              # shows them in docs/metrics.md

Random configurations of a scenario's search space are run with common random numbers. A metric is taken as
configuration + replication + rest. The signal is the variance of the configurations' effects, the noise that
of the rest, both estimated by the analysis of variance; replication effects are in neither, for all
configurations share them. Their ratio is that of a single run.
"""

from __future__ import annotations

import argparse
import json
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from gridtune.optimize.replication.guards import excess_losses
from gridtune.optimize.samplers.space_filling import RandomPoints
from gridtune.optimize.search_space.space import Space
from gridtune.scenarios.document.scenario import load
from gridtune.scenarios.execution.replicate import Task, metrics_of
from tests.benchmarks.rows import file_of, known_in, rows_of

CONFIGURATIONS, STREAMS, SEED = 160, 3, 1
CANDIDATES = (
    "unhappy_users", "failed_fraction", "unfairness", "unfairness_jain", "unfairness_spread",
    "shortfall_mean", "shortfall_worst", "slowdown_unfairness", "slowdown_jain", "slowdown_spread",
    "slowdown_excess", "slowdown_worst", "completed", "completed_work", "lost_work", "waiting_mean",
    "waiting_p95", "response_mean", "response_p95", "slowdown_mean", "slowdown_geometric", "slowdown_p95",
    "slowdown_mean_log", "slowdown_worst_log",
)  # fmt: skip
BASELINE = -1  # number of the baseline


def measure(name: str, work: Path, configurations: int) -> None:
    """Run what is missing of a scenario; every finished run is kept at once."""
    scenario = load(name)
    path = file_of(work, name)
    known = {(row["configuration"], row["stream"]) for row in rows_of(path)}
    sampler = RandomPoints(Space.of(scenario, []), (), SEED, CONFIGURATIONS)
    with path.open("a", encoding="utf-8") as file:
        for number, configuration in [(BASELINE, {}), *enumerate(sampler.ask()[:configurations])]:
            for stream in range(STREAMS):
                if (number, stream) in known:
                    continue
                metrics = metrics_of(Task(scenario, configuration, SEED, stream))
                values = {key: one.value for key, one in metrics.items() if isfinite(one.value)}
                file.write(json.dumps({"configuration": number, "stream": stream, "metrics": values}) + "\n")
                file.flush()


def variances(values: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Between configurations, and of one run (but for effects of replications that all share).

    Args:
        values: configurations x replications.
    """
    configurations, streams = values.shape
    rest = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0) + values.mean()
    noise = float((rest**2).sum()) / ((configurations - 1) * (streams - 1))
    between = streams * float(values.mean(axis=1).var(ddof=1))
    return max(0.0, (between - noise) / streams), noise


def ratio(values: np.ndarray[Any, Any]) -> float:
    """Signal over noise of one run, configurations x replications; see the module."""
    signal, noise = variances(values)
    return signal / noise if noise > 0 else float("inf") if signal else 0.0


def summed_up(name: str, work: Path) -> dict[str, Any]:
    """The ratios of a scenario's metrics over the configurations that are complete."""
    table: dict[int, dict[int, dict[str, float]]] = {}
    for row in rows_of(file_of(work, name)):
        table.setdefault(row["configuration"], {})[row["stream"]] = row["metrics"]
    baseline = table.pop(BASELINE)
    complete = [runs for runs in table.values() if len(runs) == STREAMS]
    spec = load(name).spec.search
    assert spec is not None
    found = {}
    for metric in dict.fromkeys((*spec.objectives, *CANDIDATES, *_common(complete))):
        rows = [[runs[k][metric] for k in range(STREAMS)] for runs in complete if _has(runs, metric)]
        if len(rows) > 10:
            value = ratio(np.array(rows))
            found[metric] = {
                "ratio": round(value, 3) if isfinite(value) else None,
                "configurations": len(rows),
            }
    allowed = [runs for runs in complete if _loss(runs, baseline) <= 0]
    return {
        "configurations": len(complete),
        "streams": STREAMS,
        "feasible": round(len(allowed) / len(complete), 3),
        "objectives": spec.objectives,
        "metrics": found,
    }


def _loss(runs: dict[int, dict[str, float]], baseline: dict[int, dict[str, float]]) -> float:
    """What a configuration loses beyond the baseline, as a search sees it: of all work or a class."""
    losses = [excess_losses(runs[k], baseline[k]) for k in range(STREAMS)]
    return max(sum(one[name] for one in losses) / STREAMS for name in losses[0])


def _has(runs: dict[int, dict[str, float]], metric: str) -> bool:
    return all(metric in runs[k] for k in range(STREAMS))


def _common(complete: list[dict[int, dict[str, float]]]) -> list[str]:
    return list(complete[0][0]) if complete else []


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenarios", nargs="*")
    parser.add_argument("--work", type=Path, help="folder of the single runs")
    parser.add_argument("--configurations", type=int, default=CONFIGURATIONS)
    parser.add_argument("--rows", type=Path, help="JSON file of the ratios")
    chosen = parser.parse_args()
    chosen.work.mkdir(parents=True, exist_ok=True)
    for name in chosen.scenarios:
        if chosen.rows is None:
            measure(name, chosen.work, chosen.configurations)
            continue
        rows = known_in(chosen.rows, {})
        rows[name] = summed_up(name, chosen.work)
        chosen.rows.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
