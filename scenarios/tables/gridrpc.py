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
from gridtune.scenarios.fields.table import Name, Switchable, Table, number

MASTER = "master-agent"


class SedSpec(Switchable):
    """A group of servers that differ in what is drawn only."""

    name: Name = "sed"
    count: int = number(..., "count", "number of servers of this kind", ge=1)
    site: str | None = Field(
        default=None,
        description="[[site]] that lends its nodes to them, one slot to each; left out, they have their own",
    )
    lease: LeaseSpec | None = Field(
        default=None, description="how long servers run inside jobs of `site`; they run for ever without it"
    )
    parent: str = Field(default=MASTER, description="[[local_agent]] that they report to, or master-agent")
    services: list[str] = Field(default_factory=list, description="services that they offer; none for all")
    speed: PositiveLaw = number(
        Constant(value=1.0), "ratio", "run time at speed 1 over run time here; drawn for each"
    )
    memory: float = number(inf, "bytes", "bytes of memory of each", gt=0)
    estimation: policy_of("estimation") = Field(  # type: ignore[valid-type]
        default_factory=History, description="what they say of themselves when a client looks for servers"
    )
    latency: float | None = number(
        None, "s", "s that a message between client and server takes; network's if left out", ge=0
    )
    bandwidth: float | None = number(
        None, "bytes/s", "bytes per s between client and server; network's if left out", gt=0
    )
    overhead: float = number(0.001, "s", "s that each execution takes on top", ge=0)
    discipline: policy_of("discipline") | None = Field(  # type: ignore[valid-type]
        default=None,
        description="queue discipline; left out, the one that goes with the dispatch of the first [[client]]",
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

    latency: float | None = number(
        None, "s", "s that a message to or from the agents or servers below takes", ge=0
    )
    rank: policy_of("aggregation") | None = Field(  # type: ignore[valid-type]
        default=None, description="plug-in scheduler of its agents"
    )
    keep: int | None = number(None, "count", "estimation vectors handed up at most", ge=1)


class HierarchySpec(Table):
    """The tree between clients and servers: a master agent over `depth` levels of local agents."""

    depth: int = number(0, "count", "levels of local agents between master agent and servers", ge=0, le=8)
    fan_out: int = number(8, "count", "local agents below each agent", ge=1)
    rank: policy_of("aggregation") = Field(  # type: ignore[valid-type]
        default_factory=ByLoad, description="plug-in scheduler: which vectors are handed up, the best first"
    )
    keep: int = number(1_000_000, "count", "estimation vectors that each agent hands up at most", ge=1)
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
    parent: str = Field(
        default=MASTER, description="agent above it: the name of another [[local_agent]], or master-agent"
    )
    latency: float | None = number(
        None, "s", "s that a message to or from those below takes; network's if left out", ge=0
    )
    rank: policy_of("aggregation") | None = Field(  # type: ignore[valid-type]
        default=None, description="plug-in scheduler; that of the hierarchy if left out"
    )
    keep: int | None = number(None, "count", "estimation vectors handed up at most", ge=1)


class MessageCostSpec(Table):
    """Processor time that messages take where they are handled; what waits for it is delayed."""

    client: float = number(0.0, "s", "s for each message of a client, on the clients' node", ge=0)
    agent: float = number(0.0, "s", "s for each message of an agent, on its node", ge=0)
    server: float = number(0.0, "s", "s for each message of a server, on its node", ge=0)
    clients_per_node: int = number(
        0, "count", "clients that share a node's processor equally; 0 for all", ge=0
    )


class ClientSpec(Switchable):
    """How clients behave."""

    name: Name = "client"
    choice: policy_of("choice") = Field(  # type: ignore[valid-type]
        default_factory=RoundRobin, description="which of the servers found gets which request"
    )
    dispatch: policy_of("dispatch")  # type: ignore[valid-type]
    n_submit: int = number(100, "count", "requests in all that a legacy client guesses to be right", ge=1)
    spacing: float = number(0.0005, "s", "s between two submissions during set-up", ge=0)
    retry: float = number(1.0, "s", "s until a request that a server lost is submitted again", gt=0)
    reallocation: policy_of("reallocation") = Field(default_factory=Never)  # type: ignore[valid-type]
    reallocation_period: float = number(
        10.0, "s", "s between two looks at mandatory requests that wait", gt=0
    )
    reaction: float = number(0.001, "s", "s from hearing of a completion to acting on it", ge=0)
