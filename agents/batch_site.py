"""The batch site: a head node with queues and a local scheduler, over the nodes of one domain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import mesa

from model.agenda import ARRIVAL, COMPLETION, DECISION
from model.batch.cluster import Cluster, Queue
from model.batch.nodes import NodePool, Placement
from model.batch.policies import BatchPolicy
from model.grid import Grid
from model.job import CANCELLED, CREATED, QUEUED, RUNNING, Job
from model.metrics import define

define("killed_by_limit", "jobs", "minimize", "jobs killed at a limit of run time")
define("refused", "jobs", "minimize", "jobs that no queue of their site accepts")

Overrun = Literal["extend", "kill"]
Delay = Callable[[], float]
Ended = Callable[[Job], object]


def no_delay() -> float:
    """A service that takes no time."""
    return 0.0


class Services(NamedTuple):
    """How long a site takes for what surrounds the execution of a job, each drawn per job, s.

    Attributes:
        receive: mu_rec, from the arrival of a job to its entry into a queue (RR-5576, section 6.3).
        send: mu_send, from the end of a job until the scheduler hears of it; its processors stay taken.
        overhead: setting up and cleaning up around an execution; the processors are held, nothing progresses.
    """

    receive: Delay = no_delay
    send: Delay = no_delay
    overhead: Delay = no_delay


AT_ONCE = Services()


class Execution(NamedTuple):
    """A job on its processors.

    Attributes:
        placement: where.
        planned_end: what the scheduler goes by, s.
        event: handle of its end in the agenda.
    """

    placement: Placement
    planned_end: float
    event: int


class BatchSite(mesa.Agent):
    """A site: `submit` and `cancel` are what it understands.

    At one instant jobs end first, then jobs come in, then there is one scheduling pass.

    Args:
        grid: where it lives.
        name: by which jobs refer to it.
        nodes: its nodes.
        policy: of the local scheduler.
        queues: a job enters the first whose limits it keeps.
        services: delays of the head node and the nodes.
        overrun: what becomes of a job that runs longer than its owner promised: it is left to run, or
            killed at the promised time.
    """

    def __init__(
        self,
        grid: Grid,
        name: str,
        nodes: NodePool,
        policy: BatchPolicy,
        *,
        queues: Sequence[Queue] = (Queue(),),
        services: Services = AT_ONCE,
        overrun: Overrun = "extend",
    ) -> None:
        super().__init__(grid)
        self.grid = grid
        self.name = name
        self.nodes = nodes
        self.policy = policy
        self.services = services
        self.overrun = overrun
        self.cluster = Cluster(nodes.slots, pace=nodes.pace, queues=queues, ledger=policy.ledger())
        self._executions: dict[int, Execution] = {}
        self._owners: dict[int, Ended] = {}
        self._pass_due = False
        grid.add_slots(nodes.slots, nodes.power / nodes.slots)
        for counter in ("killed_by_limit", "refused"):
            grid.record.counters[counter] += 0

    @property
    def depth(self) -> int:
        """Jobs waiting in the queues."""
        return self.cluster.depth

    @property
    def running(self) -> int:
        """Jobs that hold processors."""
        return len(self._executions)

    @property
    def free(self) -> int:
        """Processors that hold no job."""
        return self.cluster.free

    def submit(self, job: Job, done: Ended | None = None) -> None:
        """Take a job in.

        Args:
            job: new, or waiting elsewhere.
            done: called with the job when it has ended here, unless its owner cancels it: completed,
                killed at a limit, or refused (`job.state` tells).
        """
        delay = self.services.receive()
        if delay > 0:
            self.grid.agenda.after(delay, self._received, (job, done), ARRIVAL)
        else:
            self._enter(job, done)

    def cancel(self, job: Job) -> None:
        """Take a job out on its owner's demand, whether it waits or runs; too late is no error."""
        now = self.grid.now
        if job.state is RUNNING and job.id in self._executions:
            self.grid.agenda.cancel(self._executions[job.id].event)
            self._owners.pop(job.id, None)
            job.cancel(now)
            self._release(job)
        elif job.state is QUEUED or job.state is CREATED:
            # Where it does not wait, it is still on its way.
            if job in self.cluster:
                self.cluster.withdraw(job)
                self._owners.pop(job.id, None)
                self._call_scheduler()
            job.cancel(now)

    def _received(self, what: tuple[Job, Ended | None]) -> None:
        job, done = what
        if job.state is not CANCELLED:
            self._enter(job, done)

    def _enter(self, job: Job, done: Ended | None) -> None:
        """Put a job into the first queue that accepts it."""
        now = self.grid.now
        queue = self._queue_for(job)
        if queue is None:
            job.reject(now)
            self.grid.record.counters["refused"] += 1
            if done is not None:
                done(job)
            return
        job.queue(now, self.name)
        self.cluster.enqueue(job, queue, self.policy.owner(job))
        if done is not None:
            self._owners[job.id] = done
        self._call_scheduler()

    def _queue_for(self, job: Job) -> int | None:
        """Index of the first queue whose limits the job keeps."""
        cluster = self.cluster
        if job.processors > cluster.capacity:
            return None
        for index, queue in enumerate(cluster.queues):
            if (
                job.processors <= queue.max_processors
                and job.processors <= queue.slots
                and cluster.duration(job) <= queue.max_runtime
            ):
                return index
        return None

    def _call_scheduler(self) -> None:
        """Have one scheduling pass at this instant, once all that happens in it has happened."""
        cluster = self.cluster
        if cluster.depth and cluster.free and not self._pass_due:
            self._pass_due = True
            self.grid.agenda.at(self.grid.now, self._schedule, None, DECISION)

    def _schedule(self, _: object) -> None:
        """One scheduling pass: start what the policy chooses."""
        self._pass_due = False
        starts = self.policy.starts(self.cluster, self.grid.now)
        self.cluster.settle()
        for job in starts:
            self._start(job)

    def _start(self, job: Job) -> None:
        agenda, now = self.grid.agenda, self.grid.now
        placement = self.nodes.take(job.processors)
        job.begin(now, placement.nodes)
        promised = job.estimate / placement.speed
        limit = self.cluster.queue_of(job).max_runtime
        if self.overrun == "kill" and promised < limit:
            limit = promised
        runtime = job.runtime / placement.speed
        overhead = self.services.overhead()
        if runtime > limit:
            event = agenda.after(overhead + limit, self._expire, job, COMPLETION)
        else:
            event = agenda.after(overhead + runtime, self._complete, job, COMPLETION)
        planned_end = now + promised
        self._executions[job.id] = Execution(placement, planned_end, event)
        self.cluster.start(job, now, planned_end)

    def _complete(self, job: Job) -> None:
        job.finish(self.grid.now)
        delay = self.services.send()
        if delay > 0:
            self.grid.agenda.after(delay, self._release, job, COMPLETION)
        else:
            self._release(job)

    def _expire(self, job: Job) -> None:
        job.expire(self.grid.now)
        self.grid.record.counters["killed_by_limit"] += 1
        self._release(job)

    def _release(self, job: Job) -> None:
        """Take back the processors of a job that has ended, and tell its owner."""
        execution = self._executions.pop(job.id)
        self.nodes.give_back(execution.placement)
        self.cluster.stop(job, self.grid.now, execution.planned_end)
        done = self._owners.pop(job.id, None)
        if done is not None:
            done(job)
        self._call_scheduler()
