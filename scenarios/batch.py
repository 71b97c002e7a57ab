"""Batch sites and the jobs that are submitted to them directly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import merge
from math import inf
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated, Protocol

from pydantic import BeforeValidator, Field, model_validator

from agents.batch_site import WHENEVER_NEEDED, BatchSite, Delay, Overrun, Rounds, Services, no_delay
from model.agenda import Action
from model.batch.cluster import Queue
from model.batch.nodes import Counted, Named, NodePool
from model.file_system import FileSystem
from model.grid import Grid
from model.job import Job
from scenarios.destinations import at_sites, destination, site_names
from scenarios.job_workloads import EVERY, JobWorkload, Task
from scenarios.laws import Constant, Law, draws
from scenarios.parts import Part, one_or_more, policy_of
from scenarios.vres import VresFields

if TYPE_CHECKING:
    from scenarios.schema import ScenarioSpec


class QueueSpec(Part):
    """A queue of a site: jobs enter the first one whose limits they keep."""

    name: str
    priority: float = Field(default=0.0, description="queues of higher priority are served first")
    slots: float = Field(default=inf, ge=1, description="slots that its jobs may hold together")
    max_runtime: float = Field(default=inf, gt=0, description="s that a job may ask for and run")
    max_processors: float = Field(default=inf, ge=1, description="slots that one job may ask for")


class RoundsSpec(Part):
    """Scheduling rounds: jobs that come in while one lasts wait for the next (OAR; BatCiGri, section 4.5)."""

    gap: float = Field(default=5.0, ge=0, description="s between the beginnings of two rounds, at least")
    period: float = Field(
        default=60.0, gt=0, description="s after which a round begins even if nothing has happened"
    )
    duration: Law = Field(default=Constant(value=0.0), description="s until its decisions take effect")


class FileSystemSpec(Part):
    """A file server shared by all jobs of a site."""

    threads: float = Field(
        default=inf, gt=0, description="processes served at full speed; more slow each other down"
    )
    time_constant: float = Field(default=60.0, gt=0, description="s over which the load is averaged")
    io_share: float = Field(
        default=0.0,
        ge=0,
        lt=1,
        description="of its time that a job submitted to the site would spend in I/O if it were alone",
    )


class SiteSpec(VresFields):
    """A site with a local batch scheduler."""

    name: str = "site"
    nodes: int = Field(ge=1, description="worker machines")
    slots: int = Field(default=1, ge=1, description="slots per node; a job holds one for each processor")
    speed: float | list[float] = Field(
        default=1.0, description="work per s (NCU/s if run times are lengths in NCU), of all nodes or of each"
    )
    named_nodes: bool = Field(
        default=False, description="whether jobs are given nodes by name; always where speeds differ"
    )
    policy: policy_of("batch")  # type: ignore[valid-type]
    queue: Annotated[list[QueueSpec], BeforeValidator(one_or_more)] = Field(default_factory=list)
    start_overhead: Law = Field(
        default=Constant(value=0.0), description="s that an execution takes on top, without progress"
    )
    mu_rec: Law = Field(
        default=Constant(value=0.0), description="s from a job's arrival to its entry into a queue"
    )
    mu_send: Law = Field(
        default=Constant(value=0.0), description="s from a job's end until the scheduler hears of it"
    )
    overrun: Overrun = Field(
        default="extend", description="whether a job that runs longer than promised is left to run or killed"
    )
    tags: list[str] = Field(default_factory=list, description="properties that tasks may require")
    rounds: RoundsSpec | None = Field(
        default=None, description="of the scheduler; left out, it acts whenever something has happened"
    )
    file_system: FileSystemSpec | None = None

    @model_validator(mode="after")
    def _speeds(self) -> SiteSpec:
        speeds = self.speed if isinstance(self.speed, list) else [self.speed]
        if isinstance(self.speed, list) and len(speeds) != self.nodes:
            raise ValueError(
                f"speed: {len(speeds)} speeds for {self.nodes} nodes; give one for each, or one number"
            )
        if not all(0 < speed < inf for speed in speeds):
            raise ValueError(f"speed: must be more than 0, not {min(speeds)}")
        names = [queue.name for queue in self.queue]
        if len(set(names)) < len(names):
            raise ValueError(f"the names of queues must differ, not {', '.join(names)}")
        return self

    def pool(self) -> NodePool:
        """The nodes."""
        if isinstance(self.speed, list):
            return Named(self.name, self.speed, self.slots)
        if self.named_nodes:
            return Named(self.name, [self.speed] * self.nodes, self.slots)
        return Counted(self.nodes * self.slots, self.speed)

    def place(self, grid: Grid) -> BatchSite:
        """Put the site on the grid, with its signals."""
        queues = [Queue(**queue.model_dump()) for queue in self.queue] or [Queue()]
        services = Services(
            *(
                delay(law, grid, f"{purpose}:{self.name}")
                for purpose, law in (
                    ("mu_rec", self.mu_rec),
                    ("mu_send", self.mu_send),
                    ("start_overhead", self.start_overhead),
                )
            )
        )
        rounds, files = self.rounds, self.file_system
        site = BatchSite(
            grid,
            self.name,
            self.pool(),
            self.policy,
            queues=queues,
            services=services,
            overrun=self.overrun,
            rounds=WHENEVER_NEEDED
            if rounds is None
            else Rounds(rounds.gap, rounds.period, delay(rounds.duration, grid, f"round:{self.name}")),
            file_system=None
            if files is None
            else FileSystem(grid.agenda, files.threads, files.time_constant),
            io_share=0.0 if files is None else files.io_share,
        )
        grid.record.probe(f"{self.name}.running", lambda: site.running)
        grid.record.probe(f"{self.name}.waiting", lambda: site.depth)
        grid.record.probe(f"{self.name}.free", lambda: site.free)
        return site


def check(spec: ScenarioSpec) -> None:
    """Whether every workload of jobs has its site.

    Raises:
        ValueError: a workload names no site of the scenario.
    """
    sites = site_names(spec)
    for workload in spec.workload:
        if isinstance(workload, JobWorkload):
            if not sites:
                raise ValueError(f"workload {workload.name}: jobs need a [[site]]")
            if destination(spec, workload) != "site" or workload.site == EVERY:
                continue
            if workload.site is None and len(sites) > 1:
                raise ValueError(f"workload {workload.name}: site: name one of {', '.join(sites)}")
            if workload.site is not None and workload.site not in sites:
                raise ValueError(
                    f"workload {workload.name}: site: no site {workload.site!r}; there are {', '.join(sites)}"
                )


def build(grid: Grid, spec: ScenarioSpec) -> None:
    """Put all sites on the grid, and have the jobs of their own users submitted to them."""
    for part in spec.site:
        if part.vres is None:
            part.place(grid)
    own_users(grid, spec, sites_of(grid))


def own_users(grid: Grid, spec: ScenarioSpec, sites: Mapping[str, Receiver]) -> None:
    """Have the jobs of some sites' own users submitted to them."""
    feed(grid, [arrivals(grid, workload, sites[name]) for name, workload in at_sites(spec) if name in sites])


