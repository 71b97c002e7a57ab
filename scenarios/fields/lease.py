"""How servers stand on the nodes of a site, as a scenario writes it."""

from __future__ import annotations

from math import inf

from pydantic import Field, model_validator

from gridtune.agents.gridrpc.lease import LeaseHabits
from gridtune.model.gridrpc.pooling import Each
from gridtune.scenarios.fields.policies import policy_of
from gridtune.scenarios.fields.table import Several, Table, number


class LeaseSpec(Table):
    """Servers as jobs of a site: each asks for a node, for a time, beside all other jobs."""

    length: float = number(inf, "s", "s that each lease lasts; what runs when it ends begins anew", gt=0)
    startup: float = number(0.0, "s", "s from the start of a lease until the server works", ge=0)
    idle: float = number(
        inf, "s", "s without requests after which a lease is given back, until there is one again", ge=0
    )

    pool: policy_of("pool") = Field(  # type: ignore[valid-type]
        default_factory=Each, description="how many of the servers have a lease"
    )
    overflow: Several[str] = Field(
        default_factory=list,
        description="further [[site]]s, which are asked in turn where `patience` ends; then `site` again",
    )
    patience: float = number(inf, "s", "s that a lease may wait at a site before the next one is asked", gt=0)

    @model_validator(mode="after")
    def _works(self) -> LeaseSpec:
        if self.startup >= self.length:
            raise ValueError(
                f"startup ({self.startup:g} s) must be less than length ({self.length:g} s): it never worked"
            )
        if self.patience < inf and not self.overflow:
            raise ValueError("patience: needs overflow, the sites that are asked then")
        return self

    @property
    def habits(self) -> LeaseHabits:
        """As agents know it."""
        return LeaseHabits(self.length, self.startup, self.idle, self.patience)
