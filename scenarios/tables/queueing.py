"""The M/M/c queue: a batch site under Poisson arrivals and exponential service, to compare with theory."""

from __future__ import annotations

from pydantic import model_validator

from gridtune import limits
from gridtune.scenarios.fields.laws import RARE
from gridtune.scenarios.fields.table import Switchable, number


class QueueingSpec(Switchable):
    """An M/M/c queue (RR-5576, section 6.1)."""

    servers: int = number(4, "count", "number of servers (c) that serve the queue", ge=1)
    load: float = number(0.8, "ratio", "arrival rate times mean service time over c", gt=0)
    mean_service: float = number(4.0, "s", "s of service on average", gt=0)
    customers: int = number(100_000, "count", "customers of one run, which starts empty", ge=1)

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
