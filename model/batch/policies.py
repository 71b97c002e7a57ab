"""Batch policies: which waiting jobs a site starts in a scheduling pass."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import inf
from typing import Literal

from gridtune.model.batch.cluster import Cluster
from gridtune.model.batch.ledger import Ledger
from gridtune.model.batch.planning.plan import planned_starts, reserved_starts, turn_starts
from gridtune.model.batch.queues import Lane
from gridtune.model.job import Job
from gridtune.model.policy import Policy, PolicyError, parameter, register


class BatchPolicy(Policy, family="batch"):
    """A batch policy chooses the waiting jobs that a site starts.

    Plans rest on promised (or predicted) run times. A running job that has exceeded its promise is
    expected to end at once: plans count on its processors, but nothing starts on them before it ends.
    Processors that are lost, drained or reserved are not free, and those that will be kept from the
    scheduler (`Cluster.windows`) are no place for jobs that would still run then.

    Example:
        >>> @gt.policies.register("batch", "in-turn")
        ... @dataclass(frozen=True)
        ... class InTurn(gt.policies.BatchPolicy):
        ...     "Jobs start by arrival, up to the first that does not fit."
        ...     def starts(self, cluster, now):
        ...         chosen = []
        ...         for job in cluster.in_order():
        ...             if not cluster.can_start([*chosen, job]):
        ...                 break
        ...             chosen.append(job)
        ...         return chosen
        >>> cluster = gt.policies.Cluster(4)
        >>> cluster.enqueue(gt.Job(1, "ann", submit=0.0, runtime=60.0, processors=2))
        >>> InTurn().starts(cluster, now=0.0)
        [Job(1, 'ann', job, created)]
    """

    def owner(self, job: Job) -> str:
        """Choose the owner under whose name a job waits; each owner has a lane of its own.

        Args:
            job: the job.

        Returns:
            The name of the owner; "" if the policy does not distinguish owners.

        Example:
            >>> InTurn().owner(gt.Job(1, "ann", submit=0.0, runtime=60.0))
            ''
        """
        return ""

    def ledger(self) -> Ledger | None:
        """Make the accounts that the site is to keep for this policy.

        Returns:
            The accounts of slot-seconds by owner; None for none.

        Example:
            >>> InTurn().ledger() is None
            True
        """
        return None

    @abstractmethod
    def starts(self, cluster: Cluster, now: float) -> Sequence[Job]:
        """Choose the jobs to start now.

        At each time of a change, the site asks once, after all ends and arrivals, and only while processors
        are free. It does not ask again once jobs have started: return all that can start.

        Args:
            cluster: the state of the site.
            now: the present time, s.

        Returns:
            The jobs, in the order in which they start; they fit together into the free processors.
        """

    def next_pass(self, cluster: Cluster, now: float) -> float:
        """Choose when the site asks again although nothing may have happened.

        The site asks for this after `starts`, at the same time.

        Args:
            cluster: the state of the site.
            now: the present time, s.

        Returns:
            The time, s; infinite for never.

        Example:
            >>> InTurn().next_pass(cluster, now=0.0)
            inf
        """
        return inf


def max_wait() -> float:
    """The parameter by which policies whose order may starve a job bound its wait."""
    value: float = parameter(
        0.0,
        help="wait after which a job goes first and nobody may delay it, the longest wait first; 0 for never",
        unit="s",
        low=0.0,
        high=30 * 86400.0,
        minimum=0.0,
        source="bound against starvation; in Slurm a large PriorityWeightAge with PriorityMaxAge is nearest",
    )
    return value


@register("batch", "fcfs", source="RR-5576, section 4.4")
@dataclass(frozen=True)
class Fcfs(BatchPolicy):
    """First come, first served: nobody passes the first job that does not fit."""

    def starts(self, cluster: Cluster, now: float) -> Sequence[Job]:
        """The longest head of the queue that fits."""
        return turn_starts(cluster, cluster.in_order(), now)


@register("batch", "easy", source="Mu'alem and Feitelson 2001")
@dataclass(frozen=True)
class Easy(BatchPolicy):
    """EASY backfilling: a job may pass the first one that waits unless it delays that one's planned start.

    A job that cannot be planned, as nobody knows when its nodes will be back, leaves that right to the next.
    """

    def starts(self, cluster: Cluster, now: float) -> Sequence[Job]:
        """Jobs in order while they fit, then those that end by the shadow time or fit beside the head."""
        only_new = cluster.as_planned(now) and not cluster.deviated
        return backfill(cluster.in_order(), cluster, now, only_new=only_new)


@register("batch", "conservative", source="Mu'alem and Feitelson 2001")
@dataclass(frozen=True)
class Conservative(BatchPolicy):
    """Conservative backfilling: a job may pass others unless it delays the planned start of any of them.

    The plan is that of all waiting jobs, in order, made anew whenever it is disturbed.
    """

    def starts(self, cluster: Cluster, now: float) -> Sequence[Job]:
        """The jobs whose place in the plan begins now."""
        return planned_starts(cluster, cluster.in_order(), now)


@register("batch", "fair-share", source="EASY over owners ordered by their decayed use")
@dataclass(frozen=True)
class FairShare(BatchPolicy):
    """EASY backfilling takes jobs in the order of what their owners have used, least first.

    Within one priority of queues, owners come by faded processor-seconds divided by weight (ties: by
    name), and the jobs of an owner first come, first served. The first job in that order that
    can be planned has the reservation of EASY. The order is taken anew at each pass, so a reservation may
    pass to another owner.
    """

    half_life: float = parameter(
        7 * 86400.0,
        help="time in which past use loses half of its weight",
        unit="s",
        low=3600.0,
        high=30 * 86400.0,
        log=True,
        minimum=0.0,
        exclusive=True,
    )
    by: Literal["user", "group"] = parameter("user", help="whose use is counted together")
    weights: Mapping[str, float] = parameter(
        default_factory=dict, help="shares of owners by name, each above 0; 1 for all others", unit="none"
    )

    max_wait: float = max_wait()

    def __post_init__(self) -> None:
        if not isinstance(self.weights, Mapping):
            raise PolicyError(f"fair-share.weights: {self.weights!r} is not a table of owners and numbers")
        wrong = [
            name
            for name, weight in self.weights.items()
            if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < inf
        ]
        if wrong:
            raise PolicyError(f"fair-share.weights: {', '.join(wrong)} must be numbers above 0")

    def owner(self, job: Job) -> str:
        """The user or the group."""
        return job.user if self.by == "user" else job.group

    def ledger(self) -> Ledger:
        """Accounts that fade with the half-life."""
        return Ledger(self.half_life)

    def starts(self, cluster: Cluster, now: float) -> Sequence[Job]:
        """As under EASY, in order of the owners' use."""
        ledger = cluster.ledger
        assert ledger is not None

        def place(lane: Lane) -> tuple[float, float, str]:
            used = ledger.used(lane.owner, now) / self.weights.get(lane.owner, 1.0)
            return lane.rank, used, lane.owner

        if self.max_wait:
            order, late = overdue_first(cluster.waiting(place), now, self.max_wait)
            if late:
                return reserved_starts(cluster, cluster.admitted(order), now, 1, inf, late)
        return backfill(cluster.admitted(cluster.waiting(place)), cluster, now)

    def next_pass(self, cluster: Cluster, now: float) -> float:
        """When the next job has waited too long."""
        return next_overdue(cluster, now, self.max_wait)


