"""What is scheduled to come: it is owed from then on, whether its job is made or not."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

from gridtune.model.agenda import Arrival


class Owed:
    """What is scheduled to come and has not been made yet.

    A policy that never makes jobs is found out by it.
    """

    __slots__ = ("_coming", "_others")

    def __init__(self) -> None:
        # In the order of coming, in which nearly all is made: a queue costs half of what a dictionary does.
        self._coming: deque[Arrival] = deque()
        # The rest, by identity: what comes may be equal to others. It is kept, so its identity stays its own.
        self._others: dict[int, Arrival] = {}

    def add(self, arrival: Arrival) -> None:
        """Something is to come that no stream brings."""
        self._others[id(arrival[2])] = arrival

    def schedule(self, arrivals: Iterable[Arrival]) -> Iterator[Arrival]:
        """A stream of arrivals as it is; their arguments are owed from now on until they are `made`."""
        owe = self._coming.append
        for arrival in arrivals:
            owe(arrival)
            yield arrival

    def made(self, what: Any) -> None:
        """Something has come: what is to be told of it stands in the record."""
        coming, others = self._coming, self._others
        if others and others.pop(id(what), None) is not None:
            return
        while coming:
            arrival = coming.popleft()
            if arrival[2] is what:
                return
            others[id(arrival[2])] = arrival

    def unmade(self, now: float) -> list[Any]:
        """What was to have come by now (s) and has not."""
        return [what for time, _, what in (*self._others.values(), *self._coming) if time <= now]
