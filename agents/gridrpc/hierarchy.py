"""DIET's hierarchy: the master agent and the local agents that find servers for clients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import NamedTuple, Protocol

import mesa

from gridtune.agents.gridrpc.machine import Machine
from gridtune.model.agenda import ARRIVAL
from gridtune.model.grid import Grid
from gridtune.model.gridrpc.estimation import EstimationVector
from gridtune.model.gridrpc.selection import Aggregation
from gridtune.model.job import Job
from gridtune.model.network import Link
from gridtune.model.policy import misjudged


class Discovery(NamedTuple):
    """A request for servers on its way through the hierarchy.

    Attributes:
        max_servers: how many the client can use.
        reply: receives the vectors, best first.
        service: that the servers must offer; "" where services have no names.
        task: that servers are asked about; None where they are not told.
    """

    max_servers: int
    reply: Callable[[Sequence[EstimationVector]], object]
    service: str = ""
    task: Job | None = None


class Discoverable(Protocol):
    """What an agent asks of its children: local agents and SeDs alike."""

    def offers(self, service: str) -> bool:
        """Whether a service is offered there or below."""

    def discover(self, discovery: Discovery) -> object:
        """Answer through `discovery.reply`, at once or later; the asker pays the way there and back."""


class LocalAgent(mesa.Agent):
    """An inner node of the hierarchy: passes a discovery on and aggregates the answers.

    Args:
        grid: where it lives.
        name: by which its messages are counted.
        link: to each of its children.
        rank: orders and filters the vectors of its children.
        keep: how many vectors it hands up at most.
        host: on which it handles messages.
    """

    def __init__(
        self, grid: Grid, name: str, link: Link, rank: Aggregation, keep: int, host: Machine | None = None
    ) -> None:
        super().__init__(grid)
        self.grid = grid
        self.name = name
        self.link = link
        self.rank = rank
        self.keep = keep
        self.host = host or Machine(grid, 0.0)
        self.children: list[Discoverable] = []

    def offers(self, service: str) -> bool:
        """Whether a server below it offers a service."""
        return any(child.offers(service) for child in self.children)

    def discover(self, discovery: Discovery) -> None:
        """Ask the children below which the service is offered; answer once all of them have answered."""
        self.grid.record.message(self.name, "discover", self.grid.now)
        self.host.handle(self.name, self._pass_on, discovery)

    def _pass_on(self, discovery: Discovery) -> None:
        self.grid.agenda.after(self.link.delay(), self._ask, discovery, ARRIVAL)

    def _ask(self, discovery: Discovery) -> None:
        agenda = self.grid.agenda
        best: list[EstimationVector] = []
        asked = [child for child in self.children if child.offers(discovery.service)]
        awaited = len(asked)
        under_way: list[Sequence[EstimationVector]] = []  # answers given at one instant arrive at one instant
        sent = -1.0

        def answered(vectors: Sequence[EstimationVector]) -> None:
            nonlocal under_way, sent
            if sent != agenda.now:
                under_way, sent = [], agenda.now
                agenda.after(self.link.delay(), gather, under_way, ARRIVAL)
            under_way.append(vectors)

        def gather(answers: list[Sequence[EstimationVector]]) -> None:
            self.grid.record.message(self.name, "estimate", agenda.now, len(answers))
            self.host.handle(self.name, note, answers)

        def note(answers: list[Sequence[EstimationVector]]) -> None:
            nonlocal awaited
            best.extend(chain.from_iterable(answers))
            awaited -= len(answers)
            if awaited == 0:
                kept = self.rank.best(best, min(self.keep, discovery.max_servers))
                if best and not kept:
                    raise misjudged(self.rank, "hands up none of the servers")
                discovery.reply(kept)

        inner = discovery._replace(reply=answered)
        for child in asked:
            child.discover(inner)
        if not asked:
            discovery.reply(())


class MasterAgent(LocalAgent):
    """The root of the hierarchy, and the only part of it that clients know."""
