"""GridRPC: servers under a hierarchy of agents, and the clients that use them (DIET, DIET-ethic)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import merge
from typing import TypeVar

from gridtune.agents.gridrpc.client import Client, ClientHabits, Session
from gridtune.agents.gridrpc.hierarchy import Discoverable, LocalAgent, MasterAgent
from gridtune.agents.gridrpc.machine import Machine
from gridtune.agents.gridrpc.sed import SED_COUNTERS, SeD
from gridtune.model.agenda import Action
from gridtune.model.grid import Grid
from gridtune.model.gridrpc.disciplines import Discipline
from gridtune.model.gridrpc.dispatch import Dispatch
from gridtune.model.gridrpc.selection import Aggregation
from gridtune.model.network import Link
from gridtune.model.owed import Owed
from gridtune.model.policy import make
from gridtune.model.record import Missing
from gridtune.scenarios.tables.gridrpc import MASTER, HierarchySpec, LevelSpec, SedSpec
from gridtune.scenarios.tables.schema import ScenarioSpec
from gridtune.scenarios.workloads.sessions import SessionWorkload

A = TypeVar("A", bound=LocalAgent)


def check(spec: ScenarioSpec) -> None:
    """Whether what GridRPC needs is there.

    Raises:
        ValueError: sessions without servers or clients or the other way round, a client, agent or service
        that there
            is not, or agents that are their own parents.
    """
    sessions = [workload for workload in spec.workload if isinstance(workload, SessionWorkload)]
    if sessions and not (spec.sed and spec.client):
        raise ValueError("a workload of sessions needs [[sed]] and [[client]]")
    if not sessions and (spec.sed or spec.client):
        raise ValueError("[[sed]] and [[client]] need a [[workload]] of sessions (kind: regular, diurnal, …)")
    clients = [client.name for client in spec.client]
    for workload in sessions:
        if workload.client and workload.client not in clients:
            known = ", ".join(clients)
            raise ValueError(
                f"workload.{workload.name}: client: no [[client]] {workload.client!r}; there are {known}"
            )
        if not any(not sed.services or workload.service in sed.services for sed in spec.sed):
            known = ", ".join(sorted({service for sed in spec.sed for service in sed.services}))
            raise ValueError(
                f"workload.{workload.name}: service: no [[sed]] offers "
                f"{workload.service!r}; they offer {known}"
            )
    _check_tree(spec)


def _check_tree(spec: ScenarioSpec) -> None:
    """Whether everybody below the master agent can be reached from it."""
    parents = {agent.name: agent.parent for agent in spec.local_agent}
    if parents and spec.hierarchy.depth:
        raise ValueError("hierarchy.depth: a tree is either uniform or written out as [[local_agent]]")
    if MASTER in parents:
        raise ValueError(f"local_agent: {MASTER} is the name of the master agent")
    known = ", ".join([MASTER, *parents])
    named = [
        *(("sed", sed.name, sed.parent) for sed in spec.sed),
        *(("server", server.name, server.parent) for server in spec.server),
    ]
    for kind, name, parent in [*named, *(("local_agent", name, parent) for name, parent in parents.items())]:
        if parent != MASTER and parent not in parents:
            raise ValueError(f"{kind}.{name}: parent: no agent {parent!r}; there are {known}")
    for name in parents:
        above, seen = name, set()
        while above != MASTER:
            if above in seen:
                raise ValueError(f"local_agent.{name}: parent: {above} is below itself")
            seen.add(above)
            above = parents[above]


def build(grid: Grid, spec: ScenarioSpec) -> None:
    """Put servers, agents and the clients of all sessions on the grid, if the scenario has any."""
    workloads = [workload for workload in spec.workload if isinstance(workload, SessionWorkload)]
    if not workloads:
        return
    sessions = merge(*(_visits(grid, workload) for workload in workloads), key=_arrival)
    network = spec.network
    grid.record.counters.update(dict.fromkeys(SED_COUNTERS, 0))
    link = Link(network.latency, network.bandwidth)
    servers: list[SeD] = []
    by_parent: dict[str, list[SeD]] = {}
    for group in spec.sed:
        made = list(_servers(grid, spec, group, len(servers)))
        servers += made
        by_parent.setdefault(group.parent, []).extend(made)
    master = hierarchy_of(grid, spec, by_parent)
    habits = {
        client.name: ClientHabits(
            client.dispatch,
            client.n_submit,
            client.spacing,
            client.reaction,
            "client-node",
            client.choice,
            client.retry,
            client.reallocation,
            client.reallocation_period,
        )
        for client in spec.client
    }
    hosts: list[Machine] = []
    came = 0

    def host() -> Machine:
        """The node of the next client."""
        nonlocal came
        each = spec.message_cost.clients_per_node
        if not hosts or (each and came % each == 0):
            hosts.append(Machine(grid, spec.message_cost.client))
        came += 1
        return hosts[-1]

    owed = Owed()

    def arrive(visit: tuple[str, Session]) -> None:
        owed.made(visit)
        kind, session = visit
        Client(grid, session, habits[kind or spec.client[0].name], master, servers, link, host()).enter()

    def arrivals() -> Iterator[tuple[float, Action, tuple[str, Session]]]:
        for visit in sessions:
            yield visit[1].arrival, arrive, visit

    def missing(now: float) -> list[Missing]:
        return [
            Missing(session.user, session.n_min, session.work(session.n_min), session.deadline)
            for _, session in owed.unmade(now)
            if session.n_min
        ]

    grid.agenda.feed(owed.schedule(arrivals()))
    grid.record.held_back.append(missing)
    grid.record.probe("sed.running", lambda: sum([server.job is not None for server in servers]))
    grid.record.probe("sed.waiting", lambda: sum([len(server.queue) for server in servers]))
    if max(spec.message_cost.client, spec.message_cost.agent, spec.message_cost.server) > 0:
        grid.record.probe("cpu.clients", lambda: max((machine.share() for machine in hosts), default=0.0))
        grid.record.probe("cpu.master-agent", master.host.share)
        grid.record.probe("cpu.busiest-sed", lambda: max(server.host.share() for server in servers))


def _visits(grid: Grid, workload: SessionWorkload) -> Iterator[tuple[str, Session]]:
    """The sessions of a workload, each with the kind of client that acts for it."""
    sessions = workload.sessions(grid.streams)
    rng = grid.streams.stream(f"bytes:{workload.name}")
    sizes = [law.draw(rng, len(sessions)) for law in (workload.request_bytes, workload.result_bytes)]
    for session, sent, back in zip(sessions, *sizes, strict=True):
        yield (
            workload.client,
            replace(session, service=workload.service, request_bytes=float(sent), result_bytes=float(back)),
        )


def _arrival(visit: tuple[str, Session]) -> float:
    return visit[1].arrival


def _servers(grid: Grid, spec: ScenarioSpec, group: SedSpec, first: int) -> Iterator[SeD]:
    """The servers of a group."""
    dispatch: Dispatch = spec.client[0].dispatch
    discipline: Discipline = group.discipline or make("discipline", dispatch.discipline)  # type: ignore[assignment]
    speeds = group.speed.draw(grid.streams.stream(f"speed:{group.name}"), group.count)
    link = None
    if group.latency is not None or group.bandwidth is not None:
        network = spec.network
        link = Link(
            network.latency if group.latency is None else group.latency,
            network.bandwidth if group.bandwidth is None else group.bandwidth,
        )
    for k, speed in enumerate(speeds):
        yield SeD(
            grid,
            f"{group.name}-{k:03}",
            first + k,
            discipline,
            speed=max(LEAST_SPEED, float(speed)),
            overhead=group.overhead,
            killed=group.killed,
            group=group.name,
            services=group.services,
            estimation=group.estimation,
            memory=group.memory,
            link=link,
            host=Machine(grid, spec.message_cost.server),
        )


LEAST_SPEED = 1e-3


def hierarchy_of(
    grid: Grid, spec: ScenarioSpec, servers: Mapping[str, Sequence[Discoverable]]
) -> MasterAgent:
    """The master agent, over a tree that is uniform or written out.

    Args:
        grid: where it lives.
        spec: of the tree.
        servers: by the name of the agent that they report to.
    """
    hierarchy, cost = spec.hierarchy, spec.message_cost.agent

    def agent(
        kind: type[A], name: str, latency: float | None, rank: Aggregation | None, keep: int | None
    ) -> A:
        link = Link(spec.network.latency if latency is None else latency, spec.network.bandwidth)
        return kind(grid, name, link, rank or hierarchy.rank, keep or hierarchy.keep, Machine(grid, cost))

    def at(level: int, kind: type[A], name: str) -> A:
        own = hierarchy.level[level] if level < len(hierarchy.level) else LevelSpec()
        return agent(kind, name, own.latency, own.rank, own.keep)

    master = at(0, MasterAgent, MASTER)
    if not spec.local_agent:
        _grow(hierarchy, lambda level, name: at(level, LocalAgent, name), master, servers[MASTER])
        return master
    agents: dict[str, LocalAgent] = {MASTER: master}
    for one in spec.local_agent:
        agents[one.name] = agent(LocalAgent, one.name, one.latency, one.rank, one.keep)
    for one in spec.local_agent:
        agents[one.parent].children.append(agents[one.name])
    for parent, below in servers.items():
        agents[parent].children.extend(below)
    return master


def _grow(
    hierarchy: HierarchySpec,
    make: Callable[[int, str], LocalAgent],
    parent: LocalAgent,
    below: Sequence[Discoverable],
    level: int = 1,
    name: str = "local-agent",
) -> None:
    """Hang servers below an agent, evenly under the levels left; `make` makes an agent of a level."""
    if level > hierarchy.depth:
        parent.children.extend(below)
        return
    branches = min(hierarchy.fan_out, len(below))
    for k in range(branches):
        # Consecutive servers share a local agent, as servers of one cluster do.
        share = below[k * len(below) // branches : (k + 1) * len(below) // branches]
        child = make(level, f"{name}-{k}")
        parent.children.append(child)
        _grow(hierarchy, make, child, share, level + 1, child.name)
