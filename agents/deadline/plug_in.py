"""Deadline scheduling as a plug-in of DIET's hierarchy (future work of RR-5335, section 6).

Servers say of themselves what a task would do to their queues, agents rank what they say, and the client goes
to the best. Nobody knows all servers.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence

import mesa
import numpy as np

from gridtune.agents.deadline.monitor import Monitor
from gridtune.agents.deadline.scheduler import SchedulingAgent
from gridtune.agents.deadline.task_server import TaskServer
from gridtune.agents.gridrpc.hierarchy import Discovery, MasterAgent
from gridtune.model.agenda import ARRIVAL
from gridtune.model.deadline.routing import TaskRouting, Times
from gridtune.model.grid import Grid
from gridtune.model.gridrpc.estimation import EstimationVector
from gridtune.model.job import Job
from gridtune.model.network import Link


class Planner(SchedulingAgent):
    """The plug-in of one server: plans its queue, and answers clients who look for servers.

    A scheduling agent of a single server. Tasks that it takes out of the queue go back to their clients.

    Args:
        grid: where it lives.
        server: whose queue it plans.
        number: of the server within the hierarchy.
        routing: says whether the server can do a task, and which tasks leave its queue.
        monitor: forecasts what tasks take there.
        clients: who hand tasks in.
    """

    def __init__(
        self,
        grid: Grid,
        server: TaskServer,
        number: int,
        routing: TaskRouting,
        monitor: Monitor,
        clients: TaskClients,
    ) -> None:
        super().__init__(grid, [server], routing, monitor)
        self.number = number
        self.clients = clients
        server.started = self.started
        server.lost = self.lost

    def offers(self, service: str) -> bool:
        """Whether it answers; what the server cannot do it says of each task."""
        return True

    def discover(self, discovery: Discovery) -> None:
        """Answer with an estimation vector, or with none where the server cannot do the task in time."""
        self.grid.record.message(self.servers[0].name, "estimate", self.grid.now)
        task = discovery.task
        vector = None if task is None else self.estimate(task)
        discovery.reply(() if vector is None else (vector,))

    def estimate(self, job: Job) -> EstimationVector | None:
        """What the server says of itself for a task; None if it cannot do it as the policy demands."""
        times, now = self.monitor.times(job), self.grid.now
        self.examined += 1
        if not self.routing.choose(job, times, self.timetable, now):
            return None
        planned, precedence = self.routing.planned(times), self.routing.precedence(job)
        ends, _ = self.timetable.insertions(planned, precedence, now)
        displaced = self.timetable.displaced(planned, precedence, np.zeros(1, dtype=np.int64), now)
        server = self.servers[0]
        return EstimationVector(
            self.number,
            {
                "power": server.speed,
                "memory": server.machine.memory,
                "load": (server.job is not None) + len(server.queue),
                "queue_length": len(server.queue),
                "service_time": float(times.forecast[0]),
                "nominal_time": float(times.nominal[0]),
                "estimated_completion": float(ends[0]) - now,
                "displaced": int(displaced[0]),
            },
        )

    def accept(self, job: Job, vector: EstimationVector) -> list[Job]:
        """Let a task wait at the server; the tasks that are taken out because they would be late.

        Args:
            job: the task.
            vector: what the server said when it was asked.
        """
        forecast, nominal = (np.array([vector.values[tag]]) for tag in ("service_time", "nominal_time"))
        return self._assign(job, 0, Times(forecast, nominal))

    def forget(self, job: Job) -> None:
        """A task that was taken out of the queue waits elsewhere now."""
        self._origin.pop(job.id, None)

    def started(self, server: TaskServer, job: Job) -> None:
        """The server has started a task."""
        self.timetable.begin(0, job, self.grid.now)

    def lost(self, server: TaskServer, job: Job) -> None:
        """The server has lost its place, and its task begins anew wherever there is one for it."""
        del self._placed[job.id]
        self.timetable.complete(0, self.grid.now)
        self._place_all([job])

    def give_up(self, job: Job) -> None:
        """No server can do a task in time: it stays here, if it waited here before, or is rejected."""
        self._give_up(job)

    def _place_all(self, jobs: Iterable[Job]) -> None:
        self.clients.place_again(self, jobs)


class TaskClients(mesa.Agent):
    """The clients of all users: each looks for a server for one of its tasks after the other.

    Args:
        grid: where they live.
        link: to the master agent.

    Attributes:
        master: whom they ask.
        planners: of the servers, by number.
    """

    master: MasterAgent

    def __init__(self, grid: Grid, link: Link) -> None:
        super().__init__(grid)
        self.grid = grid
        self.link = link
        self.planners: Sequence[Planner] = ()
        self._waiting: defaultdict[str, deque[Job]] = defaultdict(deque)
        self._asking: set[str] = set()
        self._former: dict[int, Planner] = {}  # of tasks that were taken out of a queue

    def submit(self, job: Job) -> None:
        """Look for a server for a task, after those that its user has handed in before."""
        self._waiting[job.user].append(job)
        self._next(job.user)

    def place_again(self, planner: Planner, jobs: Iterable[Job]) -> None:
        """Look for servers for tasks that a server has given back, before all others of their users."""
        for job in reversed([*jobs]):
            self._former[job.id] = planner
            self._waiting[job.user].appendleft(job)
        for user in sorted(self._waiting.keys() - self._asking):
            self._next(user)

    def _next(self, user: str) -> None:
        """Ask for servers for the first task of a user who does not wait for an answer."""
        if user not in self._asking and self._waiting[user]:
            self._asking.add(user)
            job = self._waiting[user].popleft()
            self.grid.record.message("task-client", "discover", self.grid.now)
            found = Discovery(1, lambda vectors: self._answered(job, vectors), task=job)
            self.grid.agenda.after(self.link.delay(), self.master.discover, found, ARRIVAL)

    def _answered(self, job: Job, vectors: Sequence[EstimationVector]) -> None:
        self.grid.agenda.after(self.link.delay(), self._found, (job, vectors), ARRIVAL)

    def _found(self, what: tuple[Job, Sequence[EstimationVector]]) -> None:
        job, vectors = what
        former = self._former.pop(job.id, None)
        displaced: list[Job] = []
        if vectors:
            planner = self.planners[vectors[0].server]
            if former is not None and former is not planner:
                former.forget(job)
            displaced = planner.accept(job, vectors[0])
            self.place_again(planner, displaced)
        else:
            (former or self.planners[0]).give_up(job)
        self._asking.discard(job.user)
        self._next(job.user)
