"""Victims: which best-effort jobs leave when a site's own job needs their processors."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from gridtune.model.job import Job
from gridtune.model.policy import Policy, register


class Victims(Policy, family="victims"):
    """A victims policy chooses the best-effort jobs that leave for a site's own job.

    Attributes:
        blind: whether a site's own jobs choose processors as if there were no best-effort jobs, though others
            are idle; the best-effort jobs that hold them then leave.

    Example:
        >>> @gt.policies.register("victims", "narrowest")
        ... @dataclass(frozen=True)
        ... class Narrowest(gt.policies.Victims):
        ...     "The job on the fewest processors leaves first."
        ...     def rank(self, job, now):
        ...         return job.processors
        >>> Narrowest().rank(gt.Job(1, "ann", submit=0.0, runtime=60.0, processors=4), now=10.0)
        4
    """

    blind: ClassVar[bool] = False

    @abstractmethod
    def rank(self, job: Job, now: float) -> float:
        """Choose the place of a running job among those that may leave.

        Args:
            job: the best-effort job, which runs.
            now: the present time, s.

        Returns:
            A number; jobs of the least number leave first, of equal ones the one that started last.
        """


@register("victims", "youngest", source="BatCiGri, section 3.3")
@dataclass(frozen=True)
class Youngest(Victims):
    """The job that started last leaves first: it loses least of its time."""

    def rank(self, job: Job, now: float) -> float:
        """By start, backwards."""
        return -job.start


@register("victims", "oldest")
@dataclass(frozen=True)
class Oldest(Victims):
    """The job that started first leaves first: nobody holds processors for long."""

    def rank(self, job: Job, now: float) -> float:
        """By start."""
        return job.start


@register("victims", "least-lost")
@dataclass(frozen=True)
class LeastLost(Victims):
    """The job leaves first that loses least work: time since its start, times processors."""

    def rank(self, job: Job, now: float) -> float:
        """Slot-seconds that are lost."""
        return (now - job.start) * job.processors


@register("victims", "scheduler", source="BatCiGri, section 3.4: the broker of two schedulers")
@dataclass(frozen=True)
class ByScheduler(Victims):
    """Those leave who hold the processors that a scheduler chooses which sees no best-effort jobs."""

    blind: ClassVar[bool] = True

    def rank(self, job: Job, now: float) -> float:
        """By start, backwards, where more must leave than hold those processors."""
        return -job.start
