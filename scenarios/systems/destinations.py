"""Where the jobs of a workload go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from gridtune.scenarios.tables.deadline import ServerSpec
from gridtune.scenarios.tables.gridrpc import SedSpec
from gridtune.scenarios.tables.schema import ScenarioSpec
from gridtune.scenarios.workloads.jobs import EVERY, JobWorkload

Destination = Literal["bags", "site", "middleware", "wms", "portal"]


def destination(spec: ScenarioSpec, workload: JobWorkload) -> Destination:
    """Who takes the jobs of a workload in: bags for harvesters, a site, or whoever brings jobs to sites.

    Raises:
        ValueError: the scenario leaves it open, or has nobody of the kind that the workload names.
    """
    if workload.best_effort is not None:
        return "bags"
    if workload.site is not None:
        return "site"
    if spec.portal is not None and workload.name in spec.portal.workloads:
        return "portal"
    carriers: list[Literal["middleware", "wms"]] = []
    if spec.middleware is not None:
        carriers.append("middleware")
    if spec.wms is not None:
        carriers.append("wms")
    if workload.via is not None:
        if workload.via not in carriers:
            raise ValueError(f"workload {workload.name}: via: the scenario has no [{workload.via}]")
        return workload.via
    if len(carriers) > 1:
        raise ValueError(f"workload {workload.name}: via: say whether middleware or wms takes its jobs")
    return carriers[0] if carriers else "site"


def workloads_for(spec: ScenarioSpec, where: Destination) -> Iterator[JobWorkload]:
    """The workloads of jobs that go there."""
    for workload in spec.workload:
        if isinstance(workload, JobWorkload) and destination(spec, workload) == where:
            yield workload


def site_names(spec: ScenarioSpec) -> list[str]:
    """All sites, declared and generated."""
    return [site.name for site in spec.site] + (spec.platform.names if spec.platform is not None else [])


def at_sites(spec: ScenarioSpec) -> Iterator[tuple[str, JobWorkload]]:
    """The sites that have users of their own, with their workloads; a site may come several times.

    Of a workload that every site has, each gets one under a name of its own, and so jobs of its own.
    """
    names = site_names(spec)
    for workload in workloads_for(spec, "site"):
        if workload.site == EVERY:
            for name in names:
                yield name, workload.model_copy(update={"name": f"{workload.name}-{name}"})
        else:
            yield workload.site or names[0], workload


def used_sites(spec: ScenarioSpec) -> set[str]:
    """Sites that work comes to without a middleware or brokers: of own users, harvesters and servers."""
    batch = [site.name for site in spec.site if site.vres is None]
    used: set[str | None] = {name for name, _ in at_sites(spec)}
    for harvester in spec.harvester:
        used.update(batch if harvester.site in (EVERY, None) else [harvester.site])
    groups: list[SedSpec | ServerSpec] = [*spec.sed, *spec.server]
    for group in groups:
        used.update([group.site, *(group.lease.overflow if group.lease is not None else ())])
    return {name for name in used if name is not None}
