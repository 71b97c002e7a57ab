"""Queueing theory: what simulations are held against."""

from __future__ import annotations


def erlang_c(servers: int, load: float) -> float:
    """Probability that a customer of an M/M/c queue has to wait.

    Args:
        servers: c.
        load: rho, arrival rate times mean service over c; in (0, 1).

    Raises:
        ValueError: no stationary state exists for such a load.

    Source: Erlang's second formula, by the recursion of his first one.
    """
    if not 0 < load < 1:
        raise ValueError(f"a stationary queue needs a load between 0 and 1, not {load}")
    offered = load * servers
    blocked = 1.0  # Erlang B
    for count in range(1, servers + 1):
        blocked = offered * blocked / (count + offered * blocked)
    return blocked / (1.0 - load * (1.0 - blocked))


def mmc_wait(servers: int, load: float, mean_service: float) -> float:
    """Mean waiting time of an M/M/c queue in equilibrium, in the unit of the mean service time."""
    return erlang_c(servers, load) * mean_service / (servers * (1.0 - load))


def mg1_wait(load: float, mean_service: float, variation: float) -> float:
    """Mean waiting time of an M/G/1 queue in equilibrium, in the unit of the mean service time.

    Args:
        load: rho, arrival rate times mean service; in (0, 1).
        mean_service: of a customer.
        variation: coefficient of variation of the service times: 1 for M/M/1, 0 for M/D/1.

    Raises:
        ValueError: no stationary state exists for such a load.

    Source: the formula of Pollaczek and Khinchine.
    """
    if not 0 < load < 1:
        raise ValueError(f"a stationary queue needs a load between 0 and 1, not {load}")
    return load / (1.0 - load) * mean_service * (1.0 + variation**2) / 2.0
