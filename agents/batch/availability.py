"""Which processors of a batch site its scheduler can use: nodes are lost or drained, others reserved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from typing import NamedTuple

from gridtune.agents.batch.batch_site import BatchSite
from gridtune.agents.batch.interruptions import (
    drop_claim,
    jobs_on,
    planned_end,
    slots_of,
    take_off,
    undo_reservation,
)
from gridtune.agents.batch.timeline import Timeline
from gridtune.model.batch.holds import KEYS, Hold, Window
from gridtune.model.batch.nodes import Named, host_list
from gridtune.model.job import Job
from gridtune.model.metrics.registry import define

define("reservation_shortfall", "s", "minimize", "slot-seconds that reservations lacked while on", 1.0)


class AdvanceReservation(NamedTuple):
    """Processors that are kept for some users, or for nobody, from a time on.

    Attributes:
        name: of the reservation.
        start, end: s.
        processors: how many.
        users, groups: whose jobs may start on them; nobody's if there are none (maintenance).
    """

    name: str
    start: float
    end: float
    processors: int
    users: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()

    def admits(self, job: Job) -> bool:
        """Whether a job may start on its processors."""
        return job.user in self.users or job.group in self.groups


class Availability(Timeline):
    """The one place where processors are taken from the scheduler of a site, and given back.

    A node is out as long as anything keeps it out, whatever comes and goes first.

    Args:
        site: whose processors.
        nodes: its nodes.
    """

    def __init__(self, site: BatchSite, nodes: Named) -> None:
        super().__init__(site)
        self.site = site
        self.nodes = nodes
        self._causes: dict[int, dict[str, float]] = {}  # by node; expected returns by cause, s
        self._out: dict[int, Hold] = {}  # by node
        self._planned: list[AdvanceReservation] = []
        self._active: list[tuple[AdvanceReservation, Hold]] = []
        self._shortfall = 0.0
        site.keeper = self
        site.grid.record.add_to_measure("reservation_shortfall", self._short)

    @property
    def out_slots(self) -> int:
        """Slots of nodes that are lost or drained."""
        return len(self._out) * self.nodes.slots_per_node

    def released(self, empty: bool) -> None:
        """See `Keeper`."""
        if self._out or self._active:
            self._account(self.site.grid.now)
            self._reconcile()
        self.rest(empty)

    # Nodes.

    def lose(self, nodes: Iterable[int], cause: str, until: float = inf) -> None:
        """See `Timeline`."""
        lost = list(nodes)
        self.failures += len(lost)
        self.site.grid.record.counters["killed_by_failure"] += self._evict(lost)
        then = [take_off(self.site, job) for job in jobs_on(self.site, self._slots(lost))]
        self._shut(lost, cause, until, "node lost")
        for follow in then:
            follow()
        self.site.processors_returned()

    def shut(self, nodes: Iterable[int], cause: str, until: float = inf) -> None:
        """See `Timeline`; best-effort jobs leave at once."""
        self._shut(nodes, cause, until, "node drained")
        self.site.processors_returned()

    def _shut(self, nodes: Iterable[int], cause: str, until: float, event: str) -> None:
        while drop_claim(self.site):  # on jobs that may run there; the next round sees to them
            pass
        for node in nodes:
            self._log(event, node)
            causes = self._causes.setdefault(node, {})
            causes[cause] = max(until, causes.get(cause, -inf))
            self._give_back(node)
            self._evict([node])
            self._take(node, max(causes.values()))
        self._reconcile()

    def open(self, nodes: Iterable[int], cause: str) -> None:
        """See `Timeline`."""
        for node in nodes:
            causes = self._causes[node]
            del causes[cause]
            self._give_back(node)
            if causes:
                self._take(node, max(causes.values()))
            else:
                del self._causes[node]
                self._log("node back", node)
        self._reconcile()
        self.site.processors_returned()

    # Reservations.

    def announce(self, reservation: AdvanceReservation) -> None:
        """The scheduler learns of a reservation, which begins now or later."""
        self._planned.append(reservation)
        self.at(reservation.start, self._begin, reservation)
        self._reconcile()

    def starts(self, now: float) -> Sequence[tuple[Job, Hold]]:
        """See `Keeper`: members' jobs in their order that fit and are promised to end in time."""
        cluster = self.site.cluster
        chosen: dict[int, tuple[Job, Hold]] = {}
        if cluster.lendable:
            for reservation, hold in self._active:
                idle = hold.idle if hold.lends else 0
                for job in cluster.in_order() if idle else ():
                    fits = job.processors <= idle and now + cluster.duration(job) <= hold.until
                    fits = fits and job.id not in chosen and reservation.admits(job)
                    if fits and cluster.has_units_for([*(one for one, _ in chosen.values()), job]):
                        chosen[job.id] = job, hold
                        idle -= job.processors
        return list(chosen.values())

    def _begin(self, reservation: AdvanceReservation) -> None:
        self._planned.remove(reservation)
        lends = bool(reservation.users or reservation.groups)
        self._active.append((reservation, Hold(self._key(), reservation.end, lends)))
        if reservation.end < inf:
            self.at(reservation.end, self._end, reservation)
        self._reconcile()
        self.site.processors_returned()

    def _end(self, reservation: AdvanceReservation) -> None:
        place = next(k for k, (known, _) in enumerate(self._active) if known is reservation)
        _, hold = self._active.pop(place)
        self._free(hold)
        self._reconcile()
        self.site.processors_returned()

    # How it is done.

    def _key(self) -> int:
        return KEYS - next(self._numbers)

    def _slots(self, nodes: Iterable[int]) -> set[int]:
        width = self.nodes.slots_per_node
        return {slot for node in nodes for slot in range(node * width, (node + 1) * width)}

    def _log(self, event: str, node: int) -> None:
        self.site.grid.record.log(self.time, event, 0, self.site.name, host_list(self.nodes.site, [node]))

    def _evict(self, nodes: Iterable[int]) -> int:
        best_effort = self.site.best_effort
        return 0 if best_effort is None else best_effort.evict(self._slots(nodes))

    def _take(self, node: int, until: float) -> None:
        """Keep the slots of a node from the scheduler, those that are busy once their jobs end."""
        site, cluster = self.site, self.site.cluster
        hold = self._out[node] = Hold(self._key(), until)
        self.nodes.withdraw(node)
        slots = self._slots([node])
        for job in jobs_on(site, slots):
            cluster.claim(hold, job, planned_end(site, job.id), slots_of(site, job, slots))
        self._keep(hold, self.nodes.idle_on(node))

    def _give_back(self, node: int) -> None:
        """Let the scheduler have the slots of a node again, if it was out."""
        if node in self._out:
            self._free(self._out.pop(node))
            self.nodes.readmit(node)

    def _free(self, hold: Hold) -> None:
        site = self.site
        site.cluster.free_hold(hold, {job: planned_end(site, job) for job in hold.lent})

    def _keep(self, hold: Hold, processors: int) -> None:
        """Take processors for a node that is out: free ones, else those that others have been promised."""
        site, cluster = self.site, self.site.cluster
        while cluster.free < processors and (undo_reservation(site) or drop_claim(site)):
            pass
        for _, reserved in reversed(self._active):
            missing = processors - cluster.free
            if missing <= 0:
                break
            cluster.keep(reserved, -min(missing, reserved.idle))
        if processors:
            cluster.keep(hold, processors)

    def _reconcile(self) -> None:
        """Take what came free for nodes that are out and for reservations; plan for what is still missing."""
        cluster = self.site.cluster
        for node, hold in self._out.items():
            # A job that was planned to outlive the hold may end before.
            missing = self.nodes.idle_on(node) - hold.idle
            if missing > 0:
                self._keep(hold, missing)
        windows = []
        for reservation, hold in self._active:
            missing = min(reservation.processors - hold.processors, cluster.free)
            if missing > 0:
                cluster.keep(hold, missing)
        for reservation, hold in self._active:
            missing = reservation.processors - hold.processors
            if missing > 0:
                windows.append(Window(reservation.start, reservation.end, missing))
        windows += [Window(one.start, one.end, one.processors) for one in self._planned]
        if tuple(windows) != cluster.windows:
            cluster.windows = tuple(windows)
            cluster.disturbed = True
        if self.site.best_effort is not None:
            self.site.best_effort.make_room(0)

    def _account(self, time: float) -> None:
        """Count what was missing up to a time (s)."""
        passed = max(0.0, time - self.time)
        for reservation, hold in self._active:
            self._shortfall += (reservation.processors - hold.processors) * passed
        super()._account(time)

    def _short(self) -> float:
        self.catch_up()
        return self._shortfall


def availability_of(site: BatchSite) -> Availability:
    """What keeps nodes of a site from its scheduler, made if there is none yet."""
    if isinstance(site.keeper, Availability):
        return site.keeper
    assert isinstance(site.nodes, Named), "nodes that come and go have names"
    return Availability(site, site.nodes)
