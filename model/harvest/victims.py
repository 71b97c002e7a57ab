"""Victims: which best-effort jobs leave when a site's own job needs their processors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gridtune.model.job import Job
from gridtune.model.policy import Policy, register


class Victims(Policy):
    """The contract of the family `victims`.

    Attributes:
        blind: whether the site's own jobs get the processors that they would get if there were no best-effort
            jobs, even where others are idle: who holds them must leave.
    """

    blind: ClassVar[bool] = False

    def rank(self, job: Job, now: float) -> float:
        """The lower, the sooner a running job leaves; of equal ones the one that started last.

        Args:
            job: best-effort, running.
            now: s.
        """
        raise NotImplementedError


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
