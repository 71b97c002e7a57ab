"""Tables that scenarios of every system have: the network, what is recorded, how metrics are read."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from gridtune.scenarios.fields.table import Table


class NetworkSpec(Table):
    """Links between clients, agents and servers."""

    latency: float = Field(default=0.0, ge=0, description="s that a message takes")
    bandwidth: float = Field(default=float("inf"), gt=0, description="bytes per second")


class RecordSpec(Table):
    """What a run records beside its jobs."""

    sample_period: float | None = Field(
        default=None, gt=0, description="s between two samples of the signals"
    )
    message_bin: float = Field(
        default=1.0, gt=0, description="s; width of the bins in which messages are counted"
    )
    cpu_per_message: float = Field(
        default=0.0, ge=0, description="s of CPU time that handling a message costs"
    )


class MetricsSpec(Table):
    """Readings of the metrics where the sources leave a choice."""

    allocated: Literal["completed", "occupied"] = Field(
        default="completed", description="work of completed jobs, or time that slots were held"
    )
    deserved: Literal["area", "capped"] = Field(
        default="capped",
        description="equal share of those who still want something, or as in RR-7959 of all who are there",
    )
    slowdown_bound: float = Field(
        default=10.0, gt=0, description="s that run times count at least in bounded slow-downs"
    )
