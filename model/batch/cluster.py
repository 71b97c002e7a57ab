"""What a batch policy sees of a site: processors, what runs on them and what waits for them, as counts."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import inf
from typing import NamedTuple

from gridtune.model.batch.holds import KEYS, Hold, Window
from gridtune.model.batch.ledger import Ledger
from gridtune.model.batch.quotas import Quota, Quotas
from gridtune.model.batch.resources import Resources
from gridtune.model.job import Job

PROCESSORS = ""  # beside the names of resources


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue of a site and its limits (RR-5576, section 4.4).

    Attributes:
        name: of the queue.
        priority: queues of higher priority are served first; equal ones in the order declared.
        slots: processors that its jobs may hold together; infinite by default.
        max_runtime: t_max, s that a job may run; a job that asks for more is refused, one that runs
            longer is killed.
        max_processors: that one job may ask for.
        running: jobs that may run at once; infinite by default.
        quota: of each user and group in the queue.
        groups: whose jobs may enter; all if there are none.
    """

    name: str = "default"
    priority: float = 0.0
    slots: float = inf
    max_runtime: float = inf
    max_processors: float = inf
    running: float = inf
    quota: Quota = Quota()
    groups: frozenset[str] = frozenset()

    @property
    def widest(self) -> float:
        """Processors that one job can get."""
        return min(self.max_processors, self.slots, self.quota.widest)


class Lane(NamedTuple):
    """Jobs that wait first come, first served: those of one owner in one queue.

    Attributes:
        rank: minus the priority of the queue.
        queue: index of the queue.
        owner: whose jobs; "" where the policy does not distinguish owners.
    """

    rank: float
    queue: int
    owner: str


class PlannedEnd(NamedTuple):
    """When a running job, or a hold, is expected to give back processors; it may be overdue.

    Attributes:
        time: s.
        job: id of the job, or the key of the hold.
        processors: those that are free then.
    """

    time: float
    job: int
    processors: int


_planned_end = tuple.__new__  # one is made for each job that starts: half the cost of a call of the class


