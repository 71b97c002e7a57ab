"""Modes of pilots: whether one that has done a task asks for another, and what it gets beside others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from gridtune.model.job import Job
from gridtune.model.middleware.matching import Matching, Resource, TaskQueues

Mode = Literal["run-once", "filling"]


@dataclass(frozen=True, slots=True)
class PilotMode:
    """How long a pilot goes on (RR-5576, section 7).

    Attributes:
        mode: `run-once` ends after one task, `filling` goes on while time is left.
        longest: work that a further task may take, in the unit of run times (NCU, or s at speed 1); 0
            leaves it to the match-maker to find one that fits.
    """

    mode: Mode = "run-once"
    longest: float = 0.0

    @property
    def alone(self) -> bool:
        """Whether a pilot runs one task only."""
        return self.mode == "run-once"

    def goes_on(self, elapsed: float, lifetime: float, speed: float) -> bool:
        """Whether a pilot asks again, `elapsed` s into its `lifetime` (s) on a node of that speed."""
        return self.mode == "filling" and elapsed + self.longest / speed < lifetime


class PilotSlots(NamedTuple):
    """What a pilot of several slots tells when it asks for a task that fits into its free ones.

    Attributes:
        slots: of the pilot.
        shadow: s within which all tasks that it runs promise to end.
        alone: whether it runs one task only: a run-once pilot.
    """

    slots: int
    shadow: float
    alone: bool

    def task(self, matching: Matching, queues: TaskQueues, resource: Resource) -> Job | None:
        """The waiting task that the pilot gets, if any; it stays in its queue.

        1. A pilot with all slots free gets a task that needs them all, if one waits.
        2. Else a run-once pilot gets nothing (it would hold slots in vain), a filling pilot any task that
           fits into its free slots and its time.
        3. But while a task waits that would fit if all its slots were free, it gets only what promises to end
           before the tasks that it runs do. So it comes free for the wide task, and narrow ones starve none.

        Args:
            matching: decides among the tasks that fit.
            queues: where tasks wait.
            resource: the free slots of the pilot, and the time that is left to it.
        """
        if not len(queues):
            return None
        if resource.processors == self.slots:
            task = matching.match(queues, resource._replace(least=self.slots))
            if task is not None or self.alone:
                return task
        elif self._keeps_others_waiting(matching, queues, resource):
            resource = resource._replace(time=min(resource.time, self.shadow))
        return matching.match(queues, resource)

    def _keeps_others_waiting(self, matching: Matching, queues: TaskQueues, resource: Resource) -> bool:
        free = int(resource.processors)
        if not queues.any_wider(free, self.slots):
            return False
        whole = resource._replace(processors=self.slots, least=free + 1)
        return matching.match(queues, whole) is not None
