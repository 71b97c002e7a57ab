"""Generated platforms: many sites, their nodes and the network between them (RR-5576, sections 4 and 5)."""

from __future__ import annotations

from functools import cached_property
from math import inf

from pydantic import Field, model_validator

from gridtune import limits
from gridtune.model.batch.policies import Fcfs
from gridtune.scenarios.fields.laws import Constant, Law
from gridtune.scenarios.fields.policies import policy_of
from gridtune.scenarios.fields.table import Several, Table, addressable, number
from gridtune.scenarios.tables.vres import VresFields

OBSERVED = "peak_concurrent_if_started_at_submit"


class ClassSpec(Table):
    """A kind of node."""

    speed: float = number(..., "work/s", "work that a node of this kind does per s (NCU/s)", gt=0)
    weight: float = number(1.0, "none", "weight of the kind among the nodes", gt=0)


class TopologySpec(Table):
    """The network: routers of a wide area, and a local area at each site."""

    routers: int = number(1, "count", "routers of the wide area; 1 for a star", ge=1)
    redundancy: int = number(0, "count", "links of each router beyond a spanning tree", ge=0)
    wan_latency: float = number(0.0, "s", "s, of each link of the wide area", ge=0)
    wan_bandwidth: float = number(inf, "bytes/s", "bytes per s of each link of the wide area", gt=0)
    lan_latency: float = number(0.0, "s", "s, from a site's entrance to its head node", ge=0)
    lan_bandwidth: float = number(inf, "bytes/s", "bytes per s to its head node", gt=0)


class PlatformSpec(VresFields):
    """Sites drawn at random; those of [[site]] stand beside them.

    With `vres` all of them have virtual reservations: shares are rounded to whole slots at each, and their
    results are those of all together, by class.
    """

    prefix: str = Field(default="site", description="sites are called site-000, site-001, …")
    sites: int = number(..., "count", "number of sites", ge=1)
    nodes: Law = number(..., "count", "slots of each site, rounded, at least 1")
    observed: str | None = Field(
        default=None,
        description="CSV file with one observed site in each row, whose peaks are used as slots instead of "
        f"`nodes` (column {OBSERVED}; sites in descending order)",
    )
    scale: float = number(1.0, "ratio", "factor on the slots of each site", gt=0)
    node_class: Several[ClassSpec] = Field(
        default_factory=lambda: [ClassSpec(speed=1.0)], description="kinds of nodes that the sites have"
    )
    population: int | None = number(
        None, "count", "nodes from which those of the sites are drawn; as many as needed", ge=1
    )
    mean_speed: float | None = number(
        None, "work/s", "work per s (NCU/s): the mean to which the speeds drawn are rescaled", gt=0
    )
    policy: policy_of("batch") = Field(default_factory=Fcfs)  # type: ignore[valid-type]
    max_runtime: float = number(inf, "s", "s that a job may run (t_max)", gt=0)
    mu_rec: Law = number(Constant(value=0.0), "s", "s from a job's arrival to its entry into a queue")
    mu_send: Law = number(Constant(value=0.0), "s", "s from a job's end until the scheduler hears of it")
    topology: TopologySpec = TopologySpec()
    tags: list[list[str]] = Field(
        default_factory=list, description="properties of the sites, in turn, that tasks may require"
    )

    @model_validator(mode="after")
    def _enough(self) -> PlatformSpec:
        addressable(f"{self.prefix}-{self.sites - 1:03}")
        if self.vres is not None and self.virtual_slots != round(self.virtual_slots):
            raise ValueError(f"virtual_slots: {self.virtual_slots:g} is no whole number for each processor")
        if self.vres is not None and not isinstance(self.policy, Fcfs):
            raise ValueError("policy: classes with slots of their own are served first come: fcfs")
        if self.vres is None and self.classes:
            raise ValueError("classes: need shares in vres")
        if (most := self.nodes.largest * self.scale) > limits.SITE_SLOTS:
            raise ValueError(
                f"nodes: up to {most:g} slots of a site are possible; the limit is {limits.SITE_SLOTS:,}"
            )
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
