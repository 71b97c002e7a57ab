"""What a batch policy sees of a site: processors, what runs on them and what waits for them, as counts."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from heapq import merge
from itertools import groupby
from math import inf
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from gridtune.model.batch.holds import Hold, Window
from gridtune.model.batch.ledger import Ledger
from gridtune.model.batch.processors import Processors
from gridtune.model.batch.queues import Lane, Queue, with_room
from gridtune.model.batch.quotas import Quota, Quotas
from gridtune.model.batch.resources import Resources
from gridtune.model.job import Job

PROCESSORS = ""  # beside the names of resources


class Cluster(Processors):
    """A cluster is the state of a site that batch policies decide on.

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

    Example:
        >>> cluster = gt.policies.Cluster(8, pace=2.0)
        >>> wide = gt.Job(1, "ann", submit=0.0, runtime=60.0, processors=6)
        >>> small = gt.Job(2, "bob", submit=0.0, runtime=60.0, processors=2)
        >>> for one in (wide, small, later := gt.Job(3, "bob", submit=0.0, runtime=60.0, processors=4)):
        ...     cluster.enqueue(one)
        >>> cluster.start(wide, now=0.0, end=30.0)
        >>> cluster.free, cluster.depth, cluster.wanted, cluster.ends[0].time
        (2, 2, 6, 30.0)
    """

    __slots__ = (
        "_known",
        "_lane_of",
        "_limited",
        "_narrow",
        "_quotas",
        "_used",
        "_widths",
        "backfilled",
        "depth",
        "deviated",
        "lanes",
        "ledger",
        "left",
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
        super().__init__(capacity)
        self.resources = resources
        self.pace = pace
        self.queues = tuple(queues)
        self.ledger = ledger
        limited = any(
            queue.running < inf or given != Quota() for queue in self.queues for given in (quota, queue.quota)
        )
        kept = [(queue.running, queue.limit, queue.quota) for queue in self.queues]
        self._quotas = Quotas(quota, kept, capacity) if limited else None
        self._narrow = [limited or queue.limit < inf for queue in self.queues]  # by queue
        self._limited = any(self._narrow)
        self._known: list[dict[str, Lane]] = [{} for _ in self.queues]  # by queue and owner
        # Ordered dicts: a plain one walks over all that have left before it finds its first entry.
        self.lanes: dict[Lane, OrderedDict[int, Job]] = {}
        self.depth = self.wanted = 0
        self.newly_queued: list[Job] = []
        self.left: list[Job] = []
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

    @property
    def narrowest(self) -> float:
        """Give the number of processors of the narrowest job that waits; infinite if none does.

        Example:
            >>> cluster.narrowest
            2
        """
        return min(self._widths, default=inf)

    def waiting_in(self, queue: int) -> int:
        """Count the jobs that wait in a queue.

        Args:
            queue: the index of the queue.

        Returns:
            The number of jobs.

        Example:
            >>> cluster.waiting_in(0)
            2
        """
        return sum(len(jobs) for lane, jobs in self.lanes.items() if lane.queue == queue)

    def wanted_in(self, queue: int) -> int:
        """Count the processors that the jobs that wait in a queue need.

        Args:
            queue: the index of the queue.

        Returns:
            The number of processors.

        Example:
            >>> cluster.wanted_in(0)
            6
        """
        lanes = (jobs for lane, jobs in self.lanes.items() if lane.queue == queue)
        return sum(job.processors for jobs in lanes for job in jobs.values())

    def free_for(self, queue: int) -> int:
        """Count the processors that are free and that the jobs of a queue may hold.

        Args:
            queue: the index of the queue.

        Returns:
            The number of processors.

        Example:
            >>> cluster.free_for(0)
            2
        """
        return int(max(0, min(self.free, self.queues[queue].slots - self._used[queue])))

    def duration(self, job: Job) -> float:
        """Tell for how long a waiting job is planned to run.

        Args:
            job: the job.

        Returns:
            The time on the slowest node, s.

        Example:
            >>> cluster.duration(small)
            30.0
        """
        return job.expected / self.pace

    def waiting(self, place: Callable[[Lane], Any] = attrgetter("rank")) -> Iterator[Job]:
        """List all waiting jobs by place of their lane, then first come first.

        Args:
            place: gives the place of a lane; by the priority of its queue if left out.

        Returns:
            The jobs, also those for which there are no slots left.

        Example:
            >>> [job.id for job in cluster.waiting()]
            [2, 3]
        """
        for _, lanes in groupby(sorted(self.lanes, key=place), place):
            some = [self.lanes[lane].values() for lane in lanes]
            yield from some[0] if len(some) == 1 else merge(*some, key=attrgetter("queued", "id"))

    def in_order(self) -> Iterator[Job]:
        """List the waiting jobs by priority of their queues, first come first.

        A queue with limited slots admits jobs in order while they fit.

        Returns:
            The jobs whose queue and quota have slots left.

        Example:
            >>> [job.id for job in cluster.in_order()]
            [2, 3]
        """
        if len(self.lanes) == 1 and not self._limited and self.longest == inf:
            return iter(next(iter(self.lanes.values())).values())
        return self.admitted(self.waiting())

    def admitted(self, order: Iterable[Job]) -> Iterator[Job]:
        """List waiting jobs in an order, without those for which there are no slots left.

        Args:
            order: the waiting jobs in any order.

        Returns:
            The jobs whose queue and quota have slots left, in the same order.

        Example:
            >>> [job.id for job in cluster.admitted([later, small])]
            [3, 2]
        """
        if self.longest < inf:
            order = (job for job in order if job.estimate <= self.longest)
        if self._quotas is not None:
            return self._quotas.admitted(order)
        if not self._limited:
            return iter(order)
        return with_room(order, self._lane_of, self.queues, self._used)

    def hopeful(self, jobs: Iterable[Job]) -> Iterable[Job]:
        """Leave out a lane's jobs that cannot start in any order.

        Args:
            jobs: the jobs of the lane.

        Returns:
            The other jobs, in the same order.

        Example:
            >>> len(cluster.hopeful([small, later]))
            2
        """
        return jobs if self._quotas is None else self._quotas.hopeful(jobs)

    def __contains__(self, job: Job) -> bool:
        """Whether the job waits or runs here."""
        return job.id in self._lane_of

    def can_start(self, jobs: Sequence[Job]) -> bool:
        """Tell whether the jobs wait here, each once, and fit together into what is free.

        Args:
            jobs: the jobs.

        Example:
            >>> cluster.can_start([small]), cluster.can_start([small, later])
            (True, False)
        """
        room = self.free
        for job in jobs:
            lane = self._lane_of.get(job.id)
            if lane is None or lane not in self.lanes or self.lanes[lane].get(job.id) is not job:
                return False
            room -= job.processors
        if room < 0 or not self.has_units_for(jobs):
            return False
        return len(jobs) == 1 or len({job.id for job in jobs}) == len(jobs)

    def has_units_for(self, jobs: Sequence[Job]) -> bool:
        """Tell whether all that jobs need together beside processors is free.

        Args:
            jobs: the jobs.

        Example:
            >>> cluster.has_units_for([small, later])
            True
        """
        return self.resources is None or self.resources.room_for(jobs)

    def missing_for(self, job: Job) -> dict[str, int]:
        """Count what a job needs beyond what is free.

        Args:
            job: the job.

        Returns:
            The number of units by the name of the resource; that of processors is "".

        Example:
            >>> cluster.missing_for(later)
            {'': 2}
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

        Example:
            >>> cluster.held_by(wide)
            {'': 6}
        """
        units = {} if self.resources is None else self.resources.held.get(job.id, {})
        return {PROCESSORS: job.processors, **units}

    def queue_of(self, job: Job) -> Queue:
        """Look up the queue in which a job waits, or from which it was started.

        Args:
            job: the job.

        Returns:
            The queue with its limits.

        Example:
            >>> cluster.queue_of(small).slots
            inf
        """
        return self.queues[self._lane_of[job.id].queue]

    def as_planned(self, now: float) -> bool:
        """Tell whether since the last pass jobs only came in, all at the end.

        Plans of earlier passes then still hold. They do not once a running job is overdue: its planned end
        moves on with time.

        Args:
            now: the present time, s.

        Example:
            >>> cluster.settle(now=0.0)
            >>> cluster.as_planned(now=10.0), cluster.as_planned(now=40.0)
            (True, False)
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
        self._take(job, end, hold)
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
        self._give_back(job, end)
        if self._limited:
            self.shuffled = True
        if self.ledger is not None:
            self.ledger.hold(lane.owner, -job.processors, now)

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

    def permit(self, longest: float) -> None:
        """Let only jobs start from now on that promise to run no longer than a limit.

        Args:
            longest: the limit, s.
        """
        if longest != self.longest:
            self.longest = longest
            self.disturbed = self.shuffled = True

    def seen(
        self,
        jobs: Iterable[Job],
        now: float,
        released: Mapping[int, float] = MappingProxyType({}),
        holds: Iterable[Hold] = (),
    ) -> Cluster:
        """Make a copy for a policy that is to see only some of the waiting jobs; nothing is planned there.

        Args:
            jobs: the waiting jobs that it is to see.
            now: the present time, s.
            released: the times from which the processors of some running jobs are to count as free, by id, s.
            holds: those that are to keep nothing.

        Returns:
            The copy, which shares accounts and limits: it is for `starts` of a policy alone.

        Example:
            >>> cluster.seen([later], now=0.0).depth
            1
        """
        made = copy(self)
        shown = {job.id for job in jobs}
        made.lanes = {}
        for lane, waiting in self.lanes.items():
            if some := {key: job for key, job in waiting.items() if key in shown}:
                made.lanes[lane] = OrderedDict(some)
        widths = [job.processors for waiting in made.lanes.values() for job in waiting.values()]
        made.depth, made.wanted, made._widths = len(widths), sum(widths), Counter(widths)
        made.newly_queued, made.left, made.plan = [], [], None
        made.disturbed = made.shuffled = made.deviated = True
        if released or holds:
            made._release(now, released, holds)
            if self.resources is not None:
                made.resources = self.resources.without(key for key, time in released.items() if time <= now)
        return made

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
