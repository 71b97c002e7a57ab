"""Leases: servers that stand on nodes of a batch site for a time, as jobs of the site among all others."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import mesa

from gridtune.agents.batch.batch_site import BatchSite
from gridtune.agents.gridrpc.sed import SeD
from gridtune.model.agenda import DECISION
from gridtune.model.grid import Grid
from gridtune.model.job import RUNNING, Job
from gridtune.model.metrics.registry import define

define("leases", "leases", "minimize", "leases of nodes that servers asked sites for")
define("lease_work", "s", "minimize", "slot-seconds of leases, start-up included", 1.0)
define("lease_idle", "s", "minimize", "slot-seconds of leases in which their server executed nothing", 1.0)


class LeaseHabits(NamedTuple):
    """How a server asks for nodes.

    Attributes:
        length: s of a lease.
        startup: s from the start of a lease until its server works.
        idle: s without requests after which a lease is given back; a request makes the server ask again.
    """

    length: float = inf
    startup: float = 0.0
    idle: float = inf


class Lease(mesa.Agent):
    """Where one server stands: a placeholder at a site, renewed when it is over for as long as there is work.

    What executes when a lease ends is interrupted, and waits for the next. To the site a lease is a job of
    one processor that promises its length: best-effort jobs make way for it, other jobs wait with it.

    Args:
        grid: where it lives.
        server: that stands there.
        site: whose nodes.
        habits: how long leases are, and when they are given back.

    Attributes:
        up: whether the server can execute requests.
        job: the present placeholder, if any.
    """

    def __init__(self, grid: Grid, server: SeD, site: BatchSite, habits: LeaseHabits) -> None:
        super().__init__(grid)
        self.grid = grid
        self.server = server
        self.site = site
        self.habits = habits
        self.up = False
        self.job: Job | None = None
        self._held = 0.0
        self._idle_since: float | None = None
        server.place = self
        grid.add_slots(-1, server.speed)  # the slot is the site's
        grid.record.counters["leases"] += 0
        if habits.idle == inf:
            grid.agenda.at(0.0, self._ask, None, DECISION)

    @property
    def held(self) -> float:
        """Slot-seconds of leases so far."""
        job = self.job
        return self._held + (self.grid.now - job.start if job is not None and job.state is RUNNING else 0.0)

    def wanted(self) -> None:
        """There are requests for the server, which does not work."""
        if self.job is None:
            self._ask(None)

    def used(self) -> None:
        """The server has something to do."""
        self._idle_since = None

    def unused(self) -> None:
        """The server has nothing to do: give the lease back if that lasts."""
        if self._idle_since is None and self.habits.idle < inf:
            self._idle_since = self.grid.now
            self.grid.agenda.poll(
                self.grid.now + self.habits.idle, self._give_back, self._idle_since, DECISION
            )

    def _ask(self, _: object) -> None:
        agenda = self.grid.agenda
        promised = min(self.habits.length, max(queue.max_runtime for queue in self.site.cluster.queues))
        self.job = self.grid.record.placeholder("lease", agenda.now, promised * self.site.pace, kind="lease")
        self.grid.record.counters["leases"] += 1
        self.site.submit(self.job, self._ended, self._started)

    def _started(self, job: Job, _: float) -> None:
        if self.habits.length < inf:
            self.grid.agenda.poll(self.grid.now + self.habits.length, self._over, job, DECISION)
        if self.habits.startup > 0:
            self.grid.agenda.after(self.habits.startup, self._works, job, DECISION)
        else:
            self._works(job)

    def _works(self, job: Job) -> None:
        if job is self.job and job.state is RUNNING:
            self.up = True
            self.server.stand_up(self.site.timer)

    def _over(self, job: Job) -> None:
        """The time of a lease is up."""
        if job is self.job and job.state is RUNNING:
            self.site.finish(job)

    def _give_back(self, since: float) -> None:
        if since == self._idle_since and self.job is not None and self.job.state is RUNNING:
            self.site.finish(self.job)

    def _ended(self, job: Job) -> None:
        """The site has the processor back: lease over, node lost, or never given."""
        if job.start == job.start:
            self._held += self.grid.now - job.start
        self.job = None
        self._idle_since = None
        if self.up:
            self.up = False
            self.server.fall()
        # Leases keep no run from ending: without requests only what else happens is worth waiting for.
        refused = job.start != job.start
        if not refused and (self.server.busy or (self.habits.idle == inf and self.grid.agenda.busy)):
            self._ask(None)


def measure(grid: Grid, leases: list[Lease]) -> None:
    """Have what leases cost measured at the end of the run."""

    def executed() -> float:
        return sum(lease.server.executed for lease in leases)

    grid.record.measure("lease_work", lambda: sum(lease.held for lease in leases))
    grid.record.measure("lease_idle", lambda: sum(lease.held for lease in leases) - executed())
