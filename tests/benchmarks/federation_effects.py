"""Effects in federations that cross the borders between their systems, over ten replications.

python -m tests.benchmarks.federation_effects --rows docs/data/federation_effects.json
python docs/making/tables.py                  # shows them in docs/federation-evidence.md
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from gridtune.optimize.search_space.space import Configuration
from gridtune.scenarios.document.scenario import Scenario, load
from gridtune.scenarios.execution.replicate import Task, metrics_of
from tests.benchmarks.rows import known_in

SEED, REPLICATIONS = 1, 10
CACHED = {"workload.meta.data.files": 40, "workload.meta.data.popularity": 0.8, "parts.faults": True}
SETTINGS: dict[str, list[Configuration]] = {
    "kinds": [{"middleware.kind": kind} for kind in ("push", "pull", "pilot")],
    "shares": [{"site.orsay.vres.sdj": share} for share in (0.1, 0.2, 0.4, 0.7)],
    "references": [{"harvester.controller.reference": number} for number in (16, 24, 32, 64)],
    "lent": [{}, {"parts.gridrpc": False}],
    "caches": [
        {"site.lyon.cache": size, "site.nancy.cache": size, **CACHED} for size in (1e8, 1e9, 4e9, 1.6e10)
    ],
}
SHOWN = (
    "killed", "best_effort_work", "meta_response_mean", "sdj_failed", "unhappy_users.local",
    "premium_slowdown", "failed_fraction", "unfairness_jain", "cache_hits", "cache_misses", "staging_mean",
)  # fmt: skip


def measure(scenario: Scenario, configuration: Configuration) -> dict[str, list[float]]:
    """Each metric that is shown, by replication."""
    runs = [metrics_of(Task(scenario, configuration, SEED, k)) for k in range(REPLICATIONS)]
    return {name: [run[name].value for run in runs] for name in SHOWN if all(name in run for run in runs)}


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=Path, required=True)
    rows = parser.parse_args().rows
    known: dict[str, Any] = known_in(rows, {})
    for effect, configurations in SETTINGS.items():
        if effect not in known:
            scenario = load("federation/small")
            known[effect] = [{"setting": one, "metrics": measure(scenario, one)} for one in configurations]
            rows.write_text(json.dumps(known) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
