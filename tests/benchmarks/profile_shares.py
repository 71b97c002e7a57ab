"""Where the CPU time of runs goes: shares of the code's rooms, and how many calls it is.

    python -m tests.benchmarks.profile_shares > docs/data/profile_shares.json
    python docs/making/tables.py            # shows them in docs/performance.md

One run of each case under Python's profiler, which makes calls dearer than they are: shares are rough. What
is built in counts where it is called, but for the heap, which is the agenda's.
"""

from __future__ import annotations

import cProfile
import json
import pstats
import sys
from collections import Counter
from typing import Any

from gridtune.scenarios.document.scenario import Scenario, load
from gridtune.scenarios.simulation.simulate import simulate
from tests.benchmarks.answers import KTH

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    name: (name, {})
    for name in (
        "federation/small", "deadline/search", "cigri/search", "dirac/search", "egee/search",
        "diet/scalability",
    )
} | {
    "KTH-SP2, EASY": ("batch/replay", {"workload.log.trace": str(KTH), "site.cluster.policy": "easy"}),
    "grid/lcg-day, pilots": ("grid/lcg-day", {"middleware.kind": "pilot"}),
}  # fmt: skip
HEAP = ("heappop", "heappush", "heapreplace", "heapify")
ROOMS = {
    "agenda": ("/model/agenda.py", "/heapq.py"),
    "jobs and record": ("/model/job.py", "/model/record.py"),
    "workloads": ("/workloads/", "/fields/", "/systems/", "/agents/batch/submitter.py"),
    "agents": ("/agents/",),
    "metrics": ("/model/metrics/",),
    "policies and state": ("/model/",),
}


def scenario_of(case: str) -> Scenario:
    """The scenario of a case; see `CASES`."""
    name, values = CASES[case]
    return load(name).override(values)


def shares_of(case: str) -> dict[str, Any]:
    """Share of each room in the time of a run, and its calls."""
    scenario = scenario_of(case)
    simulate(scenario)  # imports and files are read
    profiler = cProfile.Profile()
    profiler.enable()
    run = simulate(scenario)
    profiler.disable()
    stats = pstats.Stats(profiler)
    spent: Counter[str] = Counter()
    functions: Counter[str] = Counter()
    for (file, _, name), (_, _, own, _, callers) in stats.stats.items():  # type: ignore[attr-defined]
        if file == "~" and not any(heap in name for heap in HEAP):
            for (caller, _, _), (_, _, part, _) in callers.items():
                spent[room_of(caller)] += part
            continue
        where = "agenda" if file == "~" else room_of(file)
        spent[where] += own
        functions[f"{file}:{name}"] += own
    whole = sum(spent.values())
    events = int(run.metrics["events"].value)
    return {
        "case": case,
        "events": events,
        "calls_per_event": stats.total_calls / events,  # type: ignore[attr-defined]
        "shares": {room: spent[room] / whole for room in (*ROOMS, "other")},
        "largest": max(functions.values()) / whole,
    }


def room_of(file: str) -> str:
    """The room that a file is in."""
    return next((room for room, parts in ROOMS.items() if any(part in file for part in parts)), "other")


def main() -> None:
    """Profile the cases whose files are found, one after the other."""
    rows = [shares_of(case) for case in sys.argv[1:] or CASES]
    print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
