"""Prime time: hours of the week in which a site starts no long jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

HOUR, WEEK = 3600.0, 7 * 86400.0  # s
ROUNDING = 1e-6  # s


@dataclass(frozen=True)
class PrimeTime:
    """Hours in which only short jobs start, week after week.

    Attributes:
        longest: s that a job may promise to run to be started in these hours.
        hours: from, to, in h after the beginning of each week of the run; the end may lie in the next week.

    Raises:
        ValueError: a span is empty, or not within a week from its beginning on.
    """

    longest: float
    hours: Sequence[tuple[float, float]]

    def __post_init__(self) -> None:
        for begin, end in self.hours:
            if not (0 <= begin < 168 and begin < end <= begin + 168):
                raise ValueError(
                    f"hours: from {begin:g} to {end:g}: they count from the beginning of the run's week, "
                    "0 to 168, and end at most a week after they begin"
                )

    def now(self, now: float) -> bool:
        """Whether it is prime time, at a time in s."""
        place = now % WEEK + ROUNDING  # at the moment at which they end, it is over
        spans = [(begin * HOUR, end * HOUR) for begin, end in self.hours]
        return any(begin <= place < end or place + WEEK < end for begin, end in spans)


def longest_at(times: Sequence[PrimeTime], now: float) -> float:
    """What a job may promise to run to be started at a time, s."""
    return min((one.longest for one in times if one.now(now)), default=inf)


def next_change(times: Sequence[PrimeTime], now: float) -> float:
    """When the next of them begins or ends after a time, s; infinity if there is none."""
    hours = (hour for one in times for span in one.hours for hour in span)
    return min((_next(hour * HOUR, now) for hour in hours), default=inf)


def open_to_all(times: Sequence[PrimeTime]) -> bool:
    """Whether there is an hour of the week in which every job may start."""
    ends = [span[1] * HOUR for one in times for span in one.hours]
    return not ends or any(longest_at(times, end) == inf for end in ends)


def _next(offset: float, now: float) -> float:
    """The first time after `now` at which a week is so old, s."""
    moment = offset + (now - offset) // WEEK * WEEK
    while moment <= now:
        moment += WEEK
    return moment
