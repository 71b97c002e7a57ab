"""The network between sites, and generated platforms: many sites and their nodes (RR-5576, sections 4, 5)."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import accumulate, cycle, islice
from typing import Any

import numpy as np

from gridtune.agents.batch.batch_site import BatchSite
from gridtune.agents.infrastructure.network import Network
from gridtune.model.agenda import Action
from gridtune.model.grid import Grid
from gridtune.model.middleware.topology import Route, routes
from gridtune.model.network import Link
from gridtune.model.streams import Streams
from gridtune.model.vres import ShareError
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.fields.faults import needs_names
from gridtune.scenarios.fields.laws import draws
from gridtune.scenarios.systems.batch import place
from gridtune.scenarios.systems.destinations import site_names
from gridtune.scenarios.systems.vres import check_shares, measure_together, stand, vres_sites, with_shares
from gridtune.scenarios.tables.batch import QueueSpec, SiteSpec
from gridtune.scenarios.tables.general import TransferSpec
from gridtune.scenarios.tables.platform import OBSERVED, PlatformSpec
from gridtune.scenarios.tables.schema import ScenarioSpec
from gridtune.scenarios.workloads.jobs import JobWorkload

BACKBONE = "backbone"  # the link that all cross


def check(spec: ScenarioSpec) -> None:
    """Whether the names of generated sites are free, and what crosses shared links finds them.

    Raises:
        ValueError: a [[site]] has one of them; something moves data where links have constant delays, or goes
            where there is no site.
    """
    if spec.platform is not None:
        taken = {site.name for site in spec.site} & set(spec.platform.names)
        if taken:
            raise ValueError(f"site: the platform has sites called {', '.join(sorted(taken))} too")
        _check_vres(spec.platform)
    _check_transfers(spec)


def _check_vres(platform: PlatformSpec) -> None:
    shares = platform.vres or {}
    try:
        check_shares(platform, "platform")
        if sum(shares.values()) > 1 + 1e-9:
            raise ShareError("", f"shares add up to {sum(shares.values()):g}, which is more than 1")
    except ShareError as error:
        raise ValueError(f"platform.vres{f'.{error.name}' if error.name else ''}: {error}") from None


def _check_transfers(spec: ScenarioSpec) -> None:
    """Whether what crosses links finds them shared, and every transfer has its site."""
    shared = spec.network.sharing != "none"
    moving = [
        f"workload {one.name}: data" for one in spec.workload if isinstance(one, JobWorkload) and one.data
    ]
    moving += [f"transfer {one.name}" for one in spec.transfer]
    moving += [f"site {one.name}: cache" for one in spec.site if one.cache]
    if moving and not shared:
        raise ValueError(f'{moving[0]}: is for links that are shared; set network.sharing = "max-min"')
    names = site_names(spec)
    for transfer in spec.transfer:
        if transfer.site not in names:
            known = ", ".join(names) or "none"
            raise ValueError(f"transfer {transfer.name}: site: no site {transfer.site!r}; there are {known}")


def build(grid: Grid, spec: ScenarioSpec) -> None:
    """Put the network on the grid, if links are shared, and the generated sites, if there are any."""
    if spec.network.sharing != "none":
        _connect(grid, spec)
    platform = spec.platform
    if platform is None:
        return
    sizes = slots(platform, grid.streams)
    speeds = iter(draw_speeds(platform, sum(sizes), grid.streams.stream("platform:speeds")))
    alike = len(platform.node_class) == 1
    queue = [QueueSpec(name="default", max_runtime=platform.max_runtime)]
    for name, size in zip(platform.names, sizes, strict=True):
        own = list(islice(speeds, size))
        site = SiteSpec(
            name=name,
            nodes=size,
            speed=own[0] if alike else own,
            policy=platform.policy,
            queue=queue,
            mu_rec=platform.mu_rec,
            mu_send=platform.mu_send,
            named_nodes=needs_names(spec.fault, name),
        )
        if platform.vres is None:
            place(grid, site)
        else:
            stand(grid, with_shares(site, platform))
    if platform.vres is not None:
        measure_together(grid, platform.prefix, [vres_sites(grid)[name] for name in platform.names])


def _connect(grid: Grid, spec: ScenarioSpec) -> None:
    """Put the network on the grid, and have bulk transfers begin."""
    bandwidth = {BACKBONE: spec.network.backbone}
    own = {site.name: site.link_bandwidth for site in spec.site}
    ways = {}
    for name, route in routes_of(spec, grid.streams).items():
        for link, called in zip(route.links, route.names, strict=True):
            bandwidth[called] = own.get(name) or link.bandwidth
        ways[name] = (BACKBONE, *route.names), route.latency
    network = Network(grid, bandwidth, ways)
    for transfer in spec.transfer:
        grid.agenda.feed(_transfers(grid, network, transfer))
    if spec.transfer:
        network.measure_bulk()


def _transfers(grid: Grid, network: Network, spec: TransferSpec) -> Iterator[tuple[float, Action, Any]]:
    """The transfers of a table as a stream for the agenda."""
    gaps = draws(spec.interval, grid.streams.stream(f"transfer:{spec.name}:interval"))
    sizes = draws(spec.size, grid.streams.stream(f"transfer:{spec.name}:size"))
    times = accumulate(islice(gaps, spec.count))
    return ((time, lambda size: network.transfer(spec.site, size), next(sizes)) for time in times)


def slots(platform: PlatformSpec, streams: Streams) -> list[int]:
    """Slots of each site.

    Raises:
        ScenarioError: the file of observed sites cannot be used.
    """
    sizes = _observed(platform.observed) if platform.observed is not None else None
    if sizes is None:
        drawn = platform.nodes.draw(streams.stream("platform:nodes"), platform.sites)
        sizes = sorted(drawn.tolist(), reverse=True)
    sizes = list(islice(cycle(sizes), platform.sites))
    return [max(1, round(size * platform.scale)) for size in sizes]


def platform_notes(platform: PlatformSpec | None) -> Iterator[str]:
    """That the file of observed sites is not there, if so, in a line."""
    from gridtune.scenarios.trace_files import TraceError, find_trace

    if platform is not None and platform.observed is not None:
        try:
            find_trace(platform.observed)
        except TraceError as error:
            yield f"platform: sites are generated by the law of platform.nodes: {error}"


def _observed(name: str) -> list[float] | None:
    """Peaks of observed sites, largest first; None if the file is nowhere, which `platform_notes` says."""
    from gridtune.scenarios.trace_files import TraceError, find_trace

    try:
        path = find_trace(name)
    except TraceError:
        return None
    try:
        with path.open(encoding="utf-8", newline="") as file:
            peaks = [float(row[OBSERVED]) for row in csv.DictReader(file)]
    except (OSError, KeyError, ValueError) as error:
        raise ScenarioError(
            f"platform.observed: {path}: no numbers in a column {OBSERVED} ({error})"
        ) from None
    if not peaks or min(peaks) < 0:
        raise ScenarioError(f"platform.observed: {path}: needs at least one site, and peaks from 0")
    return sorted(peaks, reverse=True)


def draw_speeds(platform: PlatformSpec, count: int, rng: np.random.Generator) -> Sequence[float]:
    """Speeds of nodes, drawn without replacement from a population that keeps the weights of the classes.

    Source: RR-5576, section 5 (description of the platform).
    """
    size = max(count, platform.population or count)
    weights = np.array([kind.weight for kind in platform.node_class])
    shares = size * weights / weights.sum()
    counts = np.floor(shares).astype(int)
    # Largest remainders, so that the population is exactly as large as wanted.
    counts[np.argsort(counts - shares, kind="stable")[: size - counts.sum()]] += 1
    population = np.repeat([kind.speed for kind in platform.node_class], counts)
    drawn = rng.permutation(population)[:count]
    if platform.mean_speed is not None:
        drawn = drawn * (platform.mean_speed / drawn.mean())
    made: list[float] = drawn.tolist()
    return made


def routes_of(spec: ScenarioSpec, streams: Streams) -> dict[str, Route]:
    """The way from the central services to each site, generated or declared."""
    network = spec.network
    link = Link(network.latency, network.bandwidth)
    made = {site.name: Route((link,), (f"site-{site.name}",)) for site in spec.site}
    if spec.platform is not None:
        topology = spec.platform.topology
        wan = Link(topology.wan_latency, topology.wan_bandwidth)
        lan = Link(topology.lan_latency, topology.lan_bandwidth)
        rng = streams.stream("platform:topology")
        drawn = routes(spec.platform.sites, topology.routers, topology.redundancy, wan, lan, rng)
        made.update(zip(spec.platform.names, drawn, strict=True))
    return made


def limit_of(site: BatchSite) -> float:
    """Seconds that a job may run at a site, in the most patient of its queues."""
    return max(queue.max_runtime for queue in site.cluster.queues)
