"""How many leases a group of servers has: one for each with requests, or as demand grows and shrinks."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import ceil

from gridtune.model.policy import Policy, parameter, register


class Pool(Policy, family="pool"):
    """A pool chooses how many leases a group of servers has.

    Example:
        >>> @gt.policies.register("pool", "half")
        ... @dataclass(frozen=True)
        ... class Half(gt.policies.Pool):
        ...     "A lease for every two requests that wait."
        ...     def wanted(self, waiting, servers):
        ...         return min(servers, (waiting + 1) // 2)
        >>> Half().wanted(waiting=5, servers=8), Half().kept()
        (3, 0)
    """

    @abstractmethod
    def wanted(self, waiting: int, servers: int) -> int:
        """Choose how many leases the group should have now.

        Args:
            waiting: the number of requests that wait at its servers.
            servers: the number of servers in the group, each of which stands on one lease at most.

        Returns:
            The number of leases.
        """

    def kept(self) -> int:
        """Choose how many leases the group has even if there is nothing to do.

        Returns:
            The number of leases.
        """
        return 0


@register("pool", "each")
@dataclass(frozen=True)
class Each(Pool):
    """Every server asks for a lease as soon as it has a request, whatever the others do."""

    def wanted(self, waiting: int, servers: int) -> int:
        """As many as there are servers."""
        return servers


@register("pool", "by-demand")
@dataclass(frozen=True)
class ByDemand(Pool):
    """The more requests wait, the more leases there are; servers with the most requests come first."""

    least: int = parameter(
        1, help="leases that are kept though nothing waits", unit="count", low=0, high=16, minimum=0
    )
    requests: int = parameter(
        4,
        help="requests that wait for each lease that is asked for",
        unit="count",
        low=1,
        high=64,
        log=True,
        minimum=1,
    )

    def wanted(self, waiting: int, servers: int) -> int:
        """One for each so many requests."""
        return min(servers, max(self.least, ceil(waiting / self.requests)))

    def kept(self) -> int:
        """See `least`."""
        return self.least
