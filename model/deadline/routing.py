"""Routing of tasks with deadlines and priorities to servers (RR-5335, section 4).

These policies of the family `routing` see the forecast times of one task on every server and the agent's
timetable, and say which servers to try.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from gridtune.model.deadline.timetable import Floats, Timetable
from gridtune.model.job import Job
from gridtune.model.policy import Policy, parameter, register

Fallback = Literal["none", "displaced", "slipped"]
Unplaced = Literal["stay", "reject"]


class Times(NamedTuple):
    """Times say how long a task would take at each server, s; infinite where it cannot run.

    Both are arrays with an entry for each server.

    Attributes:
        forecast: the times by forecast performance, with the agent's corrections.
        nominal: the times by the performance that servers and links have when nothing else uses them.

    Example:
        >>> times = gt.policies.Times(forecast=np.array([40.0, 20.0]), nominal=np.array([20.0, 20.0]))
        >>> (times.forecast / times.nominal).tolist()
        [2.0, 1.0]
    """

    forecast: Floats
    nominal: Floats


class TaskRouting(Policy, family="routing"):
    """A task routing chooses among servers that each keep a queue, for tasks with deadlines.

    Attributes:
        discipline: the name of the server discipline that goes with it.

    Example:
        >>> @gt.policies.register("routing", "in-time-only")
        ... @dataclass(frozen=True)
        ... class InTimeOnly(gt.policies.TaskRouting):
        ...     "The server that is done first; no server if that is too late."
        ...     def choose(self, job, times, timetable, now):
        ...         ends = timetable.ends_behind(times.forecast, now)
        ...         return [int(ends.argmin())] if ends.min() < job.deadline else []
        >>> import numpy as np
        >>> times = gt.policies.Times(forecast=np.array([30.0, 20.0]), nominal=np.array([30.0, 20.0]))
        >>> task = gt.Job(1, "ann", submit=0.0, runtime=20.0, deadline=25.0)
        >>> InTimeOnly().choose(task, times, gt.policies.Timetable(2), now=0.0)
        [1]
    """

    discipline: ClassVar[str] = "fcfs"

    @property
    def patience(self) -> float:
        """Tell after which multiple of the forecast sending time the next server is tried.

        Example:
            >>> InTimeOnly().patience
            inf
        """
        return inf

    @property
    def resubmits(self) -> Fallback:
        """Tell which waiting tasks are taken out of their queues and routed again.

        Example:
            >>> InTimeOnly().resubmits
            'none'
        """
        return "none"

    @property
    def keeps(self) -> Unplaced:
        """Tell what becomes of a task that was taken out of a queue and for which no server is found.

        Example:
            >>> InTimeOnly().keeps
            'reject'
        """
        return "reject"

    def precedence(self, job: Job) -> int:
        """Choose the precedence of a task in a queue, in agreement with the discipline.

        Args:
            job: the task.

        Returns:
            The precedence; tasks of a larger one go first.

        Example:
            >>> InTimeOnly().precedence(task)
            0
        """
        return 0

    def planned(self, times: Times) -> Floats:
        """Choose the times that the policy goes by.

        Args:
            times: the forecast and the nominal times of a task, s.

        Returns:
            The times, s; an array with an entry for each server.

        Example:
            >>> InTimeOnly().planned(times).tolist()
            [30.0, 20.0]
        """
        return times.forecast

    @abstractmethod
    def choose(self, job: Job, times: Times, timetable: Timetable, now: float) -> Sequence[int]:
        """Choose the servers to try.

        Args:
            job: the task, with its deadline (absolute, s) and priority.
            times: the times that it would take at each server, s.
            timetable: the planned queues of the servers.
            now: the present time, s.

        Returns:
            The indices of the servers, in the order in which to try them; none to reject the task.
        """


@register("routing", "greedy", source="RR-5335, section 1 (what network-enabled servers do)")
@dataclass(frozen=True)
class Greedy(TaskRouting):
    """A task goes where it ends first by nominal performance, whatever loads and deadlines are."""

    def planned(self, times: Times) -> Floats:
        """The nominal times."""
        return times.nominal

    def choose(self, job: Job, times: Times, timetable: Timetable, now: float) -> Sequence[int]:
        """The server that would be done first."""
        ends = timetable.ends_behind(times.nominal, now)
        best = int(ends.argmin())
        return [best] if ends[best] < inf else []


@register("routing", "mct", source="RR-5335, section 4.1, algorithm 1 (2 with the agent's correction)")
@dataclass(frozen=True)
class MinimumCompletionTime(TaskRouting):
    """A task goes where it ends first by forecast performance; a server that answers late is skipped.

    What the agent has queued at a server counts as load of that server.
    """

    ack_timeout: float = parameter(
        2.0,
        help="time allowed for sending the data to a server, over its forecast",
        unit="ratio",
        low=1.1,
        high=8.0,
        log=True,
        minimum=1.0,
        source="RR-5335, algorithm 1 (2 W_send / F_Bd)",
    )

    @property
    def patience(self) -> float:
        """The time-out of `task_ack`."""
        return self.ack_timeout

    def choose(self, job: Job, times: Times, timetable: Timetable, now: float) -> Sequence[int]:
        """All servers that can do the task, the one that would be done first in front."""
        ends = timetable.ends_behind(times.forecast, now)
        order = np.argsort(ends, kind="stable")
        able: list[int] = order[: np.count_nonzero(ends < inf)].tolist()
        return able


CONSERVATISM = parameter(
    1.0,
    help="share of the time left until the deadline that a placement may use up",
    unit="ratio",
    low=0.3,
    high=1.0,
    minimum=0.0,
    maximum=1.0,
    exclusive=True,
    source="Takefusa et al. 2001 (parameter Opt)",
)


def _aim(job: Job, conservatism: float, now: float) -> float:
    """The time before which a placement must be done, s."""
    return now + conservatism * (job.deadline - now) if conservatism < 1 else job.deadline


@register("routing", "deadline", source="Takefusa et al. 2001; RR-5335, section 2")
@dataclass(frozen=True)
class DeadlineRouting(TaskRouting):
    """A task goes to a server that can meet its deadline, first come; priorities have no effect."""

    conservatism: float = CONSERVATISM
    prefer: Literal["earliest", "latest"] = parameter(
        "earliest",
        help="of the servers that meet the deadline, the one done first, or the last of them",
        source="RR-5335, algorithm 3 (earliest); Takefusa et al. 2001 (latest)",
    )

    def choose(self, job: Job, times: Times, timetable: Timetable, now: float) -> Sequence[int]:
        """The preferred server among those that meet the deadline, if any does."""
        ends = timetable.ends_behind(times.forecast, now)
        meeting = ends < _aim(job, self.conservatism, now)
        if not meeting.any():
            return []
        if self.prefer == "earliest":
            return [int(ends.argmin())]
        return [int(np.where(meeting, ends, -inf).argmax())]


@register("routing", "priority", source="RR-5335, section 4.3, algorithm 3")
@dataclass(frozen=True)
class PriorityRouting(TaskRouting):
    """A task meets its deadline where the fewest tasks of lower priority then miss theirs."""

    discipline: ClassVar[str] = "priority"

    conservatism: float = CONSERVATISM
    fallback: Fallback = parameter(
        "displaced",
        help="which waiting tasks are submitted again: none; those whose deadline a placement made "
        "impossible; or also those that wrong forecasts made late",
        source="RR-5335, section 4.3 (displaced); Takefusa et al. 2001 (slipped)",
    )
    unplaced: Unplaced = parameter(
        "stay",
        help="a task taken out of its queue that no server can do in time goes back there and runs late, "
        "unless others leave; or it is rejected",
        source="RR-5335, section 4.3 (it is allocated if any server can meet its deadline: stay)",
    )

    @property
    def resubmits(self) -> Fallback:
        """As the parameter says."""
        return self.fallback

    @property
    def keeps(self) -> Unplaced:
        """As the parameter says."""
        return self.unplaced

    def precedence(self, job: Job) -> int:
        """The task's priority."""
        return job.priority

    def choose(self, job: Job, times: Times, timetable: Timetable, now: float) -> Sequence[int]:
        """The least of (tasks made late, completion, index) among the servers that meet the deadline."""
        ends, _ = timetable.insertions(times.forecast, job.priority, now)
        meeting = np.flatnonzero(ends < _aim(job, self.conservatism, now))
        if not meeting.size:
            return []
        displaced = timetable.displaced(times.forecast, job.priority, meeting, now)
        kindest = meeting[displaced == displaced.min()]
        return [int(kindest[ends[kindest].argmin()])]
