"""The agent of a network-enabled server system: finds a server for every task (RR-5335, section 4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import mesa
import numpy as np

from gridtune.agents.deadline.monitor import Monitor
from gridtune.agents.deadline.task_server import TaskServer
from gridtune.model.agenda import DECISION, OBSERVATION
from gridtune.model.deadline.routing import TaskRouting, Times
from gridtune.model.deadline.timetable import Timetable
from gridtune.model.grid import Grid
from gridtune.model.job import CREATED, DONE, REJECTED, Job
from gridtune.model.metrics.registry import SHARE, define

define("executed", "tasks", "maximize", "tasks completed before their deadline")
define("missed", "tasks", "minimize", "tasks not completed before their deadline, rejected ones included")
define("missed_fraction", "", "minimize", "missed tasks over all tasks", within=SHARE)
define("missed_high_priority", "tasks", "minimize", "missed tasks of high priority")
define("missed_low_priority", "tasks", "minimize", "missed tasks of lower priority")
define("rejected", "tasks", "minimize", "tasks for which no server could meet the deadline")
define("fallbacks", "tasks", "minimize", "removals of waiting tasks that would miss their deadline")
define("resubmissions", "tasks", "minimize", "removed tasks that found a place again")
define("scheduling_cost", "servers", "minimize", "servers examined per task handed in, fallback included")
define("ack_timeouts", "time-outs", "minimize", "servers skipped because sending the data took too long")
define("forecast_error", "", "minimize", "mean relative error of forecast run times, without sign")
define("forecast_ratio", "", "minimize", "mean of forecast over actual run times; 1 is unbiased")


class Placement(NamedTuple):
    """What the agent promised itself of a placed task.

    Attributes:
        server: index.
        forecast: s that it should take there, corrected.
        factor: by which the forecast was corrected.
    """

    server: int
    forecast: float
    factor: float


class SchedulingAgent(mesa.Agent):
    """Receives tasks, places them, and takes them back from queues in which they would be late.

    It hears of every start and end of its tasks: its timetable holds their queues at the servers, with
    forecast times. Where all tasks come from it, these are the whole queues; see `SchedulingAgents`.

    Args:
        grid: where it lives.
        servers: by index.
        routing: decides on servers.
        monitor: forecasts run times.
        timetable: what it believes; one of its own tasks alone if left out.
    """

    def __init__(
        self,
        grid: Grid,
        servers: Sequence[TaskServer],
        routing: TaskRouting,
        monitor: Monitor,
        timetable: Timetable | None = None,
    ) -> None:
        super().__init__(grid)
        self.grid = grid
        self.servers = servers
        self.routing = routing
        self.monitor = monitor
        self.timetable = timetable or Timetable(len(servers))
        self._placed: dict[int, Placement] = {}
        self._origin: dict[int, Placement] = {}  # of tasks taken out of a queue that have no other place yet
        self.examined = 0  # servers, over all decisions
        self.shares = False  # whether servers have tasks of other agents, too
        for counter in ("fallbacks", "resubmissions", "ack_timeouts"):
            grid.record.counters[counter] = 0

    def submit(self, job: Job) -> None:
        """Find a server for a task, and other servers for those that it makes late."""
        self._place_all([job])

    def _place_all(self, jobs: Iterable[Job]) -> None:
        """Place tasks in turn; those displaced by one are placed before the next.

        It ends: a task displaces only tasks of strictly less precedence, so chains are no longer than
        there are levels, and each placement displaces finitely many.
        """
        stack = list(jobs)[::-1]
        while stack:
            stack.extend(reversed(self._place(stack.pop())))

    def _place(self, job: Job) -> list[Job]:
        """Place one task or reject it; the tasks that must now be placed anew."""
        times = self.monitor.times(job)
        self.examined += len(self.servers)
        chosen = self.routing.choose(job, times, self.timetable, self.grid.now)
        if not chosen:
            self._give_up(job)
            return []
        if self._answers_late(job, chosen[0]):
            self._try(job, times, chosen)
            return []
        return self._assign(job, chosen[0], times)

    def _try(self, job: Job, times: Times, chosen: Sequence[int]) -> None:
        """Send the data to the first server that takes them fast enough (RR-5335, `task_ack`)."""
        if not chosen:
            self._give_up(job)
        elif self._answers_late(job, chosen[0]):
            self.grid.record.counters["ack_timeouts"] += 1
            self.grid.record.log(self.grid.now, "timed out", job.id, self.servers[chosen[0]].name)
            wait = self.routing.patience * job.data.input / self.monitor.bandwidth(chosen[0], job.data)
            self.grid.agenda.after(wait, self._go_on, (job, times, chosen[1:]), DECISION)
        else:
            self._place_all(self._assign(job, chosen[0], times))

    def _go_on(self, what: tuple[Job, Times, Sequence[int]]) -> None:
        self._try(*what)

    def _answers_late(self, job: Job, server: int) -> bool:
        """Whether sending the data takes longer at present than the agent would wait."""
        task = job.data
        actual = self.servers[server].machine.link_to(task.client).bandwidth.at(self.grid.now)
        return bool(task.input) and self.monitor.bandwidth(server, task) > self.routing.patience * actual

    def _assign(self, job: Job, server: int, times: Times) -> list[Job]:
        """Let a task wait at a server; the waiting tasks that are taken out because they would be late."""
        grid, timetable = self.grid, self.timetable
        self._origin.pop(job.id, None)
        planned = float(self.routing.planned(times)[server])
        again = job.state is not CREATED
        grid.record.counters["resubmissions"] += again
        place = timetable.insert(server, job, planned, self.routing.precedence(job))
        self._placed[job.id] = Placement(server, float(times.forecast[server]), self.monitor.factor(server))
        grid.record.log(grid.now, "resubmitted" if again else "assigned", job.id, self.servers[server].name)
        displaced: list[Job] = []
        if self.routing.resubmits != "none":
            displaced = timetable.late_behind(server, place, grid.now)
            for late in displaced:
                self._take_back(late)
        self.servers[server].submit(job, self._completed)
        return displaced

    def _take_back(self, job: Job) -> None:
        """Take a waiting task out of its queue."""
        placement = self._placed.pop(job.id)
        self._origin[job.id] = placement
        server = placement.server
        self.timetable.remove(server, job)
        self.servers[server].withdraw(job)
        self.grid.record.counters["fallbacks"] += 1
        self.grid.record.log(self.grid.now, "fallback", job.id, self.servers[server].name)

    def _give_up(self, job: Job) -> None:
        """No server can do a task in time: it stays where it waited before, or is rejected."""
        if job.id in self._origin and self.routing.keeps == "stay":
            self._put_back(job)
        else:
            self._reject(job)

    def _put_back(self, job: Job) -> None:
        """Let a task wait where it waited before, behind those of its precedence: it will be late there."""
        placement = self._origin.pop(job.id)
        planned = float(self.routing.planned(self.monitor.times(job))[placement.server])
        self.timetable.insert(placement.server, job, planned, self.routing.precedence(job))
        self._placed[job.id] = placement
        self.grid.record.log(self.grid.now, "put back", job.id, self.servers[placement.server].name)
        self.servers[placement.server].submit(job, self._completed)

    def _reject(self, job: Job) -> None:
        self._origin.pop(job.id, None)
        job.reject(self.grid.now)

    def owns(self, job: Job) -> bool:
        """Whether a task was placed by this agent."""
        return job.id in self._placed

    def started(self, server: TaskServer, job: Job) -> None:
        """A server has started one of its tasks."""
        self.timetable.begin(server.index, job, self.grid.now)

    def lost(self, server: TaskServer, job: Job) -> None:
        """A server has lost its place, and its task begins anew wherever there is one for it."""
        del self._placed[job.id]
        self.timetable.complete(server.index, self.grid.now)
        self.grid.agenda.at(self.grid.now, self._place_all, [job], DECISION)

    def _completed(self, job: Job) -> None:
        """Learn from an execution, and look whether it ended too late for those that wait behind it."""
        placement = self._placed.pop(job.id)
        server, now = placement.server, self.grid.now
        self.timetable.complete(server, now)
        service = self.servers[server].service
        self.monitor.learn(server, job.data, placement.forecast, placement.factor, service)
        if self.routing.resubmits == "slipped":
            if self.shares:  # only the server knows who waits before whom
                late = self.servers[server].hopeless(self.owns)
            else:
                late = self.timetable.hopeless(server, now)
            for waiting in late:
                self._take_back(waiting)
            if late:
                # The server has not yet started its next task: nothing may come before that now.
                self.grid.agenda.at(now, self._place_all, late, DECISION)


class SchedulingAgents:
    """The agents of a grid, each with users of its own, over the same servers (Takefusa et al. 2001).

    An agent hears of its own tasks at once. Of the work of others it knows what servers report at times:
    until the next report its view is stale.

    Args:
        agents: at least one.
        period: s between two reports of the servers.
        correcting: whether an agent adds what it has placed itself since the last report.
    """

    def __init__(self, agents: Sequence[SchedulingAgent], period: float, correcting: bool) -> None:
        self.agents = agents
        self.correcting = correcting
        self._of: dict[str, SchedulingAgent] = {}
        first = agents[0]
        for server in first.servers:
            server.started = lambda server, job: self._owner(job).started(server, job)
            server.lost = lambda server, job: self._owner(job).lost(server, job)
        if len(agents) > 1 or not correcting:
            for k, agent in enumerate(agents):
                agent.shares = True
                # They look one after the other, not all at once.
                shift = period * k / len(agents)
                first.grid.agenda.every(period, self._look, agent, start=shift, order=OBSERVATION)

    def submit(self, job: Job) -> None:
        """Hand a task to its user's agent; users are dealt to agents in the order in which they come."""
        agent = self._of.get(job.user)
        if agent is None:
            agent = self._of[job.user] = self.agents[len(self._of) % len(self.agents)]
        agent.submit(job)

    def _owner(self, job: Job) -> SchedulingAgent:
        return self._of[job.user]

    def _look(self, agent: SchedulingAgent) -> None:
        """Servers report to an agent what they have to do."""

        def counts(job: Job) -> bool:
            return not (self.correcting and agent.owns(job))

        work = np.array([server.backlog(counts) for server in agent.servers])
        agent.timetable.report(work, agent.grid.now)


