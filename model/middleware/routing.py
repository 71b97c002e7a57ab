"""Routing policies: to which site a broker pushes a task, by what it last heard of the sites."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from gridtune.model.job import Job
from gridtune.model.policy import Policy, parameter, register

Tie = Literal["first", "random"]


class SiteView(NamedTuple):
    """A site view is the state of a site as a broker knows it.

    Attributes:
        site: the index of the site.
        depth: the number of tasks that waited there when it was last measured.
        free: the number of slots that were free then.
        slots: the number of slots in all.
        speed: the speed of its slowest node, work at speed 1 per s.
        sent: the number of tasks that the broker has sent there since.
        wanted: the number of slots that the waiting tasks needed then.
        sent_slots: the number of slots that the tasks sent since need.

    Example:
        >>> site = gt.policies.SiteView(0, depth=2, free=0, slots=8, speed=1.0, sent=1, wanted=2,
        ...                             sent_slots=1)
        >>> site.depth + site.sent
        3
    """

    site: int
    depth: int
    free: int
    slots: int
    speed: float
    sent: int
    wanted: int
    sent_slots: int


class Routing(Policy, family="routing"):
    """A routing chooses the site that a broker pushes a task to.

    Example:
        >>> @gt.policies.register("routing", "fastest")
        ... @dataclass(frozen=True)
        ... class Fastest(gt.policies.Routing):
        ...     "The site with the fastest nodes."
        ...     def choose(self, sites, task, mean_length, rng):
        ...         return max(sites, key=lambda site: site.speed)
        >>> slow = gt.policies.SiteView(0, 0, free=8, slots=8, speed=1.0, sent=0, wanted=0, sent_slots=0)
        >>> Fastest().choose([slow, slow._replace(site=1, speed=2.0)], None, 60.0, None).site
        1
    """

    @abstractmethod
    def choose(
        self, sites: Sequence[SiteView], task: Job, mean_length: float, rng: np.random.Generator
    ) -> SiteView:
        """Choose the site that a task is pushed to.

        Args:
            sites: the sites that accept the task, by index; at least one.
            task: the task.
            mean_length: the mean promise of the tasks that the broker has seen so far, s at speed 1.
            rng: the broker's stream, for ties.

        Returns:
            One of `sites`.
        """


@register("routing", "depth", source="RR-5576, section 7")
@dataclass(frozen=True)
class LeastDepth(Routing):
    """A task goes to the site with the fewest tasks waiting when it was last measured."""

    tie: Tie = parameter("first", help="which of equal sites: the first, or one drawn at each decision")
    count_sent: bool = parameter(
        False, help="whether tasks sent since the measurement count as waiting beyond the slots free then"
    )

    def choose(
        self, sites: Sequence[SiteView], task: Job, mean_length: float, rng: np.random.Generator
    ) -> SiteView:
        """Least depth, corrected if asked for."""
        if not self.count_sent:
            depths = [site.depth for site in sites]
        else:
            depths = [site.depth + max(0, site.sent - site.free) for site in sites]
        return sites[_least(depths, self.tie, rng)]


@register("routing", "traversal", source="Responsive Grids, section on estimated traversal time")
@dataclass(frozen=True)
class LeastTraversal(Routing):
    """A task goes to the site that it should leave soonest: estimated wait plus estimated execution.

    With enough slots free nothing is expected to wait; else every slot that is needed beyond those free holds
    an average task's execution, and the site's slots work on them together.
    """

    tie: Tie = parameter("first", help="which of equal sites: the first, or one drawn at each decision")
    count_sent: bool = parameter(False, help="whether tasks sent since the measurement count as ahead")

    def choose(
        self, sites: Sequence[SiteView], task: Job, mean_length: float, rng: np.random.Generator
    ) -> SiteView:
        """Least estimated traversal time."""

        def traversal(site: SiteView) -> float:
            sent = site.sent_slots if self.count_sent else 0
            beyond = site.wanted + sent + task.processors - site.free
            return (max(0, beyond) * mean_length / site.slots + task.estimate) / site.speed

        return sites[_least([traversal(site) for site in sites], self.tie, rng)]


def _least(values: Sequence[float], tie: Tie, rng: np.random.Generator) -> int:
    """Index of the least value."""
    least = min(values)
    if tie == "first":
        return values.index(least)
    ties = [k for k, value in enumerate(values) if value == least]
    return ties[int(rng.random() * len(ties))] if len(ties) > 1 else ties[0]