def merged(
    streams: Sequence[Iterator[tuple[float, Action, Task]]],
) -> Iterator[tuple[float, Action, Task]]:
    """Streams of arrivals as one; at equal times the earlier stream goes first."""
    return streams[0] if len(streams) == 1 else merge(*streams, key=itemgetter(0))


def feed(grid: Grid, streams: Sequence[Iterator[tuple[float, Action, Task]]]) -> None:
    """Hand streams of arrivals to the agenda as one, if there are any."""
    if streams:
        grid.agenda.feed(merged(streams))


def sites_of(grid: Grid) -> dict[str, BatchSite]:
    """The sites that stand on a grid, by name, in the order of the scenario."""
    return {agent.name: agent for agent in grid.agents if isinstance(agent, BatchSite)}


class Receiver(Protocol):
    """Whoever takes jobs in: a site, or a middleware."""

    def submit(self, job: Job, /) -> object:
        """Take a job in."""


def arrivals(grid: Grid, workload: JobWorkload, receiver: Receiver) -> Iterator[tuple[float, Action, Task]]:
    """The jobs of a workload as a stream for the agenda; each is made when it arrives, and submitted.

    Raises:
        ScenarioError: a file that the workload names cannot be used.
    """
    create, submit, role = grid.record.job, receiver.submit, workload.role
    urgent = workload.response_bound is not None
    patience = workload.patience(inf)
    requires = frozenset(workload.requires) or None

    def arrive(task: Task) -> None:
        submit(
            create(
                task.user,
                task.submit,
                task.runtime,
                kind=role,
                processors=task.processors,
                estimate=task.estimate,
                group=task.group,
                deadline=task.submit
                + (workload.patience(task.runtime / grid.mean_speed) if urgent else patience),
                data=requires,
            )
        )

    return ((task.submit, arrive, task) for task in workload.tasks(grid.streams))


def delay(law: Law, grid: Grid, purpose: str) -> Delay:
    """Draws from a law, one at each call."""
    if isinstance(law, Constant):
        value = law.value
        return (lambda: value) if value > 0 else no_delay
    return draws(law, grid.streams.stream(purpose)).__next__
