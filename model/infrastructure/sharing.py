"""Max-min fairness: how much of the links that they cross the flows of a network get."""

from __future__ import annotations

from collections.abc import Sequence


def max_min_rates(
    routes: Sequence[Sequence[int]], flows: Sequence[int], capacities: Sequence[float]
) -> list[float]:
    """Rate of each flow on each route, so that no flow can get more unless one with no more gets less.

    All rates grow together until a link is full; the flows that cross it stay at what they have, and the
    others grow on (progressive filling). Flows on one route have equal rates.

    Args:
        routes: links of each route, by index; at least one each, none twice.
        flows: number of flows on each route; 0 for a route that is not in use, whose rate is 0.
        capacities: of each link, bytes/s; finite, 0 for a link that is cut.

    Returns:
        Bytes/s of one flow on each route.

    Source: Bertsekas and Gallager, Data Networks, section 6.5.2; the flow model of SimGrid without its
        weights by round-trip time.
    """
    rates = [0.0] * len(routes)
    growing = [k for k, count in enumerate(flows) if count]
    if len(growing) == 1:
        (k,) = growing
        rates[k] = min(capacities[link] / flows[k] for link in routes[k])
        return rates
    left = list(capacities)
    crossing = [0] * len(left)
    for k in growing:
        for link in routes[k]:
            crossing[link] += flows[k]
    while growing:
        used = {link for k in growing for link in routes[k]}
        shares = {link: left[link] / crossing[link] for link in used}
        level = min(shares.values())
        full = {link for link, share in shares.items() if share <= level}
        staying = [k for k in growing if not full.isdisjoint(routes[k])]
        for k in staying:
            rates[k] = level
            for link in routes[k]:
                left[link] = max(0.0, left[link] - level * flows[k])
                crossing[link] -= flows[k]
        growing = [k for k in growing if full.isdisjoint(routes[k])]
    return rates
