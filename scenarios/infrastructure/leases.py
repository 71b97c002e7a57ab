"""Servers put on nodes of sites: where data of their requests go, and those on leases, for a time each."""

from __future__ import annotations

from gridtune.agents.batch.batch_site import BatchSite
from gridtune.agents.gridrpc.lease import Lease, LeasePool, measure
from gridtune.agents.gridrpc.sed import SeD
from gridtune.agents.infrastructure.network import network_of
from gridtune.model.grid import Grid
from gridtune.scenarios.tables.deadline import ServerSpec
from gridtune.scenarios.tables.gridrpc import SedSpec
from gridtune.scenarios.tables.schema import ScenarioSpec


def check(spec: ScenarioSpec) -> None:
    """Whether servers on lease have a site with a batch scheduler.

    Raises:
        ValueError: they name none.
    """
    batch = {site.name for site in spec.site if site.vres is None}
    for kind, groups in (("sed", spec.sed), ("server", spec.server)):
        for group in groups:
            if group.lease is None:
                continue
            asked = [group.site, *group.lease.overflow]
            if not batch.issuperset(asked):
                known = ", ".join(sorted(batch)) or "none"
                raise ValueError(
                    f"{kind}.{group.name}: lease: name a site with a batch scheduler; there are {known}"
                )
            if len(set(asked)) < len(asked):
                raise ValueError(f"{kind}.{group.name}: lease.overflow: names a site twice, or `site` itself")


def build(grid: Grid, spec: ScenarioSpec) -> None:
    """Put servers on the sites that lend them nodes, or that they have leases of."""
    sites = {agent.name: agent for agent in grid.agents if isinstance(agent, BatchSite)}
    servers = {agent.name: agent for agent in grid.agents if isinstance(agent, SeD)}
    network = network_of(grid)
    leases = []
    groups: list[SedSpec | ServerSpec] = [*spec.sed, *spec.server]
    for group in groups:
        if group.site is None:
            continue
        names = (group.name, *(f"{group.name}-{k:03}" for k in range(group.count)))
        made = [servers[name] for name in names if name in servers]
        if group.lease is not None:
            pool = LeasePool(group.lease.pool)
            places = [sites[name] for name in (group.site, *group.lease.overflow)]
            leases += [Lease(grid, server, places, group.lease.habits, pool) for server in made]
        elif network is not None:
            for server in made:
                server.way = network.ways.get(group.site)  # none if it is switched off
    if leases:
        measure(grid, leases)
