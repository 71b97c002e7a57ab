"""Tables that scenarios of every system have: network, transfers, what is recorded, how metrics are read."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from gridtune.scenarios.fields.laws import Law
from gridtune.scenarios.fields.table import Name, Switchable, Table, says


class NetworkSpec(Table):
    """Links between clients, agents and servers."""

    latency: float = Field(
        default=0.0, ge=0, json_schema_extra=says("s"), description="s that a message takes"
    )
    bandwidth: float = Field(
        default=float("inf"), gt=0, json_schema_extra=says("bytes/s"), description="bytes per s of a message"
    )
    sharing: Literal["none", "max-min"] = Field(
        default="none",
        description="whether messages of a middleware and data of jobs have constant delays, or share the "
        "links to and from sites with all that is on its way (max-min fair)",
    )
    backbone: float = Field(
        default=float("inf"),
        gt=0,
        json_schema_extra=says("bytes/s"),
        description="max-min: bytes per s of a link that all transfers cross, beside those of their site",
    )


class TransferSpec(Switchable):
    """Bulk transfers that come again and again, and share the links of a site with all else."""

    name: Name = "transfer"
    site: str = Field(description="name of the site from or to which they go")
    size: Law = Field(json_schema_extra=says("bytes"), description="bytes of each transfer")
    interval: Law = Field(
        json_schema_extra=says("s"), description="s between the beginnings of two; the first begins after one"
    )
    count: int = Field(default=1, ge=1, json_schema_extra=says("count"), description="transfers")


class RecordSpec(Table):
    """What a run records beside its jobs."""

    sample_period: float | None = Field(
        default=None, gt=0, json_schema_extra=says("s"), description="s between two samples of the signals"
    )
    message_bin: float = Field(
        default=1.0,
        gt=0,
        json_schema_extra=says("s"),
        description="s; width of the bins in which messages are counted",
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
        default=10.0,
        gt=0,
        json_schema_extra=says("s"),
        description="s that run times count at least in bounded slow-downs",
    )
