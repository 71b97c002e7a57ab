"""Batch sites and the jobs that are submitted to them directly."""

from __future__ import annotations

from math import inf
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from gridtune import limits
from gridtune.agents.batch.executions import Overrun
from gridtune.model.batch.prime_time import HOUR, WEEK, PrimeTime, open_to_all
from gridtune.model.batch.quotas import Quota
from gridtune.model.prediction import Promise
from gridtune.scenarios.fields.laws import Constant, Law
from gridtune.scenarios.fields.policies import policy_of
from gridtune.scenarios.fields.service import AT_ONCE, ServiceSpec
from gridtune.scenarios.fields.table import Name, Several, Table, number
from gridtune.scenarios.tables.outages import LifeFields
from gridtune.scenarios.tables.vres import VresFields

NO_LIMIT: Literal["none"] = "none"


def _limit(value: Any) -> Any:
    """A limit, or the word for none, which infinity stands for, too; one sentence for whatever else it is."""
    numeric = isinstance(value, int | float) and not isinstance(value, bool)
    if value in (NO_LIMIT, inf):
        return NO_LIMIT
    if numeric and value >= 1:
        return value
    raise ValueError('expected a number of at least 1, or "none" for no limit')


Limit = Annotated[Annotated[float, Field(ge=1)] | Literal["none"], BeforeValidator(_limit)]


class QuotaSpec(Table):
    """What the jobs of each user, and of each group, may be that run at once; others wait."""

    user_running: Limit = number(NO_LIMIT, "count", "jobs of one user that may run at once")
    user_slots: Limit = number(
        NO_LIMIT, "count", "slots that the jobs of one user hold together; wider jobs are refused"
    )
    user_share: float = number(
        1.0,
        "0 to 1",
        "share of the site's slots that several jobs of one user hold together; a wider one runs while its "
        "user runs no other",
        gt=0,
        le=1,
    )
    group_running: Limit = number(NO_LIMIT, "count", "jobs of one group that may run at once")
    group_slots: Limit = number(
        NO_LIMIT, "count", "slots that the jobs of one group hold together; wider jobs are refused"
    )

    @property
    def limits(self) -> Quota:
        """As the scheduler knows it."""
        given = ((name, getattr(self, name)) for name in type(self).model_fields)
        return Quota(**{name: inf if value == NO_LIMIT else value for name, value in given})


class QueueSpec(Table):
    """A queue of a site: jobs enter the first one whose limits they keep."""

    name: Name
    priority: float = number(0.0, "none", "queues of higher priority are served first, equal ones together")
    factor: float | None = number(
        None, "none", "what `weight_queue` of the policy `priority` weighs; left out, the priority", ge=0
    )
    slots: float = number(inf, "count", "slots that its jobs may hold together", ge=1)
    partition: bool = Field(
        default=False,
        description="whether `slots` are processors on which its jobs are planned and backfilled (a "
        "partition of Slurm), rather than a limit beyond which they wait without a reservation",
    )
    max_runtime: float = number(inf, "s", "s that a job may ask for and run", gt=0)
    max_processors: float = number(inf, "count", "slots that one job may ask for", ge=1)
    running: float = number(inf, "count", "jobs of the queue that may run at once", ge=1)
    quota: QuotaSpec = Field(default=QuotaSpec(), description="limits of each user and group in the queue")
    groups: list[str] = Field(
        default_factory=list, description="groups whose jobs may enter it; all if left out"
    )


