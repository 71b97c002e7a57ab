"""What a batch site asks of whoever keeps processors from its scheduler."""

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
