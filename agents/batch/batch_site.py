"""The batch site: a head node with queues and a local scheduler, over the nodes of one domain."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from math import inf
from typing import Literal

import mesa

from gridtune.agents.batch.admission import Admission
from gridtune.agents.batch.keeper import Keeper, Predicting, PreemptibleJobs, Preempting
from gridtune.agents.batch.placeholders import PlaceholderTasks
from gridtune.agents.batch.services import (
    AT_ONCE,
    WHENEVER_NEEDED,
    Delay,
    Ended,
    Execution,
    Reservation,
    Rounds,
    Services,
    Started,
    Waking,
)
from gridtune.agents.infrastructure.network import Staged, Way
from gridtune.agents.infrastructure.service import Service
from gridtune.model.agenda import ARRIVAL, COMPLETION, DECISION
from gridtune.model.batch.cluster import Cluster, Queue
from gridtune.model.batch.holds import Hold
from gridtune.model.batch.nodes import NodePool, Placement
from gridtune.model.batch.policies import BatchPolicy
from gridtune.model.batch.prime_time import PrimeTime, longest_at, next_change
from gridtune.model.batch.quotas import Quota
from gridtune.model.batch.resources import Resources
from gridtune.model.grid import Grid
from gridtune.model.infrastructure.file_system import FileSystem
from gridtune.model.infrastructure.lane import Timer
from gridtune.model.job import CANCELLED, CREATED, QUEUED, RUNNING, Job
from gridtune.model.metrics.registry import define
from gridtune.model.policy import misjudged

define("killed_by_limit", "jobs", "minimize", "jobs killed at a limit of run time")
define("refused", "jobs", "minimize", "jobs that no queue of their site accepts")

Overrun = Literal["extend", "kill"]


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
        self.policy = policy
        self.services = services
        self.overrun = overrun
        self.cluster = Cluster(
            nodes.slots,
            pace=nodes.pace,
            queues=queues,
            quota=quota,
            ledger=policy.ledger(),
            resources=Resources(resources) if resources else None,
        )
        self._admission = Admission(self.cluster, min(nodes.slots, quota.widest))
        self._bounded = overrun == "kill" or any(queue.max_runtime < inf for queue in self.cluster.queues)
        self.executions: dict[int, Execution] = {}
        self._tasks = PlaceholderTasks()
        self.owners: dict[int, Ended] = {}
        self._watchers: dict[int, Started] = {}
        self.rounds = rounds
        self.file_system = file_system
        self.timer: Timer = file_system.lane(io_share) if file_system is not None else grid.agenda
        self.cut_short: Timer = self.timer  # of jobs that are killed at a limit
        self.best_effort: PreemptibleJobs | None = None
        self.head_node: Service | None = None
        self.keeper: Keeper | None = None
        self.qos: Preempting | None = None
        self.predictor: Predicting | None = None
        # Work done before, s to go on from it, and the run time that was promised at first, by job.
        self.resumed: dict[int, tuple[float, float, float]] = {}
        self.paused: dict[int, float] = {}  # s that jobs ran which write down how far they have come
        self.waking: dict[int, Waking] = {}  # where jobs go on that were suspended
        self.requeues = requeues
        self.prime_times = prime_times
        self.failures: Counter[int] = Counter()  # by job
        self.broken: dict[int, Delay] = {}  # slots where what starts fails, after some s
        self.way: Way | None = None  # that their data takes
        self.reservations: deque[Reservation] = deque()
        self._pass_due = self._round_due = False
        self._next_round = 0.0  # s, not before
        self._next_pass = -inf  # s, for which the policy last asked
        if rounds.period < inf:
            grid.agenda.every(rounds.period, self._tick, order=DECISION)
        grid.add_slots(nodes.slots, nodes.power / nodes.slots)
        for counter in ("killed_by_limit", "refused"):
            grid.record.counters[counter] += 0

    def narrow(self, widest: int) -> None:
        """Refuse jobs of more processors than that."""
        self._admission.narrow(widest)

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
        return self._admission.limits

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
        if self.keeper is not None:
            self.keeper.catch_up()
        return self.cluster.free

    def free_units(self, resource: str) -> int:
        """Units of a resource that no job holds."""
        assert self.cluster.resources is not None
        return self.cluster.resources.free[resource]

    @property
    def empty(self) -> bool:
        """Whether no job is here, waiting or running."""
        at_rest = not self.executions and not self.cluster.depth and not self.reservations
        return at_rest and (self.best_effort is None or not self.best_effort.present)

    @property
    def stuck(self) -> bool:
        """Whether jobs wait, and none runs."""
        if self.executions or (self.best_effort is not None and self.best_effort.running):
            return False
        return not self.empty

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
            self._admission.directed[job.id] = queue
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
        self.timer, self.cut_short = Staged(way, self.timer), Staged(way, self.timer, output=False)

    def compute(self, job: Job, task: Job, then: Ended, work: float | None = None) -> None:
        """Have a running placeholder do a task, and call `then` with the task when that is done.

        Args:
            job: the placeholder.
            task: of one processor, or as many as the placeholder holds.
            then: called with the task.
            work: s at speed 1; that of the task if left out.
        """
        speed = self.executions[job.id].placement.speed
        work = task.runtime if work is None else work
        self._tasks.begin(job, task, work / speed, self.timer, then)

    def finish(self, job: Job) -> None:
        """A running placeholder has done its work: it completes now."""
        self.forget_end(job)
        self._complete(job)

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
            self.forget_end(job)
            self.owners.pop(job.id, None)
            job.cancel(now)
            self._release(job)
        elif job.state is QUEUED or job.state is CREATED:
            reserved = next((one for one in self.reservations if one.job is job), None)
            if reserved is not None:
                self.reservations.remove(reserved)
                self.cluster.stop(job, now, reserved.planned_end)
                self.owners.pop(job.id, None)
                self._call_scheduler()
                self.processors_came_free()
            # Where it does not wait, it is still on its way.
            elif job in self.cluster:
                self.cluster.withdraw(job)
                self.owners.pop(job.id, None)
                self._call_scheduler()
            job.cancel(now)
            self.came_back()

    def give_back(self, job: Job) -> bool:
        """Let go of a job that waits, for it to wait elsewhere; False if it does not wait here."""
        if job not in self.cluster or any(one.job is job for one in self.reservations):
            return False
        self.cluster.withdraw(job)
        self.owners.pop(job.id, None)
        self._watchers.pop(job.id, None)
        self._admission.directed.pop(job.id, None)
        self._call_scheduler()
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
        queue = self._admission.queue_for(job)
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
        self.cluster.enqueue(job, queue, self.policy.owner(job))
        if done is not None:
            self.owners[job.id] = done
        self._call_scheduler()

    def queue_for(self, job: Job) -> int | None:
        """Index of the first queue whose limits the job keeps."""
        return self._admission.queue_for(job)

    def _call_scheduler(self) -> None:
        """Have the local policy asked in the next round."""
        cluster = self.cluster
        if (
            cluster.depth
            and not self._pass_due
            and (cluster.free or cluster.lendable or self.qos is not None)
        ):
            self._pass_due = True
            self.call_round()

    def call_round(self) -> None:
        """Have one scheduling round as soon as may be, once all that happens at that instant has happened."""
        if not self._round_due:
            self._round_due = True
            agenda, after = self._agenda, self._next_round
            agenda.at(agenda.now if agenda.now > after else after, self._schedule, None, DECISION)

    def _ask_again(self, _: object) -> None:
        """The policy wanted to be asked by now."""
        self._call_scheduler()

    def _tick(self, _: object) -> None:
        """A period is over: have a round for whatever waits, even if nothing has happened."""
        self._call_scheduler()
        if self._pass_due or (self.best_effort is not None and self.best_effort.depth):
            self.call_round()

    def _schedule(self, _: object) -> None:
        """One scheduling round: start what the policy chooses, and best-effort jobs on what is left."""
        starts: Sequence[Job] = ()
        cluster, now = self.cluster, self._agenda.now
        waiting = cluster.depth
        # They call for rounds too, but the policy is asked only when it would be without them.
        if self._pass_due:
            if self.keeper is not None:
                for job, hold in self.keeper.starts(now):
                    self.start(job, hold)
            if self.prime_times:
                cluster.permit(longest_at(self.prime_times, now))
            starts = self.policy.starts(cluster, now)
            if starts and not cluster.can_start(starts):
                raise misjudged(self.policy, "starts jobs that do not wait, or do not fit together")
            cluster.settle(now)
            again = self.policy.next_pass(cluster, now)
            if self.prime_times and cluster.depth > len(starts):
                again = min(again, next_change(self.prime_times, now))
            if again < inf and again != self._next_pass:
                self._next_pass = again
                self.grid.agenda.at(again, self._ask_again, None, DECISION)
        self._pass_due = self._round_due = False
        chosen: Sequence[Job] = ()
        if self.best_effort is not None:
            chosen = self.best_effort.choose(self.best_effort.idle - sum([job.processors for job in starts]))
        if self.rounds is WHENEVER_NEEDED:
            self._conclude((starts, chosen))
            return
        duration = self.rounds.duration() + self.rounds.per_waiting * waiting
        self._next_round = now + max(self.rounds.gap, duration)
        if duration > 0:
            self._agenda.after(duration, self._conclude, (starts, chosen), DECISION)
        else:
            self._conclude((starts, chosen))

    def _conclude(self, decided: tuple[Sequence[Job], Sequence[Job]]) -> None:
        """Let the decisions of a round take effect."""
        starts, chosen = decided
        cluster = self.cluster
        for job in starts:
            if job.state is QUEUED and job in cluster:
                if job.processors <= cluster.free:
                    self.start(job)
                else:  # nodes were lost while the round lasted
                    self._call_scheduler()
        if self.best_effort is not None:
            for job in chosen:
                if job.processors <= self.best_effort.idle:
                    self.best_effort.start(job)
        if self.qos is not None:
            self.qos.consider()

    def start(self, job: Job, hold: Hold | None = None) -> None:
        """Start a job of the site, or have it start once best-effort jobs have made room for it."""
        if self.best_effort is None:
            self._run(job, 0.0, hold=hold)
            return
        wanted = job.processors if hold is None else 0
        cleaning = self.best_effort.make_room(wanted)
        if self.best_effort.idle >= wanted:
            self._run(job, cleaning, hold=hold)
        else:
            now = self._agenda.now
            planned_end = now + self.cluster.duration(job)
            self.cluster.start(job, now, planned_end, hold)
            self.reservations.append(Reservation(job, planned_end, cleaning))

    def _run(
        self, job: Job, cleaning: float, planned_end: float | None = None, hold: Hold | None = None
    ) -> None:
        """Put a job on its processors; its plan begins now unless it was made before."""
        now = self._agenda.now
        waking = self.waking.pop(job.id, None) if self.waking else None
        placement = self.nodes.take(job.processors) if waking is None else waking.placement
        nodes, speed, _, delay = placement
        job.begin(now, nodes)
        runtime = job.runtime / speed
        before, overhead = 0.0, cleaning + delay
        if waking is not None:
            overhead = waking.overhead
        elif self.services is not AT_ONCE:
            overhead = self.services.overhead() + cleaning + delay
        if job.id in self.resumed:
            before, restart, _ = self.resumed[job.id]
            runtime = max(0.0, job.runtime - before) / speed
            overhead += restart
        # Who was suspended has what is left of its limit; who was put back has all of it again.
        limit = self._limit(job, speed, before if waking is not None else 0.0) if self._bounded else inf
        # A placeholder does no work of its own: its life is not longer where the file system is slow.
        timer = self.timer if runtime < inf else self._agenda
        if limit < runtime < inf:
            timer = self.cut_short
        event: int | None = None
        fails = self.failing(placement) if self.broken else None
        if fails is not None:
            timer = self._agenda
            event = timer.after(overhead + fails, self._fail, job, COMPLETION)
        elif runtime > limit:
            event = timer.after(overhead + limit, self._expire, job, COMPLETION)
        elif runtime < inf:
            event = timer.after(overhead + runtime, self._complete, job, COMPLETION)
        if planned_end is None:
            planned_end = now + job.expected / speed
            self.cluster.start(job, now, planned_end, hold)
        self.executions[job.id] = Execution(job, placement, planned_end, event, timer, overhead)
        if self.keeper is not None:
            self.keeper.started()
        if self.predictor is not None:
            self.predictor.started(job, planned_end, now + overhead + min(runtime, limit))
        started = self._watchers.pop(job.id, None) if self._watchers else None
        # A pilot looks at its node before it asks for anything (RR-5576, section 7).
        if started is not None and fails is None:
            if overhead > 0:
                self._agenda.after(overhead, self._works, (started, job, speed), DECISION)
            else:
                started(job, speed)

    def _limit(self, job: Job, speed: float, before: float) -> float:
        """Seconds after which a job that starts on nodes of a speed is killed, with work done before."""
        limit = self.cluster.queue_of(job).max_runtime
        if before > 0:  # as what is left of the run time is worked out
            limit = max(0.0, limit * speed - before) / speed
        return min(limit, job.estimate / speed) if self.overrun == "kill" else limit

    def failing(self, placement: Placement) -> float | None:
        """Seconds after which an execution fails because of where it is; None if it does not."""
        return min((self.broken[slot]() for slot in placement.slots if slot in self.broken), default=None)

    def _fail(self, job: Job) -> None:
        """What runs on a broken node has failed, and its owner hears of it as of an end."""
        job.fail(self.grid.now)
        self.grid.record.counters["broken_executions"] += 1
        self._release(job)

    def _works(self, what: tuple[Started, Job, float]) -> None:
        started, job, speed = what
        if job.state is RUNNING:
            started(job, speed)

    def forget_end(self, job: Job) -> None:
        """The end of a running job is not to come."""
        execution = self.executions[job.id]
        if execution.event is not None:
            execution.timer.cancel(execution.event)

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
            self._run(first.job, first.cleaning, first.planned_end)
        if self.best_effort.depth:
            self.call_round()

    def _complete(self, job: Job) -> None:
        job.finish(self._agenda.now)
        delay = 0.0 if self.services is AT_ONCE else self.services.send()
        if delay > 0:
            self._agenda.after(delay, self._release, job, COMPLETION)
        else:
            self._release(job)

    def _expire(self, job: Job) -> None:
        now = self.grid.now
        execution = self.executions[job.id]
        job.expire(now, (now - job.start - execution.overhead) * execution.placement.speed)
        self.grid.record.counters["killed_by_limit"] += 1
        self._release(job)

    def _release(self, job: Job) -> None:
        """Take back the processors of a job that has ended, and tell its owner."""
        self.vacate(job)
        if self.keeper is not None or self.qos is not None:
            self.came_back()
        done = self.owners.pop(job.id, None)
        if done is not None:
            done(job)
        self._call_scheduler()
        if self.best_effort is not None:
            self.processors_came_free()

    def vacate(self, job: Job) -> None:
        """Take back the processors of a job."""
        if self.predictor is not None:
            self.predictor.left(job)
        execution = self.executions.pop(job.id)
        if job.runtime == inf:  # a placeholder
            self._tasks.drop(job, self.timer)
        self.nodes.give_back(execution.placement)
        self.cluster.stop(job, self._agenda.now, execution.planned_end)

    def came_back(self) -> None:
        """Processors have come back, or a job waits no longer: let those have them for whom they are kept."""
        if self.keeper is not None:
            self.keeper.released(self.empty)
        if self.qos is not None:
            self.qos.settle()

    def processors_returned(self) -> None:
        """More processors are free: have the scheduler asked, and start what waits for them."""
        self._call_scheduler()
        self.processors_came_free()
