"""Preemption by QOS: jobs of a higher class take the processors of running jobs of lower ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, nextafter
from typing import Literal

from gridtune.agents.batch.batch_site import BatchSite
from gridtune.agents.batch.interruptions import leaves_at, pause, planned_end, preempt, running_jobs
from gridtune.agents.batch.suspension import Suspensions
from gridtune.model.agenda import COMPLETION
from gridtune.model.batch.cluster import PROCESSORS, Cluster
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
    """Schedules each QOS of a site as if there were no lower one, the highest first.

    In each scheduling round, the policy of the site is asked for each QOS apart: it sees the waiting jobs of
    that QOS, and the processors of running jobs of lower ones as free, once these can be preempted. A job
    that it chooses takes what is free first, then what as few running jobs as need be hold: the lowest QOS
    first, of these the youngest (or oldest). Its processors are kept for it until all of them are free; other
    resources cannot be kept, so where there are any, jobs make way at once. Jobs in reservations and on nodes
    that are drained are let be, and reservations ahead get what they need.

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
        self._levels: dict[int, float] = {}  # by job, from when it first waits: later it may promise less
        self._suspensions = Suspensions(site, self.level) if terms.mode == "suspend" else None
        site.qos = self

    def level(self, job: Job) -> float:
        """The QOS of a job, which does not change when it is interrupted and promises the rest only."""
        known = self._levels.get(job.id)
        if known is None:
            known = self._levels[job.id] = self.terms.level(job, job.estimate)
        return known

    def consider(self) -> bool:
        """Start jobs of a higher QOS than others, which make way; whether any has got processors."""
        self.settle()
        site, again, changed = self.site, inf, False
        higher = self._higher()
        while higher:
            level = max(higher)
            chosen = site.scheduler.choose(self._seen(level, higher[level]))
            if sum(map(self._make_way, chosen)):
                changed, higher = True, self._higher()
            if level in higher:
                again = min(again, self._next_preemptable(level))
            higher = {lower: jobs for lower, jobs in higher.items() if lower < level}
        self._look_at(again)
        if changed:  # plans may be made with jobs that wait no longer
            site.cluster.disturbed = site.cluster.shuffled = True
        return changed

    def lowest(self) -> Cluster:
        """The site as its policy sees it for the jobs of the lowest QOS that is there."""
        cluster = self.site.cluster
        higher = {job.id for jobs in self._higher().values() for job in jobs}
        higher.update(job.id for job, _ in self._claims)
        if not higher:
            return cluster
        others = [job for jobs in cluster.lanes.values() for job in jobs.values() if job.id not in higher]
        return cluster.seen(others, self.site.grid.now)

    def _higher(self) -> Mapping[float, Sequence[Job]]:
        """Waiting jobs of a higher QOS than some other job that is here, by QOS; not who has a claim."""
        least, found = self.terms.lowest, defaultdict[float, list[Job]](list)
        claimed = {job.id for job, _ in self._claims}
        for jobs in self.site.cluster.lanes.values():
            for job in jobs.values():
                if job.id not in claimed:
                    found[self.level(job)].append(job)
        if max(found, default=least) <= least:
            return {}
        others = [
            *running_jobs(self.site),
            *(self._suspensions.jobs if self._suspensions is not None else ()),
        ]
        lowest = min([*found, *map(self.level, others)])
        return {level: jobs for level, jobs in found.items() if level > lowest}

    def _seen(self, level: float, waiting: Sequence[Job]) -> Cluster:
        """The site as its policy sees it for waiting jobs of a QOS: jobs of lower ones leave for them."""
        site, suspensions = self.site, self._suspensions
        released = {
            one.id: self._spared_until(one)
            for one in running_jobs(site)
            if self.level(one) < level and self._can_leave(one)
        }
        holds = () if suspensions is None else suspensions.holds_below(level)
        seen = site.cluster.seen(waiting, site.grid.now, released, holds)
        seen.backfilled = -inf
        return seen

    def _can_leave(self, job: Job) -> bool:
        """Whether a running job can be preempted, now or later."""
        site = self.site
        return (
            job.state is RUNNING
            and job.runtime < inf
            and (job.id, job.kills) not in self._leaving
            and (self._suspensions is not None or not site.cluster.borrows(job))
            and not site.nodes.any_out(site.executions[job.id].placement)
        )

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

    def _next_preemptable(self, level: float) -> float:
        """When one more of the jobs below a QOS can be preempted, s; infinite for never."""
        now = self.site.grid.now
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
            if self.level(one) < self.level(job) and self._spared_until(one) <= now and self._can_leave(one)
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
