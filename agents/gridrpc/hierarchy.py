"""DIET's hierarchy: the master agent and the local agents that find servers for clients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from operator import attrgetter
from typing import Literal, NamedTuple, Protocol

import mesa

from gridtune.model.agenda import ARRIVAL
from gridtune.model.grid import Grid
from gridtune.model.network import Link

Rank = Literal["load", "queue_length", "estimated_completion"]


class EstimationVector(NamedTuple):
    """How fit a server says it is.

    Attributes:
        server: index of the SeD within the hierarchy.
        load: 1 if it is executing a request, else 0, plus the mandatory requests that wait there.
        queue_length: requests waiting there, optional ones included.
        estimated_completion: s from now until a new request would be done, from the mean execution
            time that the server has seen so far (it is not told run times).
    """

    server: int
    load: float
    queue_length: float
    estimated_completion: float


class Discovery(NamedTuple):
    """A request for servers on its way through the hierarchy.

    Attributes:
        max_servers: how many the client can use.
        reply: receives the vectors, best first.
    """

    max_servers: int
    reply: Callable[[Sequence[EstimationVector]], object]


class Discoverable(Protocol):
    """What an agent asks of its children: local agents and SeDs alike."""

    def discover(self, discovery: Discovery) -> object:
        """Answer through `discovery.reply`, at once or later; the asker pays the way there and back."""


class LocalAgent(mesa.Agent):
    """An inner node of the hierarchy: passes a discovery on and aggregates the answers.

    Args:
        grid: where it lives.
        name: by which its messages are counted.
        link: to each of its children.
        rank: the value by which vectors are ordered (ties: lower server index).
        keep: how many vectors it hands up at most.
    """

    def __init__(self, grid: Grid, name: str, link: Link, rank: Rank, keep: int) -> None:
        super().__init__(grid)
        self.grid = grid
        self.name = name
        self.link = link
        self.rank = rank
        self.keep = keep
        self.children: list[Discoverable] = []

    def discover(self, discovery: Discovery) -> None:
        """Ask all children; answer once all of them have answered."""
        self.grid.record.message(self.name, "discover", self.grid.now)
        self.grid.agenda.after(self.link.delay(), self._ask, discovery, ARRIVAL)

    def _ask(self, discovery: Discovery) -> None:
        agenda = self.grid.agenda
        best: list[EstimationVector] = []
        awaited = len(self.children)
        under_way: list[Sequence[EstimationVector]] = []  # answers given at one instant arrive at one instant
        sent = -1.0

        def answered(vectors: Sequence[EstimationVector]) -> None:
            nonlocal under_way, sent
            if sent != agenda.now:
                under_way, sent = [], agenda.now
                agenda.after(self.link.delay(), gather, under_way, ARRIVAL)
            under_way.append(vectors)

        def gather(answers: list[Sequence[EstimationVector]]) -> None:
            nonlocal awaited
            self.grid.record.message(self.name, "estimate", agenda.now, len(answers))
            best.extend(chain.from_iterable(answers))
            awaited -= len(answers)
            if awaited == 0:
                best.sort(key=attrgetter(self.rank, "server"))
                discovery.reply(best[: min(self.keep, discovery.max_servers)])

        inner = Discovery(discovery.max_servers, answered)
        for child in self.children:
            child.discover(inner)


class MasterAgent(LocalAgent):
    """The root of the hierarchy, and the only part of it that clients know."""
