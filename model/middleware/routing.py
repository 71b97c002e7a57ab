"""Routing policies: to which site a broker pushes a task, by what it last heard of the sites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from gridtune.model.job import Job
from gridtune.model.policy import Policy, parameter, register

Tie = Literal["first", "random"]


class SiteView(NamedTuple):
    """What a broker believes of a site.

    Attributes:
        site: its index.
        depth: tasks that waited there when it was last measured.
        free: slots that were free then.
        slots: in all.
        speed: of its slowest node: work per s.
        sent: tasks that the broker has sent there since.
        wanted: slots that the waiting tasks needed then.
        sent_slots: slots that the tasks sent since need.
    """

    site: int
    depth: int
    free: int
    slots: int
    speed: float
    sent: int
    wanted: int
    sent_slots: int


class Routing(Policy):
    """The contract of the family `routing`."""

    def choose(
        self, sites: Sequence[SiteView], task: Job, mean_length: float, rng: np.random.Generator
    ) -> SiteView:
        """The site that a task is pushed to.

        Args:
            sites: those that accept the task, by index; at least one.
            task: to be pushed.
            mean_length: promised work of the tasks that the broker has seen so far, on average, in the
                unit of `task.estimate`.
            rng: the broker's stream, for ties.
        """
        raise NotImplementedError


@register("routing", "depth", source="RR-5576, section 7")
@dataclass(frozen=True)
class LeastDepth(Routing):
    """The site with the fewest tasks waiting when it was last measured."""

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
    """The site that a task is expected to leave soonest: estimated wait plus estimated execution.

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
