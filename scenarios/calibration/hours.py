"""Prime time of a log: hours on some days of the week in which it hardly ever started long jobs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridtune.scenarios.calibration.waits import HOUR, Floats

DAY, WEEK = 24, 168  # h
COMMON = 0.005  # share of the jobs that ask for a time which may be a limit
FEWEST = 100  # jobs beyond a limit, from which something can be said
SELDOM = 0.3  # of the usual chance to start in an hour: so little is a limit
SHORTEST = 6  # h that prime time lasts at least
CLEAR = 50.0  # gain in log-likelihood from which prime time is believed
LEVELS = 2  # by day, and by week


class Closed(NamedTuple):
    """Hours in which jobs beyond a limit hardly ever started.

    Attributes:
        gain: in log-likelihood, of two chances to start instead of one.
        longest: the limit, s.
        hours: from, to, in h of a week; the end may lie in the next one.
    """

    gain: float
    longest: float
    hours: list[list[float]]


def prime_times(submit: Floats, wait: Floats, estimate: Floats) -> list[dict[str, Any]]:
    """Limits of promised run time, each with the hours of the week in which longer jobs hardly ever started.

    Of every hour of the week it is counted how many jobs beyond a limit waited in it, and how many of them
    started in it. Prime time begins and ends at one time of day, on those days on which the chance to start
    was less than three tenths of what it usually is; of all limits, beginnings and lengths the likeliest are
    taken, of longer limits after shorter ones.

    Args:
        submit, wait: s; the first submission is the beginning of the week.
        estimate: promised run time, s.

    Returns:
        `longest` (s) and `hours` of each, as `prime_time` of a site has them.
    """
    submit = submit - submit.min()
    values, counts = np.unique(estimate, return_counts=True)
    limits = values[counts >= COMMON * len(estimate)].tolist()
    found: list[dict[str, Any]] = []
    for _ in range(LEVELS):
        best = max((_closed(submit, wait, estimate, limit) for limit in limits), default=None)
        if best is None or best.gain < CLEAR:
            break
        found.append({"longest": best.longest, "hours": best.hours})
        limits = [limit for limit in limits if limit > best.longest]
    return found


def _closed(submit: Floats, wait: Floats, estimate: Floats, limit: float) -> Closed:
    """The likeliest prime time of jobs beyond a limit."""
    beyond = estimate > limit
    nothing = Closed(0.0, limit, [])
    if beyond.sum() < FEWEST:
        return nothing
    waiting, started = _by_hour(submit[beyond], wait[beyond])
    usual = started.sum() / waiting.sum()
    best = nothing
    for begin in range(DAY):
        for length in range(SHORTEST, DAY + 1):
            spans = begin + DAY * np.arange(7)[:, None] + np.arange(length)
            there, then = waiting[spans % WEEK].sum(axis=1), started[spans % WEEK].sum(axis=1)
            days = np.flatnonzero(then < SELDOM * usual * there)
            inside = float(then[days].sum()), float(there[days].sum())
            outside = float(started.sum()) - inside[0], float(waiting.sum()) - inside[1]
            gain = _likelihood(*inside) + _likelihood(*outside) - started.sum() * np.log(usual)
            if len(days) and gain > best.gain:
                hours = [[float(begin + DAY * day), float(begin + DAY * day + length)] for day in days]
                best = Closed(float(gain), limit, hours)
    return best


def _likelihood(count: float, exposure: float) -> float:
    """The part of a Poisson log-likelihood that depends on the rate, at its best."""
    return count * float(np.log(count / exposure)) if count > 0 else 0.0


def _by_hour(submit: Floats, wait: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How many jobs waited in each hour of the week, for however short, and how many started."""
    first, last = (submit // HOUR).astype(int), ((submit + wait) // HOUR).astype(int)
    length = (int(last.max()) // WEEK + 1) * WEEK
    change = np.bincount(first, minlength=length + 1) - np.bincount(last + 1, minlength=length + 1)
    waiting = np.cumsum(change)[:length].reshape(-1, WEEK).sum(axis=0)
    started = np.bincount(last, minlength=length).reshape(-1, WEEK).sum(axis=0)
    return waiting.astype(float), started.astype(float)
