"""Noise for searches over logs: replications that differ, and a part of the log to validate on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from gridtune.plain_text import counted
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.results.amounts import human
from gridtune.scenarios.traces.resampling import WEEK
from gridtune.scenarios.workloads.trace_jobs import TraceJobs

ENOUGH = 8  # weeks of a log from which half of them can be drawn
DRAWN = 8  # weeks in each run of a search, of a log that has twice as many
LONG = 10  # longest waits that a run should last


def with_noise(scenario: Scenario) -> tuple[Scenario, list[str]]:
    """A scenario whose replays of logs differ from replication to replication, and what was chosen for them.

    Where a workload does not say how its log is resampled: weeks, every second one in a search and the others
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
            how = f"weeks, of the {count} of {workload.trace} the 1st, 3rd, 5th, …"
            how += ", on validation seeds the others"
            if count >= 2 * DRAWN:
                changes[f"{place}.resample_weeks"] = DRAWN
                how += f", {DRAWN} in each run"
        else:
            changes[f"{place}.resample"] = "shake"
            how = f"shake, as {workload.trace} has {counted(count, 'whole week')}, fewer than {ENOUGH}"
        notes.append(f"{place}.resample: {how}; --set {place}.resample=none repeats the log")
    return (scenario.override(changes) if changes else scenario), notes


def as_logged(scenario: Scenario) -> Scenario:
    """The scenario with its logs as they are, whatever resamples them."""
    document = dict(scenario.document)
    names = {one.name for one in scenario.active.workload if isinstance(one, TraceJobs) and one.resampled}
    document["workload"] = [
        {key: value for key, value in one.items() if not key.startswith("resample")}
        if one.get("name") in names
        else one
        for one in document.get("workload", [])
    ]
    return replace(scenario, document=document) if names else scenario


def resampled(scenario: Scenario) -> list[TraceJobs]:
    """The workloads of a scenario, if all of them replay logs, of which one at least is resampled.

    Such a scenario can also run on its logs as they are.
    """
    every = scenario.active.workload
    logs = [one for one in every if isinstance(one, TraceJobs) and one.from_file]
    return logs if len(logs) == len(every) and any(one.resampled for one in logs) else []


def replay_weight(scenario: Scenario) -> float:
    """How many runs of a search a replay of the whole logs is about as long as; 0 if there is none."""
    counts = [(one, one.weeks()) for one in resampled(scenario)]
    return max((count / _drawn(one, count) for one, count in counts), default=0.0)


def doubts(scenario: Scenario, longest: float | None) -> Iterator[str]:
    """Why harm may have been missed, a line for each reason.

    Args:
        scenario: that was searched.
        longest: longest wait of the baseline, s; None if not known.
    """
    for one in resampled(scenario):
        count = one.weeks()
        drawn = _drawn(one, count)
        if count < ENOUGH:
            yield (
                f"{one.trace} has {counted(count, 'whole week')}: with fewer than {ENOUGH}, harm in later "
                "weeks may go unseen"
            )
        if longest is not None and drawn * WEEK < LONG * longest:
            yield (
                f"Each run has {counted(drawn, 'week')} of {one.trace}, and the longest wait is "
                f"{human(longest, 's')}: runs shorter than {LONG} longest waits may hide long ones"
            )


def _drawn(workload: TraceJobs, count: int) -> int:
    """Weeks in each run, of a log of so many."""
    if workload.resample == "weeks":
        count = count if workload.resample_from == "all" else max(1, count // 2)
        count = min(count, workload.resample_weeks or count)
    return max(1, count)
