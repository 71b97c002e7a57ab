"""Workloads of jobs: who submits what when, drawn from laws."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from itertools import accumulate, islice, repeat
from math import ceil, inf
from typing import ClassVar, Literal, NamedTuple

from pydantic import Field, model_validator

from gridtune.model.streams import Streams
from gridtune.model.wms.expression import ExpressionError
from gridtune.model.wms.ranking import formula
from gridtune.scenarios.fields.laws import Constant, Law, draws, evenly
from gridtune.scenarios.fields.policies import policy_of
from gridtune.scenarios.fields.table import Name, Switchable, Table, number

EVERY = "*"  # as the site of a workload: each site has its own


class Task(NamedTuple):
    """A job that is still to be submitted.

    Attributes:
        submit: s.
        user, group: whose.
        runtime: s at speed 1, or a length in NCU where speeds are in NCU/s.
        processors: slots that it needs.
        estimate: what its owner promises, in the unit of `runtime`.
        withdrawn: s from submission at which its owner takes it back, whether it waits or runs. As it never
            ran, its run time is what it requested, or next to nothing.
        number: by which other jobs name it as the one that they follow, 0 if none can.
        preceding: number of the job after whose end it is submitted, 0 if it comes by itself.
        think: s from that end to its submission.
        queue, qos: of its log, "" if it names none.
        log_id: number of the job in its log; None if it comes from none.
    """

    submit: float
    user: str
    group: str
    runtime: float
    processors: int
    estimate: float
    withdrawn: float = inf
    number: int = 0
    preceding: int = 0
    think: float = 0.0
    queue: str = ""
    qos: str = ""
    log_id: int | None = None


class BestEffortSpec(Table):
    """What makes jobs best-effort: they wait in bags, run in holes, and make way for premium jobs."""

    overhead: Law = number(Constant(value=0.0), "s", "s of commission and decommission around each execution")
    io_share: float = number(
        0.0,
        "0 to 1",
        "share of its time that a job would spend on the shared file system if it were alone",
        ge=0,
        lt=1,
    )
    weight: float = number(1.0, "none", "weight of its campaign where the harvest is shared", gt=0)


class DataSpec(Table):
    """Data that each job of a workload moves between central storage and its site, bytes.

    Input and output move at batch sites; at those with virtual reservations they count as nothing.
    """

    sandbox: Law = number(Constant(value=0.0), "bytes", "bytes that a middleware sends with its submission")
    input: Law = number(
        Constant(value=0.0), "bytes", "bytes brought to the site first, while the job holds its slots"
    )
    output: Law = number(
        Constant(value=0.0), "bytes", "bytes brought away after it ran, before its slots come free"
    )
    files: int | None = number(
        None,
        "count",
        "different inputs that the workload has, each of a size of its own (`input`), of which every job "
        "needs one; left out, each job has an input of its own",
        ge=1,
    )
    popularity: float = number(
        0.0,
        "none",
        "exponent of Zipf's law: the k-th of the files is drawn with weight k^-popularity; 0 for all alike "
        "(0.64 to 0.83 for requests of the web, Breslau et al., INFOCOM 1999)",
        ge=0,
        le=5,
    )

    @model_validator(mode="after")
    def _of_files(self) -> DataSpec:
        if self.popularity and self.files is None:
            raise ValueError("popularity: is that of files, and there are none; give files, or leave it out")
        return self


class ResponseBound(Table):
    """How long a job may take from submission to its end: max(least, factor x run time)."""

    endless: ClassVar[frozenset[str]] = frozenset({"factor"})
    factor: float = number(
        ..., "ratio", "times the run time, at the mean speed of the grid's slots; infinite: no bound", gt=0
    )
    least: float = number(0.0, "s", "s that every job may take, however short it is", ge=0)

    def of(self, runtime: float) -> float:
        """The bound of a job.

        Args:
            runtime: s.
        """
        return inf if self.factor == inf else max(self.least, self.factor * runtime)


class JobWorkload(Switchable):
    """What workloads of jobs have in common."""

    name: Name = "workload"
    site: str | None = Field(
        default=None,
        description="name of the site, or * for every site, each with its own jobs; left out, the jobs go to "
        "the middleware or the brokers if there are any, else to the only site",
    )
    via: Literal["middleware", "wms"] | None = Field(
        default=None,
        description="who brings jobs without `site` to a site, where there is [middleware] as well as [wms]",
    )
    role: str = Field(default="job", description="what its jobs are called in results (column `kind`)")
    requirements: str = Field(
        default="",
        description="expression over what sites publish that they must meet under wms, beside the broker's",
    )
    ranking: policy_of("ranking") | None = Field(  # type: ignore[valid-type]
        default=None,
        description="rank by which its jobs prefer sites under wms; that of the brokers if left out",
    )
    requires: list[str] = Field(
        default_factory=list, description="tags of the only sites to which a middleware may bring its jobs"
    )

    best_effort: BestEffortSpec | None = Field(
        default=None, description="left out, its jobs are submitted to the site; else to a [[harvester]]"
    )

    needs: dict[str, Law] = number(
        ...,
        "count",
        "units of each resource of its site that a job holds while it runs, in all, rounded down: `gpu = "
        "1`, or a law; of uniform numbers from 0 to 1.25 a fifth are 1, the others 0",
        default_factory=dict,
    )

    data: DataSpec | None = Field(
        default=None, description="data that its jobs move, where links are shared; none if left out"
    )

    deadline: float | None = number(
        None, "s", "s from submission within which its jobs must be done; none if left out", gt=0
    )
    response_bound: ResponseBound | None = Field(
        default=None,
        description="time from submission within which each job must be done, by its run time; of this and "
        "`deadline` the tighter holds",
    )

    @model_validator(mode="after")
    def _urgent(self) -> JobWorkload:
        if self.best_effort is not None and (self.deadline or self.response_bound):
            name = "deadline" if self.deadline else "response_bound"
            raise ValueError(f"{name}: best-effort jobs are not mandatory and have none; leave it out")
        return self

    @model_validator(mode="after")
    def _described(self) -> JobWorkload:
        if self.requirements:
            try:
                formula(self.requirements)
            except ExpressionError as error:
                raise ValueError(f"requirements: {error}") from None
        return self

    @property
    def bound(self) -> ResponseBound | None:
        """The response bound that holds for its jobs."""
        return self.response_bound

    @abstractmethod
    def tasks(self, streams: Streams) -> Iterator[Task]:
        """The jobs of one run, by time of submission."""


class GeneratedJobs(JobWorkload):
    """Jobs drawn from laws."""

    kind: Literal["generated"]
    count: int = number(..., "count", "number of jobs", ge=1)
    interval: Law = number(..., "s", "s between two submissions; exponential for Poisson arrivals")
    runtime: Law = number(..., "s", "s at speed 1, or length in NCU where speeds are in NCU/s")
    promise: Law = number(Constant(value=1.0), "ratio", "promised over actual run time")
    processors: Law = number(Constant(value=1.0), "count", "slots of each job, rounded up")
    users: int = number(1, "count", "owners, among whom the jobs are drawn evenly", ge=1)
    group: str = Field(default="", description="name of the group of the owners")

    def tasks(self, streams: Streams) -> Iterator[Task]:
        """The first job is submitted after the first interval."""

        def values(attribute: str, law: Law) -> Iterator[float]:
            # A stream for each attribute: a law that changes does not disturb the draws of the others.
            return draws(law, streams.stream(f"workload:{self.name}:{attribute}"))

        names = [f"{self.name}-{k:03}" for k in range(self.users)]
        owners = streams.stream(f"workload:{self.name}:users")
        users = map(names.__getitem__, evenly(self.users, owners)) if self.users > 1 else repeat(names[0])
        drawn = zip(
            accumulate(values("interval", self.interval)),
            users,
            values("runtime", self.runtime),
            values("processors", self.processors),
            values("promise", self.promise),
            strict=False,
        )
        group = self.group
        for submit, user, runtime, processors, promise in islice(drawn, self.count):
            width = ceil(processors)
            yield Task(submit, user, group, runtime, width if width > 1 else 1, promise * runtime)


class Campaign(JobWorkload):
    """A bag of tasks: independent jobs of one user, all there at once."""

    kind: Literal["campaign"]
    user: str | None = Field(default=None, description="owner; the name of the campaign if left out")
    count: int = number(..., "count", "number of jobs", ge=1)
    submit: float = number(0.0, "s", "s at which they come", ge=0)
    runtime: Law = number(..., "s", "s at speed 1, or length in NCU where speeds are in NCU/s")
    processors: int = number(1, "count", "slots that each job needs", ge=1)
    role: str = Field(
        default="best-effort", description="what its jobs are called in results (column `kind`)"
    )
    best_effort: BestEffortSpec = BestEffortSpec()

    def tasks(self, streams: Streams) -> Iterator[Task]:
        """All of them at one time."""
        runtimes = self.runtime.draw(streams.stream(f"workload:{self.name}:runtime"), self.count)
        for runtime in runtimes.tolist():
            yield Task(self.submit, self.user or self.name, self.name, runtime, self.processors, runtime)
