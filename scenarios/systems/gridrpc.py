"""GridRPC: servers under a hierarchy of agents, and the clients that use them (DIET, DIET-ethic)."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import merge
from operator import attrgetter

from gridtune.agents.gridrpc.client import Client, ClientHabits, Session
from gridtune.agents.gridrpc.hierarchy import Discoverable, LocalAgent, MasterAgent
from gridtune.agents.gridrpc.sed import SED_COUNTERS, SeD
from gridtune.model.agenda import Action
from gridtune.model.grid import Grid
from gridtune.model.gridrpc.disciplines import Discipline
from gridtune.model.gridrpc.dispatch import Dispatch
from gridtune.model.network import Link
from gridtune.model.policy import make
from gridtune.scenarios.tables.gridrpc import HierarchySpec
from gridtune.scenarios.tables.schema import ScenarioSpec
from gridtune.scenarios.workloads.sessions import SessionWorkload


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
