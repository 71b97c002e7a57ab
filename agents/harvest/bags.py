"""Bags of tasks: the best-effort work of campaigns, and how it is shared among them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Literal

from gridtune.model.job import DONE, Job

Sharing = Literal["fifo", "fair"]


class Bag:
    """The independent tasks of one campaign.

    Args:
        name: of the campaign.
        io_share: of its time that a task would spend on a shared file system if it were alone.
        weight: of the campaign where the harvest is shared.

    Attributes:
        tasks: jobs that nobody has submitted, or that were killed.
        open: jobs that are not done.
        at_sites: processors of jobs that wait or run at sites.
        held: processors that its jobs hold.
        received: slot-seconds that its jobs held.
        deserved: slot-seconds of an equal share of all that was harvested while it had work, as of the last
            time that it got work or ran out of it.
    """

    def __init__(self, name: str, io_share: float = 0.0, weight: float = 1.0) -> None:
        self.name = name
        self.io_share = io_share
        self.weight = weight
        self.tasks: deque[tuple[Job, float]] = deque()
        self.open = 0
        self.at_sites = 0
        self.received = 0.0
        self.deserved = 0.0
        self.since = 0.0  # share when it last got work


class Bags:
    """All bags of a grid, from which every harvester draws.

    At each moment the processors that harvested jobs hold are deserved in equal parts, or by weight, by
    the campaigns that have work: the fairness of RR-7959 (section 3.3) on the harvest alone.

    Args:
        clock: tells the time, s.
        sharing: `fifo` empties bag after bag; `fair` draws from the bag with the fewest processors at sites,
            relative to its weight.
    """

    def __init__(self, clock: Callable[[], float], sharing: Sharing = "fair") -> None:
        self.clock = clock
        self.sharing = sharing
        self.bags: dict[str, Bag] = {}
        self.left = 0
        self.completed = 0
        self.work = 0.0
        self._of: dict[int, tuple[Bag, float]] = {}
        self._share = 0.0
        self._held = 0
        self._weight = 0.0
        self._last = 0.0
        self._listeners: list[Callable[[], object]] = []

    def listen(self, listener: Callable[[], object]) -> None:
        """Have `listener` called whenever there is new work."""
        self._listeners.append(listener)

    def add(self, bag: Bag, job: Job, overhead: float) -> None:
        """Put a task into a bag; `overhead` s surround each of its executions."""
        self.bags.setdefault(bag.name, bag)
        if not bag.open:
            self._advance()
            bag.since = self._share
            self._weight += bag.weight
        bag.open += 1
        self._of[job.id] = (bag, overhead)
        bag.tasks.append((job, overhead))
        self._work_came()

    def left_of(self, name: str) -> int:
        """Tasks in the bag of one campaign."""
        return len(self.bags[name].tasks)

    def name_of(self, job: Job) -> str:
        """The bag of a job that is not done."""
        return self._of[job.id][0].name

    def take(self, name: str = "") -> tuple[Bag, Job, float]:
        """The next task to submit, its bag and its overhead in s; there must be one.

        Args:
            name: of the bag; by the rule of sharing if left out.
        """
        if name:
            bag = self.bags[name]
        elif self.sharing == "fifo":
            bag = next(bag for bag in self.bags.values() if bag.tasks)
        else:
            bag = min([bag for bag in self.bags.values() if bag.tasks], key=_load)
        job, overhead = bag.tasks.popleft()
        self.left -= 1
        bag.at_sites += job.processors
        return bag, job, overhead

    def started(self, job: Job) -> None:
        """A job holds processors from now on."""
        self._advance()
        self._held += job.processors

    def ended(self, job: Job, held_since: float) -> None:
        """A job that held processors since then (s) is done, or was killed and goes back to its bag."""
        now = self._advance()
        bag, overhead = self._of[job.id]
        self._held -= job.processors
        bag.at_sites -= job.processors
        bag.received += (now - held_since) * job.processors
        if job.state is DONE:
            self.completed += 1
            self.work += job.work
            bag.open -= 1
            del self._of[job.id]
            if not bag.open:
                bag.deserved += bag.weight * (self._share - bag.since)
                self._weight -= bag.weight
        else:
            # First in its bag: it has waited longest.
            bag.tasks.appendleft((job, overhead))
            self._work_came()

    @property
    def unfairness(self) -> float:
        """Largest minus least satisfaction of campaigns so far; 0 with fewer than two."""
        satisfactions = [
            bag.received / deserved for bag in self.bags.values() if (deserved := self._deserved(bag)) > 0
        ]
        return max(satisfactions) - min(satisfactions) if satisfactions else 0.0

    def _deserved(self, bag: Bag) -> float:
        """Slot-seconds that a campaign deserves by now. To read them changes nothing."""
        if not bag.open:
            return bag.deserved
        return bag.deserved + bag.weight * (self._share_at(self.clock()) - bag.since)

    def _work_came(self) -> None:
        self.left += 1
        for listener in self._listeners:
            listener()

    def _advance(self) -> float:
        """Share until now; the time, s."""
        now = self.clock()
        self._share = self._share_at(now)
        self._last = now
        return now

    def _share_at(self, time: float) -> float:
        passed = time - self._last
        return self._share + self._held * passed / self._weight if self._weight > 0 else self._share


def _load(bag: Bag) -> float:
    return bag.at_sites / bag.weight
