"""Estimation vectors: what a server says of itself when a client looks for servers (RR-7959, section 2.3)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from gridtune.model.policy import Policy, parameter, register


class EstimationVector(NamedTuple):
    """An estimation vector holds the estimates that a server gives of itself for a service.

    Attributes:
        server: the index of the SeD within the hierarchy.
        values: the estimates by tag; which tags there are is up to the server's estimation.

    Example:
        >>> vector = gt.policies.EstimationVector(0, {"load": 3.0})
        >>> vector.value("load", missing=0.0), vector.value("memory", missing=0.0)
        (3.0, 0.0)
    """

    server: int
    values: Mapping[str, float]

    def value(self, tag: str, missing: float) -> float:
        """Look up an estimate.

        Args:
            tag: the tag.
            missing: the value if the server gives none.

        Returns:
            The value, in the unit of the tag.
        """
        return self.values.get(tag, missing)


class ServerState(NamedTuple):
    """The server state is what a server knows of itself at present.

    Attributes:
        power: its speed: run time at speed 1 / run time here.
        memory: its memory, bytes.
        running: the number of requests that it executes at present, 0 or 1.
        mandatory: the number of mandatory requests that wait.
        waiting: the number of requests that wait, optional ones included.
        executed: the number of requests of the service that it has completed.
        executed_time: the time that these took in all, s.

    Example:
        >>> state = gt.policies.ServerState(2.0, 8e9, running=1, mandatory=1, waiting=3, executed=4,
        ...                                 executed_time=80.0)
        >>> state.executed_time / state.executed
        20.0
    """

    power: float
    memory: float
    running: int
    mandatory: int
    waiting: int
    executed: int
    executed_time: float


class Estimation(Policy, family="estimation"):
    """An estimation fills the estimation vector of a server (SeD).

    Example:
        >>> @gt.policies.register("estimation", "backlog")
        ... @dataclass(frozen=True)
        ... class Backlog(gt.policies.Estimation):
        ...     "The server tells how many requests it has."
        ...     def values(self, service, server):
        ...         return {"load": server.running + server.waiting}
        >>> state = gt.policies.ServerState(1.0, 8e9, running=1, mandatory=1, waiting=3, executed=0,
        ...                                 executed_time=0.0)
        >>> Backlog().values("solve", state)
        {'load': 4}
    """

    @abstractmethod
    def values(self, service: str, server: ServerState) -> Mapping[str, float]:
        """Estimate how fit the server is for a service.

        Args:
            service: the service that a client looks for; "" where services have no names.
            server: the present state of the server.

        Returns:
            The estimates by tag. Shipped aggregations read `load`, `queue_length` and `estimated_completion`
            (s).
        """


@register("estimation", "history", source="RR-7959, section 2.3")
@dataclass(frozen=True)
class History(Estimation):
    """A server tells power, memory, load, queue and the completion that past executions promise.

    A server is not told run times. Until it has executed a request of the service, its completion is that of
    `prior` work on a machine of its power; without a prior it is infinite.

    Attributes:
        prior: the work that a request is taken to be until one was executed, s at speed 1; 0 for unknown.

    Example:
        >>> gt.policies.History(prior=60.0).values("solve", state)["service_time"]
        20.0
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
        """Estimate from the state of the server and from past executions.

        Args:
            service: the service that a client looks for.
            server: the present state of the server.

        Returns:
            The estimates by tag: `power`, `memory` (bytes), `load` and `queue_length` (requests),
            `service_time` and `estimated_completion` (s).
        """
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
