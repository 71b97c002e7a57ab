"""What jobs wait beyond what the baseline lets them wait: no search can win by starving somebody.

A run is compared with the baseline's under common random numbers. What counts is the mean over the
replications: of each class of sizes and of run times, of each queue of a log, of the users who wait longest,
and of the longest wait.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from gridtune.model.metrics.registry import QUEUE, define
from gridtune.optimize.records.evaluations import EXCESS_WAIT, Constraint
from gridtune.scenarios.execution.replicate import Metrics
from gridtune.scenarios.tables.search import Starvation

LONGEST = "waited_max"
CLASSES = ("waited_p95.size-", "waited_p95.length-", f"waited_p95.{QUEUE}", "waited_mean.worst-users")

define(
    EXCESS_WAIT,
    "s",
    "minimize",
    "wait beyond what a configuration may add to the baseline's, of the worst class of jobs",
)
NO_STARVATION = Constraint(EXCESS_WAIT, "<=", 0.0, "s")


def excess_waits(configuration: Metrics, baseline: Metrics, bounds: Starvation) -> dict[str, float]:
    """By how much a run exceeds the waits that it may have, in seconds; means at most 0 are allowed.

    Args:
        configuration, baseline: metrics of two runs with common random numbers.
        bounds: what is allowed.

    Returns:
        `EXCESS_WAIT`, of the worst class, and `EXCESS_WAIT.CLASS` of each that both runs have.
    """
    each = {f"{EXCESS_WAIT}.{name}": excess for name, excess in _classes(configuration, baseline, bounds)}
    return {EXCESS_WAIT: max(each.values(), default=0.0), **each}


def _classes(configuration: Metrics, baseline: Metrics, bounds: Starvation) -> Iterator[tuple[str, float]]:
    for name, metric in configuration.items():
        if name not in baseline:
            continue
        start, value = baseline[name].value, metric.value
        if not (isfinite(start) and isfinite(value)):
            continue  # of this class there are no jobs
        if name == LONGEST:
            yield "longest", value - bounds.longest_factor * max(start, bounds.slack)
        elif name.startswith(CLASSES):
            label = name.partition(".")[2].removeprefix("size-")
            yield label, value - bounds.class_factor * start - bounds.slack