class Cluster:
    """The state of a site that batch policies decide on.

    Args:
        capacity: the number of processors.
        pace: the speed of the slowest node, work at speed 1 per s.
        queues: the queues of the site.
        quota: the limits of each user and group over all queues.
        ledger: the accounts of the policy; None for none.
        resources: the units beside processors; None for none.

    Attributes:
        capacity: the number of processors in all.
        free: the number of processors that hold no job.
        pace: the speed of the slowest node, on which a plan can rely.
        queues: the queues of the site, by index.
        lanes: the waiting jobs by lane and id, first come first.
        depth: the number of waiting jobs in all.
        wanted: the number of processors that the waiting jobs need.
        ends: the planned ends (s) of the running jobs and of the holds, soonest first.
        newly_queued: the jobs queued since the last scheduling pass.
        left: the jobs that have started or been withdrawn since then.
        shuffled: whether the order of the waiting jobs has otherwise changed since then.
        deviated: whether a job has been started otherwise than planned since then.
        planned_at: the time of the last scheduling pass, s.
        disturbed: whether anything but jobs coming in at the tail of the order has happened since then.
        ledger: the use of each owner, slot-seconds, if the policy keeps accounts.
        longest: the longest promise of a job that may start at present, s; longer jobs are passed over.
        backfilled: the time at which a policy that does not backfill in every pass last did so, s.
        plan: the plan of the last pass, if the policy plans; it is of no use once `as_planned` is false.
        windows: the times at which more processors will be kept from the scheduler, as far as is known.
        lendable: the number of idle processors of holds on which some jobs may start.
        resources: the units beside processors; None where there are none.
    """

    __slots__ = (
        "_borrowed",
        "_known",
        "_lane_of",
        "_limited",
        "_narrow",
        "_quotas",
        "_used",
        "_widths",
        "backfilled",
        "capacity",
        "depth",
        "deviated",
        "disturbed",
        "ends",
        "free",
        "lanes",
        "ledger",
        "left",
        "lendable",
        "longest",
        "newly_queued",
        "pace",
        "plan",
        "planned_at",
        "queues",
        "resources",
        "shuffled",
        "wanted",
        "windows",
    )

    def __init__(
        self,
        capacity: int,
        *,
        pace: float = 1.0,
        queues: Iterable[Queue] = (Queue(),),
        quota: Quota = Quota(),  # noqa: B008 (immutable)
        ledger: Ledger | None = None,
        resources: Resources | None = None,
    ) -> None:
        self.resources = resources
        self.capacity = self.free = capacity
        self.pace = pace
        self.queues = tuple(queues)
        self.ledger = ledger
        limited = any(
            queue.running < inf or given != Quota() for queue in self.queues for given in (quota, queue.quota)
        )
        kept = [(queue.running, queue.slots, queue.quota) for queue in self.queues]
        self._quotas = Quotas(quota, kept, capacity) if limited else None
        self._limited = limited or any(queue.slots < inf for queue in self.queues)
        self._narrow = [limited or queue.slots < inf for queue in self.queues]  # by queue
        self._known: list[dict[str, Lane]] = [{} for _ in self.queues]  # by queue and owner
        # Ordered dicts: a plain one walks over all that have left before it finds its first entry.
        self.lanes: dict[Lane, OrderedDict[int, Job]] = {}
        self.depth = self.wanted = 0
        self.ends: list[PlannedEnd] = []
        self.newly_queued: list[Job] = []
        self.left: list[Job] = []
        self.disturbed: bool
        self.deviated: bool
        self.shuffled: bool
        self.planned_at: float
        self.settle(0.0)
        self._lane_of: dict[int, Lane] = {}
        self._used = [0] * len(self.queues)
        self._widths: dict[int, int] = {}  # waiting jobs by processors
        self.plan: object = None
        self.backfilled = -inf
        self.longest = inf
        self.windows: tuple[Window, ...] = ()
        self.lendable = 0
        self._borrowed: dict[int, list[Hold]] = {}  # by job

    @property
    def narrowest(self) -> float:
        """The number of processors of the narrowest job that waits; infinite if none does."""
        return min(self._widths, default=inf)

    def waiting_in(self, queue: int) -> int:
        """Count the jobs that wait in a queue.

        Args:
            queue: the index of the queue.

        Returns:
            The number of jobs.
        """
        return sum(len(jobs) for lane, jobs in self.lanes.items() if lane.queue == queue)

    def wanted_in(self, queue: int) -> int:
        """Count the processors that the jobs that wait in a queue need.

        Args:
            queue: the index of the queue.

        Returns:
            The number of processors.
        """
        lanes = (jobs for lane, jobs in self.lanes.items() if lane.queue == queue)
        return sum(job.processors for jobs in lanes for job in jobs.values())

    def free_for(self, queue: int) -> int:
        """Count the processors that are free and that the jobs of a queue may hold.

        Args:
            queue: the index of the queue.

        Returns:
            The number of processors.
        """
        return int(max(0, min(self.free, self.queues[queue].slots - self._used[queue])))

    def duration(self, job: Job) -> float:
        """Tell for how long a waiting job is planned to run.

        Args:
            job: the job.

        Returns:
            The time on the slowest node, s.
        """
        return job.expected / self.pace

    def jobs(self, lanes: Iterable[Lane]) -> Iterator[Job]:
        """List the waiting jobs of the lanes in turn, without those for which there are no slots left.

        A queue with limited slots admits its jobs in order until the next would exceed them.

        Args:
            lanes: the lanes.

        Returns:
            The jobs whose queue and quota have slots left.
        """
        if self._quotas is not None or self.longest < inf:
            yield from self.admitted(chain.from_iterable(self.lanes[lane].values() for lane in lanes))
            return
        room: dict[int, float] = {}
        for lane in lanes:
            waiting = self.lanes[lane].values()
            limit = self.queues[lane.queue].slots
            if limit == inf:
                yield from waiting
                continue
            left = room.get(lane.queue, limit - self._used[lane.queue])
            for job in waiting:
                left -= job.processors
                if left < 0:
                    break
                yield job
            room[lane.queue] = left

    def in_order(self) -> Iterator[Job]:
        """List the waiting jobs by priority of their queues, first come first.

        Returns:
            The jobs whose queue and quota have slots left.
        """
        if len(self.lanes) == 1 and not self._limited and self.longest == inf:
            return iter(next(iter(self.lanes.values())).values())
        return self.jobs(sorted(self.lanes))

    def admitted(self, order: Iterable[Job]) -> Iterator[Job]:
        """List waiting jobs in an order, without those for which there are no slots left; see `jobs`.

        Args:
            order: the waiting jobs in any order.

        Returns:
            The jobs whose queue and quota have slots left, in the same order.
        """
        if self.longest < inf:
            order = (job for job in order if job.estimate <= self.longest)
        if self._quotas is not None:
            yield from self._quotas.admitted(order)
            return
        if all(queue.slots == inf for queue in self.queues):
            yield from order
            return
        room = [queue.slots - used for queue, used in zip(self.queues, self._used, strict=True)]
        for job in order:
            queue = self._lane_of[job.id].queue
            room[queue] -= job.processors
            if room[queue] >= 0:
                yield job
            else:
                room[queue] = -inf

    def hopeful(self, jobs: Iterable[Job]) -> Iterable[Job]:
        """Leave out the jobs of a lane that no order of them would admit.

        Args:
            jobs: the jobs of the lane.

        Returns:
            The other jobs, in the same order.
        """
        return jobs if self._quotas is None else self._quotas.hopeful(jobs)

    def __contains__(self, job: Job) -> bool:
        """Whether the job waits or runs here."""
        return job.id in self._lane_of

    def can_start(self, jobs: Sequence[Job]) -> bool:
        """Tell whether the jobs wait here, each once, and fit together into what is free.

        Args:
            jobs: the jobs.
        """
        room = self.free
        for job in jobs:
            lane = self._lane_of.get(job.id)
            if lane is None or job.id not in self.lanes.get(lane, ()):
                return False
            room -= job.processors
        if room < 0 or not self.has_units_for(jobs):
            return False
        return len(jobs) == 1 or len({job.id for job in jobs}) == len(jobs)

    def has_units_for(self, jobs: Sequence[Job]) -> bool:
        """Tell whether all that jobs need together beside processors is free.

        Args:
            jobs: the jobs.
        """
        return self.resources is None or self.resources.room_for(jobs)

    def missing_for(self, job: Job) -> dict[str, int]:
        """Count what a job needs beyond what is free.

        Args:
            job: the job.

        Returns:
            The number of units by the name of the resource; that of processors is "".
        """
        missing = {} if self.resources is None else self.resources.missing_for(job)
        if job.processors > self.free:
            missing[PROCESSORS] = job.processors - self.free
        return missing

    def held_by(self, job: Job) -> Mapping[str, int]:
        """Count what a running job gives back when it ends.

        Args:
            job: the job.

        Returns:
            The number of units by the name of the resource; that of processors is "".
        """
        units = {} if self.resources is None else self.resources.held.get(job.id, {})
        return {PROCESSORS: job.processors, **units}

    def queue_of(self, job: Job) -> Queue:
        """Look up the queue in which a job waits, or from which it was started.

        Args:
            job: the job.

        Returns:
            The queue with its limits.
        """
        return self.queues[self._lane_of[job.id].queue]

    def as_planned(self, now: float) -> bool:
        """Tell whether all that happened since the last pass is that jobs came in at the tail of the order.

        Plans of earlier passes then still hold. They do not once a running job is overdue: its planned end
        moves on with time.

        Args:
            now: the present time, s.
        """
        return not self.disturbed and (not self.ends or self.ends[0].time > now)

    def enqueue(self, job: Job, queue: int = 0, owner: str = "") -> None:
        """Let a job wait behind the others of its lane.

        Args:
            job: the job.
            queue: the index of its queue.
            owner: the name of its owner; "" where the policy does not distinguish owners.
        """
        known = self._known[queue]
        lane = known.get(owner)
        if lane is None:
            lane = known[owner] = Lane(-self.queues[queue].priority, queue, owner)
        waiting = self.lanes.get(lane)
        if waiting is None:
            waiting = self.lanes[lane] = OrderedDict()
        if self._narrow[queue] or (len(self.lanes) > 1 and lane != max(self.lanes)):
            self.disturbed = self.shuffled = True
        waiting[job.id] = job
        width = job.processors
        self._widths[width] = self._widths.get(width, 0) + 1
        self.wanted += width
        self._lane_of[job.id] = lane
        if self._quotas is not None:
            self._quotas.enter(job, queue)
        self.depth += 1
        if job.estimate <= self.longest:
            self.newly_queued.append(job)

    def withdraw(self, job: Job) -> None:
        """Take out a waiting job that will not start.

        Args:
            job: the job.
        """
        self._leave(job)
        del self._lane_of[job.id]
        if self._quotas is not None:
            self._quotas.leave(job)
        self.disturbed = True

    def start(self, job: Job, now: float, end: float, hold: Hold | None = None) -> None:
        """Give a waiting job its processors.

        Args:
            job: the job.
            now: the present time, s.
            end: the planned end of the job, s.
            hold: the hold whose processors it gets; None for free ones.
        """
        if end != self.planned_at + job.expected / self.pace:
            self.deviated = True  # on faster nodes than a plan can rely on, or later than decided
        lane = self._leave(job)
        if hold is None:
            self.free -= job.processors
            insort(self.ends, _planned_end(PlannedEnd, (end, job.id, job.processors)))
        else:
            hold.idle -= job.processors
            self.lendable -= job.processors
            self._lend(hold, job, job.processors)
            insort(self.ends, PlannedEnd(end, job.id, 0))
            self.disturbed = True
        self._used[lane.queue] += job.processors
        if self.resources is not None:
            self.resources.take(job)
        if self._quotas is not None:
            self._quotas.change(job, 1)
        if self.ledger is not None:
            self.ledger.hold(lane.owner, job.processors, now)

    def stop(self, job: Job, now: float, end: float) -> None:
        """Take the processors of a running job back.

        Args:
            job: the job.
            now: the present time, s.
            end: the end that was planned, s.
        """
        lane = self._lane_of.pop(job.id)
        self._used[lane.queue] -= job.processors
        if self.resources is not None:
            self.resources.give_back(job)
        if self._quotas is not None:
            self._quotas.change(job, -1)
            self._quotas.leave(job)
        self.free += self.ends.pop(bisect_left(self.ends, (end, job.id))).processors
        if self._borrowed:
            self._bring_back(job)
        self.disturbed = True
        if self._limited:
            self.shuffled = True
        if self.ledger is not None:
            self.ledger.hold(lane.owner, -job.processors, now)

    def borrows(self, job: Job) -> bool:
        """Tell whether processors of a running job go to a hold when it ends.

        Args:
            job: the job.
        """
        return job.id in self._borrowed

    def replan(self, job: Job, old: float, new: float) -> None:
        """Change the planned end of a running job.

        Args:
            job: the job.
            old: the end that was planned, s.
            new: the end that is planned now, s.
        """
        processors = self.ends.pop(bisect_left(self.ends, (old, job.id))).processors
        insort(self.ends, PlannedEnd(new, job.id, processors))
        self.disturbed = True

    def put_back(self, job: Job, now: float, end: float) -> None:
        """Let a job that was to start wait again as the first of its lane.

        Args:
            job: the job.
            now: the present time, s.
            end: the end that was planned, s.
        """
        lane = self._lane_of[job.id]
        self.stop(job, now, end)
        self.enqueue(job, lane.queue, lane.owner)
        self.lanes[lane].move_to_end(job.id, last=False)
        self.shuffled = True

    def keep(self, hold: Hold, processors: int) -> None:
        """Keep free processors from the scheduler.

        Args:
            hold: the hold that gets them.
            processors: the number of processors; a negative one gives some back.
        """
        self._change_end(hold.until, hold.key, processors)
        self.free -= processors
        hold.idle += processors
        if hold.lends:
            self.lendable += processors

    def claim(self, hold: Hold, job: Job, end: float, processors: int) -> None:
        """Have some processors of a running job come to a hold when it ends.

        Where the job is planned to last longer than the hold, the hold has nothing of it. What the job has
        from a reservation is lost to that.

        Args:
            hold: the hold.
            job: the running job.
            end: the planned end of the job, s.
            processors: the number of processors.
        """
        if end >= hold.until:
            return
        left = processors
        for other in self._borrowed.get(job.id, ()):
            if other.lends:
                taken = min(left, other.lent[job.id])
                other.lent[job.id] -= taken
                self._change_end(other.until, other.key, -taken)
                left -= taken
        self._change_end(end, job.id, -left)
        self._change_end(hold.until, hold.key, processors)
        self._lend(hold, job, processors)

    def free_hold(self, hold: Hold, ends: Mapping[int, float]) -> None:
        """Give all processors of a hold back.

        Args:
            hold: the hold, which is over.
            ends: the planned ends of the jobs that still run on its processors, by id, s.
        """
        self.keep(hold, -hold.idle)
        for job, processors in hold.lent.items():
            self._change_end(hold.until, hold.key, -processors)
            self._change_end(ends[job], job, processors)
            borrowed = self._borrowed[job]
            borrowed.remove(hold)
            if not borrowed:
                del self._borrowed[job]
        hold.lent.clear()

    def permit(self, longest: float) -> None:
        """Let only jobs start from now on that promise to run no longer than a limit.

        Args:
            longest: the limit, s.
        """
        if longest != self.longest:
            self.longest = longest
            self.disturbed = self.shuffled = True

    def settle(self, now: float) -> None:
        """End a scheduling pass: `newly_queued`, `left` and the like tell what happens from now on.

        Args:
            now: the present time, s.
        """
        if self.newly_queued:
            self.newly_queued.clear()
        if self.left:
            self.left.clear()
        self.disturbed = self.deviated = self.shuffled = False
        self.planned_at = now

    def _lend(self, hold: Hold, job: Job, processors: int) -> None:
        """Note that a job has processors which come to a hold when it ends."""
        hold.lent[job.id] = processors
        self._borrowed.setdefault(job.id, []).append(hold)

    def _bring_back(self, job: Job) -> None:
        """What a job that has ended had from holds is theirs again."""
        for hold in self._borrowed.pop(job.id, ()):
            processors = hold.lent.pop(job.id)
            hold.idle += processors
            if hold.lends:
                self.lendable += processors

    def _change_end(self, time: float, key: int, processors: int) -> None:
        """Have so many more processors come back at a time (s) with what has that key."""
        place = bisect_left(self.ends, (time, key))
        known = place < len(self.ends) and self.ends[place][:2] == (time, key)
        had = self.ends.pop(place).processors if known else 0
        # A job has an entry as long as it runs, a hold while it has processors.
        if key > KEYS or had + processors:
            self.ends.insert(place, PlannedEnd(time, key, had + processors))
        self.disturbed = True

    def _leave(self, job: Job) -> Lane:
        lane = self._lane_of[job.id]
        waiting = self.lanes[lane]
        del waiting[job.id]
        if job.estimate <= self.longest:
            self.left.append(job)
        if self._limited:
            self.shuffled = True
        width = job.processors
        self.wanted -= width
        left = self._widths[width] - 1
        if left:
            self._widths[width] = left
        else:
            del self._widths[width]
        if not waiting:
            del self.lanes[lane]
        self.depth -= 1
        return lane
