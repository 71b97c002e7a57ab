"""What a batch site asks of the best-effort jobs on its processors."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Protocol

from gridtune.model.job import Job


class PreemptibleJobs(Protocol):
    """Best-effort jobs on processors that the site's own jobs leave idle.

    Attributes:
        idle: processors that neither a job of the site nor a best-effort job holds, less those that
            jobs of the site wait for while best-effort jobs leave; negative while there are not enough.
        depth: best-effort jobs that wait for processors.
        running: best-effort jobs that hold processors.
        present: best-effort jobs that are coming, wait or run.
    """

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

    def evict(self, slots: Set[int]) -> None:
        """Kill the best-effort jobs on some slots, with no notice."""

    def make_room(self, processors: int) -> float:
        """Have best-effort jobs leave until that many processors are idle, at once or soon.

        Returns:
            s that the processors take to be clean, once free.
        """

    def choose(self, idle: int) -> Sequence[Job]:
        """The best-effort jobs that a round starts on idle processors."""

    def start(self, job: Job) -> None:
        """Start a best-effort job that was chosen."""
