"""Whether a task that waits at a site moves to another one (RR-5576, section 10)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from gridtune.model.job import Job
from gridtune.model.middleware.routing import SiteView
from gridtune.model.policy import Policy, parameter, register


class Migration(Policy, family="migration"):
    """A migration decides whether a task that waits at a site moves to another.

    Example:
        >>> @gt.policies.register("migration", "to-idle-sites")
        ... @dataclass(frozen=True)
        ... class ToIdleSites(gt.policies.Migration):
        ...     "A task moves to a site where all slots are free."
        ...     def choose(self, task, here, others):
        ...         return next((site for site in others if site.free == site.slots and not site.sent), None)
        >>> busy = gt.policies.SiteView(0, 5, free=0, slots=8, speed=1.0, sent=0, wanted=5, sent_slots=0)
        >>> ToIdleSites().choose(None, busy, [busy._replace(site=1, depth=0, free=8, wanted=0)]).site
        1
    """

    @abstractmethod
    def choose(self, task: Job, here: SiteView, others: Sequence[SiteView]) -> SiteView | None:
        """Choose the site that a waiting task moves to.

        The tasks of a site are asked about one by one, the one submitted last first.

        Args:
            task: the task that waits.
            here: its site as it is now; the task counts as waiting there.
            others: the sites that accept it, as they are now, with tasks on their way there in `sent`; there
                may be none.

        Returns:
            One of `others`; None if the task stays.
        """


@register("migration", "none")
@dataclass(frozen=True)
class Staying(Migration):
    """Tasks stay where they were pushed."""

    def choose(self, task: Job, here: SiteView, others: Sequence[SiteView]) -> SiteView | None:
        """Nowhere."""
        return None


@register("migration", "free-slots", source="RR-5576, section 10 (future work)")
@dataclass(frozen=True)
class ToFreeSlots(Migration):
    """A waiting task moves to the site with most slots free, where it need not wait."""

    def choose(self, task: Job, here: SiteView, others: Sequence[SiteView]) -> SiteView | None:
        """Only where all that waits or is on its way finds slots, and this task too."""

        def left(site: SiteView) -> int:
            return site.free - site.wanted - site.sent_slots

        best = max(others, key=left, default=None)
        return best if best is not None and left(best) >= task.processors else None


@register("migration", "shorter-queue", source="RR-5576, section 10 (future work)")
@dataclass(frozen=True)
class ToShorterQueue(Migration):
    """A waiting task moves to the site with the shortest queue, if that is shorter by more than a margin."""

    margin: float = parameter(
        1.0,
        help="by how much fewer tasks for each slot must wait there",
        unit="tasks per slot",
        low=0.0,
        high=5.0,
        minimum=0.0,
    )

    def choose(self, task: Job, here: SiteView, others: Sequence[SiteView]) -> SiteView | None:
        """By slots that waiting tasks need beyond those free, over the slots of the site."""

        def pressure(site: SiteView, more: int) -> float:
            return (site.wanted + site.sent_slots + more - site.free) / site.slots

        best = min(others, key=lambda site: pressure(site, task.processors), default=None)
        if best is None or pressure(best, task.processors) + self.margin >= pressure(here, 0):
            return None
        return best
