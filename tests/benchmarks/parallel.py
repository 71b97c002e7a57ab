"""Whether every way to bring tasks to sites completes the parallel jobs of a real log.

    python -m tests.benchmarks.parallel --work /tmp/parallel              # runs what is missing
    python -m tests.benchmarks.parallel --work /tmp/parallel --rows docs/data/parallel.json
    python docs/making/tables.py                                          # shows them in docs/systems

Jobs that fit somewhere, and those of them that were completed, are counted one by one: the simulator's own
metrics of lost work are not asked.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from gridtune.scenarios.document.scenario import load
from gridtune.scenarios.simulation.simulate import simulate
from tests.benchmarks.rows import file_of, rows_of

WAYS: dict[str, dict[str, Any]] = {
    "push": {"middleware.kind": "push"},
    "pull": {"middleware.kind": "pull"},
    "pilots, run-once": {"middleware.kind": "pilot", "middleware.pilot_mode": "run-once"},
    "pilots, filling": {"middleware.kind": "pilot", "middleware.pilot_mode": "filling"},
}
WIDEST = {"grid/kth": 100, "grid/kth-vres": 40}  # processors that one job can get
METRICS = ("messages_per_task", "messages", "pilots", "pilot_idle")


def measured(name: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Jobs that fit, jobs completed of these, their mean response in s, and metrics of one run."""
    run = simulate(load(name).override(settings), 1)
    fitting = [job for job in run.record.jobs if job.processors <= WIDEST[name]]
    responses = [job.end - job.submit for job in fitting if job.state == "done"]
    return {
        "settings": settings,
        "fitting": len(fitting),
        "done": len(responses),
        "response": sum(responses) / max(1, len(responses)),
        "metrics": {one: run.metrics[one].value for one in METRICS if one in run.metrics},
    }


def measure(work: Path) -> None:
    """Run what is missing."""
    for name in WIDEST:
        path = file_of(work, name)
        for way, settings in WAYS.items():
            if way not in {row["way"] for row in rows_of(path)}:
                with path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"way": way, **measured(name, settings)}) + "\n")


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="folder of the single runs")
    parser.add_argument("--rows", type=Path, help="JSON file of the ways")
    chosen = parser.parse_args()
    chosen.work.mkdir(parents=True, exist_ok=True)
    if chosen.rows is None:
        measure(chosen.work)
    else:
        ways = {name: list(rows_of(file_of(chosen.work, name))) for name in WIDEST}
        chosen.rows.write_text(json.dumps(ways, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
