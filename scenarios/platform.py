"""Generated platforms: many sites, their nodes and the network between them (RR-5576, sections 4 and 5)."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Sequence
from functools import cached_property
from itertools import cycle, islice
from math import inf
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from agents.batch_site import BatchSite
from model.batch.policies import Fcfs
from model.grid import Grid
from model.network import Link
from model.streams import Streams
from model.topology import Route, routes
from scenarios.batch import QueueSpec, SiteSpec
from scenarios.errors import ScenarioError
from scenarios.laws import Constant, Law
from scenarios.parts import Part, Switchable, one_or_more, policy_of

if TYPE_CHECKING:
    from scenarios.schema import ScenarioSpec

OBSERVED = "peak_concurrent_if_started_at_submit"


class ClassSpec(Part):
    """A kind of node."""

    speed: float = Field(gt=0, description="work per s (NCU/s)")
    weight: float = Field(default=1.0, gt=0, description="share of the nodes, relative to the other kinds")


class TopologySpec(Part):
    """The network: routers of a wide area, and a local area at each site."""

    routers: int = Field(default=1, ge=1, description="of the wide area; 1 for a star")
    redundancy: int = Field(default=0, ge=0, description="links of each router beyond a spanning tree")
    wan_latency: float = Field(default=0.0, ge=0, description="s, of each link of the wide area")
    wan_bandwidth: float = Field(default=inf, gt=0, description="bytes per s")
    lan_latency: float = Field(default=0.0, ge=0, description="s, from a site's entrance to its head node")
    lan_bandwidth: float = Field(default=inf, gt=0, description="bytes per s")


class PlatformSpec(Switchable):
    """Sites drawn at random; those of [[site]] stand beside them."""

    prefix: str = Field(default="site", description="sites are called site-000, site-001, …")
    sites: int = Field(ge=1, description="how many")
    nodes: Law = Field(description="slots of each site, rounded, at least 1")
    observed: str | None = Field(
        default=None,
        description="CSV file with one observed site in each row, whose peaks are used as slots instead of "
        f"`nodes` (column {OBSERVED}; sites in descending order)",
    )
    scale: float = Field(default=1.0, gt=0, description="factor on the slots of each site")
    node_class: Annotated[list[ClassSpec], BeforeValidator(one_or_more)] = Field(
        default_factory=lambda: [ClassSpec(speed=1.0)], description="kinds of nodes"
    )
    population: int | None = Field(
        default=None, ge=1, description="nodes from which those of the sites are drawn; as many as needed"
    )
    mean_speed: float | None = Field(
        default=None, gt=0, description="to which the speeds drawn are rescaled on average"
    )
    policy: policy_of("batch") = Field(default_factory=Fcfs)  # type: ignore[valid-type]
    max_runtime: float = Field(default=inf, gt=0, description="s that a job may run (t_max)")
    mu_rec: Law = Field(
        default=Constant(value=0.0), description="s from a job's arrival to its entry into a queue"
    )
    mu_send: Law = Field(
        default=Constant(value=0.0), description="s from a job's end until the scheduler hears of it"
    )
    topology: TopologySpec = TopologySpec()
    tags: list[list[str]] = Field(
        default_factory=list, description="properties of the sites, in turn, that tasks may require"
    )

    @model_validator(mode="after")
    def _enough(self) -> PlatformSpec:
        if self.population is not None and self.population < self.sites:
            raise ValueError(f"a population of {self.population} nodes is not enough for {self.sites} sites")
        return self

    @cached_property
    def names(self) -> list[str]:
        """Of the sites."""
        return [f"{self.prefix}-{k:03}" for k in range(self.sites)]

    def tags_of(self, site: int) -> frozenset[str]:
        """Properties of a site."""
        return frozenset(self.tags[site % len(self.tags)]) if self.tags else frozenset()


def check(spec: ScenarioSpec) -> None:
    """Whether the names of generated sites are free.

    Raises:
        ValueError: a [[site]] has one of them.
    """
    if spec.platform is not None:
        taken = {site.name for site in spec.site} & set(spec.platform.names)
        if taken:
            raise ValueError(f"site: the platform has sites called {', '.join(sorted(taken))} too")


def build(grid: Grid, spec: ScenarioSpec) -> None:
    """Put the generated sites on the grid, if the scenario has any."""
    platform = spec.platform
    if platform is None:
        return
    sizes = slots(platform, grid.streams)
    speeds = iter(draw_speeds(platform, sum(sizes), grid.streams.stream("platform:speeds")))
    alike = len(platform.node_class) == 1
    queue = [QueueSpec(name="default", max_runtime=platform.max_runtime)]
    for name, size in zip(platform.names, sizes, strict=True):
        own = list(islice(speeds, size))
        SiteSpec(
            name=name,
            nodes=size,
            speed=own[0] if alike else own,
            policy=platform.policy,
            queue=queue,
            mu_rec=platform.mu_rec,
            mu_send=platform.mu_send,
        ).place(grid)


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


def _observed(name: str) -> list[float] | None:
    """Peaks of observed sites, largest first; None if the file is nowhere (and a warning)."""
    from scenarios.traces import TraceError, find_trace

    try:
        path = find_trace(name)
    except TraceError as error:
        warnings.warn(f"sites are generated by the law of platform.nodes instead: {error}", stacklevel=2)
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
    made = {site.name: Route((link,)) for site in spec.site}
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
