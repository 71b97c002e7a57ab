"""What a batch site asks of those who keep processors from its scheduler."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

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

    def consider(self) -> None:
        """A round is over: have running jobs make way for those that still wait."""

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