class PrimeTimeSpec(Table):
    """Hours of the week in which a site starts only short jobs (as a queue of PBS in prime time)."""

    longest: float = number(..., "s", "s that a job may promise to run to be started in these hours", ge=0)
    hours: list[Annotated[list[float], Field(min_length=2, max_length=2)]] = number(
        ...,
        "h",
        "beginning and end in h after the beginning of each week of the run; the end may lie in the next "
        "week",
        min_length=1,
        bounds={"minimum": 0, "maximum": 336},
    )
    since: float | None = number(
        None,
        "s",
        "s since 1970 from which the hours count, if the log says when it began; left out, they count from "
        "the beginning of the run",
        ge=0,
    )

    @model_validator(mode="after")
    def _spans(self) -> PrimeTimeSpec:
        _ = self.times
        return self

    @property
    def times(self) -> PrimeTime:
        """As the scheduler knows it."""
        return PrimeTime(self.longest, [(begin, end) for begin, end in self.hours])

    def from_run(self, began: float | None) -> PrimeTimeSpec:
        """The same with hours that count from the beginning of a run, if that is known, in s since 1970."""
        if self.since is None or began is None:
            return self
        late = (began - self.since) % WEEK / HOUR
        begins = [round(begin - late, 9) % 168.0 for begin, _ in self.hours]
        hours = [[begin, begin + (old[1] - old[0])] for begin, old in zip(begins, self.hours, strict=True)]
        return self.model_copy(update={"hours": hours, "since": None})


class RoundsSpec(Table):
    """Scheduling rounds: jobs that come in while one lasts wait for the next (OAR; BatCiGri, section 4.5)."""

    gap: float = number(5.0, "s", "s between the beginnings of two rounds, at least", ge=0)
    period: float = number(
        60.0, "s", "s after which a round begins if jobs wait, even if nothing has happened", gt=0
    )
    duration: Law = number(Constant(value=0.0), "s", "s until its decisions take effect")
    per_waiting: float = number(
        0.0, "s", "s that it takes on top for each job that waits when it begins", ge=0
    )


class FileSystemSpec(Table):
    """A file server shared by all jobs of a site."""

    threads: float = number(inf, "count", "processes served at full speed; more slow each other down", gt=0)
    time_constant: float = number(60.0, "s", "s over which the load is averaged", gt=0)
    io_share: float = number(
        0.0,
        "0 to 1",
        "share of its time that a job submitted to the site would spend in I/O if it were alone",
        ge=0,
        lt=1,
    )


FROM_LOG: Literal["log"] = "log"


