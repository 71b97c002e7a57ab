"""Plans of waiting jobs in their order: as far as need be to know who starts now, kept until disturbed."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from math import inf, nextafter

import numpy as np
from numpy.typing import NDArray

from gridtune.model.batch.cluster import Cluster
from gridtune.model.batch.planning.profile import Profile
from gridtune.model.batch.planning.waiting import Waiting
from gridtune.model.batch.resources import resource_starts
from gridtune.model.job import Job

# Jobs planned between two looks at who may still start now.
STRIDE = 12
# Queues up to this long are planned from scratch: that costs less than to keep a plan.
SHORT = 64
# So many jobs are rather planned than asked whether they matter, and so deep at most is asked.
FEW, DEEP = 32, 20

Places = NDArray[np.intp]


class Plan:
    """Where waiting jobs have their places, as far as they have one.

    Args:
        waiting: jobs that wait, in the order in which they are to be planned.

    Attributes:
        profile: what runs and what is planned; None while nothing is.
    """

    def __init__(self, waiting: Waiting) -> None:
        self.waiting = waiting
        self.profile: Profile | None = None

    def begin(self, profile: Profile) -> Plan:
        """Plan anew, beside what runs."""
        self.profile = profile
        self.waiting.planned[:] = False
        return self

    def starts(self, free: int, now: float, first: int = 0) -> Sequence[Job]:
        """Plan on until it is known which jobs start now.

        Jobs are planned one after the other, each as early as those before leave room for it. Whoever comes
        in the order after the last one that could still start now cannot change what happens now, and
        neither can whoever is planned to start when all of those would have ended.

        Args:
            free: processors on which jobs can start now.
            now: s.
            first: place in the order before which nobody can start now.
        """
        profile, waiting = self.profile, self.waiting
        assert profile is not None
        profile.advance(now)
        processors, durations, planned = waiting.processors, waiting.durations, waiting.planned
        live = first + ((processors[first:] <= free) & ~planned[first:]).nonzero()[0]
        if not len(live):
            return ()
        widths, ends = processors[live], now + durations[live]
        rest = (~planned[: live[-1] + 1]).nonzero()[0]
        most, horizon = free, inf
        looked = not first  # beside what runs alone, all that are narrow enough can start now
        chosen: list[Job] = []
        while len(rest):
            if not looked:
                # Plans of others only take room away: who cannot start now beside those so far never can.
                able = ((ends <= profile.kept(most)[widths]) & (live >= rest[0])).nonzero()[0]
                if not len(able):
                    break
                live, widths, ends = live[able], widths[able], ends[able]
                horizon = max(float(ends.max()), nextafter(now, inf))  # those of no length start now, too
                rest = rest[: rest.searchsorted(live[-1]) + 1]
                if len(rest) > FEW:
                    rest = self._that_matter(rest, horizon)
            looked = False
            for place, width, duration in waiting.asked_for(rest[:STRIDE]):
                if self._place(profile, place, width, duration, horizon) > now or width > free:
                    continue
                chosen.append(waiting.jobs[place])
                free -= width
                if not free:
                    return chosen  # whoever comes later cannot start now, and does not delay those before
            rest = rest[STRIDE:]
        return chosen

    def _that_matter(self, rest: Places, limit: float) -> Places:
        """Those that could start before a limit, s, beside what is planned so far.

        Plans of others only take room away: who cannot start then never can.
        """
        assert self.profile is not None
        numbers, longest = self.profile.runs(limit)
        known = np.array(numbers).searchsorted(self.waiting.processors[rest])
        return rest[self.waiting.durations[rest] <= np.array([*longest, -inf])[known]]

    def _place(
        self,
        profile: Profile,
        place: int,
        processors: int,
        duration: float,
        limit: float,
        depth: int = 0,
    ) -> float:
        """Plan a job if it can start before a limit in s; when, or infinity.

        Whoever comes before it without a place starts at the limit or later. Where the job is to run on
        beyond that, it is seen first which of those come in its way.
        """
        settled = limit
        while (start := profile.place(processors, duration, limit, settled)) + duration > settled:
            if start == inf:
                return inf
            settled = start + duration
            self._place_before(profile, place, settled, depth)
        if start < inf:
            self.waiting.plan(place)
        return start

    def _place_before(self, profile: Profile, place: int, limit: float, depth: int) -> None:
        """Plan all before a place in the order that are to start before a limit, s."""
        waiting = self.waiting
        rest = (~waiting.planned[:place]).nonzero()[0]
        if len(rest) <= FEW or depth == DEEP:
            limit = inf
        else:
            rest = self._that_matter(rest, limit)
        for earlier, width, duration in waiting.asked_for(rest):
            self._place(profile, earlier, width, duration, limit, depth + 1)


def planned_anew(cluster: Cluster, order: Iterable[Job], now: float) -> Sequence[Job]:
    """As `planned_starts`, in an order that may change from pass to pass: no plan is kept."""
    if cluster.resources is not None:
        return resource_starts(cluster, order, now, inf)
    waiting = Waiting(order, cluster.pace)
    return Plan(waiting).begin(_profile(cluster, now)).starts(cluster.free, now)


def reserved_starts(
    cluster: Cluster,
    order: Iterable[Job],
    now: float,
    reservations: float,
    window: float,
    late: Container[int] = (),
) -> Sequence[Job]:
    """The jobs that start now if the first ones in order that cannot have reservations.

    Args:
        cluster: with what runs.
        order: jobs that wait, in order.
        now: s.
        reservations: how many jobs have one.
        window: s; a job that is planned to start later has none.
        late: jobs, by number, that have one all the same.
    """
    if cluster.resources is not None:
        return resource_starts(cluster, order, now, reservations, window, late=late)
    profile = _profile(cluster, now)
    free = cluster.free
    at_once = nextafter(now, inf)
    chosen: list[Job] = []
    held = 0
    for job in order:
        limit = inf if job.id in late else now + window if held < reservations else at_once
        if limit == at_once and job.processors > free:
            continue
        duration = cluster.duration(job)
        start = profile.place(job.processors, duration, limit)
        if start == inf:
            continue
        if start > now or job.processors > free:
            held += 1
            continue
        chosen.append(job)
        free -= job.processors
        if not free:
            break
    return chosen


def turn_starts(cluster: Cluster, order: Iterable[Job], now: float) -> Sequence[Job]:
    """The longest head of the order that starts now and leaves what will be kept from the scheduler."""
    if cluster.resources is not None:
        return resource_starts(cluster, order, now, 0, in_turn=True)
    free = cluster.free
    profile = _profile(cluster, now) if cluster.windows else None
    chosen: list[Job] = []
    for job in order:
        free -= job.processors
        if free < 0:
            break
        if profile is not None:
            at_once = nextafter(now, inf)
            if profile.place(job.processors, cluster.duration(job), at_once) == inf:
                break
        chosen.append(job)
    return chosen


def _profile(cluster: Cluster, now: float) -> Profile:
    """What runs, and what is kept from the scheduler."""
    return Profile(now, cluster.free, ((end.time, end.processors) for end in cluster.ends), cluster.windows)


def planned_starts(cluster: Cluster, order: Iterable[Job], now: float) -> Sequence[Job]:
    """The jobs that start now if all that wait are planned in order, each as early as possible.

    The plan is kept: as long as jobs only come in at the end of the order, it is continued. Where jobs need
    more than processors, it is made from scratch.
    """
    if cluster.resources is not None:
        return resource_starts(cluster, order, now, inf)
    if cluster.depth <= SHORT:
        cluster.plan = None
        return _planned_anew(cluster, list(order), now)
    plan, first = cluster.plan, 0
    if not isinstance(plan, Plan) or cluster.shuffled:
        cluster.plan = plan = Plan(Waiting(order, cluster.pace))
    else:
        plan.waiting.extend(cluster.newly_queued)
        plan.waiting.remove(cluster.left)
        if cluster.as_planned(now) and not cluster.deviated:
            # Those that came earlier could not start when last looked at, and nothing has changed for them.
            first = len(plan.waiting) - len(cluster.newly_queued)
        else:
            plan.profile = None
    if cluster.narrowest > cluster.free:
        return ()
    if plan.profile is None:
        plan.begin(_profile(cluster, now))
    return plan.starts(cluster.free, now, first)


def _planned_anew(cluster: Cluster, order: Sequence[Job], now: float) -> Sequence[Job]:
    """As `planned_starts`, with a plan made from scratch, of all up to the last that could start now."""
    free, pace = cluster.free, cluster.pace
    # Those that came earlier could not start when last looked at: see `planned_starts`.
    first = len(order) - len(cluster.newly_queued) if cluster.as_planned(now) and not cluster.deviated else 0
    last = len(order)
    while last > first and order[last - 1].processors > free:
        last -= 1
    if last <= first:
        return ()
    profile = _profile(cluster, now)
    chosen: list[Job] = []
    for job in order[:last]:
        width = job.processors
        if profile.place(width, job.expected / pace) > now or width > free:
            continue
        chosen.append(job)
        free -= width
        if not free:
            break  # whoever comes later cannot start now, and does not delay those before
    return chosen