def overdue_first(order: Iterable[Job], now: float, most: float) -> tuple[list[Job], set[int]]:
    """Jobs in order, but first of all those that have waited too long, by submission; and which these are.

    Args:
        order: waiting jobs.
        now: s.
        most: s that a job may wait.
    """
    late: list[Job] = []
    others: list[Job] = []
    for job in order:
        (late if now >= job.submit + most else others).append(job)
    late.sort(key=lambda job: (job.submit, job.id))
    return [*late, *others], {job.id for job in late}


def next_overdue(cluster: Cluster, now: float, most: float) -> float:
    """When the next waiting job will have waited for so long (s); infinite if `most` is 0, or none will."""
    if not most:
        return inf
    times = (job.submit + most for waiting in cluster.lanes.values() for job in waiting.values())
    return min((time for time in times if time > now), default=inf)


def backfill(
    order: Iterable[Job], cluster: Cluster, now: float, *, only_new: bool = False, window: float = inf
) -> Sequence[Job]:
    """The jobs that EASY backfilling starts: as `reserved_starts` with one reservation, in less time.

    Args:
        order: waiting jobs; the first that does not fit and can be planned gets the reservation.
        cluster: with what runs.
        now: s.
        only_new: everything is as planned in the last pass, but for jobs that came in at the end of
            the order: those that could not pass the head then cannot now, and are not looked at.
        window: s; a job that would start later cannot be planned.
    """
    if cluster.windows or cluster.resources is not None:
        return reserved_starts(cluster, order, now, 1, window)
    waiting = iter(order)
    free, limit, ends = cluster.free, now + window, cluster.ends
    # Who needs more than will be free before the limit cannot be planned.
    reach = cluster.capacity
    if ends and ends[-1].time >= limit:
        reach -= sum([end.processors for end in ends[bisect_left(ends, (limit,)) :]])
    chosen: list[Job] = []
    for head in waiting:
        width = head.processors
        if width > free:
            if width <= reach:
                break
            continue
        chosen.append(head)
        free -= width
        if now + cluster.duration(head) >= limit:
            reach -= width
        if not free:
            return chosen
    else:
        return chosen
    behind = iter(cluster.newly_queued) if only_new and not chosen else waiting
    fits = next((job for job in behind if job.processors <= free), None)
    if fits is None:
        return chosen
    shadow, extra = reservation(head, free, cluster, chosen, now)
    for job in chain((fits,), behind):
        if job.processors > free:
            continue
        if now + cluster.duration(job) > shadow:
            if job.processors > extra:
                continue
            extra -= job.processors
        chosen.append(job)
        free -= job.processors
        if not free:
            break
    return chosen


def reservation(
    head: Job, free: int, cluster: Cluster, starting: Sequence[Job], now: float
) -> tuple[float, int]:
    """When a job that does not fit is planned to start, and how many processors that leaves free then.

    Args:
        head: the job.
        free: processors that are free now, those of `starting` taken off.
        cluster: with what runs.
        starting: jobs that start now.
        now: s.

    Returns:
        The shadow time in s, and the extra processors at that time.
    """
    ends: Iterable[tuple[float, int, int]] = cluster.ends
    if starting:
        new = [(now + cluster.duration(job), job.id, job.processors) for job in starting]
        ends = sorted([*ends, *new])
    shadow = inf
    for time, _, processors in ends:
        if free >= head.processors and time > shadow:
            break
        free += processors
        shadow = time if time > now else now
    return shadow, free - head.processors
