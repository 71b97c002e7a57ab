"""Portals in scenarios: a dispatcher over the slots that virtual reservations grant to short jobs."""

from __future__ import annotations

from gridtune.agents.wms.portal import Portal
from gridtune.model.grid import Grid
from gridtune.model.metrics.registry import define
from gridtune.scenarios.systems.batch import arrivals, feed
from gridtune.scenarios.systems.destinations import workloads_for
from gridtune.scenarios.systems.vres import vres_sites
from gridtune.scenarios.tables.schema import ScenarioSpec
from gridtune.scenarios.workloads.jobs import JobWorkload

define("portal_unfairness", "", "minimize", "largest minus least of slot time over weight, over their mean")


def check(spec: ScenarioSpec) -> None:
    """Whether the portal has workloads and sites.

    Raises:
        ValueError: naming what is missing.
    """
    if spec.portal is None:
        return
    known = [workload.name for workload in spec.workload if isinstance(workload, JobWorkload)]
    for name in spec.portal.workloads:
        if name not in known:
            raise ValueError(f"portal.workloads: no workload of jobs {name!r}; there are {', '.join(known)}")
    for name, weight in spec.portal.weights.items():
        if not weight > 0:
            raise ValueError(f"portal.weights.{name}: {weight:g} must be more than 0")
    if not any(site.vres is not None for site in spec.site):
        raise ValueError("portal: needs a [[site]] with shares of classes in `vres`")


def build(grid: Grid, spec: ScenarioSpec) -> None:
    """Put the portal on the grid, if the scenario has one, and have its jobs submitted to it."""
    if spec.portal is None:
        return
    sites = list(vres_sites(grid).values())
    part = spec.portal
    portal = Portal(grid, sites, part.arbitration, part.slots, part.weights, part.retry)
    feed(grid, [arrivals(grid, workload, portal) for workload in workloads_for(spec, "portal")])
    grid.record.measure("portal_unfairness", lambda: _unfairness(portal))
    grid.record.probe("portal.in_flight", lambda: portal.in_flight)


def _unfairness(portal: Portal) -> float:
    rates = [account.total / account.weight for account in portal.accounts.values()]
    mean = sum(rates) / len(rates) if rates else 0.0
    return (max(rates) - min(rates)) / mean if mean else 0.0
