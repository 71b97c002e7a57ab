"""What the local scheduler of a batch site decides: which jobs it takes in, and in rounds who starts."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Protocol

from gridtune.agents.batch.keeper import Keeper, PreemptibleJobs, Preempting
from gridtune.agents.batch.services import WHENEVER_NEEDED, Rounds
from gridtune.model.agenda import DECISION, Agenda
from gridtune.model.batch.cluster import Cluster
from gridtune.model.batch.holds import Hold
from gridtune.model.batch.policies import BatchPolicy
from gridtune.model.batch.prime_time import PrimeTime, longest_at, next_change
from gridtune.model.job import QUEUED, Job
from gridtune.model.policy import misjudged


class Admission:
    """The limits of a site and its queues: a job enters the first queue whose limits it keeps.

    Args:
        cluster: with the queues.
        widest: processors that one job can get on the site at most.

    Attributes:
        widest: see above.
        limits: processors and s that a job may ask for, of each queue; None where no queue limits processors.
        directed: queues of jobs that may enter no other, by job.
    """

    def __init__(self, cluster: Cluster, widest: float) -> None:
        self._cluster = cluster
        self._narrow_to(widest)
        self.directed: dict[int, int] = {}
        self._named = {queue.name: index for index, queue in enumerate(cluster.queues)}
        self._admits = [
            (index, queue.widest, queue.max_runtime, queue.groups)
            for index, queue in enumerate(cluster.queues)
        ]

    def narrow(self, widest: float) -> None:
        """Refuse jobs of more processors than that."""
        self._narrow_to(min(self.widest, widest))

    def _narrow_to(self, widest: float) -> None:
        self.widest = widest
        queues, slots = self._cluster.queues, self._cluster.capacity
        made = [(min(queue.widest, widest), queue.max_runtime) for queue in queues]
        self.limits: Sequence[tuple[float, float]] | None
        self.limits = made if any(most < slots for most, _ in made) else None

    def direct(self, job: Job, name: str) -> None:
        """Let a job enter the queue of that name alone, if there is one and it keeps the limits there."""
        at = self._named.get(name)
        if at is not None and at in self.queues_for(job):
            self.directed[job.id] = at

    def queue_for(self, job: Job) -> int | None:
        """Index of the first queue whose limits the job keeps; None if there is none."""
        found = self.queues_for(job)
        return found[0] if found else None

    def queues_for(self, job: Job) -> list[int]:
        """Indices of the queues whose limits the job keeps, in their order."""
        cluster, width = self._cluster, job.processors
        found: list[int] = []
        if width > self.widest or (cluster.resources is not None and not cluster.resources.could_hold(job)):
            return found
        planned = job.expected / cluster.pace
        directed = self.directed.get(job.id) if self.directed else None
        for index, widest, longest, groups in self._admits:
            # Who a placeholder works for is not known yet: its owner sees to it.
            if (
                width <= widest
                and planned <= longest
                and (not groups or job.group in groups or job.runtime == inf)
                and (directed is None or index == directed)
            ):
                found.append(index)
        return found


class Scheduled(Protocol):
    """A site as its scheduler sees it.

    Attributes:
        keeper, best_effort, qos: who keeps processors, who uses what is left, who preempts; None for nobody.
    """

    keeper: Keeper | None
    best_effort: PreemptibleJobs | None
    qos: Preempting | None

    def start(self, job: Job, hold: Hold | None = None) -> None:
        """Start a waiting job, on what is kept by a hold if one is named."""


class LocalScheduler:
    """Asks the policy of a site which jobs start, and has them start, in rounds.

    Args:
        site: whose jobs.
        agenda: when.
        cluster: what the policy sees of the site.
        policy: which decides.
        rounds: when it may be asked.
        prime_times: hours of the week in which only short jobs start.

    Attributes:
        policy: see above.
    """

    def __init__(
        self,
        site: Scheduled,
        agenda: Agenda,
        cluster: Cluster,
        policy: BatchPolicy,
        rounds: Rounds,
        prime_times: Sequence[PrimeTime],
    ) -> None:
        self._site, self._agenda = site, agenda
        self._cluster, self.policy = cluster, policy
        self._rounds, self._prime_times = rounds, prime_times
        self._longest = inf  # s that a job may promise to run, by prime time
        self._changes = -inf  # s, until when that holds
        self._pass_due = self._round_due = False
        self._next_round = 0.0  # s, not before
        self._next_pass = inf  # s, for which the policy last asked
        self._waking: int | None = None  # the event of that, if it is still to come
        if rounds.period < inf:
            agenda.every(rounds.period, self._tick, order=DECISION)

    def call(self) -> None:
        """Have the policy asked in the next round."""
        cluster = self._cluster
        if not cluster.depth:
            self._wake(inf)
        elif not self._pass_due and (cluster.free or cluster.lendable or self._site.qos is not None):
            self._pass_due = True
            self.call_round()

    def call_round(self) -> None:
        """Have one scheduling round as soon as may be, once all that happens at that instant has happened."""
        if not self._round_due:
            self._round_due = True
            agenda, after = self._agenda, self._next_round
            agenda.at(agenda.now if agenda.now > after else after, self._schedule, None, DECISION)

    def _wake(self, time: float) -> None:
        """Have the policy asked at that time, s, and at no other that it wanted before; infinite for none.

        So nothing is still to come, and the run is over, where nobody waits any more.
        """
        if time == self._next_pass:
            return
        if self._waking is not None:
            self._agenda.cancel(self._waking)
        self._next_pass = time
        self._waking = None if time == inf else self._agenda.at(time, self._ask_again, None, DECISION)

    def _ask_again(self, _: object) -> None:
        """The policy wanted to be asked by now."""
        self._waking = None
        self.call()

    def _tick(self, _: object) -> None:
        """A period is over: have a round for whatever waits, even if nothing has happened."""
        self.call()
        best_effort = self._site.best_effort
        if self._pass_due or (best_effort is not None and best_effort.depth and best_effort.idle > 0):
            self.call_round()

    def _schedule(self, _: object) -> None:
        """One scheduling round: start what the policy chooses, and best-effort jobs on what is left."""
        starts: Sequence[Job] = ()
        chosen: Sequence[Job] = ()
        waiting = self._cluster.depth
        # They call for rounds too, but the policy is asked only when it would be without them.
        if self._pass_due:
            self._prepare()
            if self._site.qos is not None and self._rounds is WHENEVER_NEEDED:
                self._site.qos.consider()
            starts = self._ask()
        self._pass_due = self._round_due = False
        best_effort = self._site.best_effort
        if best_effort is not None:
            chosen = best_effort.choose(best_effort.idle - sum([job.processors for job in starts]))
        if self._rounds is WHENEVER_NEEDED:
            self._conclude((starts, chosen))
            return
        duration = self._rounds.duration() + self._rounds.per_waiting * waiting
        self._next_round = self._agenda.now + max(self._rounds.gap, duration)
        if duration > 0:
            self._agenda.after(duration, self._conclude, (starts, chosen), DECISION)
        else:
            self._conclude((starts, chosen))

    def choose(self, seen: Cluster) -> Sequence[Job]:
        """The jobs that the policy starts at a site as it sees it."""
        free = seen.free
        starts = self.policy.starts(seen, self._agenda.now)
        if seen.free != free:
            what = "changes cluster.free, which is read only: count in `free = cluster.free`"
            raise misjudged(self.policy, what)
        if fault := _fault(starts, seen):
            raise misjudged(self.policy, fault)
        return starts

    def _prepare(self) -> None:
        """Start who starts on what is reserved, and see which jobs may start at this time of the week."""
        site, cluster, now = self._site, self._cluster, self._agenda.now
        if site.keeper is not None:
            for job, hold in site.keeper.starts(now):
                site.start(job, hold)
        if self._prime_times and now >= self._changes:
            self._longest = longest_at(self._prime_times, now)
            self._changes = next_change(self._prime_times, now)
        if self._prime_times:
            cluster.permit(self._longest)

    def _ask(self) -> Sequence[Job]:
        """The jobs that the policy starts."""
        cluster, now, qos = self._cluster, self._agenda.now, self._site.qos
        seen = cluster if qos is None else qos.lowest()
        starts = self.choose(seen)
        cluster.settle(now)
        if seen is not cluster:
            cluster.backfilled = seen.backfilled
            cluster.disturbed = cluster.shuffled = True  # its plans were made without some of those that wait
        again = self.policy.next_pass(cluster, now)
        if self._prime_times:
            again = min(again, self._changes)
        self._wake(again if cluster.depth > len(starts) else inf)
        return starts

    def _conclude(self, decided: tuple[Sequence[Job], Sequence[Job]]) -> None:
        """Let the decisions of a round take effect."""
        starts, chosen = decided
        site, cluster = self._site, self._cluster
        if site.qos is not None and self._rounds is not WHENEVER_NEEDED:
            self._prepare()
            if site.qos.consider():
                starts = self._ask()
        for job in starts:
            if job.state is QUEUED and job in cluster:
                if cluster.can_start([job]):
                    site.start(job)
                else:  # nodes were lost while the round lasted, or others have started
                    self.call()
        if site.best_effort is not None:
            for job in chosen:
                if job.processors <= site.best_effort.idle:
                    site.best_effort.start(job)


def _fault(starts: object, seen: Cluster) -> str:
    """What is wrong with the jobs that a policy starts at a site as it sees it; "" if nothing."""
    if not isinstance(starts, list) and (isinstance(starts, str) or not isinstance(starts, Sequence)):
        return f"returns {_told(starts)}; expected is a list of waiting jobs"
    try:
        if not starts or seen.can_start(starts):
            return ""
    except (AttributeError, TypeError):  # not all of them are jobs
        pass
    left, met = seen.free, set()
    for job in starts:
        if not isinstance(job, Job):
            return f"returns a list with {_told(job)}; expected is a list of waiting jobs"
        known = f"job {job.id} ({job.processors} processors, {job.state})"
        if job.id in met:
            return f"starts {known} twice"
        if not any(waiting.get(job.id) is job for waiting in seen.lanes.values()):
            return f"starts {known}, which does not wait at the site, or is a copy"
        if job.processors > left:
            return f"starts {known}, but {left} of {seen.free} free processors are left for it"
        left -= job.processors
        met.add(job.id)
    return "starts jobs that need more of a resource than is free"


def _told(what: object) -> str:
    """A value in an error: whole numbers, texts and None as they are, others by their type."""
    return f"{what!r:.40}" if isinstance(what, int | str | None) else f"a {type(what).__name__}"
