"""Whose job gets the next of the slots that are granted to a portal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, inf
from typing import NamedTuple

from gridtune.model.job import Job
from gridtune.model.policy import Policy, parameter, register


class Claimant(NamedTuple):
    """A user with a job waiting at a dispatcher.

    Attributes:
        user: name.
        weight: phi, relative to those of the others.
        since: when the present run of work began, s.
        served: slot-seconds granted since then; a job that runs counts at least one quantum.
        waits: since when the first job waits, s.
        deadline: of the first job, s; infinite if it has none.
    """

    user: str
    weight: float
    since: float
    served: float
    waits: float
    deadline: float = inf


class Arbitration(Policy):
    """The contract of the family `arbitration`."""

    quantum: float

    def precedence(self, job: Job) -> float:
        """Where a job stands among those of its user: the least first, equal ones as they came."""
        return 0.0

    def choose(self, claimants: Sequence[Claimant], total_weight: float, slots: int, now: float) -> int:
        """Index of the claimant who gets a slot.

        Args:
            claimants: users with waiting jobs, at least one.
            total_weight: of all users with work, waiting or running.
            slots: that are granted in all.
            now: s.
        """
        raise NotImplementedError


NO_QUANTUM = "length of a quantum; it has no effect with this rule"


@register("arbitration", "deadline-fair", source="Responsive Grids, section 3.3; Chandra et al. 2001")
@dataclass(frozen=True)
class DeadlineFair(Arbitration):
    """Earliest pseudo-deadline first among the quanta that are due to begin, and work-conserving beyond.

    The m-th quantum of a user with weight w = slots phi / sum(phi) may begin after
    floor((m - 1) / w) quanta and is due after ceil(m / w).
    """

    quantum: float = parameter(
        60.0,
        help="length of a quantum, e.g. the limit of a slot for short deadline jobs",
        unit="s",
        low=1.0,
        high=3600.0,
        log=True,
        minimum=0.0,
        exclusive=True,
        source="Responsive Grids, section 3.2",
    )

    def choose(self, claimants: Sequence[Claimant], total_weight: float, slots: int, now: float) -> int:
        """Ties: the heavier user, then the one who waits longer."""

        def key(index: int) -> tuple[bool, float, float, float]:
            claimant = claimants[index]
            begins, due = self.window(claimant, total_weight, slots)
            return begins > now + 1e-9, due, -claimant.weight, claimant.waits

        return min(range(len(claimants)), key=key)

    def window(self, claimant: Claimant, total_weight: float, slots: int) -> tuple[float, float]:
        """When the next quantum of a user may begin and when it is due, s."""
        # No bound at 1 as for sequential tasks: the jobs of one user run beside each other.
        weight = slots * claimant.weight / total_weight
        quanta = floor(claimant.served / self.quantum + 1e-9)
        begins = floor(quanta / weight + 1e-9)
        due = ceil((quanta + 1) / weight - 1e-9)
        return claimant.since + begins * self.quantum, claimant.since + due * self.quantum


@register("arbitration", "fcfs", source="Responsive Grids, section 3.3")
@dataclass(frozen=True)
class FirstCome(Arbitration):
    """The job that waits longest, whoever owns it."""

    quantum: float = parameter(60.0, help=NO_QUANTUM, unit="s", minimum=0.0, exclusive=True)

    def choose(self, claimants: Sequence[Claimant], total_weight: float, slots: int, now: float) -> int:
        """Ties: the first."""
        return min(range(len(claimants)), key=lambda index: claimants[index].waits)


@register("arbitration", "earliest-deadline", source="Responsive Grids, section 3.3")
@dataclass(frozen=True)
class EarliestDeadline(Arbitration):
    """The job whose deadline is nearest, whoever owns it; shares of users count for nothing."""

    quantum: float = parameter(60.0, help=NO_QUANTUM, unit="s", minimum=0.0, exclusive=True)

    def precedence(self, job: Job) -> float:
        """Its deadline."""
        return job.deadline

    def choose(self, claimants: Sequence[Claimant], total_weight: float, slots: int, now: float) -> int:
        """Ties: the job that waits longer."""
        return min(range(len(claimants)), key=lambda k: (claimants[k].deadline, claimants[k].waits))
