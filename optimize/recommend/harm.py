"""Who is worse off: metrics that get significantly worse by more than a tenth, be they objectives or not."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from gridtune.model.metrics.registry import METRICS
from gridtune.optimize.records.recommendation import Harm
from gridtune.optimize.replication.paired import difference

LEAST = 0.1  # of the baseline's mean: what gets worse by less is not reported
RATE = 0.05  # false discovery rate
WATCHED = (
    "waiting", "response", "slowdown", "bounded_slowdown", "completed", "completed_work", "unhappy",
    "unfairness", "lost", "owed_lost", "best_effort", "killed", "goodput", "late",
)  # fmt: skip


def harms(
    baseline: Mapping[str, Sequence[float]],
    changed: Mapping[str, Sequence[float]],
    units: Mapping[str, str],
    objectives: Collection[str],
) -> tuple[Harm, ...]:
    """Metrics that get worse by more than a tenth of the baseline's mean, significantly; the worst first.

    Many metrics are compared: the paired t-tests keep the false discovery rate of `RATE`.

    Args:
        baseline, changed: metrics by name, one value per replication; the same replications for both.
        units: of the metrics.
        objectives: names of metrics that are told anyway.

    Source: Y. Benjamini and Y. Hochberg, Controlling the False Discovery Rate, JRSS B 57(1), 1995.
    """
    from scipy.stats import false_discovery_control

    found: list[Harm] = []
    doubts: list[float] = []
    for name, before in baseline.items():
        after = changed.get(name)
        if after is None or name in objectives or not _watched(name):
            continue
        gap = difference(after, before)
        worse = gap.mean < 0 if METRICS[name.partition(".")[0]].direction == "maximize" else gap.mean > 0
        if gap.confidence is None or gap.low is None or gap.high is None:
            continue
        doubts.append((1 - gap.confidence) / 2 if worse else 1.0)
        start = sum(before) / len(before)
        found.append(Harm(name, units.get(name, ""), start, start + gap.mean, gap.low, gap.high))
    if not found:
        return ()
    adjusted = false_discovery_control(doubts)
    told = [
        one
        for one, p in zip(found, adjusted, strict=True)
        if p <= RATE and abs(one.mean - one.baseline) > LEAST * abs(one.baseline)
    ]
    return tuple(sorted(told, key=lambda one: (-ratio(one), one.metric)))


def ratio(harm: Harm) -> float:
    """How many times worse a metric is than in the baseline; infinite where one of both is 0."""
    low, high = sorted((abs(harm.baseline), abs(harm.mean)))
    return high / low if low else float("inf")


def _watched(name: str) -> bool:
    base = name.partition(".")[0]
    return (
        base in METRICS and base.startswith(WATCHED) and METRICS[base].direction in ("minimize", "maximize")
    )
