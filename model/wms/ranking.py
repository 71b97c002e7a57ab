"""How a broker ranks the queues that sites publish (computing elements of the Glue schema)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

from gridtune.model.job import Job
from gridtune.model.policy import Policy, PolicyError, parameter, register
from gridtune.model.wms.expression import ExpressionError, Formula, compile_expression


class Advert(NamedTuple):
    """An advert is the state of one class (queue) of a site, as the site publishes it.

    Attributes:
        name: the name of the site.
        queue: the name of the class.
        sdj: whether it takes jobs at once or not at all (short deadline jobs).
        slots, free: the number of its slots, and of those that are free.
        running, waiting: the numbers of jobs that run and that wait there.
        ett: the estimated traversal time: how long a job would wait there before it starts, s.
        speed: the speed of its nodes, work at speed 1 per s.
        wall_limit: the time that a job may run, s.
        rate: the work per s that all slots of the class together would give to as many jobs, as processors
            are shared now.

    Example:
        >>> advert = gt.policies.Advert("site", "short", True, slots=8, free=2, running=6, waiting=0,
        ...                             ett=0.0, speed=1.0, wall_limit=3600.0, rate=8.0)
        >>> advert.free / advert.slots
        0.25
    """

    name: str
    queue: str
    sdj: bool
    slots: int
    free: int
    running: int
    waiting: int
    ett: float
    speed: float
    wall_limit: float
    rate: float


ATTRIBUTES = Advert._fields
_SAMPLE = Advert("", "", False, 1, 1, 1, 1, 1.0, 1.0, 1.0, 1.0)


@cache
def formula(text: str) -> Formula:
    """The function of an expression over what sites publish.

    Raises:
        ExpressionError: it is not understood.
    """
    return compile_expression(text, ATTRIBUTES)


class Ranking(Policy, family="ranking"):
    """A ranking chooses, for a broker, among the queues that sites publish.

    Example:
        >>> @gt.policies.register("ranking", "fewest-waiting")
        ... @dataclass(frozen=True)
        ... class FewestWaiting(gt.policies.Ranking):
        ...     "The queue in which the fewest jobs wait."
        ...     def rank(self, advert, job):
        ...         return -advert.waiting
        >>> advert = gt.policies.Advert("site", "long", False, slots=8, free=0, running=8, waiting=3,
        ...                             ett=600.0, speed=1.0, wall_limit=86400.0, rate=8.0)
        >>> FewestWaiting().rank(advert, None)
        -3
    """

    @abstractmethod
    def rank(self, advert: Advert, job: Job) -> float:
        """Rate a queue for a job.

        Args:
            advert: the state of the queue, as its site publishes it.
            job: the job.

        Returns:
            The rank; the queue with the largest one gets the job.
        """


@register("ranking", "ett", source="Responsive Grids, section 2.1")
@dataclass(frozen=True)
class LeastTraversalTime(Ranking):
    """A job prefers the least estimated traversal time: the default rank of EGEE.

    What a site promises takes longer where its slots share processors; the default rank does not know that.
    """

    sharing: Literal["ignored", "known"] = parameter(
        "ignored", help="whether the time grows with the number of jobs that share processors now"
    )

    def rank(self, advert: Advert, job: Job) -> float:
        """Less wait is better."""
        if self.sharing == "known" and advert.rate > 0:
            return -advert.ett * advert.slots * advert.speed / advert.rate
        return -advert.ett


@register("ranking", "free", source="Responsive Grids, section 2.1")
@dataclass(frozen=True)
class MostFree(Ranking):
    """A job prefers the most free slots; where there are none, the fewest waiting jobs for each slot."""

    def rank(self, advert: Advert, job: Job) -> float:
        """Free slots count for more than any queue."""
        return advert.free if advert.free > 0 else -advert.waiting / max(1, advert.slots)


@register("ranking", "expression", source="Responsive Grids, section 2.1 (rank in the JDL)")
@dataclass(frozen=True)
class Expression(Ranking):
    """A job prefers the largest value of an expression over the published attributes."""

    rank_by: str = parameter(
        "-ett", help=f"expression over {', '.join(ATTRIBUTES)}; the largest value wins", source="section 2.1"
    )

    def __post_init__(self) -> None:
        try:
            value = formula(self.rank_by)(_SAMPLE._asdict())
        except ExpressionError as error:
            raise PolicyError(f"rank_by: {error}") from None
        if isinstance(value, str):
            raise PolicyError(f"rank_by: {self.rank_by!r} is no number")

    def rank(self, advert: Advert, job: Job) -> float:
        """The value of the expression."""
        return float(formula(self.rank_by)(advert._asdict()))
