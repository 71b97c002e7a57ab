"""Whose job gets the next of the slots that are granted to a portal."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, inf
from typing import NamedTuple

from gridtune.model.job import Job
from gridtune.model.policy import Policy, parameter, register


class Claimant(NamedTuple):
    """A claimant is a user with a job that waits at a dispatcher.

    Attributes:
        user: the name of the user.
        weight: the weight phi, relative to those of the others.
        since: the time since which the user has had work, s.
        served: the slot-seconds granted since then; a job that runs counts at least one quantum.
        waits: the time since which the first job waits, s.
        deadline: the deadline of the first job, s; infinite if it has none.

    Example:
        >>> claimant = gt.policies.Claimant("ann", weight=2.0, since=0.0, served=600.0, waits=60.0)
        >>> claimant.served / claimant.weight
        300.0
    """

    user: str
    weight: float
    since: float
    served: float
    waits: float
    deadline: float = inf


class Arbitration(Policy, family="arbitration"):
    """An arbitration chooses the user who gets the next slot of a portal.

    Attributes:
        quantum: the least time that a running job is counted to have had, s.

    Example:
        >>> @gt.policies.register("arbitration", "heaviest")
        ... @dataclass(frozen=True)
        ... class Heaviest(gt.policies.Arbitration):
        ...     "The user with the largest weight comes first."
        ...     quantum: float = gt.policies.parameter(60.0, help="least time of a job", unit="s")
        ...     def choose(self, claimants, total_weight, slots, now):
        ...         return max(range(len(claimants)), key=lambda k: claimants[k].weight)
        >>> ann = gt.policies.Claimant("ann", weight=1.0, since=0.0, served=0.0, waits=0.0)
        >>> Heaviest().choose([ann, ann._replace(user="bob", weight=2.0)], 3.0, slots=4, now=10.0)
        1
    """

    quantum: float

    def precedence(self, job: Job) -> float:
        """Choose the place of a job among those of its user.

        Args:
            job: the job.

        Returns:
            A number; jobs of the least number go first, equal ones as they came.

        Example:
            >>> Heaviest().precedence(gt.Job(1, "ann", submit=0.0, runtime=60.0))
            0.0
        """
        return 0.0

    @abstractmethod
    def choose(self, claimants: Sequence[Claimant], total_weight: float, slots: int, now: float) -> int:
        """Choose the user who gets a slot.

        Args:
            claimants: the users with waiting jobs, at least one.
            total_weight: the weight of all users with work, waiting or running.
            slots: the number of slots that are granted in all.
            now: the present time, s.

        Returns:
            The index of the user in `claimants`.
        """


NO_QUANTUM = "length of a quantum; it has no effect with this rule"


@register("arbitration", "deadline-fair", source="Responsive Grids, section 3.3; Chandra et al. 2001")
@dataclass(frozen=True)
class DeadlineFair(Arbitration):
    """The earliest pseudo-deadline goes first among the quanta due to begin; no slot stays idle.

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
    """The job that waits longest goes first, whoever owns it."""

    quantum: float = parameter(60.0, help=NO_QUANTUM, unit="s", minimum=0.0, exclusive=True)

    def choose(self, claimants: Sequence[Claimant], total_weight: float, slots: int, now: float) -> int:
        """Ties: the first."""
        return min(range(len(claimants)), key=lambda index: claimants[index].waits)


@register("arbitration", "earliest-deadline", source="Responsive Grids, section 3.3")
@dataclass(frozen=True)
class EarliestDeadline(Arbitration):
    """The job whose deadline is nearest goes first, whatever the shares of users are."""

    quantum: float = parameter(60.0, help=NO_QUANTUM, unit="s", minimum=0.0, exclusive=True)

    def precedence(self, job: Job) -> float:
        """Its deadline."""
        return job.deadline

    def choose(self, claimants: Sequence[Claimant], total_weight: float, slots: int, now: float) -> int:
        """Ties: the job that waits longer."""
        return min(range(len(claimants)), key=lambda k: (claimants[k].deadline, claimants[k].waits))
