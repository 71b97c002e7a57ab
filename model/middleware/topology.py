"""Networks between sites: a wide area of routers, a local area at each site (a Tiers-like generator)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from math import hypot

import numpy as np

from gridtune.model.network import Link


@dataclass(frozen=True, slots=True)
class Route:
    """The links between two places, which a message crosses one after the other (store and forward).

    Attributes:
        links: on the way.
        names: of each, by which it is known where several routes share it.
    """

    links: tuple[Link, ...]
    names: tuple[str, ...]

    @property
    def latency(self) -> float:
        """Of all links together, s."""
        return sum(link.latency for link in self.links)

    def delay(self, size: float = 0.0) -> float:
        """Seconds that a message of `size` bytes takes."""
        return sum(link.delay(size) for link in self.links)


def routes(
    sites: int, routers: int, redundancy: int, wan: Link, lan: Link, rng: np.random.Generator
) -> list[Route]:
    """A route from the central services to each site.

    Routers are placed at random in a unit square and joined by a minimum spanning tree, to which each
    router adds links to its nearest neighbours. Sites hang on the routers in turn, each by one wide-area link
    and its own local network; the central services hang on the first router.

    Args:
        sites: how many.
        routers: of the wide area; 1 for a star.
        redundancy: links that each router has beyond those of the tree, as far as there are neighbours.
        wan, lan: the links of the two levels.
        rng: stream of the platform.

    Source: RR-5576, sections 4.1 and 5 (hierarchical topologies of the generator Tiers).
    """
    paths = _paths(_network(rng.random((routers, 2)).tolist(), redundancy))
    return [
        Route((wan,) * (len(paths[k % routers]) + 1) + (lan,), (*paths[k % routers], f"wan-{k}", f"lan-{k}"))
        for k in range(sites)
    ]


def _network(places: Sequence[Sequence[float]], redundancy: int) -> list[set[int]]:
    """Neighbours of each router."""

    def distance(a: int, b: int) -> float:
        return hypot(places[a][0] - places[b][0], places[a][1] - places[b][1])

    neighbours: list[set[int]] = [set() for _ in places]
    # Prim: the nearest router outside the tree joins it next.
    nearest = {k: (distance(0, k), 0) for k in range(1, len(places))}
    while nearest:
        new = min(nearest, key=lambda k: nearest[k][0])
        _, known = nearest.pop(new)
        neighbours[new].add(known)
        neighbours[known].add(new)
        for k, (best, _) in nearest.items():
            if distance(new, k) < best:
                nearest[k] = distance(new, k), new
    for k in range(len(places)):
        others = [j for j in range(len(places)) if j != k and j not in neighbours[k]]
        for j in sorted(others, key=lambda j: distance(k, j))[:redundancy]:
            neighbours[k].add(j)
            neighbours[j].add(k)
    return neighbours


def _paths(neighbours: Sequence[set[int]]) -> list[tuple[str, ...]]:
    """Links on a shortest way from the first router to each; of several, the one by the lowest numbers."""
    found: dict[int, tuple[str, ...]] = {}
    queue: list[tuple[int, int, int]] = [(0, -1, 0)]
    while queue:
        steps, before, k = heappop(queue)
        if k not in found:
            link = () if before < 0 else (f"routers-{min(before, k)}-{max(before, k)}",)
            found[k] = (*found.get(before, ()), *link)
            for j in neighbours[k]:
                heappush(queue, (steps + 1, k, j))
    return [found[k] for k in range(len(neighbours))]
