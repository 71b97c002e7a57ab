"""Whether every way to bring tasks to sites completes the parallel jobs of a real log.

    python -m tests.benchmarks.parallel --work /tmp/parallel              # runs what is missing
    python -m tests.benchmarks.parallel --work /tmp/parallel --search 24  # and a search over the ways
    python -m tests.benchmarks.parallel --work /tmp/parallel --rows docs/data/parallel.json
    python docs/making/tables.py                                          # shows them in docs/systems

Jobs that fit somewhere, and those of them that were completed, are counted one by one: the simulator's own
metrics of lost work are not asked. Each configuration of the front of the search is run again.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from gridtune.optimize.front.front import front
from gridtune.optimize.search import search
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
SEARCHED = "grid/kth"
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


def measure(work: Path, budget: int) -> None:
    """Run what is missing: the ways, then the search and its front."""
    for name in WIDEST:
        for way, settings in WAYS.items():
            _keep(work, name, way, settings)
    if budget:
        out = work / "search"
        options: dict[str, Any] = {"budget": budget, "seed": 1, "out": out, "resume": out.exists()}
        members = front(search(load(SEARCHED), **options).archive).members
        for member in members:
            _keep(work, "front", f"evaluation {member.evaluation.number}", dict(member.evaluation.values))
        (work / "members.json").write_text(
            json.dumps([f"evaluation {member.evaluation.number}" for member in members]), encoding="utf-8"
        )


def _keep(work: Path, table: str, way: str, settings: dict[str, Any]) -> None:
    path = file_of(work, table)
    if way not in {row["way"] for row in rows_of(path)}:
        made = measured(SEARCHED if table == "front" else table, settings)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"way": way, **made}) + "\n")


def summed_up(work: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The rows of the ways by scenario, and those of the members of the front."""
    ways = {name: list(rows_of(file_of(work, name))) for name in WIDEST}
    members = json.loads((work / "members.json").read_text(encoding="utf-8"))
    return ways, [row for row in rows_of(file_of(work, "front")) if row["way"] in members]


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="folder of the single runs")
    parser.add_argument("--search", type=int, default=0, help="budget of a search; 0 for none")
    parser.add_argument("--rows", type=Path, help="JSON file of the ways; the front goes beside it")
    chosen = parser.parse_args()
    chosen.work.mkdir(parents=True, exist_ok=True)
    if chosen.rows is None:
        measure(chosen.work, chosen.search)
    else:
        ways, members = summed_up(chosen.work)
        for path, rows in (
            (chosen.rows, ways),
            (chosen.rows.with_stem(f"{chosen.rows.stem}-front"), members),
        ):
            path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
