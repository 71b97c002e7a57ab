"""Portals in scenarios: a dispatcher over the slots that virtual reservations grant to short jobs."""

from __future__ import annotations

from pydantic import Field

from gridtune.model.wms.arbitration import DeadlineFair
from gridtune.scenarios.fields.policies import policy_of
from gridtune.scenarios.fields.table import Switchable, number


class PortalSpec(Switchable):
    """A dispatcher (DRes) over virtual reservations (Responsive Grids, section 3.3)."""

    workloads: list[str] = Field(min_length=1, description="names of those whose jobs come to the portal")
    arbitration: policy_of("arbitration") = Field(default_factory=DeadlineFair)  # type: ignore[valid-type]
    slots: int = number(..., "count", "processors that its jobs may hold at the sites at once", ge=1)
    weights: dict[str, float] = number(
        ...,
        "none",
        "weights by user or group; 1 if not named",
        default_factory=dict,
        bounds={"exclusiveMinimum": 0},
    )
    retry: float = number(5.0, "s", "s until it tries again when no site had a slot", gt=0)
