"""The availability profile: how many processors a plan leaves free, over time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
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

    __slots__ = ("_found", "free", "times")

    def __init__(self, now: float, free: int, releases: Iterable[tuple[float, int]]) -> None:
        self.times = [now]
        self.free = [free]
        # By processors: durations, ascending, and from when on they could be had when last asked for. As
        # reservations only take room away, nobody who wants as much or more can have it any sooner.
        self._found: dict[int, tuple[list[float], list[float]]] = {}
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

    def falls(self, least: int) -> tuple[list[float], list[int]]:
        """How long how many processors stay free from the beginning on.

        Args:
            least: processors; what falls below is of no interest.

        Returns:
            Times in s at which the least number free so far falls, the last one infinite, and minus the
            numbers to which it falls.
        """
        until: list[float] = []
        levels: list[int] = []
        lowest = self.free[0] + 1
        for time, free in zip(self.times, self.free, strict=True):
            if free < lowest:
                lowest = free
                until.append(time)
                levels.append(-free)
                if free < least:
                    break
        until.append(inf)
        return until, levels

    def most(self, limit: float) -> int:
        """The most processors that are free at any time before `limit` (s), which is not at the beginning."""
        return max(self.free[: bisect_left(self.times, limit)])

    def place(self, processors: int, duration: float) -> float:
        """Reserve processors as early as they are free for the whole duration (s); when that is.

        Infinity if they never are.
        """
        step = self._step(processors, duration, inf)
        if step < 0:
            return inf
        start = self.times[step]
        self._reserve(step, start + duration, processors)
        return start

    def soon(self, processors: int, duration: float, limit: float) -> float:
        """When processors are first free for the whole duration (s); infinity if not before `limit` (s)."""
        step = self._step(processors, duration, limit)
        return self.times[step] if step >= 0 else inf

    def _step(self, processors: int, duration: float, limit: float) -> int:
        """The step that `place` finds; -1 if none begins before `limit` (s)."""
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

    def _reserve(self, first: int, end: float, processors: int) -> None:
        """Take processors away from the step `first` up to the time `end`."""
        times, free = self.times, self.free
        last = bisect_left(times, end, first)
        if last == len(times) or times[last] != end:
            times.insert(last, end)
            free.insert(last, free[last - 1])
        for step in range(first, last):
            free[step] -= processors
