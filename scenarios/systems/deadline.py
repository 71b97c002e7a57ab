"""Deadline scheduling: an agent that places tasks on servers by forecasts, deadlines and priorities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import merge
from itertools import islice
from math import inf

from gridtune.agents.deadline.monitor import Monitor
from gridtune.agents.deadline.plug_in import Planner, TaskClients
from gridtune.agents.deadline.scheduler import SchedulingAgent, SchedulingAgents, measure
from gridtune.agents.deadline.task_server import TaskServer
from gridtune.model.agenda import Action
from gridtune.model.deadline.platform import Link, Machine, Steps
from gridtune.model.deadline.routing import TaskRouting
from gridtune.model.deadline.timetable import ReportedTimetable, Timetable
from gridtune.model.grid import Grid
from gridtune.model.gridrpc.disciplines import Discipline
from gridtune.model.job import Job
from gridtune.model.network import Link as GridLink
from gridtune.model.owed import Owed
from gridtune.model.policy import make
from gridtune.model.record import Missing
from gridtune.scenarios.systems.gridrpc import hierarchy_of
from gridtune.scenarios.tables.deadline import AgentSpec, ServerSpec
from gridtune.scenarios.tables.gridrpc import MASTER
from gridtune.scenarios.tables.schema import ScenarioSpec
from gridtune.scenarios.workloads.tasks import Arrival, ListedTasks, TaskWorkload

LEAST_SPEED = 0.001
LEAST_AVAILABILITY = 0.01
LEAST_BANDWIDTH = 1.0


def check(spec: ScenarioSpec) -> None:
    """Whether what deadline scheduling needs is there.

    Raises:
        ValueError: tasks without servers or agent or the other way round, a routing policy for something
            else, or a task for servers that do not exist.
    """
    needed = any(isinstance(workload, TaskWorkload) for workload in spec.workload)
    if needed and not (spec.server and spec.agent):
        raise ValueError("a workload of tasks needs [[server]] and [agent]")
    if not needed and (spec.server or spec.agent):
        raise ValueError("[[server]] and [agent] need a [[workload]] of tasks (kind: tasks, task-list, …)")
    if spec.agent and not isinstance(spec.agent.routing, TaskRouting):
        kinds = "greedy, mct, deadline and priority"
        raise ValueError(f"agent.routing: {spec.agent.routing.kind} does not route tasks; {kinds} do")
    _check_discovery(spec)
    clients = {workload.name for workload in spec.workload if isinstance(workload, TaskWorkload)}
    for group in spec.server:
        if unknown := sorted(group.links.keys() - clients):
            raise ValueError(f"server.{group.name}.links: no workload of tasks is called {unknown[0]!r}")
    names = {name for group in spec.server for name in _names(group)}
    for workload in spec.workload:
        if isinstance(workload, ListedTasks):
            for task in workload.tasks:
                if unknown := sorted(task.times.keys() - names):
                    raise ValueError(f"workload.{workload.name}.tasks: no server is called {unknown[0]!r}")


def _check_discovery(spec: ScenarioSpec) -> None:
    """Whether tasks can be placed the way that they are to be placed.

    Raises:
        ValueError: a place in a hierarchy that nobody asks, or what only an agent has that knows all servers.
    """
    agent = spec.agent
    if agent is None or agent.discovery == "direct":
        for group in spec.server:
            if group.parent != MASTER:
                raise ValueError(f"server.{group.name}.parent: nobody asks it without agent.discovery")
        return
    by_themselves = "where servers answer for themselves (agent.discovery)"
    if agent.count > 1:
        raise ValueError(f"agent.count: every user has a client of its own {by_themselves}")
    if not agent.load_correction:
        raise ValueError(f"agent.load_correction: there is nothing to correct {by_themselves}")
    if agent.routing.patience < inf:
        raise ValueError(f"agent.routing: {agent.routing.kind} tries servers in turn, not {by_themselves}")


def build(grid: Grid, spec: ScenarioSpec) -> None:
    """Put servers, monitor and agent on the grid, if the scenario has tasks."""
    workloads = [workload for workload in spec.workload if isinstance(workload, TaskWorkload)]
    if not workloads or spec.agent is None:
        return
    routing: TaskRouting = spec.agent.routing
    discipline: Discipline = make("discipline", routing.discipline)  # type: ignore[assignment]
    servers = [
        TaskServer(grid, machine, index, discipline) for index, machine in enumerate(_machines(grid, spec))
    ]
    agents: Sequence[SchedulingAgent]
    together: SchedulingAgents | TaskClients
    if spec.agent.discovery == "direct":
        kind = Timetable if spec.agent.load_correction else ReportedTimetable
        agents = [
            SchedulingAgent(
                grid, servers, routing, _monitor(grid, spec.agent, servers, k), kind(len(servers))
            )
            for k in range(spec.agent.count)
        ]
        together = SchedulingAgents(agents, spec.agent.probe_period, spec.agent.load_correction)
    else:
        together = _clients(grid, spec, spec.agent, servers)
        agents = together.planners
    tasks: list[Job] = []
    measure(agents, tasks, spec.agent.high_priority)
    _have_tasks_come(grid, workloads, tasks, together)
    grid.record.probe("server.running", lambda: sum(server.job is not None for server in servers))
    grid.record.probe("server.waiting", lambda: sum(len(server.queue) for server in servers))
    monitors = [agent.monitor for agent in agents]
    grid.record.probe(
        "correction",
        lambda: (
            sum(monitor.factor(k) for monitor in monitors for k in range(len(monitor.machines)))
            / sum(len(monitor.machines) for monitor in monitors)
        ),
    )
    grid.record.probe(
        "forecast_error",
        lambda: (
            sum(monitor.errors for monitor in monitors)
            / max(1, sum(monitor.executions for monitor in monitors))
        ),
    )


def _have_tasks_come(
    grid: Grid,
    workloads: Sequence[TaskWorkload],
    tasks: list[Job],
    together: SchedulingAgents | TaskClients,
) -> None:
    """Have the tasks of all workloads made when they come, noted, and handed to agents."""
    owed = Owed()

    def arrive(what: tuple[str, Arrival]) -> None:
        owed.made(what)
        role, arrival = what
        task = grid.record.job(
            arrival.user,
            arrival.time,  # what is made late was owed since
            arrival.runtime,
            kind=role,
            priority=arrival.priority,
            deadline=arrival.deadline,
            data=arrival.task,
        )
        tasks.append(task)
        together.submit(task)

    def named(workload: TaskWorkload) -> Iterator[tuple[str, Arrival]]:
        return ((workload.role, arrival) for arrival in workload.arrivals(grid.streams))

    def arrivals() -> Iterator[tuple[float, Action, tuple[str, Arrival]]]:
        for what in merge(*map(named, workloads), key=lambda what: what[1].time):
            yield what[1].time, arrive, what

    def missing(now: float) -> list[Missing]:
        late = owed.unmade(now)
        return [Missing(task.user, 1, task.runtime, task.deadline, role) for role, task in late]

    grid.agenda.feed(owed.schedule(arrivals()))
    grid.record.held_back.append(missing)


def _clients(grid: Grid, spec: ScenarioSpec, agent: AgentSpec, servers: Sequence[TaskServer]) -> TaskClients:
    """The clients of all users, over a hierarchy of agents above servers that plan their own queues."""
    clients = TaskClients(grid, GridLink(spec.network.latency, spec.network.bandwidth))
    clients.planners = [
        Planner(grid, server, k, agent.routing, _monitor(grid, agent, [server], k), clients)
        for k, server in enumerate(servers)
    ]
    by_parent: dict[str, list[Planner]] = {}
    left = iter(clients.planners)
    for group in spec.server:
        by_parent.setdefault(group.parent, []).extend(islice(left, group.count))
    clients.master = hierarchy_of(grid, spec, by_parent)
    return clients


def _monitor(grid: Grid, spec: AgentSpec, servers: Sequence[TaskServer], index: int) -> Monitor:
    """The forecasting tool of one agent."""
    return Monitor(
        grid,
        servers,
        spec.forecast,
        probe_period=spec.probe_period,
        correcting=spec.correction,
        together=spec.corrected == "together",
        name=f"forecast:{index}" if index else "forecast",
    )


def _names(group: ServerSpec) -> Iterator[str]:
    if group.count == 1:
        yield group.name
    else:
        yield from (f"{group.name}-{k:03}" for k in range(group.count))


def _machines(grid: Grid, spec: ScenarioSpec) -> Iterator[Machine]:
    """The machines of all groups; those that vary each have a stream of their own."""
    network = spec.network
    for group in spec.server:
        rng = grid.streams.stream(f"platform:{group.name}")
        speeds = group.speed.draw(rng, group.count)
        memories, disks = (law.draw(rng, group.count, finite=False) for law in (group.memory, group.disk))
        for k, name in enumerate(_names(group)):
            load = grid.streams.stream(f"platform:{name}:availability")
            link = grid.streams.stream(f"platform:{name}:bandwidth")
            yield Machine(
                name,
                speed=max(float(speeds[k]), LEAST_SPEED),
                availability=group.availability.steps(load, LEAST_AVAILABILITY, 1.0),
                link=Link(
                    group.bandwidth.steps(link, LEAST_BANDWIDTH, float("inf"))
                    if group.bandwidth
                    else Steps.constant(network.bandwidth),
                    network.latency,
                ),
                links={
                    client: Link(
                        own.bandwidth.steps(
                            grid.streams.stream(f"platform:{name}:bandwidth:{client}"),
                            LEAST_BANDWIDTH,
                            float("inf"),
                        ),
                        own.latency,
                    )
                    for client, own in group.links.items()
                },
                memory=float(memories[k]),
                disk=float(disks[k]),
                software=frozenset(group.software),
            )
