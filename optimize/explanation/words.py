"""What configurations change, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gridtune.optimize.front.changes import Change
from gridtune.optimize.report.numbers import metric_label, with_interval


def in_words(one: Change) -> str:
    """A change of an objective with its interval: `unfairness (max - min) lower by 0.12 (0.08 to 0.16)`."""
    gap, name = one.difference, metric_label(one.metric)
    if gap.verdict == "equal":
        return f"{name} the same"
    ends: tuple[float, ...] = ()
    remark = ""
    if gap.low is None or gap.high is None:
        remark = " (one run: noise is unknown)"
    elif gap.low == gap.high:
        remark = " in every run"
    else:
        ends = (gap.low, gap.high) if gap.mean > 0 else (-gap.high, -gap.low)
    way = "higher" if gap.mean > 0 else "lower"
    return f"{name} {way} by {with_interval(abs(gap.mean), ends, one.metric)}{remark}"


def told_changes(changes: Sequence[Change]) -> Iterator[str]:
    """What a configuration gains, what it costs, and what cannot be told, a line each."""
    same = [metric_label(one.metric) for one in changes if one.difference.verdict == "equal"]
    told = [one for one in changes if one.difference.verdict != "equal"]
    groups = {
        "gains": [one for one in told if one.significant and one.better],
        "costs": [one for one in told if one.significant and not one.better],
        "no significant difference": [one for one in told if not one.significant],
    }
    for kind, some in groups.items():
        if some:
            yield f"{kind}: {'; '.join(map(in_words, some))}"
    if same:
        yield f"the same in every run: {', '.join(same)}"
