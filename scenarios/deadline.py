"""Deadline scheduling: an agent that places tasks on servers by forecasts, deadlines and priorities."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import merge
from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from agents.monitor import Monitor
from agents.scheduler import SchedulingAgent, measure
from agents.task_server import TaskServer
from model.agenda import Action
from model.deadline import TaskRouting
from model.disciplines import Discipline
from model.grid import Grid
from model.platform import Machine, Steps
from model.policy import make
from scenarios.courses import Course
from scenarios.laws import Constant, Law
from scenarios.parts import Switchable, policy_of
from scenarios.tasks import Arrival, ListedTasks, TaskWorkload

if TYPE_CHECKING:
    from scenarios.schema import ScenarioSpec

LEAST_SPEED = 0.001
LEAST_AVAILABILITY = 0.01
LEAST_BANDWIDTH = 1.0


class ServerSpec(Switchable):
    """A group of servers for tasks; every law is drawn for each of them."""

    name: str = "server"
    count: int = Field(default=1, ge=1, description="servers; a lone one bears the group's name")
    site: str | None = Field(
        default=None,
        description="[[site]] that lends its nodes to them, one slot to each; left out, they have their own",
    )
    speed: Law = Field(
        default=1.0,
        validate_default=True,
        description="run time at speed 1 over run time here; above 0 (drawn values: at least 0.001)",
    )
    availability: Course = Field(
        default=1.0,
        validate_default=True,
        description="share of the processor that background load leaves; kept within 0.01 and 1",
    )
    bandwidth: Course | None = Field(
        default=None, description="bytes per s of the link, at least 1; left out, that of the network"
    )
    memory: Law = Field(default=float("inf"), validate_default=True, description="bytes")
    software: list[str] = Field(default_factory=list, description="installed")

    @model_validator(mode="after")
    def _moves(self) -> ServerSpec:
        if isinstance(self.speed, Constant) and self.speed.value == 0:
            raise ValueError("speed: 0.0: a server must have a speed above 0")
        return self


class AgentSpec(Switchable):
    """The agent that places tasks."""

    routing: policy_of("routing")  # type: ignore[valid-type]
    forecast: policy_of("forecast") = Field(default="perfect", validate_default=True)  # type: ignore[valid-type]
    correction: Literal["none", "average", "listing"] = Field(
        default="none",
        description="of forecasts, for each server: none; by the mean ratio of actual to uncorrected time; "
        "or to corrected time, as algorithm 2 of RR-5335 is printed",
    )
    probe_period: float = Field(default=60.0, gt=0, description="s between two measurements of the sensors")
    high_priority: int = Field(default=6, description="least priority that metrics count as high")


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
    names = {name for group in spec.server for name in _names(group)}
    for workload in spec.workload:
        if isinstance(workload, ListedTasks):
            for task in workload.tasks:
                if unknown := sorted(task.times.keys() - names):
                    raise ValueError(f"workload.{workload.name}.tasks: no server is called {unknown[0]!r}")


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
    monitor = Monitor(
        grid,
        servers,
        spec.agent.forecast,
        probe_period=spec.agent.probe_period,
        correcting=spec.agent.correction,
    )
    agent = SchedulingAgent(grid, servers, routing, monitor)
    measure(agent, spec.agent.high_priority)

    def arrive(what: tuple[str, Arrival]) -> None:
        role, arrival = what
        agent.submit(
            grid.record.job(
                arrival.user,
                grid.now,
                arrival.runtime,
                kind=role,
                priority=arrival.priority,
                deadline=arrival.deadline,
                data=arrival.task,
            )
        )

    def named(workload: TaskWorkload) -> Iterator[tuple[str, Arrival]]:
        return ((workload.role, arrival) for arrival in workload.arrivals(grid.streams))

    def arrivals() -> Iterator[tuple[float, Action, tuple[str, Arrival]]]:
        for what in merge(*map(named, workloads), key=lambda what: what[1].time):
            yield what[1].time, arrive, what

    grid.agenda.feed(arrivals())
    grid.record.probe("server.running", lambda: sum(server.job is not None for server in servers))
    grid.record.probe("server.waiting", lambda: sum(len(server.queue) for server in servers))
    grid.record.probe("correction", lambda: sum(map(monitor.factor, range(len(servers)))) / len(servers))
    grid.record.probe("forecast_error", lambda: monitor.errors / max(1, monitor.executions))


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
        speeds, memories = group.speed.draw(rng, group.count), group.memory.draw(rng, group.count)
        for k, name in enumerate(_names(group)):
            load = grid.streams.stream(f"platform:{name}:availability")
            link = grid.streams.stream(f"platform:{name}:bandwidth")
            yield Machine(
                name,
                speed=max(float(speeds[k]), LEAST_SPEED),
                availability=group.availability.steps(load, LEAST_AVAILABILITY, 1.0),
                bandwidth=(
                    group.bandwidth.steps(link, LEAST_BANDWIDTH, float("inf"))
                    if group.bandwidth
                    else Steps.constant(network.bandwidth)
                ),
                latency=network.latency,
                memory=float(memories[k]),
                software=frozenset(group.software),
            )
