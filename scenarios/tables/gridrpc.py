"""GridRPC: servers under a hierarchy of agents, and the clients that use them (DIET, DIET-ethic)."""

from __future__ import annotations

from math import inf
from typing import Literal, Self

from pydantic import Field, model_validator

from gridtune.model.gridrpc.estimation import History
from gridtune.model.gridrpc.reallocation import Never
from gridtune.model.gridrpc.selection import ByLoad, RoundRobin
from gridtune.scenarios.fields.laws import Constant, PositiveLaw
from gridtune.scenarios.fields.lease import LeaseSpec
from gridtune.scenarios.fields.policies import policy_of
from gridtune.scenarios.fields.table import Name, Switchable, Table, says

MASTER = "master-agent"


class SedSpec(Switchable):
    """A group of servers that differ in what is drawn only."""

    name: Name = "sed"
    count: int = Field(ge=1, json_schema_extra=says("count"), description="servers")
    site: str | None = Field(
        default=None,
        description="[[site]] that lends its nodes to them, one slot to each; left out, they have their own",
    )
    lease: LeaseSpec | None = Field(
        default=None, description="they stand on nodes of `site` as jobs, for a time; left out, for good"
    )
    parent: str = Field(default=MASTER, description="[[local_agent]] that they report to, or master-agent")
    services: list[str] = Field(default_factory=list, description="services that they offer; none for all")
    speed: PositiveLaw = Field(
        default=Constant(value=1.0),
        json_schema_extra=says("ratio"),
        description="run time at speed 1 over run time here; drawn for each",
    )
    memory: float = Field(
        default=inf, gt=0, json_schema_extra=says("bytes"), description="bytes of memory of each"
    )
    estimation: policy_of("estimation") = Field(  # type: ignore[valid-type]
        default_factory=History, description="what they say of themselves when a client looks for servers"
    )
    latency: float | None = Field(
        default=None,
        ge=0,
        json_schema_extra=says("s"),
        description="s that a message between client and server takes; network's if left out",
    )
    bandwidth: float | None = Field(
        default=None,
        gt=0,
        json_schema_extra=says("bytes/s"),
        description="bytes per s between client and server; network's if left out",
    )
    overhead: float = Field(
        default=0.001, ge=0, json_schema_extra=says("s"), description="s that each execution takes on top"
    )
    discipline: policy_of("discipline") | None = Field(  # type: ignore[valid-type]
        default=None, description="queue discipline; left out, the one that goes with the clients' dispatch"
    )
    killed: Literal["requeue", "suspend", "drop"] = Field(
        default="requeue",
        description="what becomes of a displaced optional request: begins anew, goes on later, is dropped",
    )

    @model_validator(mode="after")
    def _keeps_its_progress(self) -> Self:
        if self.killed == "suspend" and self.lease is not None:
            raise ValueError("killed: 'suspend' needs servers of their own, not a lease")
        return self


class LevelSpec(Table):
    """What is different at one level of a uniform tree; level 0 is the master agent."""

    latency: float | None = Field(
        default=None,
        ge=0,
        json_schema_extra=says("s"),
        description="s that a message to or from the agents or servers below takes",
    )
    rank: policy_of("aggregation") | None = Field(  # type: ignore[valid-type]
        default=None, description="plug-in scheduler of its agents"
    )
    keep: int | None = Field(
        default=None,
        ge=1,
        json_schema_extra=says("count"),
        description="estimation vectors handed up at most",
    )


class HierarchySpec(Table):
    """The tree between clients and servers: a master agent over `depth` levels of local agents."""

    depth: int = Field(
        default=0,
        ge=0,
        le=8,
        json_schema_extra=says("count"),
        description="levels of local agents between master agent and servers",
    )
    fan_out: int = Field(
        default=8, ge=1, json_schema_extra=says("count"), description="local agents below each agent"
    )
    rank: policy_of("aggregation") = Field(  # type: ignore[valid-type]
        default_factory=ByLoad, description="plug-in scheduler: which vectors are handed up, the best first"
    )
    keep: int = Field(
        default=1_000_000,
        ge=1,
        json_schema_extra=says("count"),
        description="estimation vectors that each agent hands up at most",
    )
    level: list[LevelSpec] = Field(
        default_factory=list, max_length=9, description="what differs, level by level from the master agent"
    )

    @model_validator(mode="after")
    def _levels(self) -> HierarchySpec:
        if len(self.level) > self.depth + 1:
            raise ValueError(f"level: {len(self.level)} levels of {self.depth + 1}")
        return self


class LocalAgentSpec(Switchable):
    """A local agent of a tree that is written out; servers and agents name their parent."""

    name: Name
    parent: str = Field(default=MASTER, description="another [[local_agent]], or master-agent")
    latency: float | None = Field(
        default=None,
        ge=0,
        json_schema_extra=says("s"),
        description="s that a message to or from those below takes; network's if left out",
    )
    rank: policy_of("aggregation") | None = Field(  # type: ignore[valid-type]
        default=None, description="plug-in scheduler; that of the hierarchy if left out"
    )
    keep: int | None = Field(
        default=None,
        ge=1,
        json_schema_extra=says("count"),
        description="estimation vectors handed up at most",
    )


class MessageCostSpec(Table):
    """Processor time that messages take where they are handled; what waits for it is delayed."""

    client: float = Field(
        default=0.0,
        ge=0,
        json_schema_extra=says("s"),
        description="s for each message of a client, on the clients' node",
    )
    agent: float = Field(
        default=0.0,
        ge=0,
        json_schema_extra=says("s"),
        description="s for each message of an agent, on its node",
    )
    server: float = Field(
        default=0.0,
        ge=0,
        json_schema_extra=says("s"),
        description="s for each message of a server, on its node",
    )
    clients_per_node: int = Field(
        default=0,
        ge=0,
        json_schema_extra=says("count"),
        description="clients that share a node's processor equally; 0 for all",
    )


class ClientSpec(Switchable):
    """How clients behave."""

    name: Name = "client"
    choice: policy_of("choice") = Field(  # type: ignore[valid-type]
        default_factory=RoundRobin, description="which of the servers found gets which request"
    )
    dispatch: policy_of("dispatch")  # type: ignore[valid-type]
    n_submit: int = Field(
        default=100,
        ge=1,
        json_schema_extra=says("count"),
        description="requests in all that a legacy client guesses to be right",
    )
    spacing: float = Field(
        default=0.0005,
        ge=0,
        json_schema_extra=says("s"),
        description="s between two submissions during set-up",
    )
    retry: float = Field(
        default=1.0,
        gt=0,
        json_schema_extra=says("s"),
        description="s until a request that a server lost is submitted again",
    )
    reallocation: policy_of("reallocation") = Field(default_factory=Never)  # type: ignore[valid-type]
    reallocation_period: float = Field(
        default=10.0,
        gt=0,
        json_schema_extra=says("s"),
        description="s between two looks at mandatory requests that wait",
    )
    reaction: float = Field(
        default=0.001,
        ge=0,
        json_schema_extra=says("s"),
        description="s from hearing of a completion to acting on it",
    )
