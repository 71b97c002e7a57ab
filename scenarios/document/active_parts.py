"""The active tables of a scenario: those of components that are on, on nodes that are lent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from math import ceil
from typing import Any

from gridtune.scenarios.fields.table import Switchable
from gridtune.scenarios.tables.batch import SiteSpec
from gridtune.scenarios.tables.deadline import ServerSpec
from gridtune.scenarios.tables.gridrpc import SedSpec
from gridtune.scenarios.tables.schema import ScenarioSpec


def active(spec: ScenarioSpec) -> ScenarioSpec:
    """The scenario without what is switched off, and with fewer nodes at the sites that lend some.

    A site that is switched off lends nothing: its borrowers stand on nodes of their own.

    Raises:
        ValueError: a table names a component that [parts] does not, or the other way round, a site lends
            nodes that it does not have, or no table brings jobs.
    """
    for name, table in _tables(spec):
        for part in table.part:
            if part not in spec.parts:
                known = ", ".join(spec.parts) or "none"
                raise ValueError(f"{name}: part: [parts] has no {part!r}; there are {known}")
    used = {part for _, table in _tables(spec) for part in table.part}
    for part in spec.parts:
        if part not in used:
            known = ", ".join(sorted(used)) or "none"
            raise ValueError(f"parts.{part}: no table belongs to it; tables belong to {known}")
    lent = _lent(spec)
    changed: dict[str, Any] = {}
    for field in type(spec).model_fields:
        value = getattr(spec, field)
        if isinstance(value, Switchable) and not _on(spec, value):
            changed[field] = None
        elif isinstance(value, list) and any(isinstance(element, Switchable) for element in value):
            changed[field] = [element for element in value if _on(spec, element)]
    changed["site"] = [_without(site, lent[site.name]) for site in changed.get("site", [])]
    standing = {site.name for site in changed["site"]}
    for field in ("sed", "server"):
        changed[field] = [_standing(group, standing) for group in changed.get(field, [])]
    present = spec.model_copy(update=changed)
    if not present.workload and not present.overlay and present.queue is None:
        switched = ", but every component that has one is switched off" if spec.workload else ""
        raise ValueError(f"a scenario needs at least one [[workload]]{switched}")
    return present


def _on(spec: ScenarioSpec, table: Switchable) -> bool:
    return not table.part or any(spec.parts[part] for part in table.part)


def _tables(spec: ScenarioSpec) -> Iterator[tuple[str, Switchable]]:
    """All tables that can be switched off, and what to call them."""
    for field in type(spec).model_fields:
        value = getattr(spec, field)
        if isinstance(value, Switchable):
            yield field, value
        elif isinstance(value, list):
            for element in value:
                if isinstance(element, Switchable):
                    yield f"{field}.{getattr(element, 'name', '')}", element


def _standing(group: SedSpec | ServerSpec, sites: Set[str]) -> SedSpec | ServerSpec:
    """A group of servers whose leases are asked for at sites that stand; without one it needs no lease."""
    lease = group.lease
    if lease is None or group.site is None:
        return group
    if group.site not in sites:
        return group.model_copy(update={"lease": None})
    left = [site for site in lease.overflow if site in sites]
    return group.model_copy(update={"lease": lease.model_copy(update={"overflow": left})})


def _lent(spec: ScenarioSpec) -> Counter[str]:
    """Nodes that each site lends to servers."""
    sites = {site.name: site for site in spec.site}
    lent: Counter[str] = Counter()
    groups_of: dict[str, Sequence[SedSpec | ServerSpec]] = {"sed": spec.sed, "server": spec.server}
    for kind, groups in groups_of.items():
        for group in groups:
            if group.site is None:
                continue
            for key, name in _asked(group):
                if name not in sites:
                    known = ", ".join(sites) or "none"
                    raise ValueError(f"{kind}.{group.name}: {key}: no [[site]] {name!r}; there are {known}")
            if _on(spec, group) and group.lease is None:
                lent[group.site] += ceil(group.count / sites[group.site].slots)
    for name, nodes in lent.items():
        if nodes >= sites[name].size:
            raise ValueError(
                f"site.{name}.nodes: servers borrow {nodes} of {sites[name].size} nodes; one must be left"
            )
    return lent


def _asked(group: SedSpec | ServerSpec) -> Iterator[tuple[str, str]]:
    """The sites that servers stand on, or ask for a node, and which key names them."""
    if group.site is not None:
        yield "site", group.site
    if group.lease is not None:
        yield from (("lease.overflow", name) for name in group.lease.overflow)


def _without(site: SiteSpec, nodes: int) -> SiteSpec:
    """A site without its last nodes."""
    if not nodes:
        return site
    left = site.size - nodes
    speed = site.speed[:left] if isinstance(site.speed, list) else site.speed
    return site.model_copy(update={"nodes": left, "speed": speed})
