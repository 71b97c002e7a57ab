"""Portals in scenarios: a dispatcher over the slots that virtual reservations grant to short jobs."""

from __future__ import annotations

from pydantic import Field

from gridtune.model.wms.arbitration import DeadlineFair
from gridtune.scenarios.fields.policies import policy_of
from gridtune.scenarios.fields.table import Switchable, says


class PortalSpec(Switchable):
    """A dispatcher (DRes) over virtual reservations (Responsive Grids, section 3.3)."""

    workloads: list[str] = Field(min_length=1, description="names of those whose jobs come to the portal")
    arbitration: policy_of("arbitration") = Field(default_factory=DeadlineFair)  # type: ignore[valid-type]
    slots: int = Field(
        ge=1,
        json_schema_extra=says("count"),
        description="processors that its jobs may hold at the sites at once",
    )
    weights: dict[str, float] = Field(
        default_factory=dict,
        json_schema_extra=says("none", exclusiveMinimum=0),
        description="weights by user or group; 1 if not named",
    )
    retry: float = Field(
        default=5.0,
        gt=0,
        json_schema_extra=says("s"),
        description="s until it tries again when no site had a slot",
    )
