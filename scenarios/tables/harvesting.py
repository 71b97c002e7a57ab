"""Harvesting of idle processors: CiGri over a batch site (BatCiGri)."""

from __future__ import annotations

from pydantic import Field

import gridtune.model.harvest  # noqa: F401 - importing it registers the controllers
from gridtune.agents.harvest.bags import Sharing
from gridtune.model.harvest.victims import Youngest
from gridtune.scenarios.fields.laws import Constant, Law
from gridtune.scenarios.fields.policies import policy_of
from gridtune.scenarios.fields.table import Name, Switchable, Table, says


class HarvesterSpec(Switchable):
    """A harvester of one site."""

    name: Name = "harvester"
    site: str | None = Field(
        default=None,
        description="name of the site; not needed where there is only one. * for every site with a batch "
        "scheduler: each has a harvester with a controller of its own",
    )
    controller: policy_of("control")  # type: ignore[valid-type]
    cycle: float = Field(
        default=30.0, gt=0, json_schema_extra=says("s"), description="s between two submissions"
    )
    start_delay: float = Field(
        default=0.0,
        ge=0,
        json_schema_extra=says("s"),
        description="s from the first submission to the first start at the site",
    )
    kill_delay: Law = Field(
        default=Constant(value=0.0),
        json_schema_extra=says("s"),
        description="s that cleaning up after a kill adds to the execution of the premium job",
    )
    grace: float = Field(
        default=0.0,
        ge=0,
        json_schema_extra=says("s"),
        description="s between notice and kill, for which premium jobs wait",
    )
    lifetime: float = Field(
        default=0.0,
        ge=0,
        json_schema_extra=says("s"),
        description="s from its start in which a job is not killed",
    )
    victims: policy_of("victims") = Field(default_factory=Youngest)  # type: ignore[valid-type]


class BagsSpec(Table):
    """How the bags of tasks are emptied."""

    sharing: Sharing = Field(
        default="fair", description="bag after bag, or that with the fewest processors at sites first"
    )