def measure(agents: Sequence[SchedulingAgent], tasks: Sequence[Job], high_priority: int) -> None:
    """Have the outcomes of tasks measured at the end of the run.

    Args:
        agents: who schedule them.
        tasks: all that users hand in, whatever the agent does with them; may still grow.
        high_priority: the least priority that counts as high.
    """
    grid, monitors = agents[0].grid, [agent.monitor for agent in agents]
    record = grid.record

    def executed(job: Job) -> bool:
        return job.state is DONE and job.end < job.deadline

    def missed(job: Job) -> bool:
        late = job.state is REJECTED or job.state is DONE or grid.now >= job.deadline
        return late and not executed(job)

    record.measure("executed", lambda: sum(map(executed, tasks)))
    record.measure("missed", lambda: sum(map(missed, tasks)))
    record.measure("missed_fraction", lambda: sum(map(missed, tasks)) / max(1, len(tasks)))
    record.measure(
        "missed_high_priority", lambda: sum(missed(job) for job in tasks if job.priority >= high_priority)
    )
    record.measure(
        "missed_low_priority", lambda: sum(missed(job) for job in tasks if job.priority < high_priority)
    )
    record.measure("scheduling_cost", lambda: sum(agent.examined for agent in agents) / max(1, len(tasks)))
    record.measure("rejected", lambda: sum(job.state is REJECTED for job in tasks))

    def executions() -> int:
        return sum(monitor.executions for monitor in monitors)

    record.measure(
        "forecast_error", lambda: sum(monitor.errors for monitor in monitors) / max(1, executions())
    )
    record.measure(
        "forecast_ratio",
        lambda: sum(monitor.ratios for monitor in monitors) / executions() if executions() else 1,
    )
