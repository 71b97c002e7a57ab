"""Runs that would never end, as no job gets on, and runs that end early, as jobs wait too long."""

from __future__ import annotations

from math import inf, nan

from gridtune.model.agenda import Agenda
from gridtune.model.job import CREATED, QUEUED, RUNNING
from gridtune.model.record import Record

EVENTS = 1_000_000  # between two looks
OFTEN = 20_000  # events between two looks at how long jobs wait
LOOKS = 50  # at which only an event that was entered long before is still to come, at most


class EndlessRunError(ValueError):
    """A run would not end."""


def waits_beyond(record: Record, now: float, patience: float) -> bool:
    """Whether a mandatory job that has not started waits longer than `patience` (s) `now` (s)."""
    return any(
        job.mandatory and job.state in (CREATED, QUEUED) and now - job.submit - job.ran_before > patience
        for job in record.jobs
    )


class Watch:
    """Looks from time to time whether a run gets on.

    Args:
        agenda, record: of the run.
        horizon: s at which it ends; infinite if it has none.
    """

    def __init__(self, agenda: Agenda, record: Record, horizon: float) -> None:
        self._agenda, self._record, self._horizon = agenda, record, horizon
        self._jobs = self._left = -1
        self._since = nan
        self._entered = self._waited = 0

    def look(self) -> None:
        """See whether jobs have come or ended since the last look.

        If not, the clock must have moved; and one of them has run all the time, arrivals are to come, or (for
        `LOOKS`) what was to come at the last look still is, such as the end of an outage. Under a horizon,
        the clock suffices.

        Raises:
            EndlessRunError: nothing of this.
        """
        jobs, now = self._record.jobs, self._agenda.now
        left = sum(job.state in (CREATED, QUEUED, RUNNING) for job in jobs)
        self._waited = self._waited + 1 if (len(jobs), left) == (self._jobs, self._left) else 0
        if self._waited and (now == self._since or not self._gets_on()):
            remedy = "" if self._horizon < inf else "; a horizon would end it"
            raise EndlessRunError(
                f"the run does not end: {EVENTS:,} events from {self._since:.6g} to {now:.6g} s, but no job "
                f"ended or ran through; jobs left: {left:,}{remedy}"
            )
        self._jobs, self._left, self._since, self._entered = len(jobs), left, now, self._agenda.entered

    def _gets_on(self) -> bool:
        if self._horizon < inf or self._agenda.streaming:
            return True
        if any(job.state is RUNNING and job.start <= self._since for job in self._record.jobs):
            return True
        return self._waited < LOOKS and self._agenda.awaits(self._entered)
