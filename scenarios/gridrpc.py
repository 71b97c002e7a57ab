"""GridRPC: servers under a hierarchy of agents, and the clients that use them (DIET, DIET-ethic)."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import merge
from operator import attrgetter
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from agents.client import Client, ClientHabits, Session
from agents.hierarchy import Discoverable, LocalAgent, MasterAgent
from agents.sed import SED_COUNTERS, SeD
from model.agenda import Action
from model.disciplines import Discipline
from model.dispatch import Dispatch
from model.grid import Grid
from model.network import Link
from model.policy import make
from scenarios.parts import Part, Switchable, policy_of
from scenarios.workloads import SessionWorkload

if TYPE_CHECKING:
    from scenarios.schema import ScenarioSpec


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


class HierarchySpec(Part):
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


def check(spec: ScenarioSpec) -> None:
    """Whether what GridRPC needs is there.

    Raises:
        ValueError: sessions without servers or clients, or the other way round.
    """
    needed = any(isinstance(workload, SessionWorkload) for workload in spec.workload)
    if needed and not (spec.sed and spec.client):
        raise ValueError("a workload of sessions needs [[sed]] and [[client]]")
    if not needed and (spec.sed or spec.client):
        raise ValueError("[[sed]] and [[client]] need a [[workload]] of sessions (kind: regular, diurnal, …)")


def build(grid: Grid, spec: ScenarioSpec) -> None:
    """Put servers, agents and the clients of all sessions on the grid, if the scenario has any."""
    workloads = [workload for workload in spec.workload if isinstance(workload, SessionWorkload)]
    if not workloads:
        return
    sessions = merge(*(workload.sessions(grid.streams) for workload in workloads), key=attrgetter("arrival"))
    network, client = spec.network, spec.client[0]
    grid.record.counters.update(dict.fromkeys(SED_COUNTERS, 0))
    link = Link(network.latency, network.bandwidth)
    dispatch: Dispatch = client.dispatch
    servers: list[SeD] = []
    for group in spec.sed:
        discipline: Discipline = group.discipline or make("discipline", dispatch.discipline)  # type: ignore[assignment]
        for k in range(group.count):
            server = SeD(
                grid,
                f"{group.name}-{k:03}",
                len(servers),
                discipline,
                speed=group.speed,
                overhead=group.overhead,
                killed=group.killed,
            )
            servers.append(server)
    master = MasterAgent(grid, "master-agent", link, spec.hierarchy.rank, spec.hierarchy.keep)
    _grow(grid, master, spec.hierarchy, link, servers, spec.hierarchy.depth, "local-agent")
    habits = ClientHabits(dispatch, client.n_submit, client.spacing, client.reaction, "client-node")

    def arrive(session: Session) -> None:
        Client(grid, session, habits, master, servers, link).enter()

    def arrivals() -> Iterator[tuple[float, Action, Session]]:
        for session in sessions:
            yield session.arrival, arrive, session

    grid.agenda.feed(arrivals())
    grid.record.probe("sed.running", lambda: sum(server.job is not None for server in servers))
    grid.record.probe("sed.waiting", lambda: sum(len(server.queue) for server in servers))


def _grow(
    grid: Grid,
    parent: LocalAgent,
    spec: HierarchySpec,
    link: Link,
    servers: list[SeD],
    depth: int,
    name: str,
) -> None:
    """Hang the servers below `parent`, evenly under `depth` levels of local agents."""
    if depth == 0:
        children: list[Discoverable] = list(servers)
        parent.children = children
        return
    branches = min(spec.fan_out, len(servers))
    for k in range(branches):
        # Consecutive servers share a local agent, as servers of one cluster do.
        share = servers[k * len(servers) // branches : (k + 1) * len(servers) // branches]
        agent = LocalAgent(grid, f"{name}-{k}", link, spec.rank, spec.keep)
        parent.children.append(agent)
        _grow(grid, agent, spec, link, share, depth - 1, agent.name)
