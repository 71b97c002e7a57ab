"""What a middleware does about failures: whether a task is tried again, and which sites are shunned."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from gridtune.model.policy import Policy, misjudged, parameter, register


class Retry(Policy, family="retry"):
    """A retry decides whether a task that failed is tried again.

    Example:
        >>> @gt.policies.register("retry", "three-times")
        ... @dataclass(frozen=True)
        ... class ThreeTimes(gt.policies.Retry):
        ...     "A failed task is tried again at once, three times at most."
        ...     def wait(self, failures):
        ...         return 0.0 if failures <= 3 else None
        >>> ThreeTimes().wait(3), ThreeTimes().wait(4)
        (0.0, None)
    """

    @abstractmethod
    def wait(self, failures: int) -> float | None:
        """Choose how long a task that has failed waits until it is tried again.

        Args:
            failures: the number of failures of the task so far, at least 1.

        Returns:
            The time, s; None if the task is given up.
        """


def pause_after(retry: Retry, failures: int) -> float | None:
    """Seconds from a failure until a task is tried again; None if it is given up.

    Raises:
        PolicyError: the policy says neither.
    """
    wait = retry.wait(failures)
    if wait is not None and not 0 <= wait < inf:
        raise misjudged(retry, f"waits for {wait} s; None gives a task up")
    return wait


@register("retry", "never")
@dataclass(frozen=True)
class Never(Retry):
    """A task that fails is lost."""

    def wait(self, failures: int) -> float | None:
        """Given up at once."""
        return None


@register("retry", "limited", source="Responsive Grids, section 2.1: brokers reschedule failed jobs")
@dataclass(frozen=True)
class Limited(Retry):
    """A task that fails is tried again, a limited number of times, each time after a longer pause."""

    retries: int = parameter(
        3, help="how often a task is tried again", unit="count", low=0, high=10, minimum=0
    )
    pause: float = parameter(
        0.0, help="time before the first retry", unit="s", low=10.0, high=3600.0, log=True, minimum=0.0
    )
    growth: float = parameter(
        2.0,
        help="factor of the pause from one retry to the next",
        unit="ratio",
        low=1.0,
        high=4.0,
        minimum=1.0,
    )

    def wait(self, failures: int) -> float | None:
        """The pause, grown by each failure before."""
        return self.pause * self.growth ** (failures - 1) if failures <= self.retries else None


class Blacklist(Policy, family="blacklist"):
    """A blacklist decides when a site gets no more tasks.

    Example:
        >>> @gt.policies.register("blacklist", "every-tenth")
        ... @dataclass(frozen=True)
        ... class EveryTenth(gt.policies.Blacklist):
        ...     "Ten failures exclude a site for an hour."
        ...     def shun(self, failures, now):
        ...         return 3600.0 if len(failures) >= 10 else 0.0
        >>> EveryTenth().shun([60.0 * k for k in range(10)], now=540.0)
        3600.0
    """

    @abstractmethod
    def shun(self, failures: Sequence[float], now: float) -> float:
        """Choose for how long a site gets no more tasks.

        Args:
            failures: the times at which tasks or pilots failed there since it was last shunned, s,
                increasing; the last one is now.
            now: the present time, s.

        Returns:
            The time, s; 0 to go on with the site.
        """


@register("blacklist", "none")
@dataclass(frozen=True)
class Trusting(Blacklist):
    """No site is ever shunned."""

    def shun(self, failures: Sequence[float], now: float) -> float:
        """Not at all."""
        return 0.0


@register("blacklist", "failures")
@dataclass(frozen=True)
class ByFailures(Blacklist):
    """A site at which much has failed lately is shunned for a time."""

    count: int = parameter(
        5, help="failures that are too many", unit="count", low=1, high=50, log=True, minimum=1
    )
    window: float = parameter(
        3600.0,
        help="time within which they are counted",
        unit="s",
        low=60.0,
        high=86400.0,
        log=True,
        minimum=0.0,
    )
    period: float = parameter(
        3600.0,
        help="time for which the site gets no more tasks",
        unit="s",
        low=60.0,
        high=86400.0,
        log=True,
        minimum=0.0,
    )

    def shun(self, failures: Sequence[float], now: float) -> float:
        """For the period, once there were too many failures within the window."""
        recent = sum(time > now - self.window for time in failures)
        return self.period if recent >= self.count else 0.0
