"""Which of the servers found are handed up by agents, and which of them a client chooses."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from gridtune.model.gridrpc.dispatch import Submission
from gridtune.model.gridrpc.estimation import EstimationVector
from gridtune.model.policy import Policy, parameter, register


class Aggregation(Policy, family="aggregation"):
    """An aggregation is the plug-in scheduler of an agent (RR-7959, section 2.3).

    Example:
        >>> @gt.policies.register("aggregation", "memory")
        ... @dataclass(frozen=True)
        ... class ByMemory(gt.policies.Aggregation):
        ...     "The servers with most memory first."
        ...     def best(self, vectors, most):
        ...         return sorted(vectors, key=lambda one: -one.value("memory", 0.0))[:most]
        >>> vectors = [gt.policies.EstimationVector(k, {"memory": 1e9 * k}) for k in range(3)]
        >>> [one.server for one in ByMemory().best(vectors, 2)]
        [2, 1]
    """

    @abstractmethod
    def best(self, vectors: Sequence[EstimationVector], most: int) -> Sequence[EstimationVector]:
        """Choose the servers that an agent hands up.

        Args:
            vectors: the vectors of all servers below the agent, in no particular order.
            most: the number of servers that the agent keeps, or that the client can use.

        Returns:
            The vectors of the servers, the best first, `most` at most.
        """


class _Ascending(Aggregation):
    """Vectors in ascending order of one tag; among equals the lower index."""

    tag: ClassVar[str] = ""

    def best(self, vectors: Sequence[EstimationVector], most: int) -> Sequence[EstimationVector]:
        """The least values first."""
        tag = self.tag
        return sorted(vectors, key=lambda one: (one.value(tag, inf), one.server))[:most]


@register("aggregation", "load", source="RR-7959, section 2.3")
@dataclass(frozen=True)
class ByLoad(_Ascending):
    """Servers with the fewest running and waiting mandatory requests come first, then the lowest index."""

    tag = "load"


@register("aggregation", "queue_length", source="RR-7959, section 2.3")
@dataclass(frozen=True)
class ByQueueLength(_Ascending):
    """Servers with the fewest waiting requests come first, then the lowest index."""

    tag = "queue_length"


@register("aggregation", "estimated_completion", source="RR-7959, section 2.3")
@dataclass(frozen=True)
class ByCompletion(Aggregation):
    """Servers that promise the earliest completion come first; among equals, the most powerful."""

    def best(self, vectors: Sequence[EstimationVector], most: int) -> Sequence[EstimationVector]:
        """The least estimated completions first."""
        return sorted(vectors, key=_completion)[:most]


@register(
    "aggregation", "displaced", source="RR-5335, section 4.3, algorithm 3, and section 6 (as a plug-in)"
)
@dataclass(frozen=True)
class ByDisplaced(Aggregation):
    """Servers where the fewest waiting tasks would become late come first; of those, the first done.

    Servers that do not say so come last.
    """

    def best(self, vectors: Sequence[EstimationVector], most: int) -> Sequence[EstimationVector]:
        """The least of (tasks made late, completion, index) first."""
        return sorted(vectors, key=_kindness)[:most]


@register("aggregation", "tag", source="RR-7959, section 2.3 (plug-in scheduler)")
@dataclass(frozen=True)
class ByTag(Aggregation):
    """Servers with the least, or largest, value of any tag come first; those without it come last."""

    tag: str = parameter("power", help="tag of the estimation vectors", source="RR-7959, section 2.3")
    largest: bool = parameter(
        True, help="whether the largest values come first", source="RR-7959, section 2.3"
    )

    def best(self, vectors: Sequence[EstimationVector], most: int) -> Sequence[EstimationVector]:
        """By the tag, then by index."""
        sign = -1.0 if self.largest else 1.0
        worst = -inf if self.largest else inf
        return sorted(vectors, key=lambda one: (sign * one.value(self.tag, worst), one.server))[:most]


class Choice(Policy, family="choice"):
    """A choice assigns the requests of a client to the servers that it found.

    Example:
        >>> @gt.policies.register("choice", "first")
        ... @dataclass(frozen=True)
        ... class First(gt.policies.Choice):
        ...     "All requests go to the best server."
        ...     def assign(self, plan, vectors, rng):
        ...         return [one if one.bound else one._replace(server=0) for one in plan]
        >>> plan = [gt.policies.Submission(server=k, mandatory=True) for k in range(3)]
        >>> [one.server for one in First().assign(plan, [], None)]
        [0, 0, 0]
    """

    def wanted(self, n_max: int) -> int:
        """Choose how many servers the client asks for.

        Args:
            n_max: the number of requests that its user could use.

        Returns:
            The number of servers.

        Example:
            >>> First().wanted(n_max=5)
            5
        """
        return n_max

    @abstractmethod
    def assign(
        self, plan: Sequence[Submission], vectors: Sequence[EstimationVector], rng: np.random.Generator
    ) -> Sequence[Submission]:
        """Choose servers for all requests that the dispatch policy has not bound to one.

        Args:
            plan: the requests that the client will submit, in this order; servers by place in `vectors`.
            vectors: the vectors of the servers found, the best first.
            rng: the client's own stream.

        Returns:
            The plan with the servers chosen, in the same order.
        """


@register("choice", "round-robin", source="RR-7959, section 4.1.2")
@dataclass(frozen=True)
class RoundRobin(Choice):
    """Requests go to one server after the other, as the dispatch policy plans."""

    def assign(
        self, plan: Sequence[Submission], vectors: Sequence[EstimationVector], rng: np.random.Generator
    ) -> Sequence[Submission]:
        """The plan as it is."""
        return plan


@register("choice", "random", source="RR-7959, section 2.3")
@dataclass(frozen=True)
class RandomChoice(Choice):
    """A request goes to any of the servers found, drawn for each."""

    def assign(
        self, plan: Sequence[Submission], vectors: Sequence[EstimationVector], rng: np.random.Generator
    ) -> Sequence[Submission]:
        """Servers drawn at random."""
        drawn = rng.integers(len(vectors), size=len(plan)).tolist()
        return [
            one if one.bound else one._replace(server=server) for one, server in zip(plan, drawn, strict=True)
        ]


@register("choice", "best-estimate", source="RR-7959, section 2.3")
@dataclass(frozen=True)
class BestEstimate(Choice):
    """A request goes to the server that should complete it first, counting what the client itself sends.

    Where servers know nothing of the service yet, the most powerful one.
    """

    servers: int = parameter(
        1_000_000,
        help="servers to ask for, among which to choose",
        unit="servers",
        low=1,
        high=1_000,
        log=True,
        minimum=1,
        source="RR-7959, section 4.1.2 (max_servers of grpc_discover)",
    )

    def wanted(self, n_max: int) -> int:
        """As many as the parameter says, however few requests there will be."""
        return self.servers

    def assign(
        self, plan: Sequence[Submission], vectors: Sequence[EstimationVector], rng: np.random.Generator
    ) -> Sequence[Submission]:
        """Servers one request after the other; among equals the one that was found first."""
        sent = [0] * len(vectors)

        def promise(server: int) -> tuple[float, float, int]:
            vector = vectors[server]
            done = vector.value("estimated_completion", inf)
            if done < inf:
                done += sent[server] * vector.value("service_time", done)
            return done, (sent[server] + 1) / vector.value("power", 1.0), server

        made = []
        for one in plan:
            best = one.server if one.bound else min(range(len(vectors)), key=promise)
            sent[best] += one.mandatory or not one.bound
            made.append(one._replace(server=best))
        return made


def _kindness(vector: EstimationVector) -> tuple[float, float, int]:
    return vector.value("displaced", inf), vector.value("estimated_completion", inf), vector.server


def _completion(vector: EstimationVector) -> tuple[float, float, int]:
    return vector.value("estimated_completion", inf), -vector.value("power", 0.0), vector.server
