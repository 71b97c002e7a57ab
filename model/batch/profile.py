"""The availability profile: how many processors a plan leaves free, over time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from math import inf, ulp

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

    __slots__ = ("_found", "free", "times")

    def __init__(
        self,
        now: float,
        free: int,
        releases: Iterable[tuple[float, int]],
        windows: Sequence[Window] = (),
    ) -> None:
        self.times = [now]
        self.free = [free]
        # By processors: durations, ascending, and from when on they could be had when last asked for. As
        # reservations only take room away, nobody who wants as much or more can have it any sooner.
        self._found: dict[int, tuple[list[float], list[float]]] = {}
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

    def runs(self, limit: float) -> tuple[list[int], list[float], list[float]]:
        """For how long how many processors stay free in a row.

        Args:
            limit: s; what begins then or later is of no interest.

        Returns:
            Numbers of processors, ascending; for each, until when at least as many stay free from the
            beginning of the profile on (minus infinity if they are not); and how long they do at most from
            any time before the limit on, never less than rounding may make of it. In s.
        """
        now = self.times[0]
        levels: list[int] = []  # a stack of what is free, ascending, and since when
        since: list[float] = []
        at_once: dict[int, float] = {}
        longest: dict[int, float] = {}
        for time, free in zip(self.times, self.free, strict=True):
            begin = time
            while levels and levels[-1] > free:
                level, begin = levels.pop(), since.pop()
                if begin == now:
                    at_once[level] = time
                length = time - begin + 2.0 * ulp(time)
                if length > longest.get(level, 0.0):
                    longest[level] = length
            if begin < limit:
                if not levels or levels[-1] < free:
                    levels.append(free)
                    since.append(begin)
            elif not levels:
                break
        for level, begin in zip(levels, since, strict=True):
            longest[level] = inf
            if begin == now:
                at_once[level] = inf
        numbers = sorted(longest, reverse=True)
        first, any_time = [], []
        here = there = -inf
        for level in numbers:
            here = max(here, at_once.get(level, -inf))
            there = max(there, longest[level])
            first.append(here)
            any_time.append(there)
        return numbers[::-1], first[::-1], any_time[::-1]

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
            start = times[first]
            end = start + duration
            last = first + 1
            while last < steps and times[last] < end and free[last] >= processors:
                last += 1
            if last < steps and times[last] < end:
                first = last + 1
                continue
            if end > start:  # what takes no time takes no processors
                if last == steps or times[last] != end:
                    times.insert(last, end)
                    free.insert(last, free[last - 1])
                for step in range(first, last):
                    free[step] -= processors
            return start
        return inf

    def soon(self, processors: int, duration: float, limit: float) -> float:
        """When processors are first free for the whole duration (s); infinity if not before `limit` (s)."""
        step = self._step(processors, duration, limit)
        return self.times[step] if step >= 0 else inf

    def _step(self, processors: int, duration: float, limit: float) -> int:
        """The step that `soon` finds; -1 if none begins before `limit` (s)."""
        times, free = self.times, self.free
        steps = len(times)
        found = self._found.get(processors)
        if found is None:
            found = self._found[processors] = ([], [])
        durations, starts = found
        known = bisect_right(durations, duration)
        first = bisect_left(times, starts[known - 1]) if known else 0
        while first < steps:
            start = times[first]
            if start >= limit:
                return -1
            if free[first] < processors:
                first += 1
                continue
            end = start + duration
            last = first + 1
            while last < steps and times[last] < end and free[last] >= processors:
                last += 1
            if last == steps or times[last] >= end:
                if known and durations[known - 1] == duration:
                    known -= 1
                weaker = known
                while weaker < len(starts) and starts[weaker] <= start:
                    weaker += 1
                durations[known:weaker] = [duration]
                starts[known:weaker] = [start]
                return first
            first = last + 1
        return -1

    def reserve(self, start: float, processors: int, duration: float) -> None:
        """Take processors away from a time that `soon` has found, for the duration (s)."""
        times, free = self.times, self.free
        first = bisect_left(times, start)
        end = start + duration
        last = bisect_left(times, end, first)
        if last == len(times) or times[last] != end:
            times.insert(last, end)
            free.insert(last, free[last - 1])
        for step in range(first, last):
            free[step] -= processors
