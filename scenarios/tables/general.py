"""Tables that scenarios of every system have: network, transfers, what is recorded, how metrics are read."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from gridtune.scenarios.fields.laws import Law
from gridtune.scenarios.fields.table import Name, Switchable, Table, number


class NetworkSpec(Table):
    """Links between clients, agents and servers."""

    latency: float = number(0.0, "s", "s that a message takes", ge=0)
    bandwidth: float = number(float("inf"), "bytes/s", "bytes per s of a message", gt=0)
    sharing: Literal["none", "max-min"] = Field(
        default="none",
        description="whether messages of a middleware and data of jobs have constant delays, or share the "
        "links to and from sites with all that is on its way (max-min fair)",
    )
    backbone: float = number(
        float("inf"),
        "bytes/s",
        "bandwidth, for max-min sharing, of a link that all transfers cross beside those of their site",
        gt=0,
    )


class TransferSpec(Switchable):
    """Bulk transfers that come again and again, and share the links of a site with all else."""

    name: Name = "transfer"
    site: str = Field(description="name of the site from or to which they go")
    size: Law = number(..., "bytes", "size of a transfer, in bytes")
    interval: Law = number(..., "s", "s between the beginnings of two; the first begins after one")
    count: int = number(1, "count", "number of transfers, one after the other", ge=1)


class RecordSpec(Table):
    """What a run records beside its jobs."""

    sample_period: float | None = number(None, "s", "s between two samples of the signals", gt=0)
    message_bin: float = number(1.0, "s", "s; width of the bins in which messages are counted", gt=0)


class MetricsSpec(Table):
    """Readings of the metrics where the sources leave a choice."""

    allocated: Literal["completed", "occupied"] = Field(
        default="completed", description="work of completed jobs, or time that slots were held"
    )
    deserved: Literal["area", "capped"] = Field(
        default="capped",
        description="equal share of those who still want something, or as in RR-7959 of all who are there",
    )
    slowdown_bound: float = number(10.0, "s", "s that run times count at least in bounded slow-downs", gt=0)
