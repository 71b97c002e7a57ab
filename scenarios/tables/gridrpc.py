"""GridRPC: servers under a hierarchy of agents, and the clients that use them (DIET, DIET-ethic)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from gridtune.scenarios.fields.policies import policy_of
from gridtune.scenarios.fields.table import Switchable, Table


class SedSpec(Switchable):
    """A group of equal servers."""

    name: str = "sed"
    count: int = Field(ge=1, description="servers")
    site: str | None = Field(
        default=None,
        description="[[site]] that lends its nodes to them, one slot to each; left out, they have their own",
    )
    speed: float = Field(default=1.0, gt=0, description="run time at speed 1 over run time here")
    overhead: float = Field(default=0.001, ge=0, description="s that each execution takes on top")
    discipline: policy_of("discipline") | None = Field(  # type: ignore[valid-type]
        default=None, description="queue discipline; left out, the one that goes with the clients' dispatch"
    )
    killed: Literal["requeue", "drop"] = Field(
        default="requeue", description="what becomes of a displaced optional request"
    )


class HierarchySpec(Table):
    """The tree between clients and servers: a master agent over `depth` levels of local agents."""

    depth: int = Field(
        default=0, ge=0, le=8, description="levels of local agents between master agent and servers"
    )
    fan_out: int = Field(default=8, ge=1, description="local agents below each agent")
    rank: Literal["load", "queue_length", "estimated_completion"] = Field(
        default="load", description="value of the estimation vectors by which the best are kept"
    )
    keep: int = Field(
        default=1_000_000, ge=1, description="estimation vectors that each agent hands up at most"
    )


class ClientSpec(Switchable):
    """How clients behave."""

    name: str = "client"
    dispatch: policy_of("dispatch")  # type: ignore[valid-type]
    n_submit: int = Field(
        default=100, ge=1, description="requests in all that a legacy client guesses to be right"
    )
    spacing: float = Field(default=0.0005, ge=0, description="s between two submissions during set-up")
    reaction: float = Field(default=0.001, ge=0, description="s from hearing of a completion to acting on it")
