"""The life of a machine: nodes that fail, are out or drained, reservations, power, and preemption by QOS."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, inf
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from gridtune.agents.batch.qos import Mode
from gridtune.scenarios.fields.laws import PositiveLaw
from gridtune.scenarios.fields.observed import TraceFile
from gridtune.scenarios.fields.table import Name, Several, Table, number

ALL: Literal["all"] = "all"


def _numbers(value: Any) -> Any:
    """A list of numbers from 0, or the word for all; one sentence for whatever else it is."""
    whole = isinstance(value, list) and all(
        isinstance(one, int) and not isinstance(one, bool) and one >= 0 for one in value
    )
    if value == ALL or (whole and value and len(set(value)) == len(value)):
        return value
    raise ValueError('expected different numbers of nodes from 0, e.g. [0, 1], or "all"')


Nodes = Annotated[list[int] | Literal["all"], BeforeValidator(_numbers)]


def chosen(nodes: list[int] | Literal["all"], size: int) -> Sequence[int]:
    """The numbers of the nodes that are meant.

    Args:
        nodes: as written.
        size: nodes of the site.

    Raises:
        ValueError: the site has no such node.
    """
    if nodes == ALL:
        return range(size)
    if max(nodes) >= size:
        raise ValueError(f"no node {max(nodes)}; the nodes are 0 to {size - 1}")
    return nodes


class FailuresSpec(Table):
    """Nodes that fail again and again, whatever runs there (Schroeder and Gibson, DSN 2006: section 5)."""

    between: PositiveLaw = number(
        ...,
        "s",
        "s that a node works from one failure to the next, at least 1; `weibull` with shape 0.7 to 0.8, "
        "where scale is the mean / 1.266 to / 1.133",
    )
    repair: PositiveLaw = number(
        ..., "s", "s until it is back, at least 1; `lognormal`, e.g. median 3240, sigma 1.94 (mean 6 h)"
    )
    nodes: Nodes = number(ALL, "none", "numbers of the nodes, from 0, or `all`", bounds={"minimum": 0})
    together: int = number(
        1, "count", "nodes that fail together, as those of a rack, in the order of numbers", ge=1
    )


class OutageSpec(Table):
    """Nodes that are out for a time: jobs that run there are lost, unless the nodes are drained."""

    endless = frozenset({"end"})

    start: float = number(..., "s", "s at which nothing starts there any more", ge=0)
    end: float = number(inf, "s", "s at which the nodes are back", gt=0)
    nodes: Nodes = number(ALL, "none", "numbers of the nodes, from 0, or `all`", bounds={"minimum": 0})
    drain: bool = Field(
        default=False, description="whether jobs that run there finish; the scheduler then knows `end`, too"
    )

    @model_validator(mode="after")
    def _ordered(self) -> OutageSpec:
        if self.end <= self.start:
            raise ValueError(f"end ({self.end}) must be more than start ({self.start})")
        return self


class ReservationSpec(Table):
    """Processors that are kept for some users, or for nobody: maintenance; jobs are planned around it."""

    name: Name
    start: float = number(..., "s", "s at which it begins", ge=0)
    duration: float = number(..., "s", "s that it lasts", gt=0)
    processors: int | Literal["all"] = number(
        ALL, "count", "processors, or `all` of the site", bounds={"minimum": 1}
    )
    users: Several[str] = Field(
        default_factory=list,
        description="users whose jobs may start there if they are promised to end in time; nobody's if "
        "`groups` is empty, too",
    )
    groups: Several[str] = Field(default_factory=list, description="groups whose jobs may start there, too")
    notice: float = number(
        inf, "s", "s before its start that the scheduler learns of it; infinite: always", ge=0
    )
    every: float = number(inf, "s", "s from one to the next, where it is repeated", gt=0)
    times: int = number(1, "count", "how often it takes place", ge=1, le=10_000)

    @model_validator(mode="after")
    def _repeated(self) -> ReservationSpec:
        if self.times > 1 and not self.duration <= self.every < inf:
            raise ValueError(
                f"every: {self.every:g} s: needs a number of at least the duration to be repeated"
            )
        if self.every < inf and "times" not in self.model_fields_set:
            raise ValueError(f"every: {self.every:g} s: set times, too: how often it takes place")
        if isinstance(self.processors, int) and self.processors < 1:
            raise ValueError(f"processors: must be at least 1, not {self.processors}")
        return self


class PreemptionSpec(Table):
    """Jobs of a higher QOS that take the processors of running jobs of lower ones (Slurm, preempt/qos)."""

    mode: Mode = Field(
        default="requeue",
        description="what becomes of a job that makes way (PreemptMode): it runs again from its beginning, "
        "is lost (`cancel`), goes on from where it was when its turn comes (`checkpoint`), or stays in "
        "memory and goes on in its own slots as soon as these are free (`suspend`)",
    )
    qos: dict[str, float] = number(
        ...,
        "none",
        "levels of QOS (names in a log) or of kinds of jobs (`role` of workloads), 0 for all others; the "
        "higher preempts",
        default_factory=dict,
    )
    express: float = number(
        0.0, "s", "s; jobs that promise to run for so long at most are 1 level higher", ge=0
    )
    grace: float = number(
        0.0,
        "s",
        "s from the notice to the end of the execution (GraceTime), for `requeue` and `cancel`",
        ge=0,
    )
    exempt: float = number(0.0, "s", "s that a job runs before it can be preempted (PreemptExemptTime)", ge=0)
    victims: Literal["youngest", "oldest"] = Field(
        default="youngest", description="which of the lowest QOS makes way first"
    )
    checkpoint: float = number(
        0.0, "s", "s without progress that `checkpoint` takes before the job leaves", ge=0
    )
    restart: float = number(0.0, "s", "s without progress that going on from a checkpoint takes", ge=0)

    @model_validator(mode="after")
    def _meant(self) -> PreemptionSpec:
        if not self.model_fields_set & {"qos", "express"}:
            raise ValueError("qos: say which jobs have a higher one; or give express")
        if self.mode == "checkpoint" and self.grace:
            raise ValueError("grace: a checkpoint begins at once and takes `checkpoint` s; leave grace out")
        if self.mode == "suspend" and self.grace:
            raise ValueError("grace: jobs are suspended at once; leave grace out")
        if self.mode != "checkpoint" and (self.checkpoint or self.restart):
            raise ValueError(f'checkpoint and restart are for mode = "checkpoint", not {self.mode!r}')
        return self

    @property
    def at_once(self) -> bool:
        """Whether jobs leave all that they hold as soon as they have to make way."""
        return self.mode != "suspend" and not self.grace and not self.checkpoint


class PowerSpec(Table):
    """What nodes draw, when they are switched off, and a cap (defaults: a node of Batsim's platforms)."""

    idle: float = number(95.0, "W", "W of a node on which nothing runs", ge=0)
    busy: float = number(190.7, "W", "W of a node all of whose slots are held", ge=0)
    off: float = number(9.75, "W", "W of a node that is off", ge=0)
    idle_time: float = number(
        inf, "s", "s that a node is idle before it is switched off; infinite for never", ge=0
    )
    shutdown: float = number(6.1, "s", "s until it is off", ge=0)
    shutdown_energy: float = number(616.0, "J", "J drawn meanwhile", ge=0)
    boot: float = number(151.5, "s", "s until it is on again; a job holds it meanwhile", ge=0)
    boot_energy: float = number(18966.0, "J", "J drawn meanwhile", ge=0)
    kept_on: int = number(0, "count", "nodes that are never switched off, the first ones", ge=0)
    cap: float = number(
        inf, "W", "W that all nodes may draw together: no more processors are used than that allows", gt=0
    )

    @model_validator(mode="after")
    def _meant(self) -> PowerSpec:
        if self.busy < self.idle:
            raise ValueError(f"busy ({self.busy:g} W) must not be less than idle ({self.idle:g} W)")
        if self.cap < inf and self.idle_time < inf:
            raise ValueError("cap: is kept for nodes that stay on; leave out cap, or idle_time")
        return self

    def usable(self, nodes: int, slots: int) -> int:
        """Processors that may be busy under the cap.

        Args:
            nodes: of the site.
            slots: of each node.

        Raises:
            ValueError: not one.
        """
        if self.cap == inf or self.busy == self.idle:
            return nodes * slots
        usable = floor((self.cap - nodes * self.idle) * slots / (self.busy - self.idle) + 1e-9)
        if usable < 1:
            raise ValueError(
                f"power.cap: {self.cap:g} W is too little for one processor beside {nodes} idle nodes, which "
                f"draw {nodes * self.idle:g} W"
            )
        return min(usable, nodes * slots)


class LifeFields(Table):
    """What happens to the nodes of a site with a batch scheduler."""

    failures: Several[FailuresSpec] = Field(default_factory=list, description="failures of nodes, by laws")
    outage: Several[OutageSpec] = Field(
        default_factory=list, description="nodes that are out or drained, one by one"
    )
    outages: TraceFile | None = Field(
        default=None,
        description="file in CSV with an outage of a node in each row: columns `node` (a number from 0), "
        "`start`, `end` (s; empty: for ever) and, where some are drained, `drain` (0 or 1)",
    )
    requeues: int = number(
        5, "count", "how often a job whose node failed runs again before it is lost (Slurm: 5)", ge=0
    )
    reservation: Several[ReservationSpec] = Field(
        default_factory=list, description="advance reservations, and times of maintenance"
    )
    power: PowerSpec | None = Field(
        default=None, description="electrical power of its nodes; left out, it is not counted"
    )
    preemption: PreemptionSpec | None = Field(
        default=None, description="preemption of jobs by those of a higher QOS"
    )

    @property
    def lives(self) -> bool:
        """Whether nodes are ever out, or reserved."""
        capped = self.power is not None and self.power.cap < inf
        return capped or bool(self.failures or self.outage or self.outages or self.reservation)

    @property
    def suspends(self) -> bool:
        """Whether jobs are suspended, which go on in their own slots."""
        return self.preemption is not None and self.preemption.mode == "suspend"

    def check_life(self, size: int, slots: int) -> None:
        """Whether the nodes and processors that are named exist.

        Args:
            size: nodes of the site.
            slots: of each node.

        Raises:
            ValueError: they do not.
        """
        for key, tables in (("failures", self.failures), ("outage", self.outage)):
            for table in tables:
                try:
                    chosen(table.nodes, size)
                except ValueError as error:
                    raise ValueError(f"{key}.nodes: {error}") from None
        if self.power is not None:
            self.power.usable(size, slots)
        for reservation in self.reservation:
            if isinstance(reservation.processors, int) and reservation.processors > size * slots:
                raise ValueError(
                    f"reservation.{reservation.name}.processors: {reservation.processors}; the site has "
                    f"{size * slots}"
                )
