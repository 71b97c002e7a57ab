"""A client's second thoughts: mandatory requests that wait are taken to servers that are better now."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Protocol

from gridtune.agents.gridrpc.hierarchy import Discovery
from gridtune.agents.gridrpc.sed import SeD
from gridtune.model.agenda import ARRIVAL, DECISION
from gridtune.model.grid import Grid
from gridtune.model.gridrpc.estimation import EstimationVector
from gridtune.model.gridrpc.reallocation import Reallocation
from gridtune.model.job import QUEUED, Job
from gridtune.model.metrics.registry import define
from gridtune.model.network import Link

define("reallocated", "requests", "minimize", "moves of waiting mandatory requests to other servers")


class Moves(Protocol):
    """A client whose waiting requests may move; see `Client`."""

    grid: Grid
    servers: Sequence[SeD]
    link: Link
    pending: dict[int, tuple[Job, SeD]]
    mandatory_left: int

    @property
    def left(self) -> bool:
        """Whether its user has left."""

    @property
    def service(self) -> str:
        """That its requests are of."""

    def ask(self, wanted: Discovery) -> None:
        """Ask the master agent for servers."""

    def move(self, job: Job, server: SeD, other: SeD) -> None:
        """Have a request that waits at a server go to another."""


class Reallocator:
    """Looks for better servers from time to time, as long as mandatory requests of a client wait.

    Args:
        client: whose requests.
        policy: decides whether one moves.
        period: s between two looks.
    """

    def __init__(self, client: Moves, policy: Reallocation, period: float) -> None:
        self.client = client
        self.policy = policy
        self.period = period
        self.grid = client.grid
        self.grid.record.counters["reallocated"] += 0
        self.grid.agenda.after(period, self._look, None, DECISION)

    def _waiting(self) -> list[tuple[Job, SeD]]:
        """Mandatory requests that wait at servers, the one submitted last first."""
        entries = self.client.pending.values()
        return [entry for entry in entries if entry[0].mandatory and entry[0].state is QUEUED][::-1]

    def _look(self, _: object) -> None:
        client = self.client
        if client.left or client.mandatory_left == 0:
            return
        if self._waiting():
            wanted = Discovery(len(client.servers), self._reply, client.service)
            client.ask(wanted)
        self.grid.agenda.after(self.period, self._look, None, DECISION)

    def _reply(self, vectors: Sequence[EstimationVector]) -> None:
        self.grid.agenda.after(self.client.link.delay(), self._compare, vectors, ARRIVAL)

    def _compare(self, vectors: Sequence[EstimationVector]) -> None:
        """Move the requests that would be done sooner elsewhere, one after the other."""
        ahead = {vector.server: vector.value("load", inf) for vector in vectors}
        each = {vector.server: vector.value("service_time", inf) for vector in vectors}
        for job, server in self._waiting():
            others = [index for index in ahead if index != server.index]
            if not others:
                return
            best = min(others, key=lambda index: (ahead[index] + 1) * each[index])
            here = server.expected(job, each.get(server.index, inf))
            if self.policy.moves(here, (ahead[best] + 1) * each[best]):
                ahead[best] += 1
                self.client.move(job, server, self.client.servers[best])
