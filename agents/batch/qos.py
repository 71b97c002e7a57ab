"""Preemption by QOS: jobs of a higher class take the processors of running jobs of lower ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, nextafter
from typing import Literal

from gridtune.agents.batch.batch_site import BatchSite
from gridtune.agents.batch.interruptions import leaves_at, pause, planned_end, preempt, running_jobs
from gridtune.agents.batch.suspension import Suspensions
from gridtune.model.agenda import COMPLETION
from gridtune.model.batch.cluster import PROCESSORS
from gridtune.model.batch.holds import KEYS, Hold
from gridtune.model.batch.planning.profile import Profile
from gridtune.model.job import QUEUED, RUNNING, Job
from gridtune.model.metrics.registry import define
from gridtune.model.record import Record

define("preemptions", "preemptions", "minimize", "executions that made way for jobs of a higher QOS")
define("preempted_jobs", "jobs", "minimize", "jobs lost because they made way")

Mode = Literal["requeue", "cancel", "checkpoint", "suspend"]


@dataclass(frozen=True)
class Terms:
    """How jobs make way for those of a higher QOS.

    Attributes:
        mode: what becomes of them: they run again from their beginning (`requeue`), are lost (`cancel`), go
            on from where they were once it is their turn again (`checkpoint`), or stay in memory and go on
            when their slots are free again (`suspend`).
        levels: of QOS by name, or of the kinds of other jobs, 0 for all else; jobs of higher ones take the
            processors of those of lower ones.
        express: s; jobs that promise to run so long at most are 1 level higher.
        grace: s from the notice to the end of the execution; a job that ends meanwhile is not preempted.
        exempt: s that a job runs before it can be preempted.
        victims: which of the lowest QOS goes first.
        checkpoint: s after the notice that a checkpoint takes, without progress; the job leaves then.
        restart: s without progress that going on from a checkpoint takes.
    """

    mode: Mode = "requeue"
    levels: Mapping[str, float] = field(default_factory=dict)
    grace: float = 0.0
    exempt: float = 0.0
    victims: Literal["youngest", "oldest"] = "youngest"
    checkpoint: float = 0.0
    restart: float = 0.0
    express: float = 0.0

    @property
    def lowest(self) -> float:
        """The lowest QOS that a job can have."""
        return min([0.0, *self.levels.values()])

    def level(self, job: Job, promised: float) -> float:
        """The level of a job that promised to run so long (s) when it came."""
        return job.level(self.levels) + (0 < self.express >= promised)


class QosPreemption:
    """Makes room for waiting jobs of a site, the highest QOS first, in the order of their queues.

    It is asked at the end of each scheduling round, about jobs that the policy has not started and that have
    a higher QOS than some other job of the site, which waits or runs. A job takes what is free first, then
    what as few running jobs as need be hold: the lowest QOS first, of these the youngest (or oldest). Its
    processors are kept for it until all of them are free; other resources cannot be kept, so where there are
    any, jobs make way at once. A job that cannot get enough this way lets nobody of its QOS or a lower one
    preempt in that round. Jobs in reservations and on nodes that are drained are let be, and reservations
    ahead get what they need.

    Args:
        site: whose jobs.
        terms: how they make way.
    """

    def __init__(self, site: BatchSite, terms: Terms) -> None:
        self.site = site
        self.terms = terms
        self._claims: list[tuple[Job, Hold]] = []
        self._leaving: set[tuple[int, int]] = set()  # jobs and their kills so far
        self._again: tuple[float, int] | None = None  # s, when it wants to be asked, and the event
        self._keys = KEYS << 1
        self._suspensions = Suspensions(site, self.level) if terms.mode == "suspend" else None
        site.qos = self

    def level(self, job: Job) -> float:
        """The QOS of a job, which does not change when it is interrupted and promises the rest only."""
        resumed = self.site.executions.resumed.get(job.id)
        return self.terms.level(job, job.estimate if resumed is None else resumed[2])

    def consider(self) -> None:
        """Have running jobs make way for those that still wait."""
        self.settle()
        cluster, level, least = self.site.cluster, self.level, self.terms.lowest
        if not any(level(job) > least for jobs in cluster.lanes.values() for job in jobs.values()):
            self._look_at(inf)  # nobody has a higher QOS than somebody else
            return
        claimed = {job.id for job, _ in self._claims}
        order = [(job, level(job)) for job in cluster.in_order()]
        others = [
            *running_jobs(self.site),
            *(self._suspensions.jobs if self._suspensions is not None else ()),
        ]
        lowest = min([*(own for _, own in order), *map(level, others)], default=inf) if order else inf
        waiting = [job for job, own in order if own > lowest and job.id not in claimed]
        again, blocked = inf, set[str]()
        for job in sorted(waiting, key=level, reverse=True):
            pool = cluster.queue_of(job).pool
            if pool not in blocked and not self._make_way(job):  # nobody passes it, but in other partitions
                again = min(again, self._next_preemptable(job))
                blocked.add(pool)
        self._look_at(again)

    def settle(self) -> None:
        """Start those for whom there is room now, and forget those who wait no longer."""
        site = self.site
        if self._suspensions is not None:
            self._suspensions.settle()
        for claim in list(self._claims):
            job, hold = claim
            if claim not in self._claims:
                continue
            if job.state is not QUEUED or job not in site.cluster:
                self._claims.remove(claim)
                self._close(hold)
            elif hold.idle >= job.processors and site.cluster.has_units_for([job]):
                self._claims.remove(claim)
                site.start(job, hold)
                self._close(hold)

    def drop_claim(self) -> bool:
        """Give back what is kept for the last job that waits for others to leave, if there is one."""
        if not self._claims:
            return False
        _, hold = self._claims.pop()
        self._close(hold)
        return True

    def _next_preemptable(self, job: Job) -> float:
        """When one more of the jobs below this one can be preempted, s; infinite for never."""
        now, level = self.site.grid.now, self.level(job)
        able = (self._spared_until(one) for one in running_jobs(self.site) if self.level(one) < level)
        return min((time for time in able if time > now), default=inf)

    def _look_at(self, again: float) -> None:
        """Have a round at that time, s, and at no other that was asked for before; infinite for none."""
        agenda = self.site.grid.agenda
        if self._again is not None:
            if self._again[0] == again:
                return
            agenda.cancel(self._again[1])
        self._again = (again, agenda.at(again, self._look, None, COMPLETION)) if again < inf else None

    def _spared_until(self, job: Job) -> float:
        """When a running job can be preempted, s."""
        return job.start + self.terms.exempt

    def _look(self, _: object) -> None:
        self._again = None
        self.site.processors_returned()

    def _make_way(self, job: Job) -> bool:
        """Keep processors for a job, and have others leave them; whether there are enough."""
        site, cluster, now = self.site, self.site.cluster, self.site.grid.now
        missing = cluster.missing_for(job)
        if self._suspensions is not None:
            missing[PROCESSORS] = missing.get(PROCESSORS, 0) - self._suspensions.idle_below(job)
        victims = self._victims(job, missing)
        if victims is None:
            return False
        if self._suspensions is not None:
            site.grid.record.counters["preemptions"] += len(victims)
            self._suspensions.displace(job, victims)
            return True
        leave = now + self._notice
        # With no promise of its own it still ends after those that leave for it.
        until = max(leave + cluster.duration(job), nextafter(leave, inf))
        self._keys -= 1
        hold = Hold(self._keys, until)
        self._claims.append((job, hold))
        room = min(cluster.free, job.processors)
        if room:
            cluster.keep(hold, room)
        wanted = job.processors - room
        for victim in victims:
            leaves_at(site, victim, leave)
            if taken := min(wanted, victim.processors):
                cluster.claim(hold, victim, leave, taken)
                wanted -= taken
        for victim in victims:  # once all are claimed: what they leave may start others
            self._tell(victim, leave)
        if site.best_effort is not None:
            site.best_effort.make_room(0)
        self.settle()
        return True

    @property
    def _notice(self) -> float:
        """s from the notice to the end of an execution."""
        return self.terms.checkpoint if self.terms.mode == "checkpoint" else self.terms.grace

    def _victims(self, job: Job, missing: Mapping[str, int]) -> Sequence[Job] | None:
        """The jobs that make way for what a job is missing, by name; None if there are not enough."""
        site, terms, now = self.site, self.terms, self.site.grid.now
        left = {name: units for name, units in missing.items() if units > 0}
        if not left and self._beside_windows(job, ()):
            return ()
        able = [
            one
            for one in running_jobs(site)
            if self.level(one) < self.level(job)
            and one.state is RUNNING
            and one.runtime < inf
            and self._spared_until(one) <= now
            and (one.id, one.kills) not in self._leaving
            and (self._suspensions is not None or not site.cluster.borrows(one))
            and not site.nodes.any_out(site.executions[one.id].placement)
        ]
        sign = -1.0 if terms.victims == "youngest" else 1.0
        able.sort(key=lambda one: (self.level(one), sign * one.start, sign * one.id))
        chosen: list[Job] = []

        def enough() -> bool:
            return max(left.values(), default=0) <= 0 and self._beside_windows(job, chosen)

        for one in able:
            if enough():
                break
            chosen.append(one)
            _change(left, site.cluster.held_by(one), -1)
        if not enough():
            return None
        for one in list(chosen):
            _change(left, site.cluster.held_by(one), 1)
            chosen.remove(one)
            if not enough():
                _change(left, site.cluster.held_by(one), -1)
                chosen.append(one)
        return chosen

    def _beside_windows(self, job: Job, victims: Sequence[Job]) -> bool:
        """Whether a job that starts once some others have left lets reservations have their processors."""
        cluster, start = self.site.cluster, self.site.grid.now + (self._notice if victims else 0.0)
        if not cluster.windows:
            return True
        gone = {victim.id for victim in victims}
        ends = sorted((start if key in gone else time, count) for time, key, count in cluster.ends)
        profile = Profile(start, cluster.free, ends, cluster.windows)
        return profile.place(job.processors, cluster.duration(job), nextafter(start, inf)) < inf

    def _tell(self, victim: Job, leave: float) -> None:
        """A job has to leave at a time (s)."""
        if self.terms.mode == "checkpoint":
            pause(self.site, victim)
        if leave > self.site.grid.now:
            self._leaving.add((victim.id, victim.kills))
            self.site.grid.agenda.at(leave, self._time_is_up, (victim, victim.kills), COMPLETION)
        else:
            self._end(victim)

    def _time_is_up(self, notice: tuple[Job, int]) -> None:
        victim, kills = notice
        self._leaving.discard((victim.id, kills))
        if victim.state is RUNNING and victim.kills == kills:
            self._end(victim)

    def _end(self, victim: Job) -> None:
        """End an execution: its processors go to whom they are kept for."""
        counters = self.site.grid.record.counters
        counters["preemptions"] += 1
        counters["preempted_jobs"] += self.terms.mode == "cancel"
        preempt(self.site, victim, self.terms.mode, self.terms.restart)

    def _close(self, hold: Hold) -> None:
        site = self.site
        site.cluster.free_hold(hold, {job: planned_end(site, job) for job in hold.lent})


def _change(left: dict[str, int], held: Mapping[str, int], sign: int) -> None:
    """Add what a job holds to what is left of some needs, or take it off."""
    for name in left:
        left[name] += sign * held.get(name, 0)


def count_preemptions(record: Record) -> None:
    """Measure what jobs of a higher QOS do to others, even where it turns out to be nothing."""
    for counter in ("preemptions", "preempted_jobs"):
        record.counters[counter] += 0
