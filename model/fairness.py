"""Happiness and fairness of users (RR-7959, section 3.3)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal

from model.job import DONE, Job
from model.record import Stay

Allocated = Literal["completed", "occupied"]
Deserved = Literal["area", "capped"]


@dataclass(slots=True)
class UserOutcome:
    """How one user fared.

    Attributes:
        user: name.
        jobs: jobs created.
        completed: jobs completed.
        mandatory_late: mandatory jobs that missed their deadline, or were refused or never done.
        allocated: slot-seconds that the user was given.
        deserved: slot-seconds that the user should have been given.
        satisfaction: allocated / deserved; nan if nothing was deserved.
    """

    user: str
    jobs: int = 0
    completed: int = 0
    mandatory_late: int = 0
    allocated: float = 0.0
    deserved: float = 0.0

    @property
    def unhappy(self) -> bool:
        """Whether any mandatory work was late or lost."""
        return self.mandatory_late > 0

    @property
    def satisfaction(self) -> float:
        """Allocated over deserved; 1 is ideal."""
        return self.allocated / self.deserved if self.deserved > 0 else float("nan")


def is_late(job: Job, now: float) -> bool:
    """Whether a mandatory job has missed its deadline by `now` (s).

    Completion exactly at the deadline is in time.
    """
    if not job.mandatory or job.deadline == inf:
        return False
    if job.state is DONE:
        return job.end > job.deadline
    return job.state in ("rejected", "cancelled") or now > job.deadline


def deserved_areas(stays: Iterable[Stay], slots: float) -> dict[str, float]:
    """Slot-seconds that each user deserves: every moment is shared equally by the users present.

    Args:
        stays: visits with finite ends; several of one user count once where they overlap.
        slots: n_R, number of places where a job can run.

    Returns:
        A share for each user; they sum to `slots` times the length of the union of all stays.

    Source: RR-7959, section 3.3, with the time cut at every entry and every deadline.
    """
    changes: dict[float, Counter[str]] = defaultdict(Counter)
    deserved: dict[str, float] = {}
    for stay in stays:
        deserved.setdefault(stay.user, 0.0)
        if stay.deadline > stay.entry:
            changes[stay.entry][stay.user] += 1
            changes[stay.deadline][stay.user] -= 1
    present: Counter[str] = Counter()  # stays under way, of users that have any
    share = 0.0  # what a user present since time 0 would deserve by now
    since: dict[str, float] = {}
    last = 0.0
    for time in sorted(changes):
        if present:
            share += slots * (time - last) / len(present)
        last = time
        # The changes of one instant are taken together: who leaves and enters at once was never away.
        for user, change in changes[time].items():
            before = present[user]
            present[user] = before + change
            if before == 0 < present[user]:
                since[user] = share
            elif present[user] == 0:
                del present[user]
                if before:
                    deserved[user] += share - since[user]
    return deserved


def outcomes(
    jobs: Sequence[Job],
    stays: Sequence[Stay],
    slots: float,
    now: float,
    *,
    allocated: Allocated = "completed",
    deserved: Deserved = "area",
) -> dict[str, UserOutcome]:
    """How every user fared.

    Args:
        jobs: all jobs of the run.
        stays: visits of users with deadlines; a user without any stays from its first submission to
            its last end.
        slots: n_R, places where a job can run; where speeds differ, the sum of speeds if `completed`
            work is counted.
        now: end of the run, s.
        allocated: `completed` counts the work of completed jobs, `occupied` the time that slots
            were held, lost executions included.
        deserved: `area` is the equal share of the paper; `capped` is at most the user's demand, for
            users who could not use an equal share.
    """
    users: dict[str, UserOutcome] = {}
    spans: dict[str, list[float]] = {}
    for job in jobs:
        outcome = users.get(job.user)
        if outcome is None:
            outcome = users[job.user] = UserOutcome(job.user)
            spans[job.user] = [job.submit, job.submit, 0.0]
        outcome.jobs += 1
        span = spans[job.user]
        span[0] = min(span[0], job.submit)
        span[2] += job.work
        if job.state is DONE:
            outcome.completed += 1
            span[1] = max(span[1], job.end)
            if allocated == "completed":
                outcome.allocated += job.work
            else:
                outcome.allocated += (job.end - job.start) * job.processors
        if allocated == "occupied":
            outcome.allocated += job.wasted
        if job.deadline < inf and is_late(job, now):
            outcome.mandatory_late += 1
    known = {stay.user for stay in stays}
    everyone = [
        *stays,
        *(Stay(user, span[0], span[1], span[2]) for user, span in spans.items() if user not in known),
    ]
    areas = deserved_areas(everyone, slots)
    demand = _demands(everyone)
    for stay in stays:
        users.setdefault(stay.user, UserOutcome(stay.user))
    for user, outcome in users.items():
        outcome.deserved = areas[user] if deserved == "area" else min(areas[user], demand[user])
    return users


def _demands(stays: Iterable[Stay]) -> Mapping[str, float]:
    demand: dict[str, float] = defaultdict(float)
    for stay in stays:
        demand[stay.user] += stay.demand
    return demand


def unfairness(users: Iterable[UserOutcome]) -> float:
    """Largest minus least satisfaction; 0 is ideal, and with fewer than two users there is none.

    Source: RR-7959, section 3.3.
    """
    satisfactions = [user.satisfaction for user in users if user.deserved > 0]
    return max(satisfactions) - min(satisfactions) if satisfactions else 0.0
