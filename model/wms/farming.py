"""How a master farms tasks out to workers: which goes next, to whom, and what becomes of failed ones."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from gridtune.model.job import Job
from gridtune.model.policy import Policy, parameter, register

ErrorKind = Literal["application", "system", "connection", "worker"]
WORKERS = "which idle worker gets it: that which asked last or first, or the fastest"


class IdleWorker(Protocol):
    """An idle worker asks for a task, as an assignment policy sees it.

    Attributes:
        speed: the speed of its slot while nothing shares it, work at speed 1 per s.
        failures: the number of tasks lost there to system errors since the last success.

    Example:
        >>> max(idle, key=lambda worker: worker.speed).speed
        2.0
    """

    speed: float
    failures: int


class Assignment(Policy, family="assignment"):
    """An assignment chooses the task that goes next and the worker that gets it.

    Attributes:
        worker: the idle worker that gets a task: the one that asked `last` or `first`, or the `fastest`.

    Example:
        >>> @gt.policies.register("assignment", "important-first")
        ... @dataclass(frozen=True)
        ... class ImportantFirst(gt.policies.Assignment):
        ...     "Tasks go out by priority."
        ...     def rank(self, task):
        ...         return -task.priority
        >>> tasks = [gt.Job(k, "ann", submit=0.0, runtime=60.0, priority=k) for k in range(3)]
        >>> [task.id for task in sorted(tasks, key=ImportantFirst().rank)]
        [2, 1, 0]
    """

    worker: str = "last"

    @abstractmethod
    def rank(self, task: Job) -> float:
        """Choose the place of a task among those that wait.

        Args:
            task: the task.

        Returns:
            A number; tasks of the least number go first, equal ones as they came. A task that is dispatched
            again comes before the others of its number.
        """

    def choose(self, task: Job, idle: Sequence[IdleWorker]) -> int:
        """Choose the worker that gets a task.

        Args:
            task: the task.
            idle: the idle workers, in the order in which they asked; at least one.

        Returns:
            The index of the worker in `idle`.

        Example:
            >>> from types import SimpleNamespace
            >>> idle = [SimpleNamespace(speed=speed, failures=0) for speed in (1.0, 2.0)]
            >>> ImportantFirst().choose(tasks[0], idle)
            1
        """
        if self.worker == "fastest":
            return max(range(len(idle)), key=lambda index: (idle[index].speed, index))
        # The one idle for longest is the nearest to the limit of its site, and a long task that always
        # went there would never end.
        return 0 if self.worker == "first" else len(idle) - 1


@register("assignment", "in-order", source="Responsive Grids, section 4.1.3")
@dataclass(frozen=True)
class InOrder(Assignment):
    """Tasks go out in the order in which they came."""

    worker: Literal["last", "first", "fastest"] = parameter("last", help=WORKERS)

    def rank(self, task: Job) -> float:
        """All alike."""
        return 0.0


@register("assignment", "by-length", source="Responsive Grids, sections 4.1.1 (policy functions) and 4.1.4")
@dataclass(frozen=True)
class ByLength(Assignment):
    """Tasks go out by the run time that their user expects, the long ones first or the short ones."""

    first: Literal["long", "short"] = parameter("long", help="which tasks go out first")
    worker: Literal["last", "first", "fastest"] = parameter("last", help=WORKERS)

    def rank(self, task: Job) -> float:
        """Its length, of either sign."""
        return -task.estimate if self.first == "long" else task.estimate


class Failure(NamedTuple):
    """A failure says how a task was lost at a worker.

    Attributes:
        kind: the kind: `application` (the task itself is to blame), `system` (the node is), `connection` (the
            result did not arrive) or `worker` (it crashed or met a limit).
        alike: the number of failures of this kind that the task has had, this one included.
        failures: the number of failures of the task in all, this one included.
        at_worker: the number of tasks lost at this worker to system errors since its last success.

    Example:
        >>> failure = gt.policies.Failure("application", alike=1, failures=2, at_worker=0)
        >>> failure.failures - failure.alike
        1
    """

    kind: ErrorKind
    alike: int
    failures: int
    at_worker: int


class Verdict(NamedTuple):
    """A verdict says what becomes of a failed task and of its worker.

    Attributes:
        wait: the time until the task is dispatched again, s; None if it is given up.
        keep: whether the worker stays in the pool, if it lives.

    Example:
        >>> gt.policies.Verdict(wait=60.0, keep=True).wait
        60.0
    """

    wait: float | None
    keep: bool = True


class Recovery(Policy, family="recovery"):
    """A recovery decides on a failed task and its worker.

    Example:
        >>> @gt.policies.register("recovery", "twice")
        ... @dataclass(frozen=True)
        ... class Twice(gt.policies.Recovery):
        ...     "A task is tried twice; a worker that fails twice leaves."
        ...     def decide(self, failure):
        ...         again = 0.0 if failure.failures < 2 else None
        ...         return gt.policies.Verdict(again, keep=failure.at_worker < 2)
        >>> Twice().decide(gt.policies.Failure("system", alike=1, failures=1, at_worker=2))
        Verdict(wait=0.0, keep=False)
    """

    @abstractmethod
    def decide(self, failure: Failure) -> Verdict:
        """Decide on a task that has just failed, and on the worker that had it.

        Args:
            failure: the failure.

        Returns:
            The decision: when the task is dispatched again, and whether the worker stays.
        """


@register("recovery", "by-kind", source="Responsive Grids, section 4.1.6")
@dataclass(frozen=True)
class ByKind(Recovery):
    """Errors of the application are the task's fault, errors of the system that of its worker."""

    application_retries: int = parameter(
        0,
        help="how often a task is tried again after an application error",
        unit="count",
        low=0,
        high=5,
        minimum=0,
    )
    tolerance: int = parameter(
        1,
        help="system errors without a success after which a worker leaves the pool; 0: it stays",
        unit="count",
        low=0,
        high=10,
        minimum=0,
    )

    def decide(self, failure: Failure) -> Verdict:
        """Only application errors count against the task."""
        if failure.kind == "application":
            return Verdict(0.0 if failure.alike <= self.application_retries else None)
        sick = failure.kind == "system" and 0 < self.tolerance <= failure.at_worker
        return Verdict(0.0, keep=not sick)


@register("recovery", "retry-count", source="Responsive Grids, section 4.1.6 (JDL RetryCount)")
@dataclass(frozen=True)
class RetryCount(Recovery):
    """All failures are alike: a task is tried again so often, and workers stay."""

    retries: int = parameter(
        3, help="how often a task is tried again", unit="count", low=0, high=20, minimum=0
    )
    pause: float = parameter(
        0.0, help="time before each retry", unit="s", low=1.0, high=3600.0, log=True, minimum=0.0
    )

    def decide(self, failure: Failure) -> Verdict:
        """Whatever has happened."""
        return Verdict(self.pause if failure.failures <= self.retries else None)
