"""The M/M/c queue: a batch site under Poisson arrivals and exponential service, to compare with theory."""

from __future__ import annotations

from pydantic import Field, model_validator

from gridtune import limits
from gridtune.scenarios.fields.laws import RARE
from gridtune.scenarios.fields.table import Switchable, says


class QueueingSpec(Switchable):
    """An M/M/c queue (RR-5576, section 6.1)."""

    servers: int = Field(default=4, ge=1, json_schema_extra=says("count"), description="servers (c)")
    load: float = Field(
        default=0.8,
        gt=0,
        json_schema_extra=says("ratio"),
        description="arrival rate times mean service time over c",
    )
    mean_service: float = Field(
        default=4.0, gt=0, json_schema_extra=says("s"), description="s of service on average"
    )
    customers: int = Field(
        default=100_000,
        ge=1,
        json_schema_extra=says("count"),
        description="customers of one run, which starts empty",
    )

    @property
    def mean_interval(self) -> float:
        """Mean time between two arrivals, s."""
        return self.mean_service / (self.servers * self.load)

    @model_validator(mode="after")
    def _arrive_in_time(self) -> QueueingSpec:
        longest = RARE * max(self.mean_service, self.mean_interval)
        if not 0 < self.mean_interval <= longest <= limits.NUMBER:
            raise ValueError(
                f"load, mean_service: times up to {longest:g} s are possible; the limit is {limits.NUMBER:g}"
            )
        return self
