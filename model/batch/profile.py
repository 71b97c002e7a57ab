"""The availability profile: how many processors a plan leaves free, over time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from math import inf


class Profile:
    """Free processors as a step function from `now` on.

    Args:
        now: s.
        free: processors free at `now`.
        releases: (time in s, processors) given back later, soonest first. What is overdue counts as free
            at once: a plan may hope for it, though nothing can start on it yet.
    """

    __slots__ = ("free", "times")

    def __init__(self, now: float, free: int, releases: Iterable[tuple[float, int]]) -> None:
        self.times = [now]
        self.free = [free]
        for time, processors in releases:
            free += processors
            if time <= self.times[-1]:
                self.free[-1] = free
            else:
                self.times.append(time)
                self.free.append(free)

    def place(self, processors: int, duration: float) -> float:
        """Reserve processors as early as they are free for the whole duration (s); when that is.

        Infinity if they never are.
        """
        times, free = self.times, self.free
        steps = len(times)
        first = 0
        while first < steps:
            if free[first] < processors:
                first += 1
                continue
            end = times[first] + duration
            last = first + 1
            while last < steps and times[last] < end and free[last] >= processors:
                last += 1
            if last == steps or times[last] >= end:
                self._reserve(first, end, processors)
                return times[first]
            first = last + 1
        return inf

    def _reserve(self, first: int, end: float, processors: int) -> None:
        """Take processors away from the step `first` up to the time `end`."""
        times, free = self.times, self.free
        last = bisect_left(times, end, first)
        if last == len(times) or times[last] != end:
            times.insert(last, end)
            free.insert(last, free[last - 1])
        for step in range(first, last):
            free[step] -= processors
