"""What a batch site takes time for, when it schedules, and who hears of its jobs."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import NamedTuple

from gridtune.model.job import Job

Delay = Callable[[], float]
Ended = Callable[[Job], object]
Started = Callable[[Job, float], object]


def no_delay() -> float:
    """A service that takes no time."""
    return 0.0


class Services(NamedTuple):
    """How long a site takes for what surrounds the execution of a job, each drawn per job, s.

    Attributes:
        receive: mu_rec, from the arrival of a job to its entry into a queue (RR-5576, section 6.3).
        send: mu_send, from the end of a job until the scheduler hears of it; its processors stay taken.
        overhead: setting up and cleaning up around an execution; the processors are held, nothing progresses.
    """

    receive: Delay = no_delay
    send: Delay = no_delay
    overhead: Delay = no_delay


AT_ONCE = Services()


class Rounds(NamedTuple):
    """When a site schedules.

    What comes in while a round lasts waits for the next one (BatCiGri, section 4.5).

    Attributes:
        gap: s from the beginning of a round to that of the next, at least.
        period: s after which a round begins even if nothing has happened.
        duration: of a round, drawn for each, s: its decisions take effect when it ends.
        per_waiting: s that a round takes on top for each job that waits when it begins.
    """

    gap: float = 0.0
    period: float = inf
    duration: Delay = no_delay
    per_waiting: float = 0.0


WHENEVER_NEEDED = Rounds()


class Reservation(NamedTuple):
    """A job that starts as soon as best-effort jobs have left its processors.

    Attributes:
        job: which.
        planned_end: what the scheduler goes by, s.
        cleaning: s that its execution takes on top, if any of them are killed.
        kills: best-effort executions that had given way before.
    """

    job: Job
    planned_end: float
    cleaning: float
    kills: int
