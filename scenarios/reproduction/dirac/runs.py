"""Runs of RR-5576's experiments, and what is read off them."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridtune.scenarios.document.scenario import load
from gridtune.scenarios.results.run import Run
from gridtune.scenarios.simulation.simulate import simulate

DEDICATED, SHARED = "dirac/dedicated", "dirac/shared"
PUSH, PULL = "push", "pull"

STRATEGIES: dict[str, dict[str, Any]] = {
    PUSH: {"middleware.kind": "push", "middleware.update_period": 0.0},
    PULL: {"middleware.kind": "pull"},
    "run-once": {"middleware.kind": "pilot", "middleware.pilot_mode": "run-once"},
    "filling": {"middleware.kind": "pilot", "middleware.pilot_mode": "filling"},
}

# s; the last but one lies beyond every arrival, with the last no site ever reports.
PERIODS = (0.0, 15.0, 30.0, 45.0, 60.0, 80.0, 95.0, 120.0, 180.0, 300.0, 600.0, 1200.0, 3000.0, 40000.0, inf)

QUICK_PERIODS = (0.0, 30.0, 45.0, 60.0, 120.0, 180.0, 600.0, 3000.0, 40000.0)

LOADS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)

# Service times of the head node: of the cluster that is modelled, and of two models of it.
SERVICES: dict[str, dict[str, Any]] = {
    "none": {"site.cluster.mu_rec": 0.0, "site.cluster.mu_send": 0.0},
    "constant": {},
}
REALITY = {
    "site.cluster.mu_rec": {"law": "uniform", "low": 1.875, "high": 5.625},
    "site.cluster.mu_send": {"law": "uniform", "low": 1.0, "high": 3.0},
}

BIN = 500.0  # s; in which queries are counted


SAMPLED = {"record.sample_period": 20.0, "record.message_bin": BIN}


def run_strategy(scenario: str, strategy: str, seed: int) -> Run:
    """One run of a strategy, with signals."""
    return simulate(load(scenario).override(STRATEGIES[strategy] | SAMPLED), seed)


def settled(run: Run) -> dict[str, float]:
    """Metrics of a run, and how busy and how even it was.

    Further values: `saturated` (s during which 60 tasks ran), `most_queued` at all sites together,
    `spread` (standard deviation over time of tasks queued at sites while 60 run; nan for less than two
    samples) and `unevenness` of the match-maker's queries over time.
    """
    made = {name: metric.value for name, metric in run.metrics.items()}
    queued, running = (_at_sites(run, suffix) for suffix in (".waiting", ".running"))
    full = [queued[time] for time, count in running.items() if count >= 60]
    asked = queries(run, "query", "request")
    return made | {
        "saturated": time_at(run, 60),
        "most_queued": max(queued.values()),
        "spread": float(np.std(full)) if len(full) > 1 else nan,
        "unevenness": float(asked.std() / asked.mean()) if asked.any() else nan,
    }


def _at_sites(run: Run, suffix: str) -> dict[float, float]:
    """A signal of all sites together, by time."""
    made: dict[float, float] = {}
    for time, name, value in run.record.signals:
        if name.startswith("site-") and name.endswith(suffix):
            made[time] = made.get(time, 0.0) + value
    return made


def time_at(run: Run, running: int) -> float:
    """Seconds during which at least so many tasks ran; exact, where samples would miss short peaks."""
    changes = sorted(change for job in run.record.jobs for change in ((job.start, 1), (job.end, -1)))
    count, total, since = 0, 0.0, 0.0
    for time, change in changes:
        if count >= running:
            total += time - since
        count, since = count + change, time
    return total


def service_runs(seed: int, replications: int) -> dict[str, list[Run]]:
    """Runs of the small cluster: as it is, and under each model of its service times."""
    scenario = load("dirac/validation-cluster")
    return {
        name: [simulate(scenario.override(values), seed, k) for k in range(replications)]
        for name, values in (("real", REALITY), *SERVICES.items())
    }


def deviations(runs: dict[str, list[Run]], model: str) -> list[list[float]]:
    """Relative deviation of each task's response time from the real one, for each run."""
    return [
        [
            abs(job.response_time / real.response_time - 1)
            for job, real in zip(run.record.jobs, truth.record.jobs, strict=True)
        ]
        for run, truth in zip(runs[model], runs["real"], strict=True)
    ]


def queries(run: Run, *kinds: str) -> NDArray[np.float64]:
    """Queries to the match-maker in each bin of time.

    Args:
        run: with messages counted in bins.
        kinds: `query` for those of site agents, `request` for those of pilots.
    """
    counts: dict[int, int] = {}
    for (_, kind, interval), count in run.record.messages.items():
        if kind in kinds:
            counts[interval] = counts.get(interval, 0) + count
    made = np.zeros(max(counts, default=0) + 1)
    for interval, count in counts.items():
        made[interval] = count
    return made
