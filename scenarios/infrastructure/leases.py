"""Servers put on nodes of batch sites: GridRPC servers and servers for tasks, for a time each."""

from __future__ import annotations

from gridtune.agents.batch.batch_site import BatchSite
from gridtune.agents.gridrpc.lease import Lease, measure
from gridtune.agents.gridrpc.sed import SeD
from gridtune.model.grid import Grid
from gridtune.scenarios.tables.schema import ScenarioSpec


def check(spec: ScenarioSpec) -> None:
    """Whether servers on lease have a site with a batch scheduler.

    Raises:
        ValueError: they name none.
    """
    batch = {site.name for site in spec.site if site.vres is None}
    for kind, groups in (("sed", spec.sed), ("server", spec.server)):
        for group in groups:
            if group.lease is not None and group.site not in batch:
                known = ", ".join(sorted(batch)) or "none"
                raise ValueError(
                    f"{kind}.{group.name}: lease: name a site with a batch scheduler; there are {known}"
                )


def build(grid: Grid, spec: ScenarioSpec) -> None:
    """Put servers on the sites that they have leases of."""
    sites = {agent.name: agent for agent in grid.agents if isinstance(agent, BatchSite)}
    servers = {agent.name: agent for agent in grid.agents if isinstance(agent, SeD)}
    leases = [
        Lease(grid, servers[name], sites[site], lease.habits)
        for group, count, site, lease in (
            *((one.name, one.count, one.site, one.lease) for one in spec.sed),
            *((one.name, one.count, one.site, one.lease) for one in spec.server),
        )
        if lease is not None and site is not None
        for name in (group, *(f"{group}-{k:03}" for k in range(count)))
        if name in servers
    ]
    if leases:
        measure(grid, leases)
