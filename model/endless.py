"""Runs that would never end: something is retried or recurs for ever, and no job gets on."""

from __future__ import annotations

from math import inf, nan
from typing import TYPE_CHECKING

from gridtune.model.job import CREATED, QUEUED, RUNNING

if TYPE_CHECKING:
    from gridtune.model.grid import Grid

EVENTS = 1_000_000  # between two looks


class EndlessRunError(ValueError):
    """A run would not end."""


class Watch:
    """Looks from time to time whether a run gets on.

    Args:
        grid: the run.
    """

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self._jobs = self._left = -1
        self._since = nan

    def look(self) -> None:
        """See whether jobs have come or ended since the last look, or one of them has run all the time.

        Where there is a horizon, the clock must have moved.

        Raises:
            EndlessRunError: nothing of this.
        """
        jobs, now = self._grid.record.jobs, self._grid.now
        left = sum(job.state in (CREATED, QUEUED, RUNNING) for job in jobs)
        if (len(jobs), left) == (self._jobs, self._left):
            ran = any(job.state is RUNNING and job.start <= self._since for job in jobs)
            if now == self._since or (self._grid.horizon == inf and not ran):
                remedy = "" if self._grid.horizon < inf else "; a horizon would end it"
                raise EndlessRunError(
                    f"the run does not end: {EVENTS:,} events from {self._since:.6g} to {now:.6g} s, but no "
                    f"job ended or ran through; {left:,} are left{remedy}"
                )
        self._jobs, self._left, self._since = len(jobs), left, now
