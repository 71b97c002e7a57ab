"""The dispatcher of a portal: many users' streams of short jobs over the slots granted to it (DRes)."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

import mesa

from gridtune.agents.wms.vres_site import VresSite
from gridtune.model.agenda import DECISION
from gridtune.model.grid import Grid
from gridtune.model.job import QUEUED, Job
from gridtune.model.metrics.registry import define
from gridtune.model.policy import misjudged
from gridtune.model.wms.arbitration import Arbitration, Claimant

define("portal_refused", "offers", "minimize", "jobs of a portal for which sites had no slot at that moment")


class _Account:
    """A user at the portal."""

    __slots__ = ("charged", "in_flight", "queue", "since", "total", "weight")

    def __init__(self, weight: float, now: float) -> None:
        self.weight = weight
        self.since = now
        self.charged = 0.0
        self.total = 0.0
        self.in_flight: dict[int, float] = {}
        self.queue: deque[Job] = deque()


class Portal(mesa.Agent):
    """Arbitrates inside the bandwidth of short deadline jobs (Responsive Grids, section 3.3).

    Args:
        grid: where it lives.
        sites: at which it may use slots.
        arbitration: decides whose job is next.
        slots: processors that its jobs may hold at the sites at once.
        weights: by user or group; 1 for whom it does not name.
        retry: s after which it tries again when the sites had no slot.
    """

    def __init__(
        self,
        grid: Grid,
        sites: Sequence[VresSite],
        arbitration: Arbitration,
        slots: int,
        weights: Mapping[str, float],
        retry: float,
    ) -> None:
        super().__init__(grid)
        self.grid = grid
        self.sites = sites
        self.arbitration = arbitration
        self.slots = slots
        self.weights = weights
        self.retry = retry
        self.accounts: dict[str, _Account] = {}
        self.in_flight = 0
        self._trying_again = False
        self._serving = False
        for counter in ("portal_refused", "refused"):
            grid.record.counters[counter] += 0

    def submit(self, job: Job) -> None:
        """Take a job in; one that no site could ever run is rejected at once."""
        if job.processors > max(1, self.slots) or not any(site.suits(job) for site in self.sites):
            self.grid.record.counters["refused"] += 1
            job.reject(self.grid.now)
            return
        account = self.accounts.get(job.user)
        if account is None:
            weight = self.weights.get(job.user, self.weights.get(job.group, 1.0))
            account = self.accounts[job.user] = _Account(weight, self.grid.now)
        elif not account.queue and not account.in_flight:
            # Who was away neither saves up nor owes.
            account.since, account.charged = self.grid.now, 0.0
        self._enter(account.queue, job)
        self._serve(None)

    def _enter(self, queue: deque[Job], job: Job) -> None:
        """A job takes its place behind those that go before it, or came before it."""
        precedence = self.arbitration.precedence
        place, rank = len(queue), (precedence(job), job.submit)
        while place and (precedence(queue[place - 1]), queue[place - 1].submit) > rank:
            place -= 1
        queue.insert(place, job)

    def granted(self) -> dict[str, float]:
        """Slot-seconds that each user's completed jobs have held."""
        return {user: account.total for user, account in self.accounts.items()}

    def _serve(self, _: object) -> None:
        """Give granted slots to waiting jobs."""
        if self._serving:
            return
        self._serving = True
        while self.in_flight < self.slots and any(account.queue for account in self.accounts.values()):
            if not self._send():
                break
        self._serving = False

    def _send(self) -> bool:
        """Send the job whose turn it is; whether a site had a slot."""
        now = self.grid.now
        waiting = [(user, account) for user, account in self.accounts.items() if account.queue]
        claimants = [
            Claimant(
                *(user, account.weight, account.since, account.charged),
                *(account.queue[0].submit, account.queue[0].deadline),
            )
            for user, account in waiting
        ]
        total = sum(
            account.weight for account in self.accounts.values() if account.queue or account.in_flight
        )
        chosen = self.arbitration.choose(claimants, total, self.slots, now)
        if not 0 <= chosen < len(waiting):
            raise misjudged(self.arbitration, "chooses none of those who wait")
        _, account = waiting[chosen]
        job = account.queue[0]
        if self.in_flight + job.processors > self.slots:
            return False  # it waits for its slots, and nobody overtakes it
        quantum = self.arbitration.quantum * job.processors
        # It counts as in flight before it is offered: it may end within the offer.
        account.queue.popleft()
        account.in_flight[job.id] = now
        account.charged += quantum
        self.in_flight += job.processors
        if any(site.offer(job, self._ended) for site in self.sites):
            return True
        account.queue.appendleft(job)
        del account.in_flight[job.id]
        account.charged -= quantum
        self.in_flight -= job.processors
        self.grid.record.counters["portal_refused"] += 1
        if not self._trying_again:
            self._trying_again = True
            self.grid.agenda.after(self.retry, self._again, None, DECISION)
        return False

    def _again(self, _: object) -> None:
        self._trying_again = False
        self._serve(None)

    def _ended(self, job: Job) -> None:
        """A job has ended, or has lost its slot with a node and waits again."""
        account = self.accounts[job.user]
        if job.state is QUEUED:
            self._enter(account.queue, job)
        held = (self.grid.now - account.in_flight.pop(job.id)) * job.processors
        # The quantum was charged in advance; what counts is what was held.
        account.charged += held - self.arbitration.quantum * job.processors
        account.total += held
        self.in_flight -= job.processors
        self._serve(None)
