"""What the recommendations of a search make worse, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gridtune.model.metrics.labels import label
from gridtune.optimize.records.evaluations import Objective
from gridtune.optimize.records.recommendation import LEAST_HARM, Harm, Recommendation, much
from gridtune.optimize.report.numbers import MANY, amount, is_logarithm, plain
from gridtune.plain_text import counted, escaped

COUNTED = {"jobs", "users", "kills", "tasks", "preemptions"}  # units of metrics


def all_harms(one: Recommendation) -> list[Harm]:
    """What a recommendation makes worse by more than a tenth: its `harms`, then objectives."""
    told = {harm.metric for harm in one.harms if harm.load == 1 and harm.part is None and not harm.case}
    found = []
    for change in one.objectives.values():
        start, to, metric = change.start, change.to, change.metric
        gap = change.difference
        low, high = (to - start if end is None else end for end in (gap.low, gap.high))
        if is_logarithm(metric):
            low, high = (10 ** (start + end) - 10**start for end in (low, high))
            start, to, metric = 10**start, 10**to, plain(metric)
        worse = change.significant and not change.better and much(start, to - start)
        if worse and metric.name not in told:
            found.append(Harm(metric.name, metric.unit, start, to, low, high))
    return [*one.harms, *found]


def harms_text(one: Recommendation, most: int | None = None) -> list[str]:
    """All harm of a recommendation, a line each: the usual, that of some runs, that under a higher load.

    Args:
        most: harms that are named, the others being counted; None for all. First come those of which nothing
            like them was named: of the same line, or the same class of jobs.
    """
    found = all_harms(one)
    if not found:
        return [f"Worse by over 10 % with {one.letter}: nothing found"]
    busier = [harm for harm in found if harm.load > 1]
    groups = {
        "by over 10 %": [harm for harm in found if harm.load == 1 and harm.part is None],
        "in some runs": [harm for harm in found if harm.part is not None],
        more_load(busier): [replace(harm, replay=False, load=1.0) for harm in busier],
    }
    every = [(where, harm) for where, some in groups.items() for harm in some]
    kinds: dict[tuple[str, str], Harm] = {}
    for where, harm in every:
        kinds.setdefault((where, harm.metric.partition(".")[2] or harm.metric), harm)
    order = [*(some[0] for some in groups.values() if some), *kinds.values(), *(harm for _, harm in every)]
    named = set(list(dict.fromkeys(map(id, order)))[:most])
    shown = {where: [harm for harm in some if id(harm) in named] for where, some in groups.items()}
    # What no line is about is counted by the first.
    unseen, lines = sum(len(groups[where]) for where, some in shown.items() if not some), []
    for where, some in shown.items():
        if some:
            others, unseen = len(groups[where]) - len(some) + unseen, 0
            more = [f"and {counted(others, 'other')}"] * (others > 0)
            lines.append(f"Worse {where} with {one.letter}: {'; '.join([*map(harm_text, some), *more])}")
    return lines


def more_load(some: Sequence[Harm]) -> str:
    """Of which jobs, of a replay with more; empty for no harm."""
    return f"at {100 * (some[0].load - 1):.0f} % more load" if some else ""


def harm_text(one: Harm) -> str:
    """What gets worse: `completed best-effort work 30 % lower`."""
    name, gap = label(escaped(one.metric)), one.mean - one.baseline
    way = "lower" if gap < 0 else "higher"
    where = " (log as it is)" if one.replay else ""
    where = f" ({more_load([one])})" if one.load > 1 else where
    where = f" (in {one.case}{', log as it is' * one.replay})" if one.case else where
    where += f" ({100 * one.part:.0f} % of runs)" if one.part is not None else ""
    if name.percent:
        return f"{name} {abs(100 * gap):.{'2g' if abs(gap) < LEAST_HARM else '0f'}} points {way}{where}"
    if one.baseline <= 0 or one.mean / one.baseline >= MANY:
        metric = Objective(one.metric, "minimize", one.unit)
        return f"{name} {amount(one.baseline, metric)} -> {amount(one.mean, metric)}{where}"
    size = f"{abs(100 * gap / one.baseline):.0f} %"
    if one.unit in COUNTED:
        return f"{size} {'fewer' if gap < 0 else 'more'} {name}{where}"
    return f"{name} {size} {way}{where}"
