"""Deadline scheduling: an agent that places tasks on servers by forecasts, deadlines and priorities."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from gridtune.scenarios.fields.laws import Constant, EndlessLaw, Law
from gridtune.scenarios.fields.lease import LeaseSpec
from gridtune.scenarios.fields.policies import policy_of
from gridtune.scenarios.fields.table import Name, Switchable, Table, number
from gridtune.scenarios.fields.time_varying import Course
from gridtune.scenarios.tables.gridrpc import MASTER


class LinkSpec(Table):
    """The link between the clients of one workload and a server."""

    bandwidth: Course = number(..., "bytes/s", "bytes per s in either direction, at least 1")
    latency: float = number(0.0, "s", "s that each transfer takes on top", ge=0)


class ServerSpec(Switchable):
    """A group of servers for tasks; every law is drawn for each of them."""

    name: Name = "server"
    count: int = number(1, "count", "servers; a lone one bears the group's name", ge=1)
    site: str | None = Field(
        default=None,
        description="[[site]] that lends its nodes to them, one slot to each; left out, they have their own",
    )
    lease: LeaseSpec | None = Field(
        default=None, description="how long servers run inside jobs of `site`; they run for ever without it"
    )
    parent: str = Field(
        default=MASTER, description="[[local_agent]] that they report to, or master-agent, in a hierarchy"
    )
    speed: Law = number(
        1.0,
        "ratio",
        "run time at speed 1 over run time here; above 0 (drawn values: at least 0.001)",
        validate_default=True,
    )
    availability: Course = number(
        1.0,
        "0 to 1",
        "share of the processor that background load leaves; kept within 0.01 and 1",
        validate_default=True,
    )
    bandwidth: Course | None = number(
        None, "bytes/s", "bytes per s of the link, at least 1; left out, that of the network"
    )
    links: dict[str, LinkSpec] = Field(
        default_factory=dict,
        description="link of the clients of each workload to each of these servers, in place of `bandwidth`",
    )
    memory: EndlessLaw = number(float("inf"), "bytes", "memory of a server, in bytes", validate_default=True)
    disk: EndlessLaw = number(
        float("inf"), "bytes", "disk space of a server, in bytes", validate_default=True
    )
    software: list[str] = Field(default_factory=list, description="software that is installed on them")

    @model_validator(mode="after")
    def _moves(self) -> ServerSpec:
        if isinstance(self.speed, Constant) and self.speed.value == 0:
            raise ValueError("speed: 0.0: a server must have a speed above 0")
        return self


class AgentSpec(Switchable):
    """The agent that places tasks, or several of them with users of their own."""

    count: int = number(1, "count", "agents, to whom users are dealt; all use all servers", ge=1)
    load_correction: bool = Field(
        default=True,
        description="whether an agent counts its own placements at once, or knows what servers last reported",
    )
    discovery: Literal["direct", "hierarchy"] = Field(
        default="direct",
        description="the agent knows all servers; or servers answer for themselves through the agents of "
        "[hierarchy], which rank them by its plug-in scheduler (as algorithm 3: displaced), and every user "
        "asks for one task after the other",
    )
    routing: policy_of("routing")  # type: ignore[valid-type]
    forecast: policy_of("forecast") = Field(default="perfect", validate_default=True)  # type: ignore[valid-type]
    correction: Literal["none", "average", "listing"] = Field(
        default="none",
        description="correction of forecasts: none; by the mean ratio of actual to uncorrected time; "
        "or to corrected time, as algorithm 2 of RR-5335 is printed",
    )
    corrected: Literal["together", "apart"] = Field(
        default="together",
        description="one correction for all servers, as CorrecFAST in RR-5335, algorithm 2, or one for each",
    )
    probe_period: float = number(
        60.0, "s", "s between two measurements of the sensors, and between two reports of servers", gt=0
    )
    high_priority: int = number(6, "none", "least priority that metrics count as high")
