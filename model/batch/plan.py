"""Plans of waiting jobs in their order: as far as need be to know who starts now, kept until disturbed."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Sequence
from math import inf, nextafter

from gridtune.model.batch.cluster import Cluster
from gridtune.model.batch.profile import Profile
from gridtune.model.job import Job

# Jobs planned between two looks at who may still start now.
STRIDE = 16


class Plan:
    """Where waiting jobs have their places, as far as they have one.

    Args:
        profile: what runs, and nothing else.
        order: jobs that wait, in the order in which they are to be planned.
    """

    def __init__(self, profile: Profile, order: Iterable[Job]) -> None:
        self.profile = profile
        self.unplanned = deque(order)

    def starts(self, cluster: Cluster, candidates: Sequence[Job], now: float) -> Sequence[Job]:
        """Plan on until it is known which of the candidates start now.

        Jobs are planned one after the other, each as early as those before leave room for it. Whoever comes
        in the order after the last candidate that could still start now cannot change what happens now.

        Args:
            cluster: with what runs.
            candidates: jobs that fit into the free processors, in order; no other job can start now.
            now: s.
        """
        profile, unplanned = self.profile, self.unplanned
        profile.advance(now)
        pace = cluster.pace
        free = cluster.free
        chosen: list[Job] = []
        live = {job.id for job in candidates}
        longest: dict[int, list[tuple[float, int]]] = {}
        for job in candidates:
            longest.setdefault(job.processors, []).append((cluster.duration(job), job.id))
        for entries in longest.values():
            entries.sort()
        looked = 0
        horizon, most = inf, 0
        later: list[Job] = []
        while live and unplanned:
            if looked % STRIDE == 0:
                horizon = self._forget(live, longest, free, now)
                if not live:
                    break
                most = profile.most(horizon)
            looked += 1
            job = unplanned.popleft()
            duration = job.estimate / pace
            if later or duration > horizon - now:
                # Whoever starts beyond the horizon takes nothing from those who may start now. Where those
                # were passed over, the profile is exact before the horizon, and too good to be true beyond.
                start = inf
                if job.processors <= most:
                    start = profile.soon(job.processors, duration, horizon)
                if start == inf:
                    later.append(job)
                    live.discard(job.id)
                    continue
                if start + duration > horizon:
                    for other in later:
                        profile.place(other.processors, other.estimate / pace)
                    later.clear()
            start = profile.place(job.processors, duration)
            live.discard(job.id)
            if start > now or job.processors > free:
                continue
            chosen.append(job)
            free -= job.processors
            if not free:
                break  # whoever comes later cannot start now, and does not delay those before
        unplanned.extendleft(reversed(later))
        return chosen

    def _forget(
        self, live: set[int], longest: dict[int, list[tuple[float, int]]], free: int, now: float
    ) -> float:
        """Take out who cannot start now beside those planned so far: plans of others only take room away.

        Args:
            live: ids of those who may start now.
            longest: by processors, their durations in s and ids, the longest last.
            free: processors.
            now: s.

        Returns:
            When the last of those that are left would end, s.
        """
        until, levels = self.profile.falls(min(longest))
        for processors in list(longest):
            room = until[bisect_right(levels, -processors)] if processors <= free else -inf
            entries = longest[processors]
            while entries and now + entries[-1][0] > room:
                live.discard(entries.pop()[1])
            if not entries:
                del longest[processors]
        last = now + max((entries[-1][0] for entries in longest.values()), default=0.0)
        return max(last, nextafter(now, inf))  # jobs of no length start now, too


def fresh_starts(cluster: Cluster, order: Iterable[Job], now: float) -> Sequence[Job]:
    """As `planned_starts`, in an order that may change from pass to pass: no plan is kept."""
    waiting = list(order)
    candidates = [job for job in waiting if job.processors <= cluster.free]
    return Plan(_profile(cluster, now), waiting).starts(cluster, candidates, now) if candidates else ()


def reserved_starts(
    cluster: Cluster, order: Iterable[Job], now: float, reservations: float, window: float
) -> Sequence[Job]:
    """The jobs that start now if the first ones in order that cannot have reservations.

    Args:
        cluster: with what runs.
        order: jobs that wait, in order.
        now: s.
        reservations: how many jobs have one.
        window: s; a job that is planned to start later has none.
    """
    profile = _profile(cluster, now)
    free = cluster.free
    at_once = nextafter(now, inf)
    chosen: list[Job] = []
    held = 0
    for job in order:
        reserves = held < reservations
        if not reserves and job.processors > free:
            continue
        duration = cluster.duration(job)
        start = profile.soon(job.processors, duration, now + window if reserves else at_once)
        if start == inf:
            continue
        profile.place(job.processors, duration)
        if start > now or job.processors > free:
            held += 1
            continue
        chosen.append(job)
        free -= job.processors
        if not free:
            break
    return chosen


def _profile(cluster: Cluster, now: float) -> Profile:
    """What runs."""
    return Profile(now, cluster.free, ((end.time, end.processors) for end in cluster.ends))


def planned_starts(cluster: Cluster, order: Iterable[Job], now: float) -> Sequence[Job]:
    """The jobs that start now if all that wait are planned in order, each as early as possible.

    The plan is kept: as long as jobs only come in at the end of the order, it is continued.
    """
    as_planned = cluster.as_planned(now) and not cluster.deviated
    plan = cluster.plan if as_planned and isinstance(cluster.plan, Plan) else None
    if plan is not None:
        plan.unplanned.extend(cluster.fresh)
    elif not as_planned:
        cluster.plan = None
    free = cluster.free
    if cluster.narrowest > free:
        return ()
    if plan is None:
        waiting = list(order)
        cluster.plan = plan = Plan(_profile(cluster, now), waiting)
        candidates = [job for job in waiting if job.processors <= free]
    if as_planned:
        # Those that came earlier could not start when last looked at, and nothing has changed for them.
        candidates = [job for job in cluster.fresh if job.processors <= free]
    return plan.starts(cluster, candidates, now) if candidates else ()
