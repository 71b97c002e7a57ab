"""Batch scheduling by priority, with reservations for as many jobs as wanted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import inf
from typing import Any, Literal

from gridtune.model.batch.cluster import Cluster
from gridtune.model.batch.fair_share import Accounts, Factors, FairShareLedger
from gridtune.model.batch.ledger import Ledger
from gridtune.model.batch.planning.plan import planned_anew, reserved_starts, turn_starts
from gridtune.model.batch.policies import BatchPolicy, backfill, max_wait, next_overdue, overdue_first
from gridtune.model.batch.rules import LARGEST, LEARNED, RULES, Rule
from gridtune.model.job import Job
from gridtune.model.policy import PolicyError, parameter, register

SLURM = "Slurm, multifactor priority plug-in"
BACKFILL = "Slurm, slurm.conf, SchedulerParameters"
DEPTH, WINDOW, INTERVAL = (f"{BACKFILL}, bf_{name}" for name in ("max_job_test", "window", "interval"))
DAY = 86400.0
HIGHEST = "(highest)"  # stands in `qos` for one that no job has, of which the priorities of others are parts


def _weight(default: float, help: str, source: str = SLURM) -> float:
    value: float = parameter(
        default, help=help, unit="none", low=0.0, high=1000.0, minimum=0.0, source=source
    )
    return value


def _time(default: float, help: str, low: float, high: float, source: str = "") -> float:
    """A time in s above 0, searched on a logarithmic scale."""
    facts: dict[str, Any] = {"low": low, "high": high, "log": True, "minimum": 0.0, "exclusive": True}
    value: float = parameter(default, help=help, unit="s", source=source, **facts)
    return value


def _count(help: str, unit: str, high: float, source: str, default: float = 0.0) -> Any:
    """A number from 0, which is its default."""
    return parameter(default, help=help, unit=unit, low=0, high=high, minimum=0, source=source)


@register("batch", "priority", source=f"{SLURM}; {LARGEST}; {LEARNED}")
@dataclass(frozen=True)
class Priority(BatchPolicy):
    """Jobs start by priority; the first of them have reservations, and the others are backfilled.

    Priority by the rule `multifactor` is the weighted sum of factors between 0 and 1:

    - age: time in the queue over `max_age`;
    - fair share by `algorithm`: `classic` is 2^(-(U/S)/damping) with U the owner's part of all faded use, and
      S that of all shares; `fair-tree` is its rank over the number of owners;
    - job size: processors over those of the site, or 1 minus that (`favour` = `small`);
    - shortness: 1 minus promised run time over `longest`;
    - queue: its priority over the highest one of the site;
    - QOS: the priority of the job's QOS (or class) over the highest one.

    Other rules are functions of the literature of waiting time w, promised run time r, processors n and
    submission s (`sjf`: the shortest r first; `saf`: the smallest r n; `lxf`: the largest (w + r)/r;
    `wfp3`: (w/r)^3 n; `unicef`: w/(r log2 n), serial jobs first; `f1` to `f4`, the smallest first:
    log10(r) n + 870 log10(s), sqrt(r) n + 25,600 log10(s), r n + 6,860,000 log10(s) and
    r sqrt(n) + 530,000 log10(s)).

    Queues of higher priority come first whatever the priorities of jobs, as tiers, unless `weight_queue`
    makes theirs a factor. Of jobs of equal priority the one goes first that came into its queue first, then
    the one with the lower number. The order is taken anew at each pass.

    Jobs that have waited for `max_wait` come before all others, and have reservations whatever their number
    and the window. Those count: others have as many as are left.

    With no reservation nobody passes the first job that does not fit; with one it is EASY, with all
    conservative backfilling in the order of priority. Jobs that cannot be planned within `window` have none:
    the next ones have it.
    """

    rule: Rule = parameter(
        "multifactor", help="what the priority of a job is", source=f"{LARGEST}; {LEARNED}"
    )
    weight_age: float = _weight(100.0, "weight of the time in the queue")
    weight_fairshare: float = _weight(0.0, "weight of what the owner has used less than its share")
    weight_job_size: float = _weight(0.0, "weight of the processors asked for")
    weight_shortness: float = _weight(0.0, "weight of a short promised run time", "")
    weight_queue: float = _weight(0.0, "weight of the queue's priority, which is then no tier")
    weight_qos: float = _weight(0.0, "weight of the priority of the job's QOS")
    max_age: float = _time(
        7 * DAY, "time in the queue at which the age factor has reached 1", 3600.0, 30 * DAY, SLURM
    )
    longest: float = _time(
        DAY, "promised run time at which the shortness factor has fallen to 0", 600.0, 7 * DAY
    )
    favour: Literal["large", "small"] = parameter(
        "large", help="which jobs the size factor prefers", source=f"{SLURM}, PriorityFavorSmall"
    )
    half_life: float = _time(
        7 * DAY,
        "time in which past use loses half of its weight",
        3600.0,
        30 * DAY,
        f"{SLURM}, PriorityDecayHalfLife",
    )
    algorithm: Literal["classic", "fair-tree"] = parameter(
        "classic", help="what use makes of the fair-share factor", source=f"{SLURM}, NO_FAIR_TREE or not"
    )
    damping: float = parameter(
        1.0,
        help="use over share, in shares, at which the classic fair-share factor has fallen to a half",
        unit="ratio",
        low=0.5,
        high=10.0,
        log=True,
        minimum=0.0,
        exclusive=True,
        source=f"{SLURM}, FairShareDampeningFactor",
    )
    by: Literal["user", "group", "account"] = parameter(
        "user", help="whose use is counted together; `account`: users within their groups within `accounts`"
    )
    shares: Mapping[str, float] = parameter(
        default_factory=dict,
        help="shares of owners by name, each above 0; 1 for all others",
        unit="none",
        source=SLURM,
    )
    accounts: Mapping[str, Mapping[str, Any]] = parameter(
        default_factory=dict,
        help="accounts by name (groups of jobs, or above those), each with `shares` (1) and `parent` (none)",
        unit="none",
        source=SLURM,
    )
    qos: Mapping[str, float] = parameter(
        default_factory=dict,
        help="priorities of QOS (names in a log) or of classes (`role` of workloads); 0 for all others",
        unit="none",
    )
    reservations: int | Literal["all"] = parameter(
        1,
        help="jobs that nobody may delay, the first ones in the order that cannot start; a number or `all`",
        unit="jobs",
    )
    queue_depth: int = _count(
        "jobs looked at in a pass, in each partition; 0 for all", "jobs", 1000, DEPTH, 0
    )
    window: float = _time(
        inf, "how far ahead is planned: later starts are not reserved", 3600.0, 7 * DAY, WINDOW
    )
    interval: float = _count(
        "time from one backfilling pass to the next; between them nobody passes the first that waits",
        "s",
        600.0,
        INTERVAL,
    )

    max_wait: float = max_wait()

    def __post_init__(self) -> None:
        for name, least in (("shares", 0.0), ("qos", -inf)):
            table = getattr(self, name)
            if not isinstance(table, Mapping):
                raise PolicyError(f"priority.{name}: {table!r} is not a table of names and numbers")
            wrong = [
                key
                for key, value in table.items()
                if isinstance(value, bool) or not isinstance(value, int | float) or not least < value < inf
            ]
            if wrong:
                above = " above 0" if least == 0.0 else ""
                raise PolicyError(f"priority.{name}: {', '.join(wrong)} must be numbers{above}")
        self._check_accounts()
        held = self.reservations
        whole = isinstance(held, int) and not isinstance(held, bool) and held >= 0
        if held != "all" and not whole:
            raise PolicyError(f'priority.reservations: {held!r} is no whole number from 0, and not "all"')

    def _check_accounts(self) -> None:
        """Whether `accounts` is a forest."""
        if not isinstance(self.accounts, Mapping):
            raise PolicyError(f"priority.accounts: {self.accounts!r:.60} is not a table of accounts")
        if self.accounts and self.by != "account":
            raise PolicyError(f'priority.accounts: needs by = "account", not {self.by!r}')
        for name, facts in self.accounts.items():
            place = f"priority.accounts.{name}"
            if not isinstance(facts, Mapping):
                raise PolicyError(f"{place}: {facts!r:.60} is not a table with `shares` and `parent`")
            if unknown := sorted(set(facts) - {"shares", "parent"}):
                raise PolicyError(f"{place}: has no {', '.join(unknown)}; it has shares, parent")
            shares, parent = facts.get("shares", 1.0), facts.get("parent", "")
            if isinstance(shares, bool) or not isinstance(shares, int | float) or not 0 < shares < inf:
                raise PolicyError(f"{place}.shares: {shares!r:.60} must be a number above 0")
            if parent and parent not in self.accounts:
                known = ", ".join(self.accounts)
                raise PolicyError(f"{place}.parent: no account {parent!r:.60}; there are {known}")
            above = [name]
            while parent and parent not in above:
                above.append(parent)
                parent = self.accounts[parent].get("parent", "") if parent in self.accounts else ""
            if parent:
                raise PolicyError(f"{place}.parent: {' in '.join([*above, parent])}: a circle")

    @property
    def fair(self) -> bool:
        """Whether use matters."""
        return self.rule == "multifactor" and self.weight_fairshare > 0

    def owner(self, job: Job) -> str:
        """The user or the group, where use matters; both, a line each, where accounts do."""
        if not self.fair:
            return ""
        if self.by == "account":
            return f"{job.group}\n{job.user}"
        return job.user if self.by == "user" else job.group

    def ledger(self) -> Ledger | None:
        """Accounts that fade with the half-life, where use matters."""
        if not self.fair:
            return None
        accounts = Accounts(
            {name: facts.get("parent", "") for name, facts in self.accounts.items()},
            {name: facts.get("shares", 1.0) for name, facts in self.accounts.items()},
        )
        return FairShareLedger(self.half_life, accounts, self.shares, by_account=self.by == "account")

    def starts(self, cluster: Cluster, now: float) -> Sequence[Job]:
        """Jobs in order while they fit, then those that delay nobody who has a reservation."""
        if cluster.narrowest > cluster.free:
            return ()
        ranked, late = self.order(cluster, now), set[int]()
        if self.max_wait:
            ranked, late = overdue_first(ranked, now, self.max_wait)
        order: Iterable[Job] = cluster.admitted(ranked)
        if self.queue_depth:
            order = _first(order, max(self.queue_depth, len(late)), cluster)
        if self.reservations == 0 or now < cluster.backfilled + self.interval:
            return turn_starts(cluster, order, now)
        cluster.backfilled = now
        if self.reservations == 1 and not late:
            return backfill(order, cluster, now, window=self.window)
        if self.reservations == "all" and self.window == inf:
            return planned_anew(cluster, order, now)
        held = inf if self.reservations == "all" else self.reservations
        return reserved_starts(cluster, order, now, held, self.window, late)

    def next_pass(self, cluster: Cluster, now: float) -> float:
        """When backfilling is due, if it was left out, or the next job has waited too long."""
        due = cluster.backfilled + self.interval
        left_out = self.reservations != 0 and now < due and now != cluster.backfilled
        return min(due if left_out else inf, next_overdue(cluster, now, self.max_wait))

    def order(self, cluster: Cluster, now: float) -> list[Job]:
        """All that wait and that some order of them would admit, the first to be served first."""
        if cluster.depth == 1:
            return [job for waiting in cluster.lanes.values() for job in waiting.values()]
        weighed = self.rule == "multifactor" and self.weight_queue != 0
        tiers = not weighed or any(queue.factor is not None for queue in cluster.queues)
        keys: list[tuple[float, float, float, int, Job]] = []
        best = max((queue.weighed for queue in cluster.queues), default=0.0)
        score = RULES.get(self.rule)
        factors = self._factors(cluster, now)
        shares = self._fair_shares(cluster, now) if self.fair else {}
        for lane, waiting in cluster.lanes.items():
            tier = lane.rank if tiers else 0.0
            base = self.weight_fairshare * shares.get(lane.owner, 0.0)
            if best > 0:
                base += self.weight_queue * cluster.queues[lane.queue].weighed / best
            for job in cluster.hopeful(waiting.values()):
                value = score(job, now) if score is not None else base + factors(job)
                keys.append((tier, -value, job.queued, job.id, job))
        keys.sort()
        return [key[4] for key in keys]

    def _factors(self, cluster: Cluster, now: float) -> Callable[[Job], float]:
        """What gives the part of the sum that differs between jobs of one owner in one queue."""
        # It is asked for every job in every pass: nothing is looked up that counts for nothing.
        age, oldest = self.weight_age, self.max_age
        size, capacity, large = self.weight_job_size, cluster.capacity, self.favour == "large"
        short, longest = self.weight_shortness, self.longest
        highest = (max(self.qos.values()) or 1.0) if self.qos else 1.0

        def factors(job: Job) -> float:
            waited = (now - job.queued) / oldest
            value = age * (waited if waited < 1.0 else 1.0)
            if size:
                part = job.processors / capacity
                value += size * (part if large else 1.0 - part)
            if short:
                asked = job.expected / longest
                value += short * (1.0 - (asked if asked < 1.0 else 1.0))
            if self.qos:
                value += self.weight_qos * job.level(self.qos) / highest
            return value

        return factors

    def _fair_shares(self, cluster: Cluster, now: float) -> Factors:
        """The fair-share factor of every owner who waits."""
        ledger = cluster.ledger
        assert isinstance(ledger, FairShareLedger)
        return ledger.factors({lane.owner for lane in cluster.lanes}, now, self.algorithm, self.damping)


def _first(order: Iterable[Job], most: int, cluster: Cluster) -> Iterable[Job]:
    """The first so many jobs, of each partition where there are any."""
    if not any(queue.partition for queue in cluster.queues):
        return islice(order, most)
    places = Counter[str]()

    def looked_at(job: Job) -> bool:
        pool = cluster.queue_of(job).pool
        places[pool] += 1
        return places[pool] <= most

    return filter(looked_at, order)
