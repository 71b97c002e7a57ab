"""What the recommendations of a search make worse, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gridtune.model.metrics.labels import label
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.records.recommendation import Harm, Recommendation, much
from gridtune.optimize.report.numbers import MANY, amount, is_logarithm, plain
from gridtune.plain_text import counted


def all_harms(one: Recommendation) -> list[Harm]:
    """What a recommendation makes worse by more than a tenth: its `harms`, then objectives."""
    found = []
    for change in one.objectives.values():
        start, to, metric = change.start, change.to, change.metric
        if is_logarithm(metric):
            start, to, metric = 10**start, 10**to, plain(metric)
        if change.significant and not change.better and much(start, to - start):
            found.append(Harm(metric.name, metric.unit, start, to, to - start, to - start))
    return [*one.harms, *found]


def harms_text(one: Recommendation, most: int | None = None) -> list[str]:
    """All harm of a recommendation, a line each: the usual, that of some runs, that under a higher load.

    Args:
        most: harms that a line names, the others being counted; None for all.
    """
    found = all_harms(one)
    if not found:
        return [f"Worse by over 10 % with {one.letter}: nothing found"]
    busier = [harm for harm in found if harm.load > 1]
    groups = [
        ("by over 10 %", [harm for harm in found if harm.load == 1 and harm.part is None]),
        ("in some runs", [harm for harm in found if harm.part is not None]),
        (more_load(busier), [replace(harm, replay=False, load=1.0) for harm in busier]),
    ]
    return [f"Worse {where} with {one.letter}: {_named(some, most)}" for where, some in groups if some]


def harms_in_short(one: Recommendation) -> list[str]:
    """The first harm of a recommendation, whatever its kind, and how many others there are."""
    found = all_harms(one)
    return [f"Worse by over 10 % with {one.letter}: {_named(found, 1)}"] if found else []


def more_load(some: Sequence[Harm]) -> str:
    """Of which jobs, of a replay with more; empty for no harm."""
    return f"at {100 * (some[0].load - 1):.0f} % more load" if some else ""


def _named(some: Sequence[Harm], most: int | None) -> str:
    """So many of these harms: first one of each class of jobs, in their order."""
    if most is None or most >= len(some):
        return "; ".join(map(harm_text, some))
    firsts: dict[str, Harm] = {}
    for harm in some:
        firsts.setdefault(harm.metric.partition(".")[2] or harm.metric, harm)
    named = list(firsts.values())[:most]
    return f"{'; '.join(map(harm_text, named))}; and {counted(len(some) - len(named), 'other')}"


def harm_text(one: Harm) -> str:
    """What gets worse: `completed best-effort work 30 % lower`."""
    name, gap = label(one.metric), one.mean - one.baseline
    way = "lower" if gap < 0 else "higher"
    where = " (log as it is)" if one.replay else ""
    where = f" ({more_load([one])})" if one.load > 1 else where
    where = f" (in {one.case}{', log as it is' * one.replay})" if one.case else where
    where += f" ({100 * one.part:.0f} % of runs)" if one.part is not None else ""
    if name.percent:
        return f"{name} {abs(100 * gap):.2g} points {way}{where}"
    if one.baseline <= 0 or one.mean / one.baseline >= MANY:
        metric = Objective(one.metric, "minimize", one.unit)
        return f"{name} {amount(one.baseline, metric)} -> {amount(one.mean, metric)}{where}"
    return f"{name} {abs(100 * gap / one.baseline):.0f} % {way}{where}"
