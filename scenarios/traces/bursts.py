"""From batch jobs to GridRPC sessions: what one user submits in one go is one session.

Logs of batch systems know neither sessions nor deadlines nor optional work. The bursts are found in the log;
the deadline and the number of mandatory requests of each are generated from it by a rule, without chance.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import ceil, inf

from gridtune.agents.gridrpc.client import Session
from gridtune.scenarios.trace_files.records import TraceJob

NOBODY = "unknown"  # owner of the jobs that have no user: they count as one user


@dataclass(slots=True)
class _Burst:
    """Jobs of one user of which each came soon after the one before."""

    user: str
    arrival: float
    last: float
    runtimes: list[float] = field(default_factory=list)


def sessions_from_jobs(
    jobs: Iterable[TraceJob],
    *,
    gap: float = 300.0,
    max_requests: int = 1000,
    mandatory_share: float = 0.25,
    slack: float = 3.0,
    parallelism: int = 10,
    min_deadline: float = 600.0,
) -> list[Session]:
    """Group the jobs of each user into bursts and make a session of every burst.

    A burst ends where the user's next job comes more than `gap` after the last one, or when it is full. Its
    session begins with its first job and has a request for each job, in order of submission, with the run
    time that the job really had (whatever its processors: a request runs on one server). Of n requests
    max(1, ceil(`mandatory_share` n)) are mandatory, the first ones. The time allowed is

        max(min_deadline, slack * max(sum of run times / min(n, parallelism), longest run time))

    which is `slack` times what the burst needs at least on `parallelism` servers of its own.

    Args:
        jobs: sorted by submit time.
        gap: longest pause within a burst, s.
        max_requests: of a session.
        mandatory_share: of the requests of a session, 0 to 1.
        slack: time allowed over time needed, more than 0.
        parallelism: servers that a user may count on.
        min_deadline: least time allowed, s, more than 0.

    Returns:
        Sessions by arrival, those of equal arrival by the order of their first jobs. Every job is in one.

    Raises:
        ValueError: a parameter is out of range, or the jobs are not sorted.
    """
    _check(gap, max_requests, mandatory_share, slack, parallelism, min_deadline)
    return [
        Session(
            user=burst.user,
            arrival=burst.arrival,
            deadline=burst.arrival + max(min_deadline, slack * time_needed(burst.runtimes, parallelism)),
            n_min=max(1, ceil(mandatory_share * len(burst.runtimes))),
            n_max=len(burst.runtimes),
            runtimes=tuple(burst.runtimes),
        )
        for burst in _bursts(jobs, gap, max_requests)
    ]


def time_needed(runtimes: list[float], servers: int) -> float:
    """Least time, s, in which requests can be done on a number of servers of equal speed."""
    return max(sum(runtimes) / min(len(runtimes), servers), max(runtimes))


def _bursts(jobs: Iterable[TraceJob], gap: float, max_requests: int) -> list[_Burst]:
    bursts: list[_Burst] = []
    latest: dict[str, _Burst] = {}
    now = -inf
    for job in jobs:
        if job.submit < now:
            raise ValueError(
                f"jobs must be sorted by submit time: job {job.id} comes at {job.submit} after {now}"
            )
        now = job.submit
        user = job.user or NOBODY
        burst = latest.get(user)
        if burst is None or now - burst.last > gap or len(burst.runtimes) >= max_requests:
            burst = latest[user] = _Burst(user, now, now)
            bursts.append(burst)
        burst.runtimes.append(job.runtime)
        burst.last = now
    return bursts


def _check(
    gap: float, max_requests: int, mandatory_share: float, slack: float, parallelism: int, min_deadline: float
) -> None:
    faults = {
        f"gap must be from 0 s, not {gap}": not gap >= 0,
        f"max_requests must be at least 1, not {max_requests}": max_requests < 1,
        f"mandatory_share must be from 0 to 1, not {mandatory_share}": not 0 <= mandatory_share <= 1,
        f"slack must be more than 0, not {slack}": not 0 < slack < inf,
        f"parallelism must be at least 1, not {parallelism}": parallelism < 1,
        f"min_deadline must be more than 0 s, not {min_deadline}": not 0 < min_deadline < inf,
    }
    for fault, found in faults.items():
        if found:
            raise ValueError(fault)
