"""How servers stand on the nodes of a site, as a scenario writes it."""

from __future__ import annotations

from math import inf

from pydantic import Field, model_validator

from gridtune.agents.gridrpc.lease import LeaseHabits
from gridtune.scenarios.fields.table import Table


class LeaseSpec(Table):
    """Servers as jobs of a site: each asks for a node, for a time, beside all other jobs."""

    length: float = Field(default=inf, gt=0, description="s of each; what runs when it ends begins anew")
    startup: float = Field(
        default=0.0, ge=0, description="s from the start of a lease until the server works"
    )
    idle: float = Field(
        default=inf,
        ge=0,
        description="s without requests after which a lease is given back, until there is one again",
    )

    @model_validator(mode="after")
    def _works(self) -> LeaseSpec:
        if self.startup >= self.length:
            raise ValueError(
                f"startup ({self.startup:g} s) must be less than length ({self.length:g} s): it never worked"
            )
        return self

    @property
    def habits(self) -> LeaseHabits:
        """As agents know it."""
        return LeaseHabits(self.length, self.startup, self.idle)
