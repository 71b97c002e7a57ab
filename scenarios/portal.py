"""Portals in scenarios: a dispatcher over the slots that virtual reservations grant to short jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from agents.portal import Portal
from model.arbitration import DeadlineFair
from model.grid import Grid
from model.metrics import define
from scenarios.batch import arrivals, feed
from scenarios.destinations import workloads_for
from scenarios.job_workloads import JobWorkload
from scenarios.parts import Switchable, policy_of
from scenarios.vres import vres_sites

if TYPE_CHECKING:
    from scenarios.schema import ScenarioSpec

define("portal_unfairness", "", "minimize", "largest minus least of slot time over weight, over their mean")


class PortalSpec(Switchable):
    """A dispatcher (DRes) over virtual reservations (Responsive Grids, section 3.3)."""

    workloads: list[str] = Field(min_length=1, description="names of those whose jobs come to the portal")
    arbitration: policy_of("arbitration") = Field(default_factory=DeadlineFair)  # type: ignore[valid-type]
    slots: int = Field(ge=1, description="jobs that it may have at the sites at once")
    weights: dict[str, float] = Field(default_factory=dict, description="by user or group; 1 if not named")
    retry: float = Field(default=5.0, gt=0, description="s until it tries again when no site had a slot")


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
