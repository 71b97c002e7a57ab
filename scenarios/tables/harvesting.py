"""Harvesting of idle processors: CiGri over a batch site (BatCiGri)."""

from __future__ import annotations

from pydantic import Field

import gridtune.model.harvest  # noqa: F401 - importing it registers the controllers
from gridtune.agents.harvest.bags import Sharing
from gridtune.model.harvest.victims import Youngest
from gridtune.scenarios.fields.laws import Constant, Law
from gridtune.scenarios.fields.policies import policy_of
from gridtune.scenarios.fields.table import Name, Switchable, Table, number


class HarvesterSpec(Switchable):
    """A harvester of one site."""

    name: Name = "harvester"
    site: str | None = Field(
        default=None,
        description="name of the site; not needed where there is only one. * for every site with a batch "
        "scheduler: each has a harvester with a controller of its own",
    )
    controller: policy_of("control")  # type: ignore[valid-type]
    cycle: float = number(30.0, "s", "s between two submissions", gt=0)
    start_delay: float = number(0.0, "s", "s from the first submission to the first start at the site", ge=0)
    kill_delay: Law = number(
        Constant(value=0.0), "s", "s that cleaning up after a kill adds to the execution of the premium job"
    )
    grace: float = number(0.0, "s", "s between notice and kill, for which premium jobs wait", ge=0)
    lifetime: float = number(0.0, "s", "s from its start in which a job is not killed", ge=0)
    victims: policy_of("victims") = Field(default_factory=Youngest)  # type: ignore[valid-type]


class BagsSpec(Table):
    """How the bags of tasks are emptied."""

    sharing: Sharing = Field(
        default="fair", description="bag after bag, or that with the fewest processors at sites first"
    )