def _nodes(value: Any) -> Any:
    """A number of nodes, or the word for that of the log; one sentence for whatever else it is."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    if value == FROM_LOG or (whole and value >= 1):
        return value
    if isinstance(value, float) and value.is_integer() and value >= 1:
        return int(value)
    raise ValueError(
        'expected a whole number of at least 1, or "log" for the size that the log\'s header names'
    )


class SiteSpec(VresFields, LifeFields):
    """A site with a local batch scheduler."""

    name: Name = "site"
    nodes: Annotated[Annotated[int, Field(ge=1)] | Literal["log"], BeforeValidator(_nodes)] = number(
        ...,
        "count",
        "worker machines; `log`: as many as the header of the log names that is replayed here (MaxProcs, "
        "else MaxNodes)",
    )
    slots: int = number(1, "count", "slots per node; a job holds one for each processor", ge=1)
    speed: float | list[float] = number(
        1.0,
        "work/s",
        "work per s (NCU/s if run times are lengths in NCU), of all nodes or of each",
        bounds={"exclusiveMinimum": 0},
    )
    named_nodes: bool = Field(
        default=False,
        description="whether jobs are given nodes by name; always where speeds differ, nodes can be out, or "
        "jobs are suspended",
    )
    resources: dict[str, Annotated[int, Field(ge=0)]] = number(
        ...,
        "count",
        "whole units that each node has beside slots, by name (`gpu = 4`); counted over the site",
        default_factory=dict,
    )
    policy: policy_of("batch")  # type: ignore[valid-type]
    queue: Several[QueueSpec] = Field(default_factory=list)
    quota: QuotaSpec = Field(
        default=QuotaSpec(), description="limits of each user and group on the whole site"
    )
    prime_time: Several[PrimeTimeSpec] = Field(default_factory=list)
    start_overhead: Law = number(
        Constant(value=0.0), "s", "s that an execution takes on top, without progress"
    )
    mu_rec: Law = number(Constant(value=0.0), "s", "s from a job's arrival to its entry into a queue")
    mu_send: Law = number(Constant(value=0.0), "s", "s from a job's end until the scheduler hears of it")
    overrun: Overrun = Field(
        default="extend", description="whether a job that runs longer than promised is left to run or killed"
    )
    prediction: policy_of("prediction") = Field(  # type: ignore[valid-type]
        default_factory=Promise, description="what its scheduler plans with: promises, or predicted run times"
    )
    tags: list[str] = Field(default_factory=list, description="properties that tasks may require")
    rounds: RoundsSpec | None = Field(
        default=None, description="rounds of the scheduler; left out, it acts whenever something has happened"
    )
    head_node: ServiceSpec = Field(
        default=AT_ONCE,
        description="what a submission, a cancellation and the kill of a best-effort job cost the head node",
    )
    file_system: FileSystemSpec | None = None
    link_bandwidth: float | None = number(
        None, "bytes/s", "bytes per s of its link where links are shared; that of [network] if left out", gt=0
    )
    cache: float = number(
        0.0,
        "bytes",
        "bytes of shared input files (`data.files`) that the site keeps, so that they need not cross its "
        "link again; those not used for longest give way (LRU)",
        ge=0,
    )

    @model_validator(mode="after")
    def _speeds(self) -> SiteSpec:
        if isinstance(self.nodes, int) and self.nodes * self.slots > limits.SITE_SLOTS:
            raise ValueError(
                f"nodes times slots is {self.nodes * self.slots:,}; the limit is {limits.SITE_SLOTS:,}"
            )
        speeds = self.speed if isinstance(self.speed, list) else [self.speed]
        if self.nodes == FROM_LOG:
            if isinstance(self.speed, list):
                raise ValueError('nodes: "log" gives all nodes one speed; give their number, or one speed')
            if self.vres is not None:
                raise ValueError('nodes: "log" is for sites with a batch scheduler; give a number')
        elif isinstance(self.speed, list) and len(speeds) != self.nodes:
            raise ValueError(
                f"speed: {len(speeds)} speeds for {self.nodes} nodes; give one for each, or one number"
            )
        if not all(0 < speed < inf for speed in speeds):
            raise ValueError(f"speed: must be more than 0, not {min(speeds)}")
        if self.vres is not None and self.quota != QuotaSpec():
            raise ValueError("quota: is for sites with a batch scheduler; leave it out, or vres")
        for queue in self.queue:
            if queue.partition and not (queue.slots < inf and queue.slots == int(queue.slots)):
                raise ValueError(f"queue.{queue.name}: partition: give its slots, a whole number")
        if self.resources or any(queue.partition for queue in self.queue):
            others = ("vres", "failures", "outage", "outages")
            if kept := [name for name in others if getattr(self, name)]:
                raise ValueError(
                    "resources and partitions: are counted over the site, so nobody knows who loses those of "
                    f"a node that is out; leave them out, or {', '.join(kept)}"
                )
            if self.preemption is not None and not self.preemption.at_once:
                raise ValueError(
                    "preemption: only processors can be kept for a job while others leave; where there are "
                    "resources or partitions, give requeue, cancel or checkpoint with neither grace nor "
                    "checkpoint s"
                )
        if self.prime_time and self.vres is not None:
            raise ValueError("prime_time: is for sites with a batch scheduler; leave it out, or vres")
        if not open_to_all([spec.times for spec in self.prime_time]):
            raise ValueError("prime_time: leaves no hour of the week in which long jobs may start")
        if self.vres is not None and not self.head_node.free:
            raise ValueError("head_node: is for sites with a batch scheduler; leave it out, or vres")
        if self.vres is not None and self.cache:
            raise ValueError("cache: is for sites with a batch scheduler; leave it out, or vres")
        if isinstance(self.nodes, int):
            self.check_life(self.nodes, self.slots)
        names = [queue.name for queue in self.queue]
        if len(set(names)) < len(names):
            raise ValueError(f"the names of queues must differ, not {', '.join(names)}")
        return self

    @property
    def size(self) -> int:
        """Nodes, once known.

        Raises:
            ValueError: they are those of a log that has not been read yet.
        """
        if self.nodes == FROM_LOG:
            raise ValueError(f"site.{self.name}.nodes: known only once the log is read; give a number")
        return self.nodes
