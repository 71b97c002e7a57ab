"""Leases: servers that stand on nodes of a batch site for a time, as jobs of the site among all others."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import mesa

from gridtune.agents.batch.batch_site import BatchSite
from gridtune.agents.gridrpc.sed import SeD
from gridtune.model.agenda import DECISION
from gridtune.model.grid import Grid
from gridtune.model.gridrpc.pooling import Each, Pool
from gridtune.model.job import CREATED, QUEUED, RUNNING, Job
from gridtune.model.metrics.registry import define

define("leases", "leases", "minimize", "leases of nodes that servers asked sites for")
define("leases_moved", "leases", "minimize", "leases that were asked for at another site after a wait")
define("lease_work", "s", "minimize", "slot-seconds of leases, start-up included", 1.0)
define("lease_idle", "s", "minimize", "slot-seconds of leases in which their server executed nothing", 1.0)


class LeaseHabits(NamedTuple):
    """How a server asks for nodes.

    Attributes:
        length: s of a lease.
        startup: s from the start of a lease until its server works.
        idle: s without requests after which a lease is given back; a request makes the server ask again.
        patience: s that a lease may wait at a site before another one is asked.
    """

    length: float = inf
    startup: float = 0.0
    idle: float = inf
    patience: float = inf


class LeasePool:
    """The leases of a group of servers, of which a policy says how many there are.

    Args:
        policy: of the group.

    Attributes:
        leases: of all its servers.
        short: whether requests wait at servers that are to have no lease yet.
    """

    def __init__(self, policy: Pool = Each()) -> None:  # noqa: B008 (immutable)
        self.policy = policy
        self.leases: list[Lease] = []
        self.short = False

    @property
    def present(self) -> int:
        """Leases that are held or asked for."""
        return sum(lease.job is not None for lease in self.leases)

    def review(self) -> None:
        """Have servers ask for as many leases as there should be; where most requests wait first."""
        waiting = sum(len(lease.server.queue) for lease in self.leases)
        without = [lease for lease in self.leases if lease.job is None and lease.server.busy]
        room = max(0, self.policy.wanted(waiting, len(self.leases)) - self.present)
        self.short = len(without) > room
        for lease in sorted(without, key=lambda lease: -len(lease.server.queue))[:room]:
            lease.ask()


class Lease(mesa.Agent):
    """Where one server stands: a placeholder at a site, renewed when it is over for as long as there is work.

    What executes when a lease ends is interrupted, and waits for the next. To the site a lease is a job of
    one processor that promises its length: best-effort jobs make way for it, other jobs wait with it.

    Args:
        grid: where it lives.
        server: that stands there.
        sites: whose nodes; the first is asked first, the next ones in turn where patience ends.
        habits: how long leases are, and when they are given back.
        pool: to which it belongs.

    Attributes:
        up: whether the server can execute requests.
        job: the present placeholder, if any.
    """

    def __init__(
        self, grid: Grid, server: SeD, sites: Sequence[BatchSite], habits: LeaseHabits, pool: LeasePool
    ) -> None:
        super().__init__(grid)
        self.grid = grid
        self.server = server
        self.sites = sites
        self._settle(sites[0])
        self.habits = habits
        self.pool = pool
        pool.leases.append(self)
        self.up = False
        self.job: Job | None = None
        self._held = 0.0
        self._idle_since: float | None = None
        server.place = self
        grid.add_slots(-1, server.speed)  # the slot is the site's
        grid.record.counters["leases"] += 0
        if habits.patience < inf:
            grid.record.counters["leases_moved"] += 0
        if self._keeps:
            grid.agenda.at(0.0, self._begin, None, DECISION)

    @property
    def held(self) -> float:
        """Slot-seconds of leases so far."""
        job = self.job
        return self._held + (self.grid.now - job.start if job is not None and job.state is RUNNING else 0.0)

    def wanted(self) -> None:
        """There are requests for the server, which does not work."""
        if self.job is None:
            self.pool.review()

    def used(self) -> None:
        """The server has something to do."""
        self._idle_since = None
        if self.pool.short:
            self.pool.review()

    def unused(self) -> None:
        """The server has nothing to do: give the lease back if that lasts, or at once if others want one."""
        idle = 0.0 if self.pool.short else self.habits.idle
        if idle < inf and (self._idle_since is None or idle == 0):
            self._idle_since = self.grid.now
            self.grid.agenda.poll(self.grid.now + idle, self._give_back, self._idle_since, DECISION)

    @property
    def _keeps(self) -> bool:
        """Whether leases are asked for though there is nothing to do."""
        return self.habits.idle == inf or self.pool.policy.kept() > 0

    def _settle(self, site: BatchSite) -> None:
        """From now on that site is asked, and data of requests go there."""
        self.site = site
        self.server.way = site.way

    def _begin(self, _: object) -> None:
        if self.job is None and self.pool.present < self.pool.policy.wanted(0, len(self.pool.leases)):
            self.ask()

    def ask(self) -> None:
        """Ask the site for a lease."""
        agenda = self.grid.agenda
        promised = min(self.habits.length, max(queue.max_runtime for queue in self.site.cluster.queues))
        self.job = self.grid.record.placeholder("lease", agenda.now, promised * self.site.pace, kind="lease")
        self.grid.record.counters["leases"] += 1
        self.site.submit(self.job, self._ended, self._started)
        if self.habits.patience < inf and len(self.sites) > 1:
            agenda.poll(agenda.now + self.habits.patience, self._move, self.job, DECISION)

    def _move(self, job: Job) -> None:
        """Ask the next site if a lease still waits."""
        if job is self.job and job.state in (CREATED, QUEUED) and self.grid.agenda.busy:
            self.grid.record.counters["leases_moved"] += 1
            self.job = None
            self.site.cancel(job)
            self._settle(self.sites[(self.sites.index(self.site) + 1) % len(self.sites)])
            self.ask()

    def _started(self, job: Job, _: float) -> None:
        if job is not self.job:
            self._at(job).withdraw(job)  # the site has not heard yet that another one was asked
            return
        if self.habits.length < inf:
            self.grid.agenda.poll(self.grid.now + self.habits.length, self._over, job, DECISION)
        if self.habits.startup > 0:
            self.grid.agenda.after(self.habits.startup, self._works, job, DECISION)
        else:
            self._works(job)

    def _at(self, job: Job) -> BatchSite:
        return next(site for site in self.sites if site.name == job.site)

    def _works(self, job: Job) -> None:
        if job is self.job and job.state is RUNNING:
            self.up = True
            self.server.stand_up(self.site.executions.timer)

    def _over(self, job: Job) -> None:
        """The time of a lease is up."""
        if job is self.job and job.state is RUNNING:
            self.site.finish(job)

    def _give_back(self, since: float) -> None:
        if since != self._idle_since or self.job is None or self.job.state is not RUNNING:
            return
        if self.pool.short or self.pool.present > self.pool.policy.kept():
            self.site.finish(self.job)

    def _ended(self, job: Job) -> None:
        """The site has the processor back: lease over, node lost, or never given."""
        if job.start == job.start:
            self._held += self.grid.now - job.start
        if job is not self.job:
            return
        self.job = None
        self._settle(self.sites[0])
        self._idle_since = None
        if self.up:
            self.up = False
            self.server.fall()
        # Leases keep no run from ending: without requests only other events are waited for.
        if job.start != job.start:
            return
        self.pool.review()
        if self._keeps and self.grid.agenda.busy:
            self._begin(None)


def measure(grid: Grid, leases: list[Lease]) -> None:
    """Have what leases cost measured at the end of the run."""

    grid.record.measure("lease_work", lambda: sum(lease.held for lease in leases))
    grid.record.measure(
        "lease_idle", lambda: sum(lease.held - lease.server.executed_by(grid.now) for lease in leases)
    )
