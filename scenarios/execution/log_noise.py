"""Noise for searches over logs: replications that differ, and a part of the log to validate on."""

from __future__ import annotations

from typing import Any

from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.results.amounts import counted
from gridtune.scenarios.workloads.trace_jobs import TraceJobs

ENOUGH = 8  # weeks of a log from which half of them can be drawn


def with_noise(scenario: Scenario) -> tuple[Scenario, list[str]]:
    """A scenario whose replays of logs differ from replication to replication, and what was chosen for them.

    Where a workload does not say how its log is resampled: weeks, the even ones in a search and the odd ones
    where it validates its front; submissions are shaken where the log is too short for that.

    Raises:
        ScenarioError: a log cannot be found or read.
    """
    changes: dict[str, Any] = {}
    notes: list[str] = []
    for workload in scenario.active.workload:
        if not isinstance(workload, TraceJobs) or not workload.from_file or workload.resample is not None:
            continue
        place = f"workload.{workload.name}"
        count = workload.weeks()
        if count >= ENOUGH:
            changes |= {f"{place}.resample": "weeks", f"{place}.resample_from": "split"}
            how = f"weeks, of the {count} of {workload.trace} the even ones, on validation seeds the odd ones"
        else:
            changes[f"{place}.resample"] = "shake"
            how = f"shake, as {workload.trace} has {counted(count, 'whole week')}, fewer than {ENOUGH}"
        notes.append(f"{place}.resample: {how}; --set {place}.resample=none repeats the log")
    return (scenario.override(changes) if changes else scenario), notes
