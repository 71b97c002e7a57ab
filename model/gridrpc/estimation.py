"""Estimation vectors: what a server says of itself when a client looks for servers (RR-7959, section 2.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from gridtune.model.policy import Policy, parameter, register


class EstimationVector(NamedTuple):
    """How fit a server says it is for a service.

    Attributes:
        server: index of the SeD within the hierarchy.
        values: by tag; which tags there are is up to the server's estimation.
    """

    server: int
    values: Mapping[str, float]

    def value(self, tag: str, missing: float) -> float:
        """The value of a tag, or `missing` where the server gives none."""
        return self.values.get(tag, missing)


class ServerState(NamedTuple):
    """What a server knows of itself.

    Attributes:
        power: run time at speed 1 over run time here.
        memory: bytes.
        running: requests that it executes at present, 0 or 1.
        mandatory: mandatory requests that wait.
        waiting: requests that wait, optional ones included.
        executed: requests of the service that it has completed.
        executed_time: s that these took in all.
    """

    power: float
    memory: float
    running: int
    mandatory: int
    waiting: int
    executed: int
    executed_time: float


class Estimation(Policy):
    """What a server puts into its estimation vector: the contract of the family `estimation`."""

    def values(self, service: str, server: ServerState) -> Mapping[str, float]:
        """Values by tag.

        Args:
            service: that a client looks for; "" where services have no names.
            server: the present state of the server.
        """
        raise NotImplementedError


@register("estimation", "history", source="RR-7959, section 2.3")
@dataclass(frozen=True)
class History(Estimation):
    """Power, memory, load, queue, and the completion that past executions of the service promise.

    A server is not told run times. Until it has executed a request of the service, its completion is that of
    `prior` work on a machine of its power; without a prior it is infinite: what nobody knows flatters nobody.
    """

    prior: float = parameter(
        0.0,
        help="work that a request is taken to be until one was executed; 0 for unknown",
        unit="s at speed 1",
        low=0.0,
        high=3600.0,
        minimum=0.0,
        source="RR-7959, section 2.3 (estimated completion)",
    )

    def values(self, service: str, server: ServerState) -> Mapping[str, float]:
        """Tags power, memory, load, queue_length, service_time and estimated_completion."""
        if server.executed:
            service_time = server.executed_time / server.executed
        else:
            service_time = self.prior / server.power if self.prior else inf
        return {
            "power": server.power,
            "memory": server.memory,
            "load": server.running + server.mandatory,
            "queue_length": server.waiting,
            "service_time": service_time,
            "estimated_completion": (server.running + server.waiting + 1) * service_time,
        }
