"""The record of a run: what happened, kept apart from those who made it happen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf, nan
from typing import Any, NamedTuple

from gridtune.model.job import Job, Journal

NOTED = 10_000  # messages that are noted before they are counted, at most


@dataclass(slots=True)
class Stay:
    """One visit of a user: from its entry to its tentative deadline.

    Attributes:
        user: whose.
        entry: t0, s.
        deadline: d, absolute, s; infinite if the user has none.
        demand: work that would satisfy the user fully, slot-seconds.
        n_min: mandatory requests that make its user happy if all are done by the deadline.
        mandatory_work: of these, slot-seconds.
        setup_end: when the last submission of the set-up phase left, s.
        leave: when the user left, s.
        service: that its requests are of; "" where services have no names.
    """

    user: str
    entry: float
    deadline: float
    demand: float = inf
    n_min: int = 0
    mandatory_work: float = 0.0
    setup_end: float = nan
    leave: float = nan
    service: str = ""


class Missing(NamedTuple):
    """Mandatory jobs of a user that were never submitted.

    Attributes:
        user: whose.
        jobs: how many.
        work: of them, slot-seconds at speed 1.
        deadline: by which they should have been done, s.
        kind: their class.
    """

    user: str
    jobs: int
    work: float
    deadline: float
    kind: str = "mandatory"


@dataclass(slots=True)
class Record:
    """The record keeps everything that a run leaves behind.

    Attributes:
        jobs: every job created, in order.
        placeholders: jobs that only hold a slot in which others run (pilots), in order.
        stays: every visit of a user that has a deadline.
        held_back: tell of the jobs that should have been submitted by a time (s) and were not.
        noting: have sites note the work of running jobs in `Job.given`, where that is not the time they took.
        signals: sampled values as (time in s, name, value).
        message_bin: width of the bins in which messages are counted, s.
        journal: transitions of jobs as (time, event, job, site, node), or None if not wanted.
        make_job: makes the jobs; `shown_job` where a user's own policy sees them.
        reckonings: what measures work out together while a run is summed up, by what it is; None at all other
            times.
        counters: named counts that actors keep (`killed_by_mandatory`, …).
        probes: values sampled as signals, by name.
        measures: values read once at the end of the run, by the name of their metric.
        custom: metrics of users' own, read last, by name (`model.metrics.custom`).
        classes: kinds of jobs by which metrics are broken down; none where all jobs are of one kind.
        queues: of the log that a job comes from, by the job's number, where the log names one.
        log_ids: numbers of jobs in the log that they come from, by the job's number here.
        sites: processors of each batch site, by name; where there are any, metrics are broken down by the
            size of jobs.
    """

    keep_events: bool = False
    message_bin: float = 1.0
    jobs: list[Job] = field(default_factory=list)
    placeholders: list[Job] = field(default_factory=list)
    stays: list[Stay] = field(default_factory=list)
    held_back: list[Callable[[float], list[Missing]]] = field(default_factory=list)
    noting: list[Callable[[], None]] = field(default_factory=list)
    signals: list[tuple[float, str, float]] = field(default_factory=list)
    counters: Counter[str] = field(default_factory=Counter)
    probes: list[tuple[str, Callable[[], float]]] = field(default_factory=list)
    measures: dict[str, Callable[[], float]] = field(default_factory=dict)
    custom: Mapping[str, Callable[[Any], float]] = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    queues: dict[int, str] = field(default_factory=dict)
    log_ids: dict[int, int] = field(default_factory=dict)
    sites: Mapping[str, int] = field(default_factory=dict)
    journal: Journal | None = None
    make_job: Callable[..., Job] = Job
    reckonings: dict[object, Any] | None = None
    _counted: Counter[tuple[str, str, int]] = field(default_factory=Counter, init=False)
    _noted: list[tuple[str, str, float, int]] = field(default_factory=list, init=False)  # not yet counted

    def __repr__(self) -> str:
        return f"Record({len(self.jobs)} jobs, {len(self.stays)} stays, {len(self.signals)} signal values)"

    def __post_init__(self) -> None:
        if self.keep_events:
            self.journal = []

    def job(
        self,
        user: str,
        submit: float,
        runtime: float,
        *,
        kind: str = "job",
        mandatory: bool = True,
        priority: int = 0,
        processors: int = 1,
        estimate: float | None = None,
        deadline: float = inf,
        group: str = "",
        data: Any = None,
    ) -> Job:
        """Create a job and remember it; see `Job` for the facts."""
        jobs = self.jobs
        # By position, and the facts by name: handed on as a dictionary they would cost as much as the rest.
        job = self.make_job(
            len(jobs) + 1, user, submit, runtime, kind, mandatory, priority, processors, estimate, deadline,
            group, data, self.journal,
        )  # fmt: skip
        jobs.append(job)
        return job

    def placeholder(
        self, user: str, submit: float, estimate: float, runtime: float = inf, **facts: Any
    ) -> Job:
        """Create a job without work of its own and remember it apart: it counts in no metric of jobs.

        Its id is negative. It runs until its owner or a limit ends it, or for a `runtime`.
        """
        key = -1 - len(self.placeholders)
        job = self.make_job(key, user, submit, runtime, estimate=estimate, journal=self.journal, **facts)
        self.placeholders.append(job)
        return job

    def log(self, now: float, event: str, job: int = 0, site: str = "", node: str = "") -> None:
        """Note an event that is no transition of a job, if events are kept."""
        if self.journal is not None:
            self.journal.append((now, event, job, site, node))

    def message(self, agent: str, kind: str, now: float, count: int = 1) -> None:
        """Note messages that an agent handled; see `messages`."""
        noted = self._noted
        noted.append((agent, kind, now, count))
        if len(noted) > NOTED:
            self._count_messages()

    @property
    def messages(self) -> Counter[tuple[str, str, int]]:
        """Number of messages by (agent, kind, time bin), counted when they are asked for: few runs are."""
        self._count_messages()
        return self._counted

    def _count_messages(self) -> None:
        counted, width = self._counted, self.message_bin
        for agent, kind, now, count in self._noted:
            key = agent, kind, int(now / width)
            counted[key] = counted.get(key, 0) + count  # faster than a Counter's own zero
        self._noted.clear()

    def probe(self, name: str, value: Callable[[], float]) -> None:
        """Sample a value as a signal whenever the grid takes its samples."""
        self.probes.append((name, value))

    def measure(self, name: str, value: Callable[[], float]) -> None:
        """Read a value at the end of the run as the metric of that name (`model.metrics.registry.define`)."""
        self.measures[name] = value

    def add_to_measure(self, name: str, value: Callable[[], float]) -> None:
        """Add a value to what others measure under that name."""
        before = self.measures.get(name)
        self.measures[name] = value if before is None else lambda: before() + value()

    def reckon(self, what: object, work_out: Callable[[], Any]) -> Any:
        """What several measures need: worked out once while a run is summed up."""
        known = self.reckonings
        if known is None:
            return work_out()
        if what not in known:
            known[what] = work_out()
        return known[what]

    def let_go(self) -> None:
        """Forget who can be asked, and with them the grid; what was recorded stays."""
        self.measures.clear()
        self.probes.clear()
        self.held_back.clear()
        self.noting.clear()

    def sample(self, now: float) -> None:
        """Append the present value of every probe to the signals."""
        self.signals.extend((now, name, float(value())) for name, value in self.probes)
