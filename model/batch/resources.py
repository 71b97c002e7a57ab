"""What a site has beside processors (GPUs, memory, licences), and plans that heed it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from math import inf, nextafter
from typing import Protocol

from gridtune.model.batch.holds import Window
from gridtune.model.batch.planning.profile import Profile
from gridtune.model.job import Job

POOL = "partition "  # at the head of the name of a resource that is the processors of a queue


class Resources:
    """Resources count whole units by name, over the site: a job gets its units wherever they are.

    Args:
        capacity: units that the site has.

    Attributes:
        free: units that no job holds.
        held: what each running job holds, by its id; jobs that need nothing are not among them.
    """

    def __init__(self, capacity: Mapping[str, int]) -> None:
        self.capacity = dict(capacity)
        self.free = dict(capacity)
        self.held: dict[int, Mapping[str, int]] = {}

    def could_hold(self, job: Job) -> bool:
        """Whether a job would fit into the empty site."""
        return job.needs is None or _within(job.needs, self.capacity)

    def take(self, job: Job) -> None:
        """A job starts."""
        if job.needs is not None:
            self.held[job.id] = job.needs
            for name, units in job.needs.items():
                self.free[name] -= units

    def give_back(self, job: Job) -> None:
        """A job has ended, or does not start after all."""
        self._free(job.id)

    def without(self, jobs: Iterable[int]) -> Resources:
        """A copy in which some running jobs, by id, have given back what they hold."""
        made = Resources(self.capacity)
        made.free, made.held = dict(self.free), dict(self.held)
        for job in jobs:
            made._free(job)
        return made

    def _free(self, job: int) -> None:
        for name, units in self.held.pop(job, {}).items():
            self.free[name] += units

    def missing_for(self, job: Job) -> dict[str, int]:
        """Units that a job needs beyond what is free, where there are any."""
        needs = job.needs or {}
        return {name: units - self.free[name] for name, units in needs.items() if units > self.free[name]}

    def room_for(self, jobs: Iterable[Job]) -> bool:
        """Whether jobs fit together into what is free."""
        left = dict(self.free)
        for job in jobs:
            for name, units in (job.needs or {}).items():
                left[name] -= units
        return min(left.values(), default=0) >= 0


def _within(needs: Mapping[str, int], room: Mapping[str, int]) -> bool:
    return all(units <= room.get(name, 0) for name, units in needs.items())


class Planned(Protocol):
    """What a plan has to know of a site; see `Cluster`."""

    free: int
    resources: Resources | None

    @property
    def ends(self) -> Sequence[tuple[float, int, int]]:
        """Planned ends of what runs: s, id, processors."""

    @property
    def windows(self) -> Sequence[Window]:
        """When processors will be kept from the scheduler."""

    def duration(self, job: Job) -> float:
        """Seconds that a waiting job is planned to run."""


def resource_starts(
    cluster: Planned,
    order: Iterable[Job],
    now: float,
    reservations: float,
    window: float = inf,
    in_turn: bool = False,
    late: Container[int] = (),
) -> Sequence[Job]:
    """As `reserved_starts`, where jobs need more than processors: each starts once it has all of it.

    Partitions, queues with processors of their own, have so many reservations each.

    Args:
        cluster: with what runs, and its resources.
        order: jobs that wait, in order.
        now: s.
        reservations: how many jobs have one.
        window: s; a job that is planned to start later has none.
        in_turn: nobody passes the first that cannot start.
        late: jobs, by number, that have a reservation all the same.
    """
    resources = cluster.resources
    assert resources is not None
    plan = _Plan(cluster, resources, now)
    free, left = cluster.free, dict(resources.free)
    at_once = nextafter(now, inf)
    chosen: list[Job] = []
    waiting, closed = Counter[str](), set[str]()
    pools = sum(name.startswith(POOL) for name in left)
    for job in order:
        needs = job.needs or {}
        pool = next((name for name in needs if name.startswith(POOL)), "") if pools else ""
        if pool in closed:
            continue
        fits = job.processors <= free and _within(needs, left)
        held_back = in_turn or waiting[pool] >= reservations
        limit = inf if job.id in late else at_once if held_back else now + window
        if fits or limit > at_once:
            duration = cluster.duration(job)
            start = plan.place(job, duration, limit)
            if fits and start == now:
                chosen.append(job)
                free -= job.processors
                for name, units in needs.items():
                    left[name] -= units
                if not free:
                    break
                continue
            waiting[pool] += start < inf
        if in_turn:
            closed.add(pool)
            if len(closed) > pools:
                break
    return chosen


class _Plan:
    """What is free of processors and of each resource, over time."""

    def __init__(self, cluster: Planned, resources: Resources, now: float) -> None:
        self.now = now
        released = [(time, processors) for time, _, processors in cluster.ends]
        self.processors = Profile(now, cluster.free, released, cluster.windows)
        holders = [(time, resources.held[job]) for time, job, _ in cluster.ends if job in resources.held]
        self.others = {
            name: Profile(now, free, [(time, held[name]) for time, held in holders if held.get(name)])
            for name, free in resources.free.items()
        }

    def place(self, job: Job, duration: float, limit: float) -> float:
        """Reserve all that a job needs from when it is free for the whole duration (s); when that is.

        Infinity, and nothing reserved, if it is not before `limit` (s).
        """
        asked = [(self.processors, job.processors)]
        asked += [(self.others[name], units) for name, units in (job.needs or {}).items() if units]
        start = self.now
        while True:
            least = max(_first(profile, start, units, duration) for profile, units in asked)
            if least >= limit:
                return inf
            if least == start:
                break
            start = least
        for profile, units in asked:
            _cut(profile, start)
            profile.reserve(start, units, duration)
        return start


def _first(profile: Profile, since: float, units: int, duration: float) -> float:
    """When units are first free for the whole duration (s), not before `since` (s); infinity if never."""
    times, free = profile.times, profile.free
    steps = len(times)
    first = bisect_right(times, since) - 1
    while first < steps:
        if free[first] < units:
            first += 1
            continue
        start = max(times[first], since)
        last = first + 1
        while last < steps and times[last] < start + duration and free[last] >= units:
            last += 1
        if last == steps or times[last] >= start + duration:
            return start
        first = last + 1
    return inf


def _cut(profile: Profile, time: float) -> None:
    """Begin a step of the profile at a time (s) that is not before its beginning."""
    place = bisect_left(profile.times, time)
    if place == len(profile.times) or profile.times[place] != time:
        profile.times.insert(place, time)
        profile.free.insert(place, profile.free[place - 1])
