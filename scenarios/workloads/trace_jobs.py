"""Workloads of jobs that were logged somewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from math import inf
from pathlib import PurePath
from typing import Generic, Literal, NamedTuple, TypeVar

from pydantic import Field, model_validator

from gridtune.model.streams import AS_LOGGED, BUSIER, HELD_OUT, TWICE, Streams
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.fields.observed import TraceFile
from gridtune.scenarios.fields.table import number
from gridtune.scenarios.trace_files.find import find_trace
from gridtune.scenarios.trace_files.reading import read_trace
from gridtune.scenarios.trace_files.records import Keep, Trace, TraceError, TraceJob
from gridtune.scenarios.traces.clock import clock_of
from gridtune.scenarios.traces.differences import differences, estimates
from gridtune.scenarios.traces.embedded import embedded_jobs
from gridtune.scenarios.traces.resampling import Drawn, Half, shaken, users, weeks, whole_weeks
from gridtune.scenarios.workloads.dependencies import linked
from gridtune.scenarios.workloads.jobs import JobWorkload, ResponseBound, Task

EMBEDDED = "embedded"
# Logs say nothing of deadlines. So that unhappy users mean something, a job may take ten times its run time,
# or four hours if that is more.
LOGGED = ResponseBound(factor=10.0, least=14400.0)
EMBEDDED_PROCESSORS = 128
EMBEDDED_WIDEST = 64
Estimate = Literal["log", "actual", "factor"]
Resample = Literal["none", "shake", "weeks", "users"]
KEEP_ALL = Keep(cancelled=True)
Rows = Sequence[tuple[Task, str | None]]
T = TypeVar("T")


class Part(NamedTuple):
    """The part of a trace that is replayed or resampled.

    Attributes:
        rows: its jobs, by submission, each with its queue.
        submits: when they came, s.
    """

    rows: Rows
    submits: Sequence[float]


# What says which part of a trace is replayed or resampled, and as what.
PART = {"first", "last", "start", "end", "every", "estimate", "estimate_factor", "dependencies"}
# What says which of its jobs are replayed, where they are not resampled.
CHOICE = PART | {"compression", "prefix", "queues", "shortest", "longest", "resample", "shake"}


class _Kept(Generic[T]):
    """What the last few workloads have taken from traces."""

    def __init__(self, most: int = 4) -> None:
        self._most = most
        self._made: dict[tuple[int, str], tuple[Trace, T]] = {}

    def get(self, trace: Trace, choice: str, choose: Callable[[], T]) -> T:
        """What is chosen from a trace, which is not looked into again for the same choice."""
        key = id(trace), choice  # the trace is kept here, so nothing else can have its id
        made = self._made.pop(key, None) or (trace, choose())
        self._made[key] = made
        if len(self._made) > self._most:
            del self._made[next(iter(self._made))]
        return made[1]


_replays: _Kept[Sequence[Task]] = _Kept()
_parts: _Kept[Part] = _Kept()


class TraceJobs(JobWorkload):
    """Jobs as they were logged somewhere."""

    kind: Literal["trace"]
    trace: TraceFile = Field(
        description="file in SWF or GWF, of sacct or OAR, or in CSV (columns id, submit, start, end, procs, "
        "walltime, and user, group and queue where known), plain or compressed; or `embedded` for a small "
        "generated day of bursts"
    )
    first: int = number(1, "none", "number of the first job to replay, by submission", ge=1)
    last: int | None = number(None, "none", "number of the last one; all if left out", ge=1)
    start: float = number(0.0, "s", "s into the trace; earlier submissions are left out", ge=0)
    end: float = number(inf, "s", "s into the trace; later submissions are left out", gt=0)
    every: int = number(
        1, "count", "replay the first of so many jobs each: a sample with all users and days", ge=1
    )
    compression: float = number(
        1.0, "ratio", "factor by which submissions come closer: the load grows by it", gt=0
    )

    prefix: str = Field(
        default="", description="prefix of the owners' names, so that those of two logs stay apart"
    )
    queues: list[str] = Field(
        default_factory=list, description="names or numbers of the queues to replay; all if empty"
    )
    shortest: float = number(0.0, "s", "s; jobs with shorter run times are left out", ge=0)
    longest: float = number(inf, "s", "s; jobs with longer run times are left out", gt=0)
    estimate: Estimate = Field(
        default="log",
        description="what owners promise: `log`, what they requested (their run time where the log has no "
        "request); `actual`, their run time; `factor`, `estimate_factor` times their run time",
    )
    estimate_factor: float = number(
        2.0, "ratio", "promised over actual run time with `estimate` = `factor`", ge=1
    )

    resample: Resample | None = Field(
        default=None,
        description="how replications differ: `none`, they repeat the log; `shake`, submissions are moved "
        "a little; `weeks` or `users`, those of the log are drawn with replacement. Left out, `none`, but a "
        "search draws weeks where the log has eight, and else shakes",
    )
    resample_from: Literal["all", "even", "odd", "split"] = Field(
        default="all",
        description="which weeks or users are drawn; `even`: the 1st, 3rd, 5th, …; `odd`: the others; "
        "`split`: the former, and the others in the runs by which a search validates its front",
    )
    resample_weeks: int | None = number(
        None,
        "count",
        "weeks in each replication with `resample` = `weeks`; left out, as many as there are to draw from, "
        "but a search over a log of 16 weeks or more draws 8",
        ge=1,
    )
    shake: float = number(300.0, "s", "s by which `resample` = `shake` moves a submission at most", ge=0)

    cancelled: Literal["drop", "keep"] = Field(
        default="drop",
        description="what becomes of jobs that were cancelled while they waited: `keep`, they wait until "
        "then at most, for jobs that go to a site; if their turn comes before, they run for the requested "
        "time (if there is one), and until then at most; they count in no metric",
    )

    dependencies: Literal["ignore", "keep"] = Field(
        default="ignore",
        description="when jobs come that name the job which they follow (fields 17 and 18 of SWF): as "
        "logged, or with `keep` their think time after that has ended here, for jobs that go to a site",
    )

    @property
    def bound(self) -> ResponseBound | None:
        """The response bound that is given; where nothing is said of deadlines, `LOGGED`."""
        said = self.deadline is not None or self.response_bound is not None
        return self.response_bound if said or self.best_effort is not None else LOGGED

    @model_validator(mode="after")
    def _ordered(self) -> TraceJobs:
        if self.last is not None and self.last < self.first:
            raise ValueError(f"last ({self.last}) must not be less than first ({self.first})")
        if self.end <= self.start:
            raise ValueError(f"end ({self.end}) must be more than start ({self.start})")
        if self.trace == EMBEDDED and self.resample not in (None, "none"):
            raise ValueError(
                f"resample: each replication draws the {EMBEDDED} log anew already; leave it out"
            )
        if self.resample_from != "all" and self.resample not in ("weeks", "users"):
            raise ValueError(
                f"resample_from: {self.resample_from} needs resample = weeks or users; leave it out"
            )
        if self.resample_weeks is not None and self.resample != "weeks":
            raise ValueError(f"resample_weeks: {self.resample_weeks} needs resample = weeks; leave it out")
        return self

    def tasks(self, streams: Streams) -> Iterator[Task]:
        """The chosen jobs; the run starts with the chosen part of the trace.

        Raises:
            ScenarioError: the trace cannot be found or read, or nothing of it is chosen.
        """
        if not self.from_file:
            return self._chosen(self._part(self._embedded(streams)))
        if streams.replication >= BUSIER:
            return _busier(self.replayed())
        if not self.resampled or streams.replication >= AS_LOGGED:
            return self.replayed()
        return self._chosen(self._logged(), streams)

    def replayed(self) -> Iterator[Task]:
        """The chosen jobs of a file; see `tasks`.

        They are chosen once in each process, as long as the file is the same: a search replays them in
        every run.
        """
        return iter(_replays.get(self._trace(), self.model_dump_json(include=CHOICE), self._choose))

    def _choose(self) -> Sequence[Task]:
        return tuple(self._chosen(self._part(self._rows())))

    def weeks(self) -> int:
        """Whole weeks of the part of the log that is replayed.

        Raises:
            ScenarioError: the trace cannot be found or read, or nothing of it is chosen.
        """
        submits = [task.submit for task in self.replayed()]
        return whole_weeks(submits)

    def began(self) -> float | None:
        """When the part that is replayed begins, s since 1970; None where the log does not say.

        Raises:
            ScenarioError: the trace cannot be found or read.
        """
        clock = clock_of(self._trace()) if self.from_file else None
        return None if clock is None else clock + self._origin(self._logged())

    def _logged(self) -> Part:
        """The part of the file that is replayed or resampled."""
        choice = self.model_dump_json(include=PART)
        return _parts.get(self._trace(), choice, lambda: self._part(self._rows()))

    def _origin(self, part: Part) -> float:
        """When the run starts, s into the trace.

        With the chosen part, whatever of it is replayed: two workloads of one trace that part its queues or
        run times between them stay in step.
        """
        return self.start if self.start > 0 or not part.submits else part.submits[0]

    def _part(self, rows: Iterator[tuple[Task, str | None]]) -> Part:
        """What lies within first, last, start and end, and is sampled by every."""
        part = islice(rows, self.first - 1, self.last)
        chosen = [(task, queue) for task, queue in part if self.start <= task.submit < self.end]
        chosen = chosen[:: self.every]
        return Part(chosen, [task.submit for task, _ in chosen])

    def _chosen(self, part: Part, streams: Streams | None = None) -> Iterator[Task]:
        chosen = part.rows
        origin = self._origin(part)
        kept = self.dependencies == "keep"
        logged = {task.number: task.submit for task, _ in chosen} if kept else {}
        if not self.resampled:
            streams = None
        if streams is not None and chosen:
            chosen = self._resampled(part, streams)
        queues = self._checked_queues(part)
        every = self.shortest == 0 and self.longest == inf and not queues
        tasks = [
            task
            for task, queue in chosen
            if every or (self.shortest <= task.runtime <= self.longest and (not queues or queue in queues))
        ]
        if kept:
            tasks = linked(
                tasks, logged, 2.0 * self.shake if streams is not None and self.resample == "shake" else 0.0
            )
        if not tasks:
            raise ScenarioError(
                f"workload.{self.name}: no job of {self.trace} lies within first, last, start, end, queues, "
                "shortest and longest"
            )
        if origin == 0 and self.compression == 1 and not self.prefix:
            return iter(tasks)
        return (
            task._replace(
                submit=(task.submit - origin) / self.compression,
                user=self.prefix + task.user,
                think=task.think / self.compression,
            )
            for task in tasks
        )

    def _checked_queues(self, part: Part) -> set[str]:
        """The queues to replay as rows name them: by number, if only the header of the log has names.

        Raises:
            ScenarioError: one occurs nowhere in the trace.
        """
        if not self.queues:
            return set()
        known = {queue for _, queue in part.rows if queue is not None}
        named: dict[str, str] = {}
        if self.from_file and not known.issuperset(self.queues):
            trace = self._trace()
            known |= {job.queue for job in trace.jobs if job.queue is not None}
            lines = map(str.split, trace.header.get("Queue", "").splitlines())
            named = {line[1]: line[0] for line in lines if len(line) > 1}
        queues = {one if one in known else named.get(one, one) for one in self.queues}
        if unknown := sorted(queues - known):
            raise ScenarioError(
                f"workload.{self.name}.queues: no job of {self.trace} is in a queue {', '.join(unknown)}; "
                f"there are {', '.join(sorted(known)) or 'none'}"
            )
        return queues

    def _resampled(self, part: Part, streams: Streams) -> Rows:
        """Another log of the same kind, the same for all workloads of this trace in a replication.

        Raises:
            TraceError: there is too little to draw from.
        """
        rng = streams.stream(f"resample:{PurePath(self.trace).name}")  # wherever it lies
        half: Half
        if self.resample_from == "split":
            half = "even" if streams.replication < HELD_OUT else "odd"
        else:
            half = self.resample_from
        rows, submits = part
        try:
            drawn: Sequence[Drawn]
            if self.resample == "shake":
                drawn = shaken(submits, rng, self.shake)
            elif self.resample == "weeks":
                drawn = weeks(submits, rng, half, self.resample_weeks)
            else:
                drawn = users(submits, [task.user for task, _ in rows], rng, half)
        except TraceError as error:
            raise ScenarioError(f"workload.{self.name}: {self.trace} {error}") from None
        made, make = [], tuple.__new__  # half the cost of the constructor with names
        for job, submit, copy in drawn:
            task, queue = rows[job]
            user = f"{task.user}~{copy + 1}" if copy else task.user
            made.append((make(Task, (submit, user, *task[2:])), queue))
        return made

    def provenance(self) -> str:
        """The file that is replayed."""
        return (
            "a small generated workload" if self.trace == EMBEDDED else f"the trace {find_trace(self.trace)}"
        )

    @property
    def resampled(self) -> bool:
        """Whether replications differ from the log."""
        return self.resample not in (None, "none")

    @property
    def from_file(self) -> bool:
        """Whether there is a log at all."""
        return self.trace != EMBEDDED

    def processors(self) -> int | None:
        """Those of the system on which the trace was logged; None if it does not say.

        Raises:
            ScenarioError: the trace cannot be found or read.
        """
        if not self.from_file:
            return EMBEDDED_PROCESSORS
        return self._trace().header.processors

    def largest(self) -> int:
        """Processors of the largest job that is replayed from a file."""
        return max(task.processors for task in self.replayed())

    def differences(self) -> Iterator[str]:
        """How a replay differs from the log, a line for each difference.

        Raises:
            ScenarioError: the trace cannot be found or read.
        """
        if not self.from_file:
            return
        if self.resampled:
            count = f"{self.resample_weeks} " if self.resample_weeks else ""
            part = {"all": "", "split": "even "}.get(self.resample_from, f"{self.resample_from} ")
            yield (
                f"each replication moves its submissions by up to {self.shake:g} s"
                if self.resample == "shake"
                else f"each replication draws {count}{part}{self.resample} of the log anew"
            )
        trace = self._trace()
        yield from differences(trace, dependent=self.dependencies == "keep")
        if self.estimate != "log":
            factor = self.estimate_factor if self.estimate == "factor" else 1.0
            yield f"owners promise {factor:g} times the run time, not what they requested in the log"
        else:
            yield from estimates(trace)

    def qos(self) -> set[str]:
        """Names of the QOS that jobs of the log have; none where it does not say.

        Raises:
            ScenarioError: the trace cannot be found or read.
        """
        return {task.qos for task, _ in self._logged().rows if task.qos} if self.from_file else set()

    def _embedded(self, streams: Streams) -> Iterator[tuple[Task, str | None]]:
        """The jobs of a small generated day with their queues, by submission."""
        for job in embedded_jobs(streams.stream(f"workload:{self.name}"), widest=EMBEDDED_WIDEST):
            yield self._task(job), job.queue

    def _rows(self) -> Iterator[tuple[Task, str | None]]:
        """All jobs of the file."""
        for job in self._trace().jobs:
            yield self._task(job), job.queue

    def _task(self, job: TraceJob) -> Task:
        """A row of a trace; a run time stands for a promise that is missing."""
        if self.estimate == "log":
            estimate = job.runtime if job.estimate is None else job.estimate
        else:
            estimate = job.runtime * (self.estimate_factor if self.estimate == "factor" else 1.0)
        withdrawn = inf if job.withdrawn is None else job.withdrawn
        owner = job.user or "unknown", job.group or ""
        task = Task(
            job.submit, *owner, job.runtime, job.processors, estimate, withdrawn,
            queue=job.queue or "", qos=job.qos or "", log_id=job.id if self.from_file else None,
        )  # fmt: skip
        if self.dependencies == "ignore":
            return task
        return task._replace(number=job.id, preceding=job.preceding or 0, think=job.think or 0.0)

    def _trace(self) -> Trace:
        return read_trace(find_trace(self.trace), keep=KEEP_ALL if self.cancelled == "keep" else Keep())


def _busier(tasks: Iterator[Task]) -> Iterator[Task]:
    """Jobs of which one in five comes twice; none waits for the second. Times of day and outages stay."""
    for count, task in enumerate(tasks, 1):
        yield task
        if count % TWICE == 0:
            yield task._replace(number=0)
