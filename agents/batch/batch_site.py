"""The batch site: a head node with queues and a local scheduler, over the nodes of one domain."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from math import inf

import mesa

from gridtune.agents.batch.executions import Executions, Overrun
from gridtune.agents.batch.keeper import Keeper, Predicting, PreemptibleJobs, Preempting
from gridtune.agents.batch.local_scheduler import Admission, LocalScheduler
from gridtune.agents.batch.services import (
    AT_ONCE,
    WHENEVER_NEEDED,
    Ended,
    Reservation,
    Rounds,
    Services,
    Started,
)
from gridtune.agents.infrastructure.network import Way
from gridtune.agents.infrastructure.service import Service
from gridtune.model.agenda import ARRIVAL, DECISION
from gridtune.model.batch.cluster import Cluster
from gridtune.model.batch.holds import Hold
from gridtune.model.batch.nodes import NodePool
from gridtune.model.batch.policies import BatchPolicy
from gridtune.model.batch.prime_time import PrimeTime
from gridtune.model.batch.queues import Queue
from gridtune.model.batch.quotas import Quota
from gridtune.model.batch.resources import POOL, Resources
from gridtune.model.grid import Grid
from gridtune.model.infrastructure.file_system import FileSystem
from gridtune.model.infrastructure.lane import Timer
from gridtune.model.job import CANCELLED, CREATED, QUEUED, RUNNING, Job
from gridtune.model.metrics.registry import define

define("killed_by_limit", "jobs", "minimize", "jobs killed at a limit of run time")
define("refused", "jobs", "minimize", "jobs that no queue of their site accepts")


class BatchSite(mesa.Agent):
    """A site: `submit`, `cancel` and, for placeholders, `finish` are what it understands.

    At one instant jobs end first, then jobs come in, then there is one scheduling pass.

    Args:
        grid: where it lives.
        name: by which jobs refer to it.
        nodes: its nodes.
        policy: of the local scheduler.
        queues: a job enters the first whose limits it keeps.
        quota: of each user and group on the whole site.
        services: delays of the head node and the nodes.
        overrun: what becomes of a job that runs longer than its owner promised: it is left to run, or
            killed at the promised time.
        rounds: of the scheduler; by default it acts whenever something has happened.
        file_system: that the jobs share, if it can slow them down. Limits of run time then count progress.
        io_share: of its time that a job of the site would spend on the file system if it were alone.
        requeues: how often a job whose node was lost runs again before it is lost itself.
        prime_times: hours of the week in which only short jobs start.
        resources: whole units that the site has beside processors, by name.

    Attributes:
        best_effort: jobs in the holes of the schedule, if any. The local scheduler plans as if they
            were not there.
        head_node: what submissions (best-effort ones too), cancellations and kills of best-effort jobs have
            to pass, if that takes time.
        qos: has jobs make way for those of a higher QOS; None where none do.
        predictor: predicts run times, in place of promises; None where plans rest on these.
        executions: of the jobs that hold processors, by job, in the order of their starts.
        reservations: jobs that wait for best-effort jobs to leave.
        owners: who hears of the end of a job, by job.
        admission: which jobs it takes in.
        scheduler: asks the policy in rounds.
        keeper: keeps nodes that are out, and reservations, from the scheduler; None where there are none.
    """

    def __init__(
        self,
        grid: Grid,
        name: str,
        nodes: NodePool,
        policy: BatchPolicy,
        *,
        queues: Sequence[Queue] = (Queue(),),
        quota: Quota = Quota(),  # noqa: B008 (immutable)
        services: Services = AT_ONCE,
        overrun: Overrun = "extend",
        rounds: Rounds = WHENEVER_NEEDED,
        file_system: FileSystem | None = None,
        io_share: float = 0.0,
        requeues: float = inf,
        prime_times: Sequence[PrimeTime] = (),
        resources: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__(grid)
        self.grid = grid
        self._agenda = grid.agenda
        self.name = name
        self.nodes = nodes
        self.services = services
        self.cluster = Cluster(
            nodes.slots,
            pace=nodes.pace,
            queues=queues,
            quota=quota,
            ledger=policy.ledger(),
            resources=_resources(resources or {}, queues),
        )
        self.admission = Admission(self.cluster, min(nodes.slots, quota.widest))
        self.owners: dict[int, Ended] = {}
        self._watchers: dict[int, Started] = {}
        self.file_system = file_system
        timer: Timer = file_system.lane(io_share) if file_system is not None else grid.agenda
        self.executions = Executions(grid, nodes, self.cluster, services, overrun, timer, self._release)
        grid.record.noting.append(self.executions.note_given)
        self.scheduler = LocalScheduler(self, grid.agenda, self.cluster, policy, rounds, prime_times)
        self.best_effort: PreemptibleJobs | None = None
        self.head_node: Service | None = None
        self.keeper: Keeper | None = None
        self.qos: Preempting | None = None
        self.predictor: Predicting | None = None
        self.requeues = requeues
        self.failures: Counter[int] = Counter()  # by job
        self.way: Way | None = None  # that their data takes
        self.reservations: deque[Reservation] = deque()
        grid.add_slots(nodes.slots, nodes.power / nodes.slots)
        grid.record.counters.update({"killed_by_limit": 0, "refused": 0})

    @property
    def policy(self) -> BatchPolicy:
        """That of the local scheduler."""
        return self.scheduler.policy

    @property
    def slots(self) -> int:
        """Processors."""
        return self.nodes.slots

    @property
    def widest(self) -> int:
        """Processors that one job can get."""
        limits = self.limits
        return self.nodes.slots if limits is None else int(max(most for most, _ in limits))

    @property
    def limits(self) -> Sequence[tuple[float, float]] | None:
        """Processors and s that a job may ask for, of each queue; None where no queue limits processors."""
        return self.admission.limits

    @property
    def pace(self) -> float:
        """Work per s of the slowest node."""
        return self.nodes.pace

    @property
    def depth(self) -> int:
        """Jobs waiting in the queues."""
        return self.cluster.depth

    @property
    def wanted(self) -> int:
        """Processors that the jobs waiting in the queues need."""
        return self.cluster.wanted

    @property
    def running(self) -> int:
        """Jobs that hold processors."""
        return len(self.executions)

    @property
    def free(self) -> int:
        """Processors that hold no job, and are not kept from the scheduler."""
        self.catch_up()
        return self.cluster.free

    @property
    def empty(self) -> bool:
        """Whether no job is here, waiting or running."""
        at_rest = not self.executions and not self.cluster.depth and not self.reservations
        return at_rest and (self.best_effort is None or not self.best_effort.present)

    @property
    def stuck(self) -> bool:
        """Whether jobs wait, and none runs."""
        harvesting = self.best_effort is not None and self.best_effort.running
        return not (self.executions or harvesting or self.empty)

    def catch_up(self) -> None:
        """Have happen to nodes what was due by now: while a site is empty, nobody looks."""
        if self.keeper is not None:
            self.keeper.catch_up()

    def submit(
        self,
        job: Job,
        done: Ended | None = None,
        started: Started | None = None,
        queue: int | None = None,
    ) -> None:
        """Take a job in.

        Args:
            job: new, or waiting elsewhere. One with an infinite run time is a placeholder: it holds its
                processors until `finish`, or until it is killed at a limit.
            done: called with the job when it has ended here, unless its owner cancels it: completed,
                killed at a limit, or refused (`job.state` tells).
            started: called with the job and the speed of its node once it can work.
            queue: index of the only one that it may enter; the first that accepts it, if left out.
        """
        if queue is not None:
            self.admission.directed[job.id] = queue
        if started is not None:
            self._watchers[job.id] = started
        delay = 0.0 if self.services is AT_ONCE else self.services.receive()
        if delay > 0:
            self._agenda.after(delay, self._arrived, (job, done), ARRIVAL)
        elif self.head_node is not None:
            self.head_node.serve(self._received, (job, done))
        else:
            self.enter(job, done)

    def stage(self, way: Way) -> None:
        """From now on jobs with data hold their slots while it moves."""
        self.way = way
        self.executions.stage(way)

    def compute(self, job: Job, task: Job, then: Ended, work: float | None = None) -> None:
        """Have a running placeholder do a task, and call `then` with the task when that is done.

        Args:
            job: the placeholder.
            task: of one processor, or as many as the placeholder holds.
            then: called with the task.
            work: s at speed 1; that of the task if left out.
        """
        self.executions.compute(job, task, then, task.runtime if work is None else work)

    def finish(self, job: Job) -> None:
        """A running placeholder has done its work: it completes now."""
        self.executions.forget_end(job)
        self.executions.complete(job)

    def cancel(self, job: Job) -> None:
        """Take a job out on its owner's demand, once the head node comes to it; too late is no error."""
        if self.head_node is None:
            self.withdraw(job)
        else:
            self.head_node.serve(self.withdraw, job)

    def withdraw(self, job: Job) -> None:
        """Take a job out at once, whether it waits or runs; too late is no error."""
        now = self.grid.now
        self._watchers.pop(job.id, None)
        if job.state is RUNNING and job.id in self.executions:
            self.executions.forget_end(job)
            self.owners.pop(job.id, None)
            job.cancel(now)
            self._release(job)
        elif job.state is QUEUED or job.state is CREATED:
            reserved = next((one for one in self.reservations if one.job is job), None)
            if reserved is not None:
                self.reservations.remove(reserved)
                self.cluster.stop(job, now, reserved.planned_end)
                self.owners.pop(job.id, None)
                self.processors_returned()
            # Where it does not wait, it is still on its way.
            elif job in self.cluster:
                self.cluster.withdraw(job)
                self.owners.pop(job.id, None)
                self.scheduler.call()
            job.cancel(now)
            self.came_back()

    def give_back(self, job: Job) -> bool:
        """Let go of a job that waits, for it to wait elsewhere; False if it does not wait here."""
        if job not in self.cluster or any(one.job is job for one in self.reservations):
            return False
        self.cluster.withdraw(job)
        self.owners.pop(job.id, None)
        self._watchers.pop(job.id, None)
        self.admission.directed.pop(job.id, None)
        self.scheduler.call()
        self.came_back()
        return True

    def _arrived(self, what: tuple[Job, Ended | None]) -> None:
        if self.head_node is None:
            self._received(what)
        else:
            self.head_node.serve(self._received, what)

    def _received(self, what: tuple[Job, Ended | None]) -> None:
        job, done = what
        if job.state is not CANCELLED:
            self.enter(job, done)

    def enter(self, job: Job, done: Ended | None) -> None:
        """Put a job into the first queue that accepts it."""
        now = self._agenda.now
        job.expected = job.estimate
        queue = self.admission.queue_for(job)
        if queue is None:
            job.reject(now)
            self._watchers.pop(job.id, None)
            self.grid.record.counters["refused"] += 1
            if done is not None:
                done(job)
            return
        if self.keeper is not None:
            self.keeper.work_came()
        if self.predictor is not None:
            job.expected = self.predictor.expect(job)
        job.queue(now, self.name)
        if pool := self.cluster.queues[queue].pool:
            others = (job.needs or {}).items()
            kept = {name: units for name, units in others if not name.startswith(POOL)}
            job.needs = kept | {pool: job.processors}
        self.cluster.enqueue(job, queue, self.scheduler.policy.owner(job))
        if done is not None:
            self.owners[job.id] = done
        self.scheduler.call()

    def queue_for(self, job: Job) -> int | None:
        """Index of the first queue whose limits the job keeps."""
        return self.admission.queue_for(job)

    def queues_for(self, job: Job) -> list[int]:
        """Indices of all queues whose limits the job keeps."""
        return self.admission.queues_for(job)

    def start(self, job: Job, hold: Hold | None = None) -> None:
        """Start a job of the site, or have it start once best-effort jobs have made room for it."""
        if self.best_effort is None:
            self._run(job, 0.0, hold=hold)
            return
        wanted, kills = job.processors if hold is None else 0, self.best_effort.kills
        cleaning = self.best_effort.make_room(wanted)
        if self.best_effort.idle >= wanted:
            self._run(job, cleaning, hold=hold)
        else:
            now = self._agenda.now
            planned_end = now + self.cluster.duration(job)
            self.cluster.start(job, now, planned_end, hold)
            self.reservations.append(Reservation(job, planned_end, cleaning, kills))

    def _run(
        self, job: Job, cleaning: float, planned_end: float | None = None, hold: Hold | None = None
    ) -> None:
        """Put a job on its processors; its plan begins now unless it was made before."""
        execution = self.executions.begin(job, cleaning, planned_end)
        if planned_end is None:
            self.cluster.start(job, self._agenda.now, execution.planned_end, hold)
        if self.keeper is not None:
            self.keeper.started()
        if self.predictor is not None:
            # Nobody knows when a job ends that something may slow down.
            end = execution.end if execution.timer is self._agenda else inf
            self.predictor.started(job, execution.planned_end, end)
        started = self._watchers.pop(job.id, None) if self._watchers else None
        # A pilot looks at its node before it asks for anything (RR-5576, section 7).
        if started is not None and not execution.fails:
            speed = execution.placement.speed
            if execution.overhead > 0:
                self._agenda.after(execution.overhead, self._works, (started, job, speed), DECISION)
            else:
                started(job, speed)

    def _works(self, what: tuple[Started, Job, float]) -> None:
        started, job, speed = what
        if job.state is RUNNING:
            started(job, speed)

    def processors_came_free(self) -> None:
        """Start the jobs that waited for processors that somebody has left, then see to best-effort jobs."""
        if self.best_effort is None:
            return
        waiting = self.reservations
        while waiting:
            reserved = sum(reservation.job.processors for reservation in waiting)
            if self.best_effort.idle + reserved < waiting[0].job.processors:
                break
            first = waiting.popleft()
            cleaning = first.cleaning if self.best_effort.kills > first.kills else 0.0
            self._run(first.job, cleaning, first.planned_end)
            if self.qos is not None:
                self.scheduler.call()  # it can be preempted from now on
        if self.best_effort.depth:
            self.scheduler.call_round()

    def _release(self, job: Job) -> None:
        """Take back the processors of a job that has ended, and tell its owner."""
        self.vacate(job)
        if self.keeper is not None or self.qos is not None:
            self.came_back()
        done = self.owners.pop(job.id, None)
        if done is not None:
            done(job)
        self.scheduler.call()
        if self.best_effort is not None:
            self.processors_came_free()

    def vacate(self, job: Job) -> None:
        """Take back the processors of a job."""
        if self.predictor is not None:
            self.predictor.left(job)
        execution = self.executions.leave(job)
        self.cluster.stop(job, self._agenda.now, execution.planned_end)

    def came_back(self) -> None:
        """Processors have come back, or a job waits no longer: let those have them for whom they are kept."""
        if self.keeper is not None:
            self.keeper.released(self.empty)
        if self.qos is not None:
            self.qos.settle()

    def processors_returned(self) -> None:
        """More processors are free: have the scheduler asked, and start what waits for them."""
        self.scheduler.call()
        self.processors_came_free()


def _resources(given: Mapping[str, int], queues: Iterable[Queue]) -> Resources | None:
    """What there is beside processors, the processors of partitions included; None if there is nothing."""
    every = {**given, **{queue.pool: int(queue.slots) for queue in queues if queue.partition}}
    return Resources(every) if every else None
