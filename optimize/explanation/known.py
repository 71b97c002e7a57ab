"""Posterior differences of two configurations, as on the front, and whether validation contradicts them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gridtune.optimize.front.against_baseline import between, in_words
from gridtune.optimize.front.changes import Change
from gridtune.optimize.front.front import Front
from gridtune.optimize.records.evaluations import Evaluation


def modelled(front: Front, *configurations: Evaluation) -> bool:
    """Whether the posterior knows the configurations."""
    return front.posterior is not None and all(one.number in front.posterior for one in configurations)


def known_changes(front: Front, start: Evaluation, to: Evaluation) -> tuple[Change, ...]:
    """What happens to each objective from one configuration to another; empty unless the model knows both."""
    if not modelled(front, start, to):
        return ()
    return tuple(
        replace(one, start=front.value(start.number, one.metric), to=front.value(to.number, one.metric))
        for one in between(front, start, to)
    )


def denials(known: Sequence[Change], validated: Sequence[Change], about: str) -> Iterator[str]:
    """Where the intervals of validation runs and of the model have nothing in common, a line each.

    Args:
        known: what the model says.
        validated: what validation runs give, of the same objectives; empty if there are none.
        about: what is compared.
    """
    given = {one.metric.name: one for one in validated}
    for one in known:
        other = given.get(one.metric.name)
        if other is None or not _apart(one, other):
            continue
        runs, model = in_words(other), in_words(one)
        if runs != model:  # without noise intervals are single numbers, which differ by rounding
            yield f"{about}, validation runs say otherwise than the posterior: {runs}, not {model}"


def _apart(one: Change, other: Change) -> bool:
    a, b = one.difference, other.difference
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return False
    return a.low > b.high or b.low > a.high
