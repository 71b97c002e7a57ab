"""Faults as a scenario writes them: what breaks, how often, for how long."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import Field, model_validator

from gridtune.scenarios.fields.laws import Constant, Law
from gridtune.scenarios.fields.table import Name, Switchable, number

EVERY = "*"  # as the site of a fault: each site has its own
OF_NODES = ("power", "node", "broken")


class FaultSpec(Switchable):
    """What breaks again and again (RR-5576, section 9). What belongs to another kind has no effect."""

    name: Name = "fault"
    kind: Literal["power", "node", "broken", "link", "service", "report", "server"] = Field(
        description="power: the jobs of a site die, its agents and reports are silent; node: one is lost "
        "with its jobs; broken: what starts on a node fails soon (black holes, full disks); link: nothing "
        "crosses it; service: a central one stands still; report: what a site says is not so; server: a "
        "[[sed]] loses what it runs and what waits there, and takes nothing in"
    )
    site: str = Field(
        default=EVERY, description="name of the site, or * for each, one by one; not for a service"
    )
    server: str = Field(
        default=EVERY, description="name of the [[sed]] whose servers fail, each by itself; * for all"
    )
    between: Law = number(..., "s", "s from the end of one fault to the next, at least 1")
    repair: Law = number(..., "s", "s that a fault lasts, at least 1")
    service: Literal["middleware", "information"] = Field(
        default="middleware",
        description="service that fails: the broker or match-maker, or push's information system",
    )
    together: int = number(
        1, "count", "nodes that have a fault (`node`, `broken`) at once, in the order of numbers", ge=1
    )
    after: Law = number(
        Constant(value=30.0), "s", "s from the start of a job to its failure on a broken node, at least 1"
    )
    says: Literal["old", "idle"] = Field(
        default="old", description="what a faulty report says: nothing new, or that the site is idle"
    )

    @model_validator(mode="after")
    def _takes_time(self) -> FaultSpec:
        for key in ("between", "repair"):
            law = getattr(self, key)
            if isinstance(law, Constant) and law.value <= 0:
                raise ValueError(f"{key}: must be more than 0 s")
        return self

    def concerns(self, site: str) -> bool:
        """Whether it may befall a site."""
        return self.kind not in ("service", "server") and self.site in (EVERY, site)


def needs_names(faults: Iterable[FaultSpec], site: str) -> bool:
    """Whether it matters which nodes of a site a job is on."""
    return any(fault.kind in OF_NODES and fault.concerns(site) for fault in faults)
