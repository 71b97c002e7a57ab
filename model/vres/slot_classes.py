"""A class of jobs at a site with virtual reservations: its slots, limits and queue."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from math import inf, nan
from typing import Literal

from gridtune.model.job import Job

ENDLESS = 1e9  # s that a job counts with which promises no end: infinite promises could not be taken back


@dataclass(frozen=True, slots=True)
class ClassRules:
    """What a site grants to a class.

    Attributes:
        name: of the class.
        kinds: kinds of jobs that may enter; all if empty.
        groups: groups whose jobs may enter; all if empty.
        full: whether a job that finds no slot waits or is rejected (short deadline jobs).
        wall_limit: s that a job may hold a slot; it is killed then.
        node_cap, site_cap: jobs of the class that may run at once on a node and at the site; one counts once
            for each of its processors.
        user_cap, group_cap: processors that the jobs of one user, or group, may hold at once at the site;
            others pass the jobs beyond that.
        order: who of those that wait comes first: who came first, or (`fair-share`) the first job of the user
            whose jobs have held processors for the shortest time in all.
    """

    name: str
    kinds: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    full: Literal["wait", "reject"] = "wait"
    wall_limit: float = inf
    node_cap: float = inf
    site_cap: float = inf
    user_cap: float = inf
    group_cap: float = inf
    order: Literal["first-come", "fair-share"] = "first-come"

    @property
    def by_user(self) -> bool:
        """Whether it matters whose jobs hold processors."""
        return self.user_cap < inf or self.group_cap < inf or self.order == "fair-share"

    def admits(self, job: Job) -> bool:
        """Whether a job may enter."""
        return (not self.kinds or job.kind in self.kinds) and (not self.groups or job.group in self.groups)

    def takes(self, kinds: Set[str]) -> bool:
        """Whether jobs of some of these kinds may enter, and wait for a slot."""
        return self.full == "wait" and (not self.kinds or bool(self.kinds & kinds))


class SlotClass:
    """The present state of a class.

    Args:
        rules: what it is granted.
        dealt: its slots on each shared processor.
        units_per_node: shared processors of one node.
        capacity: processors of one of these, if several share a unit.

    Attributes:
        slots: that it owns.
        widest: slots that one job can hold, each on a processor of its own.
        open: bit mask of the processors on which a job of it could start now.
        queue: waiting jobs, first come first.
        running: slots that jobs hold.
        active: slots in which something is computed, and `active_at` the same by processor.
        held_at: slots held, by processor.
        rate: work per s that it is getting.
        service: work that it has got, s at speed 1.
        waited: part of it that was lost to waiting, in jobs of several processors, for the slowest of them.
        saturated_time, saturated_service: s during which all its slots computed, and what it got then.
        started, ended, rejected, expired: counts of jobs.
        stretch: sum over completed jobs of execution time over run time at full speed; `stretched` of them.
        waiting_work: promised slot-seconds of waiting jobs; `running_work` of running ones.
    """

    __slots__ = (
        "_by_user",
        "_capacity",
        "_closed",
        "_dealt",
        "_node_used",
        "_of_group",
        "_of_user",
        "_since",
        "_units_per_node",
        "_used",
        "active",
        "active_at",
        "ended",
        "expired",
        "held_at",
        "open",
        "queue",
        "rate",
        "rejected",
        "rules",
        "running",
        "running_work",
        "saturated_service",
        "saturated_time",
        "service",
        "slots",
        "started",
        "stretch",
        "stretched",
        "waited",
        "waiting_work",
        "widest",
        "worst_stretch",
    )

    def __init__(
        self, rules: ClassRules, dealt: Sequence[int], units_per_node: int, capacity: int = 1
    ) -> None:
        self.rules = rules
        self.slots = sum(dealt)
        self.queue: deque[Job] = deque()
        self.running = self.active = 0
        self.active_at = [0] * len(dealt)
        self.held_at = [0] * len(dealt)
        self.rate = self.service = self.saturated_time = self.saturated_service = 0.0
        self.started = self.ended = self.rejected = self.expired = 0
        self.stretch, self.stretched, self.worst_stretch = 0.0, 0, 0.0
        self.waiting_work = self.running_work = self.waited = 0.0
        self.open = sum(1 << unit for unit, slots in enumerate(dealt) if slots)
        self._dealt = list(dealt)
        self._closed: set[int] = set()  # processors on which no slot is to be had
        self._node_used = [0] * (len(dealt) // units_per_node)
        self._units_per_node = units_per_node
        self._since = 0.0
        self._capacity = capacity
        self.widest = int(min(rules.site_cap, rules.user_cap, rules.group_cap, self._distinct()))
        self._by_user = rules.by_user
        self._of_user: Counter[str] = Counter()  # processors held
        self._of_group: Counter[str] = Counter()
        self._used: dict[str, tuple[float, float]] = {}  # slot-seconds of each user, up to when

    @property
    def free(self) -> int:
        """Slots that jobs could take now, as far as the caps of nodes and site go."""
        if self.rules.node_cap < inf:
            open_slots = self._spare(self.slots)
        else:
            open_slots = self.slots - self.running
            open_slots -= sum(self._dealt[unit] - self.held_at[unit] for unit in self._closed)
        return int(min(open_slots, self.rules.site_cap - self.running))

    @property
    def in_service(self) -> int:
        """Slots on processors that are not out."""
        return self.slots - sum(self._dealt[unit] for unit in self._closed)

    @property
    def may_start(self) -> bool:
        """Whether a job of one processor could start now."""
        return self.open != 0 and self.running < self.rules.site_cap

    def has_room(self, processors: int) -> bool:
        """Whether a job could start now: so many slots are free on distinct processors."""
        if processors == 1:
            return self.may_start
        if self.running + processors > self.rules.site_cap:
            return False
        if self._capacity == 1 and self.rules.node_cap == inf:
            return self.open.bit_count() >= processors
        return self._distinct() >= processors

    def _distinct(self) -> float:
        """Free slots on distinct processors."""
        return self._spare(self._capacity)

    def _spare(self, most: int) -> float:
        """Free slots, as far as the cap of each node goes, and so many of each unit at most."""
        return sum(
            min(
                self.rules.node_cap - used,
                sum(
                    min(most, self._dealt[unit] - self.held_at[unit])
                    for unit in self._units_of(node)
                    if unit not in self._closed
                ),
            )
            for node, used in enumerate(self._node_used)
        )

    def first(self, now: float) -> Job | None:
        """The waiting job whose turn it is, whether there is room for it or not; None if none may start."""
        if not self._by_user:
            return self.queue[0] if self.queue else None
        waiting = (job for job in self.queue if self.within_caps(job))
        if self.rules.order == "first-come":
            return next(waiting, None)
        return min(waiting, key=lambda job: self.used(job.user, now), default=None)

    def within_caps(self, job: Job) -> bool:
        """Whether its user and its group may hold the processors of a job, too."""
        rules = self.rules
        return (
            self._of_user[job.user] + job.processors <= rules.user_cap
            and self._of_group[job.group] + job.processors <= rules.group_cap
        )

    def used(self, user: str, now: float) -> float:
        """Slot-seconds that the jobs of a user have held by now."""
        time, since = self._used.get(user, (0.0, now))
        return time + self._of_user[user] * (now - since)

    def begins(self, job: Job, now: float) -> None:
        """A job gets its slots."""
        self.running_work += self.promised(job)
        self._count(job, job.processors, now)

    def leaves(self, job: Job, now: float) -> None:
        """A job gives its slots back."""
        self.running_work -= self.promised(job)
        self._count(job, -job.processors, now)

    def _count(self, job: Job, processors: int, now: float) -> None:
        if self._by_user:
            self._used[job.user] = self.used(job.user, now), now
            self._of_user[job.user] += processors
            self._of_group[job.group] += processors

    def promised(self, job: Job) -> float:
        """Slot-seconds that a job promises to take at most."""
        return min(job.estimate, self.rules.wall_limit, ENDLESS) * job.processors

    @property
    def mean_stretch(self) -> float:
        """Mean slow-down of completed jobs; nan before the first."""
        return self.stretch / self.stretched if self.stretched else nan

    def take(self, unit: int) -> None:
        """Hold a slot on a processor."""
        self.running += 1
        self.held_at[unit] += 1
        node = unit // self._units_per_node
        self._node_used[node] += 1
        if self._node_used[node] >= self.rules.node_cap:
            for other in self._units_of(node):
                self.open &= ~(1 << other)
        elif self.held_at[unit] == self._dealt[unit]:
            self.open &= ~(1 << unit)

    def give_back(self, unit: int) -> None:
        """Release a slot on a processor."""
        self.running -= 1
        self.held_at[unit] -= 1
        node = unit // self._units_per_node
        self._node_used[node] -= 1
        if self._node_used[node] < self.rules.node_cap:
            for other in self._units_of(node):
                if self.held_at[other] < self._dealt[other] and other not in self._closed:
                    self.open |= 1 << other

    def close(self, units: Iterable[int]) -> None:
        """No slot is to be had on some processors any more; who holds one keeps it."""
        for unit in units:
            self._closed.add(unit)
            self.open &= ~(1 << unit)

    def reopen(self, units: Iterable[int]) -> None:
        """Slots are to be had again on some processors."""
        for unit in units:
            self._closed.discard(unit)
            full = self._node_used[unit // self._units_per_node] >= self.rules.node_cap
            if not full and self.held_at[unit] < self._dealt[unit]:
                self.open |= 1 << unit

    def service_by(self, now: float) -> float:
        """Work that it has got by now, s at speed 1. To read it changes nothing."""
        return self.service + max(now - self._since, 0.0) * self.rate

    def saturated_by(self, now: float) -> tuple[float, float]:
        """`saturated_time` and `saturated_service` by now, s. To read them changes nothing."""
        passed = now - self._since
        if passed > 0 and self.active == self.slots:
            return self.saturated_time + passed, self.saturated_service + passed * self.rate
        return self.saturated_time, self.saturated_service

    def accrue(self, now: float) -> None:
        """Count what it has got since the last time."""
        passed = now - self._since
        if passed > 0:
            got = passed * self.rate
            self.service += got
            if self.active == self.slots:
                self.saturated_time += passed
                self.saturated_service += got
        self._since = now

    def note_stretch(self, stretch: float) -> None:
        """Count the slow-down of a completed job."""
        self.stretch += stretch
        self.stretched += 1
        if stretch > self.worst_stretch:
            self.worst_stretch = stretch

    def _units_of(self, node: int) -> range:
        return range(node * self._units_per_node, (node + 1) * self._units_per_node)
