"""What a batch site asks of those who keep processors from its scheduler, make room on them, or predict."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Protocol

from gridtune.model.batch.cluster import Cluster
from gridtune.model.batch.holds import Hold
from gridtune.model.job import Job


class Keeper(Protocol):
    """Lost and drained nodes, and reservations of a site."""

    def catch_up(self) -> None:
        """Have everything happen that was due by now: while a site is empty, nobody looks."""

    def work_came(self) -> None:
        """The site has work: from now on everything happens at its time."""

    def started(self) -> None:
        """A job has got its processors."""

    def released(self, empty: bool) -> None:
        """Processors of a job have come back; whether the site has no work left."""

    def starts(self, now: float) -> Sequence[tuple[Job, Hold]]:
        """The waiting jobs that start now (s) on processors reserved for them, each with its reservation."""


class Preempting(Protocol):
    """Jobs for which others have to make way."""

    def consider(self) -> bool:
        """Start jobs of a higher QOS than others, which make way; whether any has got processors."""

    def lowest(self) -> Cluster:
        """The site as its policy sees it for the other jobs."""

    def settle(self) -> None:
        """Processors have come back, or a job waits no longer."""

    def drop_claim(self) -> bool:
        """Give back what is kept for the last job that waits for others to leave; whether there was one."""


class Predicting(Protocol):
    """Run times that jobs are planned with."""

    def expect(self, job: Job) -> float:
        """The run time that a job which enters its queue is planned with, s at speed 1."""

    def started(self, job: Job, planned: float, end: float) -> None:
        """A job has started: when it is planned to end, and when it will, s."""

    def left(self, job: Job) -> None:
        """A job has left its processors."""


class PreemptibleJobs(Protocol):
    """Best-effort jobs on processors that the site's own jobs leave idle.

    Attributes:
        idle: processors that neither a job of the site nor a best-effort job holds, less those that
            jobs of the site wait for while best-effort jobs leave; negative while there are not enough.
        depth: best-effort jobs that wait for processors.
        running: best-effort jobs that hold processors.
        present: best-effort jobs that are coming, wait or run.
        kills: executions of best-effort jobs that gave way.
    """

    kills: int

    @property
    def idle(self) -> int:
        """See above."""

    @property
    def depth(self) -> int:
        """See above."""

    @property
    def running(self) -> int:
        """See above."""

    @property
    def present(self) -> int:
        """See above."""

    def evict(self, slots: Set[int]) -> int:
        """Kill the best-effort jobs on some slots, with no notice; how many."""

    def make_room(self, processors: int) -> float:
        """Have best-effort jobs leave until that many processors are idle, at once or soon.

        Returns:
            s that the processors take to be clean, once free.
        """

    def choose(self, idle: int) -> Sequence[Job]:
        """The best-effort jobs that a round starts on idle processors."""

    def start(self, job: Job) -> None:
        """Start a best-effort job that was chosen."""
