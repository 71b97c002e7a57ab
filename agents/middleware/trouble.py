"""What a middleware makes of failures: tasks are tried again, sites get no more tasks for a time."""

from __future__ import annotations

from collections import Counter

from gridtune.agents.batch.services import Delay, no_delay
from gridtune.model.grid import Grid
from gridtune.model.job import Job
from gridtune.model.metrics.registry import define
from gridtune.model.middleware.retrying import Blacklist, Never, Retry, Trusting, pause_after
from gridtune.model.policy import misjudged

define("retried", "tries", "minimize", "tasks that a middleware tried again after a failure")
define("lost_on_the_way", "tasks", "minimize", "tasks that were lost between the middleware and a site")
define("shunned", "times", "minimize", "times that a middleware put a site on its blacklist")


class Trouble:
    """Failures as a middleware sees them.

    Args:
        grid: where it works.
        retry: decides whether a failed task is tried again.
        blacklist: decides when a site is shunned.
        loss: probability that a task is lost on its way to a site.
        detection: s from a failure or loss until the middleware hears of it, drawn for each.
    """

    def __init__(
        self,
        grid: Grid,
        retry: Retry = Never(),  # noqa: B008 (immutable)
        blacklist: Blacklist = Trusting(),  # noqa: B008 (immutable)
        loss: float = 0.0,
        detection: Delay = no_delay,
    ) -> None:
        self.grid = grid
        self.retry = retry
        self.blacklist = blacklist
        self.loss = loss
        self.detection = detection
        self._failed: Counter[int] = Counter()  # by task
        self._failures: dict[str, list[float]] = {}  # by site
        self._shunned: dict[str, float] = {}  # sites, and until when, s
        self._rng = grid.streams.stream("middleware:loss")
        self._counters = grid.record.counters
        if not isinstance(retry, Never) or not self.trusting or loss:
            for counter in ("retried", "lost_on_the_way", "shunned"):
                self._counters[counter] += 0

    @property
    def trusting(self) -> bool:
        """Whether no site is ever shunned."""
        return isinstance(self.blacklist, Trusting)

    @property
    def shunning(self) -> bool:
        """Whether any site has been shunned so far."""
        return bool(self._shunned)

    def loses(self) -> bool:
        """Whether the task that is sent now is lost on its way."""
        if not self.loss or self._rng.random() >= self.loss:
            return False
        self._counters["lost_on_the_way"] += 1
        return True

    def wait(self, task: Job) -> float | None:
        """Seconds from a failure of a task until it is tried again; None if it is given up."""
        self._failed[task.id] += 1
        wait = pause_after(self.retry, self._failed[task.id])
        if wait is None:
            return None
        self._counters["retried"] += 1
        return wait

    def note(self, site: str) -> None:
        """Something has failed at a site."""
        now = self.grid.now
        failures = self._failures.setdefault(site, [])
        failures.append(now)
        period = self.blacklist.shun(failures, now)
        if not period >= 0:
            raise misjudged(self.blacklist, f"shuns a site for {period} s")
        if period > 0:
            self._shunned[site] = now + period
            failures.clear()
            self._counters["shunned"] += 1

    def shuns(self, site: str) -> bool:
        """Whether a site is on the blacklist."""
        return bool(self._shunned) and self._shunned.get(site, 0.0) > self.grid.now
