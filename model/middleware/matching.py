"""The match-maker's job queues, and the policies that find a task for a resource in them."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal, NamedTuple

from gridtune.model.job import Job
from gridtune.model.policy import Policy, parameter, register

NOTHING: frozenset[str] = frozenset()
Limits = Sequence[tuple[float, float]]


class Resource(NamedTuple):
    """A resource asks for a task, as an agent or a pilot describes it.

    Attributes:
        site: the name of its site.
        processors: the number of processors that one task can get.
        speed: the speed of the slowest node that a task may get, work at speed 1 per s.
        time: the time that a task may run, s.
        tags: the properties that tasks may require.
        limits: pairs of processors and s; a parallel task must keep both numbers of some pair. None: only
            those above.
        least: the least number of processors that a task must need.
        covered: the numbers of processors of tasks that are not wanted.
        groups: the groups whose tasks are accepted; all if there are none.

    Example:
        >>> resource = gt.policies.Resource("site", processors=2, time=3600.0)
        >>> resource.fits(gt.Job(1, "ann", submit=0.0, runtime=60.0, processors=4))
        False
    """

    site: str
    processors: float = 1
    speed: float = 1.0
    time: float = inf
    tags: frozenset[str] = NOTHING
    limits: Limits | None = None
    least: int = 1
    covered: frozenset[int] = frozenset()
    groups: frozenset[str] = NOTHING

    def fits(self, task: Job) -> bool:
        """Tell whether a task can run here: processors, promised time, group, and every tag that it requires.

        Args:
            task: the task.
        """
        width = task.processors
        return (
            self.least <= width <= self.processors
            and task.estimate <= self.time * self.speed
            and (task.data is None or task.data <= self.tags)
            and (not self.groups or task.group in self.groups)
            and (width == 1 or (width not in self.covered and self._within_limits(task)))
        )

    def _within_limits(self, task: Job) -> bool:
        return self.limits is None or task.estimate <= time_for(task.processors, self.limits) * self.speed


def time_for(processors: int, limits: Limits) -> float:
    """Seconds that a job of so many processors may run under some limits; -inf where it may not at all.

    Args:
        processors: of the job.
        limits: pairs of processors and s, each of a queue that jobs may enter.
    """
    return max((time for most, time in limits if processors <= most), default=-inf)


class TaskQueues:
    """Task queues hold the tasks that wait for resources, in one queue for each owner.

    Args:
        by: the owner whose queue a task enters: its `group`, its `user`, or `all` for one queue.

    Attributes:
        waiting: the tasks by queue and id, first come first.
        turn: the name of the queue that was served last.
        widths: the number of waiting tasks by their processors.

    Example:
        >>> queues = gt.policies.TaskQueues(by="user")
        >>> for id, user in enumerate(("ann", "ann", "bob")):
        ...     queues.push(gt.Job(id, user, submit=0.0, runtime=60.0, processors=id + 1))
        >>> len(queues), list(queues.waiting)
        (3, ['ann', 'bob'])
    """

    __slots__ = ("_by", "_places", "_size", "turn", "waiting", "widths")

    def __init__(self, by: Literal["group", "user", "all"] = "group") -> None:
        self._by = by
        self._size = 0
        # Ordered dicts: a plain one walks over all that have left before it finds its first entry.
        self.waiting: dict[str, OrderedDict[int, Job]] = {}
        self._places: dict[str, int] = {}  # of queues, in the order of their turns
        self.turn = ""
        self.widths: Counter[int] = Counter()

    def __len__(self) -> int:
        return self._size

    def __contains__(self, task: Job) -> bool:
        """Whether a task waits here, not a copy of it."""
        queue = self.waiting.get(self._name(task))
        return queue is not None and queue.get(task.id) is task

    def push(self, task: Job) -> None:
        """Let a task wait.

        Args:
            task: the task.
        """
        name = self._name(task)
        queue = self.waiting.get(name)
        if queue is None:
            # A queue stays when it is empty, so that its turn does not depend on when it was.
            queue = self.waiting[name] = OrderedDict()
            self._places[name] = len(self._places)
        queue[task.id] = task
        self.widths[task.processors] += 1
        self._size += 1

    def remove(self, task: Job) -> None:
        """Take a waiting task out; its queue has then had its turn.

        Args:
            task: the task.
        """
        self.turn = name = self._name(task)
        del self.waiting[name][task.id]
        self.widths[task.processors] -= 1
        self._size -= 1

    def any_wider(self, than: float, most: int) -> bool:
        """Tell whether a task waits whose number of processors lies in a range.

        Args:
            than: the number that it must exceed.
            most: the largest number.

        Example:
            >>> queues.any_wider(than=1, most=2), queues.any_wider(than=3, most=8)
            (True, False)
        """
        return any(than < width <= most and count for width, count in self.widths.items())

    def in_turn(self) -> Sequence[OrderedDict[int, Job]]:
        """List the queues in which tasks wait, beginning after the one that was served last.

        Returns:
            The queues, each once: tasks by id, first come first.

        Example:
            >>> queues.remove(queues.waiting["ann"][0])
            >>> [list(queue) for queue in queues.in_turn()]
            [[2], [1]]
        """
        queues = list(self.waiting.values())
        first = self._places.get(self.turn, -1) + 1
        return [queue for queue in (*queues[first:], *queues[:first]) if queue]

    def _name(self, task: Job) -> str:
        return "" if self._by == "all" else task.group if self._by == "group" else task.user


class Matching(Policy, family="matching"):
    """A matching chooses the task that a resource gets.

    The first resource that asks is served: nothing is kept back for a better one (FRFS, RR-5576, section 7).

    Example:
        >>> @gt.policies.register("matching", "longest")
        ... @dataclass(frozen=True)
        ... class Longest(gt.policies.Matching):
        ...     "The fitting task with the longest promise."
        ...     def match(self, queues, resource):
        ...         waiting = (task for queue in queues.in_turn() for task in queue.values())
        ...         return max(filter(resource.fits, waiting), key=lambda task: task.estimate, default=None)
        >>> queues = gt.policies.TaskQueues(by="all")
        >>> for id, runtime in enumerate((60.0, 3600.0, 900.0)):
        ...     queues.push(gt.Job(id, "ann", submit=0.0, runtime=runtime))
        >>> Longest().match(queues, gt.policies.Resource("site", time=1000.0)).runtime
        900.0
    """

    @abstractmethod
    def match(self, queues: TaskQueues, resource: Resource) -> Job | None:
        """Choose the waiting task that a resource gets.

        Args:
            queues: the queues of the tasks that wait.
            resource: the resource that asks.

        Returns:
            The task, which stays in its queue; None if none fits.
        """


@register("matching", "round-robin", source="RR-5576, section 3.1")
@dataclass(frozen=True)
class RoundRobin(Matching):
    """A resource gets the first fitting task of the queue whose turn it is, or of the next that has any."""

    def match(self, queues: TaskQueues, resource: Resource) -> Job | None:
        """Queues in turn, tasks of a queue first come first; O(n) at worst."""
        for queue in queues.in_turn():
            for task in queue.values():
                if resource.fits(task):
                    return task
        return None


@register("matching", "oldest")
@dataclass(frozen=True)
class Oldest(Matching):
    """A resource gets the fitting task that was submitted first, whoever owns it."""

    def match(self, queues: TaskQueues, resource: Resource) -> Job | None:
        """The oldest (ties: lower id) of each queue's first fitting task."""
        heads = (
            next((task for task in queue.values() if resource.fits(task)), None)
            for queue in queues.waiting.values()
        )
        return min((task for task in heads if task is not None), key=_age, default=None)


@register("matching", "shortest")
@dataclass(frozen=True)
class Shortest(Matching):
    """A resource gets the fitting task of the shortest promise; after a patience, age decides."""

    patience: float = parameter(
        inf,
        help="age difference from which the older task goes first",
        unit="s",
        low=600.0,
        high=86400.0,
        log=True,
        minimum=0.0,
    )

    def match(self, queues: TaskQueues, resource: Resource) -> Job | None:
        """The shortest of all fitting tasks that are not `patience` younger than the oldest of them."""
        fitting = [
            task for queue in queues.waiting.values() for task in queue.values() if resource.fits(task)
        ]
        if not fitting:
            return None
        oldest = min(task.submit for task in fitting)
        return min(
            (task for task in fitting if task.submit <= oldest + self.patience),
            key=lambda task: (task.estimate, task.id),
        )


def _age(task: Job) -> tuple[float, int]:
    return task.submit, task.id
