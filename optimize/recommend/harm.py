"""Who is worse off: metrics that get worse by more than a tenth, be they objectives or not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import isfinite

from gridtune.model.metrics.registry import Definition, definition
from gridtune.optimize.records.recommendation import Harm
from gridtune.optimize.replication.paired import difference

LEAST = 0.1  # of the baseline's mean: what gets worse by less is not reported
OWED = {"failed", "unhappy", "missed"}
WORK = {"completed", "executed", "goodput", "effort", "lost", "rejected", "refused", "dropped", "unfinished"}
SILENT = {"excess", "cancelled"}  # words of what guards measure, and of what users withdraw
RATE = 0.05  # false discovery rate
WATCHED = {  # words of a metric's name: how users and their work fare, not what it costs a middleware
    "wait", "waiting", "waited", "response", "turnaround", "slowdown", "completed", "executed", "goodput",
    "effort", "unhappy", "unfairness", "satisfaction", "shortfall", "lost", "failed", "killed", "missed",
    "late", "rejected", "rejection", "refused", "expired", "dropped", "abandoned", "unfinished",
}  # fmt: skip


def harms(
    baseline: Mapping[str, Sequence[float]],
    changed: Mapping[str, Sequence[float]],
    units: Mapping[str, str],
    objectives: Collection[str],
) -> tuple[Harm, ...]:
    """Metrics that get worse by more than a tenth of the baseline's mean, significantly.

    Failures of what is owed come first, then work that is not done, then times; of each the worst first.

    Many metrics are compared: the paired t-tests keep the false discovery rate of `RATE`.

    Args:
        baseline, changed: metrics by name, one value per replication; the same replications for both. Where
            one of both is not finite, such as a mean wait of no jobs, the others count.
        units: of the metrics.
        objectives: names of metrics that are told anyway.

    Source: Y. Benjamini and Y. Hochberg, Controlling the False Discovery Rate, JRSS B 57(1), 1995.
    """
    from scipy.stats import false_discovery_control

    found: list[Harm] = []
    doubts: list[float] = []
    for name, before in baseline.items():
        known = _watched(name)
        pairs = [
            pair for pair in zip(before, changed.get(name, ()), strict=False) if all(map(isfinite, pair))
        ]
        if known is None or name in objectives or not pairs:
            continue
        start = sum(first for first, _ in pairs) / len(pairs)
        gap = difference([second for _, second in pairs], [first for first, _ in pairs])
        if gap.confidence is None or gap.low is None or gap.high is None:
            continue
        doubts.append((1 - gap.confidence) / 2 if _worse(known, gap.mean) else 1.0)
        found.append(Harm(name, units.get(name, ""), start, start + gap.mean, gap.low, gap.high))
    if not found:
        return ()
    adjusted = false_discovery_control(doubts)
    told = [
        one
        for one, p in zip(found, adjusted, strict=True)
        if p <= RATE and abs(one.mean - one.baseline) > LEAST * abs(one.baseline)
    ]
    return _told(told)


def harms_of_replay(
    baseline: Mapping[str, float], changed: Mapping[str, float], units: Mapping[str, str]
) -> tuple[Harm, ...]:
    """Metrics that are worse by more than a tenth in one run of each on the same jobs; see `harms`.

    Args:
        baseline, changed: metrics by name.
        units: of the metrics.
    """
    found = []
    for name in sorted(baseline.keys() & changed.keys()):
        known, before, after = _watched(name), baseline[name], changed[name]
        if known is None or not (isfinite(before) and isfinite(after)):
            continue
        gap = after - before
        if _worse(known, gap) and abs(gap) > LEAST * abs(before):
            found.append(Harm(name, units.get(name, ""), before, after, gap, gap, replay=True))
    return _told(found)


def worst_of(found: Iterable[Harm]) -> tuple[Harm, ...]:
    """Of each metric the greatest harm; the order is that of `harms`."""
    worst: dict[str, Harm] = {}
    for one in found:
        known = worst.get(one.metric)
        if known is None or ratio(one) > ratio(known):
            worst[one.metric] = one
    return _ordered(worst.values())


def _told(found: Sequence[Harm]) -> tuple[Harm, ...]:
    """Each harm once, in order; some metrics are others under a second name."""
    once = {(one.baseline, one.mean, one.unit): one for one in reversed(found)}
    return _ordered(once.values())


def _ordered(found: Iterable[Harm]) -> tuple[Harm, ...]:
    return tuple(sorted(found, key=lambda one: (_rank(one), -ratio(one), one.metric)))


def _worse(known: Definition, gap: float) -> bool:
    return gap < 0 if known.direction == "maximize" else gap > 0


def ratio(harm: Harm) -> float:
    """How many times worse a metric is than in the baseline; infinite where one of both is 0."""
    low, high = sorted((abs(harm.baseline), abs(harm.mean)))
    return high / low if low else float("inf")


def _rank(harm: Harm) -> int:
    """Failures of what is owed come first, then work that is not done, then times and shares."""
    words = _words(harm.metric)
    return 0 if words & OWED else 1 if words & WORK else 2


def _watched(name: str) -> Definition | None:
    """What a metric means, be it of all jobs or of a class; None if nobody is worse off by it."""
    words = _words(name)
    return None if words.isdisjoint(WATCHED) or words & SILENT else definition(name)


def _words(name: str) -> set[str]:
    """The words of a metric's name, without its class."""
    return set(name.partition(".")[0].split("_"))
