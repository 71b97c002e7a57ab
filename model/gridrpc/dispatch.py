"""Dispatch policies: what a GridRPC client submits, where and when."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from gridtune.model.policy import Policy, parameter, register


class Demand(NamedTuple):
    """The demand tells how many requests a client's user wants, and how many the client has submitted.

    Attributes:
        n_min: the number of mandatory requests.
        n_max: the number of requests in all that would be useful.
        n_submit: the number of requests in all that the user guesses to be right (legacy clients).
        submitted: the number of requests submitted so far.

    Example:
        >>> demand = gt.policies.Demand(n_min=3, n_max=9, n_submit=5, submitted=0)
        >>> demand.n_max - demand.submitted
        9
    """

    n_min: int
    n_max: int
    n_submit: int
    submitted: int


class Submission(NamedTuple):
    """A submission is one request that a client is to submit.

    Attributes:
        server: the place of the server in the list discovered, from 0.
        mandatory: whether the request is mandatory.
        bound: whether it must go to that server, whatever the client's choice among servers is.

    Example:
        >>> gt.policies.Submission(server=0, mandatory=True).bound
        False
    """

    server: int
    mandatory: bool
    bound: bool = False


RoundRobinStart = Literal["random", "first"]


class Dispatch(Policy, family="dispatch"):
    """A dispatch policy chooses what a GridRPC client submits, where and when.

    Attributes:
        discipline: the name of the server discipline that goes with it where a scenario names none.

    Example:
        >>> @gt.policies.register("dispatch", "mandatory-only")
        ... @dataclass(frozen=True)
        ... class MandatoryOnly(gt.policies.Dispatch):
        ...     "The mandatory requests, one server after the other, and nothing else."
        ...     def setup(self, demand, servers, rng):
        ...         return [gt.policies.Submission(k % servers, True) for k in range(demand.n_min)]
        >>> MandatoryOnly().setup(gt.policies.Demand(3, 9, 5, 0), 2, None)[2].server
        0
    """

    discipline: str = "fcfs"

    @abstractmethod
    def setup(self, demand: Demand, servers: int, rng: np.random.Generator) -> Sequence[Submission]:
        """Choose what to submit once servers were discovered.

        Args:
            demand: the numbers of requests that are wanted and were submitted.
            servers: the number of servers discovered.
            rng: the client's own stream.

        Returns:
            The requests, in the order in which they are submitted.
        """

    def completed(self, demand: Demand, outstanding: int) -> int:
        """Choose how many optional requests to send to a server that completed an optional one.

        Args:
            demand: the numbers of requests that are wanted and were submitted.
            outstanding: the number of optional requests of this client that the server still has.

        Returns:
            The number of new requests.

        Example:
            >>> MandatoryOnly().completed(gt.policies.Demand(3, 9, 5, 3), outstanding=0)
            0
        """
        return 0


@register("dispatch", "legacy", source="RR-7959, section 5.1")
@dataclass(frozen=True)
class Legacy(Dispatch):
    """A number of requests guessed beforehand is submitted at once, mandatory ones first, round-robin."""

    round_robin_start: RoundRobinStart = parameter(
        "random", help="where each client starts its round over the servers", source="RR-7959, section 4.1.2"
    )

    def setup(self, demand: Demand, servers: int, rng: np.random.Generator) -> Sequence[Submission]:
        """n_min mandatory requests, then optional ones up to n_submit."""
        start = _start(self.round_robin_start, servers, rng)
        total = min(max(demand.n_submit, demand.n_min), demand.n_max)
        return [Submission((start + k) % servers, k < demand.n_min) for k in range(total)]


@register("dispatch", "ethic", source="RR-7959, section 4.1.2")
@dataclass(frozen=True)
class EthicDispatch(Dispatch):
    """Mandatory requests go round-robin; then every server has a window of optional requests."""

    discipline = "ethic"

    window: int = parameter(
        1,
        help="optional requests kept at each server",
        unit="requests",
        low=1,
        high=8,
        minimum=1,
        source="RR-7959, section 4.1.2 (1 there); section 7 suggests other sizes",
    )
    round_robin_start: RoundRobinStart = parameter(
        "random", help="where each client starts its round over the servers", source="RR-7959, section 4.1.2"
    )

    def setup(self, demand: Demand, servers: int, rng: np.random.Generator) -> Sequence[Submission]:
        """n_min mandatory requests, then `window` optional ones to every server, up to n_max in all."""
        start = _start(self.round_robin_start, servers, rng)
        optional = min(self.window * servers, demand.n_max - demand.n_min)
        return [
            *(Submission((start + k) % servers, True) for k in range(demand.n_min)),
            *(Submission((start + demand.n_min + k) % servers, False, True) for k in range(optional)),
        ]

    def completed(self, demand: Demand, outstanding: int) -> int:
        """As many as refill the window, up to n_max in all."""
        return max(0, min(self.window - outstanding, demand.n_max - demand.submitted))


def _start(rule: RoundRobinStart, servers: int, rng: np.random.Generator) -> int:
    # If all clients started at the first server, its queue would hold everybody's mandatory requests.
    return int(rng.integers(servers)) if rule == "random" else 0
