"""Logs that could have been: a log's weeks or users drawn anew, or its submissions shaken.

A replay repeats one log, so that all its replications are equal and have no noise. Resampled logs
differ as the log's own weeks or users do, and keep the structure within them: bursts, sessions, cycles of
days and weeks.

Sources: Zakay and Feitelson, ICPE 2013 (users); Tsafrir, Ouaknine and Feitelson, MASCOTS 2007 (shaking).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeVar

import numpy as np

from gridtune.scenarios.trace_files.records import TraceError

DAY = 86400.0
WEEK = 7 * DAY
TEMPORARY = 12  # weeks; who is there for less, and for less than half of the log, came and left

Half = Literal["all", "even", "odd"]


class Drawn(NamedTuple):
    """A job of a resampled log.

    Attributes:
        job: its place in the log.
        submit: s.
        copy: which of several drawn copies of its user it belongs to, from 0; the copies are different users.
    """

    job: int
    submit: float
    copy: int = 0


def shaken(submits: Sequence[float], rng: np.random.Generator, amplitude: float) -> list[Drawn]:
    """Each submission moved by up to `amplitude` s either way, but not to before the first one of the log."""
    shifts = rng.uniform(-amplitude, amplitude, len(submits))
    first = submits[0]
    made = [Drawn(job, max(first, submits[job] + float(shift))) for job, shift in enumerate(shifts)]
    return sorted(made, key=lambda drawn: drawn.submit)


def whole_weeks(submits: Sequence[float]) -> int:
    """Whole weeks from the first submission to the last one; a rest of more than six days counts as one."""
    return int((submits[-1] - submits[0] + DAY) // WEEK)


def weeks(
    submits: Sequence[float], rng: np.random.Generator, half: Half = "all", most: int | None = None
) -> list[Drawn]:
    """As many weeks as there are to draw from, each drawn with replacement; the rest of the log is left out.

    Args:
        submits: s, ascending; weeks are counted from the first one.
        rng: source of all chance.
        half: which weeks to draw from, the first being even.
        most: weeks to draw, if that is fewer.

    Raises:
        TraceError: there are not two weeks to draw from.
    """
    origin = submits[0]
    count = whole_weeks(submits)
    pool = _half(range(count), half)
    if len(pool) < 2:
        raise TraceError(f'too few to draw from (whole weeks: {count}); resample = "shake" moves submissions')
    bounds = np.searchsorted(submits, [origin + WEEK * week for week in range(count + 1)])
    made: list[Drawn] = []
    size = min(len(pool), most or len(pool))
    for place, chosen in enumerate(rng.integers(len(pool), size=size).tolist()):
        week = pool[chosen]
        shift = (place - week) * WEEK
        made += [Drawn(job, submits[job] + shift) for job in range(bounds[week], bounds[week + 1])]
    return made


def users(
    submits: Sequence[float], owners: Sequence[str], rng: np.random.Generator, half: Half = "all"
) -> list[Drawn]:
    """As many users as the log has, each drawn with replacement and moved by a number of weeks drawn evenly.

    Temporary users and those who stay are drawn apart, so that there are as many of each as in the log. What
    is moved beyond the last week comes round in the first one. All jobs of a user stay together. The rest of
    the log beyond its whole weeks is left out.

    Args:
        submits: s, ascending.
        owners: whose the jobs are.
        rng: source of all chance.
        half: which users to draw from, in order of their first submission, the first being even.

    Raises:
        TraceError: there is no week, or there are not two users to draw from.
    """
    count = whole_weeks(submits)
    origin, length = submits[0], count * WEEK
    theirs: dict[str, list[int]] = {}
    for job, owner in enumerate(owners[: bisect_left(submits, origin + length)]):
        theirs.setdefault(owner, []).append(job)
    pool = _half(list(theirs), half)
    if count < 1 or len(pool) < 2:
        raise TraceError(
            f"too few to draw from (whole weeks: {count}, users: {len(set(owners))}); "
            'resample = "shake" moves submissions'
        )
    stay = min(TEMPORARY, count / 2) * WEEK
    temporary = {owner for owner, jobs in theirs.items() if submits[jobs[-1]] - submits[jobs[0]] < stay}
    made: list[Drawn] = []
    copies: dict[str, int] = {}
    for kind in (True, False):
        wanted = sum((owner in temporary) == kind for owner in theirs)
        known = [owner for owner in pool if (owner in temporary) == kind] or pool
        for chosen in rng.integers(len(known), size=wanted).tolist():
            owner = known[chosen]
            copy = copies[owner] = copies.get(owner, -1) + 1
            shift = int(rng.integers(count)) * WEEK
            made += [
                Drawn(job, origin + (submits[job] - origin + shift) % length, copy) for job in theirs[owner]
            ]
    return sorted(made, key=lambda drawn: drawn.submit)


T = TypeVar("T")


def _half(every: Sequence[T], half: Half) -> Sequence[T]:
    return every if half == "all" else every[(half == "odd") :: 2]
