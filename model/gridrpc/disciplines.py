"""The waiting queue of a server and the disciplines that choose from it."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gridtune.model.job import Job
from gridtune.model.policy import Policy, parameter, register


class ServerQueue:
    """A server queue holds the requests that wait at one server, and the time that each user has had there.

    Attributes:
        mandatory: the waiting mandatory requests by id, first come first.
        optional: the waiting optional requests by user and id, first come first.
        allocated: the time of this server that each user is counted to have had, s.

    Example:
        >>> queue = gt.policies.ServerQueue()
        >>> queue.push(gt.Job(1, "ann", submit=0.0, runtime=60.0, mandatory=False))
        >>> queue.push(gt.Job(2, "bob", submit=0.0, runtime=60.0))
        >>> [request.id for request in queue.jobs()], list(queue.optional)
        ([2, 1], ['ann'])
        >>> queue.remove(queue.mandatory[2]), len(queue)
        (True, 1)
    """

    __slots__ = ("_optional", "allocated", "mandatory", "optional")

    def __init__(self) -> None:
        self._optional = 0
        self.mandatory: dict[int, Job] = {}
        self.optional: dict[str, dict[int, Job]] = {}
        self.allocated: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self.mandatory) + self._optional

    def jobs(self) -> Iterable[Job]:
        """List all waiting requests, mandatory ones first.

        Returns:
            The requests; those of a class and user come in the order of their arrival.
        """
        yield from self.mandatory.values()
        for waiting in self.optional.values():
            yield from waiting.values()

    def push(self, job: Job) -> None:
        """Let a request wait.

        Args:
            job: the request.
        """
        if job.mandatory:
            self.mandatory[job.id] = job
        else:
            waiting = self.optional.get(job.user)
            if waiting is None:
                waiting = self.optional[job.user] = {}
                self.came(job.user)
            waiting[job.id] = job
            self._optional += 1

    def __contains__(self, job: object) -> bool:
        """Whether a request waits here, not a copy of it."""
        if not isinstance(job, Job):
            return False
        waiting = self.mandatory if job.mandatory else self.optional.get(job.user, {})
        return waiting.get(job.id) is job

    def remove(self, job: Job) -> bool:
        """Take a request out.

        Args:
            job: the request.

        Returns:
            Whether it waited here.
        """
        if job.mandatory:
            return self.mandatory.pop(job.id, None) is not None
        waiting = self.optional.get(job.user)
        if waiting is None or waiting.pop(job.id, None) is None:
            return False
        self._optional -= 1
        if not waiting:
            del self.optional[job.user]
            self.went(job.user)
        return True

    def came(self, user: str) -> None:
        """Note that a user who had no optional requests here has one now.

        Args:
            user: the name of the user.
        """

    def went(self, user: str) -> None:
        """Note that a user has no optional requests here any more.

        Args:
            user: the name of the user.
        """

    def count(self, user: str, seconds: float) -> None:
        """Set the time of this server that a user is counted to have had.

        Args:
            user: the name of the user.
            seconds: the time in all, s.
        """
        self.allocated[user] = seconds


class FairQueue(ServerQueue):
    """A queue that also knows who of those with optional requests was allocated least."""

    __slots__ = ("_by_level", "_entered", "_entries")

    def __init__(self) -> None:
        super().__init__()
        self._entries = 0
        self._entered: dict[str, int] = {}  # when each user with optional requests came, by number
        self._by_level: list[tuple[float, int, str]] = []  # what they were allocated, and these; ascending

    def least(self) -> list[str]:
        """Those with optional requests who were allocated least, in the order in which they came."""
        users = self._by_level
        if len(users) > 1 and users[0][0] == users[1][0]:
            return [user for _, _, user in users[: bisect_right(users, (users[0][0], self._entries + 1))]]
        return [users[0][2]] if users else []

    def came(self, user: str) -> None:
        """A user who had no optional requests here has one now."""
        self._entries += 1
        self._entered[user] = self._entries
        insort(self._by_level, (self.allocated[user], self._entries, user))

    def went(self, user: str) -> None:
        """A user has no optional requests here any more."""
        self._drop(user, self._entered.pop(user))

    def count(self, user: str, seconds: float) -> None:
        """A user is counted to have had so many seconds of this server in all."""
        entered = self._entered.get(user)
        if entered is not None:
            self._drop(user, entered)
            insort(self._by_level, (seconds, entered, user))
        self.allocated[user] = seconds

    def _drop(self, user: str, entered: int) -> None:
        del self._by_level[bisect_left(self._by_level, (self.allocated[user], entered))]


class PriorityQueue(ServerQueue):
    """A queue that also keeps its requests by priority, first come first within each.

    Attributes:
        by_priority: waiting requests by priority and id; no class is empty.
    """

    __slots__ = ("by_priority",)

    def __init__(self) -> None:
        super().__init__()
        self.by_priority: dict[int, dict[int, Job]] = {}

    def jobs(self) -> Iterable[Job]:
        """All waiting requests, in the order in which they would be served."""
        for priority in sorted(self.by_priority, reverse=True):
            yield from self.by_priority[priority].values()

    def push(self, job: Job) -> None:
        """Let a request wait, behind those of its priority."""
        super().push(job)
        self.by_priority.setdefault(job.priority, {})[job.id] = job

    def remove(self, job: Job) -> bool:
        """Take a request out; whether it was there."""
        if not super().remove(job):
            return False
        waiting = self.by_priority[job.priority]
        del waiting[job.id]
        if not waiting:
            del self.by_priority[job.priority]
        return True


class Discipline(Policy, family="discipline"):
    """A discipline chooses the request that a server (SeD) runs.

    Example:
        >>> @gt.policies.register("discipline", "mandatory-first")
        ... @dataclass(frozen=True)
        ... class MandatoryFirst(gt.policies.Discipline):
        ...     "A request runs to its end; then comes the oldest mandatory one, then any other."
        ...     def front(self, queue, running, rng):
        ...         return running or next(iter(queue.jobs()), None)
        >>> gt.load("diet/day-regular", sed__discipline="mandatory-first").run()["completed"] > 0
        True
    """

    def queue(self) -> ServerQueue:
        """Make an empty queue of the kind that this discipline chooses from.

        Returns:
            The queue; a server asks for one when it starts.

        Example:
            >>> len(MandatoryFirst().queue())
            0
        """
        return ServerQueue()

    @abstractmethod
    def front(self, queue: ServerQueue, running: Job | None, rng: np.random.Generator) -> Job | None:
        """Choose the request to run now.

        Args:
            queue: the requests that wait at the server.
            running: the request that runs there, which is not in the queue; None if there is none.
            rng: the server's own stream, for ties.

        Returns:
            The request; None for none. The server runs it. If another one was running, the server kills it
            and puts it back into the queue.
        """

    def newcomer(self, queue: ServerQueue, running: Job | None) -> float:
        """Choose the server time that a new user is credited with at first.

        Args:
            queue: the requests that wait at the server.
            running: the request that runs there; None if there is none.

        Returns:
            The time, s.

        Example:
            >>> MandatoryFirst().newcomer(MandatoryFirst().queue(), running=None)
            0.0
        """
        return 0.0


@register("discipline", "fcfs", source="RR-7959, section 5.1")
@dataclass(frozen=True)
class Fcfs(Discipline):
    """Requests run first come, first served, whether mandatory or optional: the legacy server."""

    def front(self, queue: ServerQueue, running: Job | None, rng: np.random.Generator) -> Job | None:
        """The running request, else the one that was queued first (ties: lower id)."""
        if running is not None:
            return running
        # Within each class and user the first entry is the oldest, so only the heads compete.
        heads = [next(iter(waiting.values())) for waiting in queue.optional.values()]
        if queue.mandatory:
            heads.append(next(iter(queue.mandatory.values())))
        return min(heads, key=_arrival) if heads else None


@register("discipline", "ethic", source="RR-7959, section 4.1.1")
@dataclass(frozen=True)
class Ethic(Discipline):
    """Mandatory requests go before optional, started before waiting, the least served user first.

    A mandatory arrival displaces a running optional request; nothing else is ever displaced.
    """

    fair_counter: Literal["virtual_time", "cumulative"] = parameter(
        "virtual_time",
        help="what a newcomer starts with: the least counter of the users present, or nothing",
        source="RR-7959, section 4.1.1, rule 4",
    )

    def queue(self) -> FairQueue:
        """A queue that knows who was allocated least."""
        return FairQueue()

    def front(self, queue: ServerQueue, running: Job | None, rng: np.random.Generator) -> Job | None:
        """The least request by (optional, not started, arrival or seconds allocated, chance)."""
        if queue.mandatory:
            if running is not None and running.mandatory:
                return running
            return next(iter(queue.mandatory.values()))
        if running is not None:
            return running
        if not queue.optional:
            return None
        assert isinstance(queue, FairQueue)
        users = queue.least()
        # The tie is drawn anew at each decision: a key kept with the request would starve the same requests.
        user = users[int(rng.random() * len(users))] if len(users) > 1 else users[0]
        return next(iter(queue.optional[user].values()))

    def newcomer(self, queue: ServerQueue, running: Job | None) -> float:
        """The least counter of those present, else the newcomer would starve them until it caught up."""
        if self.fair_counter == "cumulative":
            return 0.0
        assert isinstance(queue, FairQueue)
        counted = queue.allocated.__getitem__
        present = [counted(job.user) for job in queue.mandatory.values()]
        if queue.optional:
            present.append(counted(queue.least()[0]))
        if running is not None:
            present.append(counted(running.user))
        return min(present, default=0.0)


@register("discipline", "priority", source="RR-5335, section 4.3")
@dataclass(frozen=True)
class Priority(Discipline):
    """The highest priority goes first, first come among equals; what runs is never displaced."""

    def queue(self) -> PriorityQueue:
        """A queue that is kept by priority."""
        return PriorityQueue()

    def front(self, queue: ServerQueue, running: Job | None, rng: np.random.Generator) -> Job | None:
        """The running request, else the first of the highest priority."""
        if running is not None:
            return running
        assert isinstance(queue, PriorityQueue)
        if not queue.by_priority:
            return None
        return next(iter(queue.by_priority[max(queue.by_priority)].values()))


def _arrival(job: Job) -> tuple[float, int]:
    return job.queued, job.id
