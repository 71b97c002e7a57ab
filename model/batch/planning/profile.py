"""The availability profile: how many processors a plan leaves free, over time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import inf, ulp

import numpy as np
from numpy.typing import NDArray

from gridtune.model.batch.holds import Window


class Profile:
    """Free processors as a step function from `now` on.

    Args:
        now: s.
        free: processors free at `now`.
        releases: (time in s, processors) given back later, soonest first. What is overdue counts as free
            at once: a plan may hope for it, though nothing can start on it yet.
        windows: when processors will be kept from the scheduler.
    """

    __slots__ = ("free", "times")

    def __init__(
        self,
        now: float,
        free: int,
        releases: Iterable[tuple[float, int]],
        windows: Sequence[Window] = (),
    ) -> None:
        self.times = [now]
        self.free = [free]
        if windows:
            kept = [(max(window.start, now), -window.processors) for window in windows if window.end > now]
            kept += [(window.end, window.processors) for window in windows if window.end > now]
            releases = sorted([*releases, *kept])
        for time, processors in releases:
            free += processors
            if time <= self.times[-1]:
                self.free[-1] = free
            else:
                self.times.append(time)
                self.free.append(free)

    def advance(self, now: float) -> None:
        """Forget what is over by `now` (s), which is not before the profile's beginning."""
        past = bisect_right(self.times, now) - 1
        if past > 0:
            del self.times[:past], self.free[:past]
        self.times[0] = now

    def kept(self, most: int) -> NDArray[np.float64]:
        """For each number of processors from 0 to `most`, until when as many stay free from now on, s.

        Minus infinity for more than are free.
        """
        until = np.full(most + 1, inf)
        least, time = most, -inf
        for time, free in zip(self.times, self.free, strict=True):
            if free < least:
                until[max(free, 0) + 1 : least + 1] = time if time > self.times[0] else -inf
                least = free
                if free <= 0:
                    break
        return until

    def runs(self, limit: float) -> tuple[list[int], list[float]]:
        """For how long how many processors stay free in a row.

        Args:
            limit: s; what begins then or later is of no interest.

        Returns:
            Numbers of processors, ascending; for each, how long at least as many stay free at most from
            any time before the limit on, never less than rounding may make of it, s.
        """
        levels: list[int] = []  # a stack of what is free, ascending, and since when
        since: list[float] = []
        longest: dict[int, float] = {}
        for time, free in zip(self.times, self.free, strict=True):
            begin = time
            while levels and levels[-1] > free:
                level, begin = levels.pop(), since.pop()
                length = time - begin + 2.0 * ulp(time)
                if length > longest.get(level, 0.0):
                    longest[level] = length
            if begin < limit:
                if not levels or levels[-1] < free:
                    levels.append(free)
                    since.append(begin)
            elif not levels:
                break
        for level in levels:
            longest[level] = inf
        numbers = sorted(longest)
        lengths = list(accumulate((longest[level] for level in reversed(numbers)), max))
        return numbers, lengths[::-1]

    def place(self, processors: int, duration: float, limit: float = inf, until: float = inf) -> float:
        """Reserve processors as early as they are free for the whole duration (s); when that is.

        Args:
            processors: how many.
            duration: s.
            limit: s; infinity is returned, and nothing reserved, if they are not free so before.
            until: s; nothing is reserved if it would be for longer.
        """
        times, free = self.times, self.free
        steps = len(times)
        early = steps if limit == inf else bisect_left(times, limit)
        first = 0
        while first < early:
            if free[first] < processors:
                first += 1
                continue
            start = times[first]
            end = start + duration
            last = first + 1
            while last < steps and times[last] < end and free[last] >= processors:
                last += 1
            if last < steps and times[last] < end:
                first = last + 1
                continue
            if start < end <= until:  # what takes no time takes no processors
                if last == steps or times[last] != end:
                    times.insert(last, end)
                    free.insert(last, free[last - 1])
                for step in range(first, last):
                    free[step] -= processors
            return start
        return inf

    def reserve(self, start: float, processors: int, duration: float) -> None:
        """Take processors away for the duration (s), from a time on at which a step begins."""
        times, free = self.times, self.free
        first = bisect_left(times, start)
        end = start + duration
        last = bisect_left(times, end, first)
        if last == len(times) or times[last] != end:
            times.insert(last, end)
            free.insert(last, free[last - 1])
        for step in range(first, last):
            free[step] -= processors
