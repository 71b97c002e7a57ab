"""What happens to the nodes of a batch site: failures by laws, listed outages and drains, reservations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from typing import NamedTuple

from gridtune.agents.batch.availability import AdvanceReservation, Availability
from gridtune.agents.batch.services import Delay
from gridtune.agents.batch.timeline import Timeline

SHORTEST = 1.0  # s that a node works between two failures, and is out, at least


class Outage(NamedTuple):
    """Nodes that are out for a time.

    Attributes:
        start, end: s; infinite if they do not come back.
        nodes: by number.
        drain: whether jobs that run there may finish, rather than be lost, and the scheduler knows the end.
    """

    start: float
    end: float
    nodes: Sequence[int]
    drain: bool


class Failures:
    """Some nodes that fail together, again and again, whatever runs there.

    While jobs only wait for nodes to come back, and none runs, no further node fails: else a job as wide as
    its site might never see all of it.

    Args:
        availability: timeline of the site.
        nodes: by number.
        name: of the cause.
        between: s that they work from one failure to the next, drawn for each; a second at least.
        repair: s that they are out, drawn for each failure; a second at least.
    """

    def __init__(
        self, availability: Timeline, nodes: Sequence[int], name: str, between: Delay, repair: Delay
    ) -> None:
        self.availability = availability
        self.nodes = nodes
        self.name = name
        self.between = between
        self.repair = repair
        self._work(None)

    def _work(self, _: object) -> None:
        self.availability.after(max(SHORTEST, self.between()), self._fail)

    def _fail(self, _: object) -> None:
        if self.availability.place.stuck:
            self.availability.when_job_starts(self._work)
            return
        self.availability.after(max(SHORTEST, self.repair()), self._return)
        self.availability.lose(self.nodes, self.name)

    def _return(self, _: object) -> None:
        self.availability.open(self.nodes, self.name)
        self._work(None)


def schedule_outages(availability: Timeline, outages: Iterable[Outage]) -> None:
    """Have listed outages and drains happen."""
    for number, outage in enumerate(outages, 1):
        cause = f"outage {number}"
        availability.at(outage.start, _begin, (availability, outage, cause))
        if outage.end < inf:
            availability.at(outage.end, _end, (availability, outage, cause))


def _begin(what: tuple[Timeline, Outage, str]) -> None:
    availability, outage, cause = what
    if outage.drain:
        availability.shut(outage.nodes, cause, outage.end)
    else:
        availability.lose(outage.nodes, cause)


def _end(what: tuple[Timeline, Outage, str]) -> None:
    availability, outage, cause = what
    availability.open(outage.nodes, cause)


def schedule_reservation(availability: Availability, reservation: AdvanceReservation, notice: float) -> None:
    """Have the scheduler learn of a reservation some time (s) before it begins."""
    availability.at(max(reservation.start - notice, 0.0), availability.announce, reservation)
