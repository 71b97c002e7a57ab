"""Batch sites and the jobs that are submitted to them directly."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from heapq import merge
from itertools import islice, repeat
from math import inf
from operator import itemgetter
from typing import Protocol

import numpy as np

from gridtune.agents.batch.batch_site import BatchSite
from gridtune.agents.batch.power import Power, PoweredNodes, count_power
from gridtune.agents.batch.predictor import Predictor
from gridtune.agents.batch.services import AT_ONCE, WHENEVER_NEEDED, Delay, Rounds, Services, no_delay
from gridtune.agents.batch.submitter import Submitter
from gridtune.agents.infrastructure.network import Volume, network_of
from gridtune.model.agenda import ARRIVAL, Action
from gridtune.model.batch.nodes import Counted, Named, NodePool
from gridtune.model.batch.queues import Queue
from gridtune.model.grid import Grid
from gridtune.model.infrastructure.file_system import FileSystem
from gridtune.model.job import Job
from gridtune.model.prediction import Promise
from gridtune.scenarios.fields.faults import needs_names
from gridtune.scenarios.fields.laws import Constant, Law, by_rank, draws
from gridtune.scenarios.systems.destinations import at_sites, destination, site_names
from gridtune.scenarios.tables.batch import SiteSpec
from gridtune.scenarios.tables.schema import ScenarioSpec
from gridtune.scenarios.workloads.jobs import EVERY, JobWorkload, Task
from gridtune.scenarios.workloads.trace_jobs import TraceJobs


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
            to = destination(spec, workload)
            if to != "wms" and (workload.requirements or workload.ranking is not None):
                raise ValueError(
                    f"workload {workload.name}: requirements, ranking: are for jobs that brokers bring "
                    "to sites; leave them out"
                )
            to_site = to == "site"
            _check_needs(spec, workload, to_site)
            if isinstance(workload, TraceJobs) and not (
                to_site and all(site.vres is None for site in spec.site)
            ):
                for key in ("cancelled", "dependencies"):
                    if getattr(workload, key) == "keep":
                        raise ValueError(
                            f"workload {workload.name}: {key}: is for jobs that go to a site with a batch "
                            "scheduler; leave it out"
                        )
            if not to_site or workload.site == EVERY:
                continue
            if workload.site is None and len(sites) > 1:
                raise ValueError(f"workload {workload.name}: site: name one of {', '.join(sites)}")
            if workload.site is not None and workload.site not in sites:
                raise ValueError(
                    f"workload {workload.name}: site: no site {workload.site!r}; there are {', '.join(sites)}"
                )


def _check_needs(spec: ScenarioSpec, workload: JobWorkload, to_site: bool) -> None:
    """Whether the sites of a workload have what its jobs need.

    Raises:
        ValueError: they have not, or its jobs go elsewhere.
    """
    if not workload.needs:
        return
    if not to_site or workload.best_effort is not None:
        raise ValueError(
            f"workload {workload.name}: needs: is for jobs that go to a site with a batch scheduler; "
            "leave it out"
        )
    if isinstance(workload, TraceJobs) and workload.dependencies == "keep":
        raise ValueError(
            f"workload {workload.name}: needs: are drawn in the order of the log, which "
            'dependencies = "keep" changes; leave one of them out'
        )
    for site in spec.site:
        unknown = sorted(set(workload.needs) - set(site.resources))
        if unknown and workload.site in (None, EVERY, site.name):
            known = ", ".join(site.resources) or "none"
            raise ValueError(
                f"workload {workload.name}: needs: {site.name} has no {', '.join(unknown)}; "
                f"its resources: {known}"
            )


def build(grid: Grid, spec: ScenarioSpec) -> None:
    """Put all sites on the grid, and have the jobs of their own users submitted to them."""
    for part in spec.site:
        if part.vres is None:
            named = part.named_nodes or needs_names(spec.fault, part.name)
            place(grid, part.model_copy(update={"named_nodes": named}))
    own_users(grid, spec, sites_of(grid))


def place(grid: Grid, spec: SiteSpec) -> BatchSite:
    """Put a site on the grid, with its signals."""
    queues = [
        Queue(**(queue.model_dump() | {"quota": queue.quota.limits, "groups": frozenset(queue.groups)}))
        for queue in spec.queue
    ] or [Queue()]
    services = Services(
        *(
            delay(law, grid, f"{purpose}:{spec.name}")
            for purpose, law in (
                ("mu_rec", spec.mu_rec),
                ("mu_send", spec.mu_send),
                ("start_overhead", spec.start_overhead),
            )
        )
    )
    rounds, files = spec.rounds, spec.file_system
    site = BatchSite(
        grid,
        spec.name,
        _pool(grid, spec),
        spec.policy,
        queues=queues,
        quota=spec.quota.limits,
        services=AT_ONCE if services == AT_ONCE else services,
        overrun=spec.overrun,
        prime_times=[one.times for one in spec.prime_time],
        rounds=WHENEVER_NEEDED
        if rounds is None
        else Rounds(
            rounds.gap, rounds.period, delay(rounds.duration, grid, f"round:{spec.name}"), rounds.per_waiting
        ),
        file_system=None if files is None else FileSystem(grid.agenda, files.threads, files.time_constant),
        io_share=0.0 if files is None else files.io_share,
        requeues=spec.requeues,
        resources={name: units * spec.size for name, units in spec.resources.items()},
    )
    network = network_of(grid)
    if network is not None and spec.name in network.ways:  # the queue of theory has no links
        site.stage(network.ways[spec.name])
        if spec.cache > 0:
            network.add_cache(spec.name, spec.cache)
    site.head_node = spec.head_node.place(grid, f"{spec.name}.head-node", lambda: site.depth)
    if not isinstance(spec.prediction, Promise):
        Predictor(site, spec.prediction)
    grid.record.probe(f"{spec.name}.running", lambda: site.running)
    grid.record.probe(f"{spec.name}.waiting", lambda: site.depth)
    grid.record.probe(f"{spec.name}.free", lambda: site.free)
    if site.cluster.resources is not None:
        for name in spec.resources:
            grid.record.probe(
                f"{spec.name}.free.{name}", partial(site.cluster.resources.free.__getitem__, name)
            )
    return site


def _pool(grid: Grid, site: SiteSpec) -> NodePool:
    if site.power is not None:
        speeds = site.speed if isinstance(site.speed, list) else [site.speed] * site.size
        power = Power(**site.power.model_dump(exclude={"cap"}))
        nodes = PoweredNodes(site.name, speeds, site.slots, power, grid.agenda)
        count_power(grid.record, nodes)
        return nodes
    if isinstance(site.speed, list):
        return Named(site.name, site.speed, site.slots)
    if site.named_nodes or site.lives or site.suspends:
        return Named(site.name, [site.speed] * site.size, site.slots)
    return Counted(site.size * site.slots, site.speed)


def own_users(grid: Grid, spec: ScenarioSpec, sites: Mapping[str, Receiver]) -> None:
    """Have the jobs of some sites' own users submitted to them."""
    feed(grid, [arrivals(grid, workload, sites[name]) for name, workload in at_sites(spec) if name in sites])


def merged(
    streams: Sequence[Iterator[tuple[float, Action, Task]]],
) -> Iterator[tuple[float, Action, Task]]:
    """Streams of arrivals as one; at equal times the earlier stream goes first."""
    return streams[0] if len(streams) == 1 else merge(*streams, key=itemgetter(0))


def feed(grid: Grid, streams: Sequence[Iterator[tuple[float, Action, Task]]]) -> None:
    """Hand streams of arrivals to the agenda; at equal times the earlier stream goes first."""
    for stream in streams:  # it merges them with all others in one go
        grid.agenda.feed(stream)


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
    create, placeholder, role = grid.record.job, grid.record.placeholder, workload.role
    queues, log_ids = grid.record.queues, grid.record.log_ids
    bound = workload.bound
    patience = inf if workload.deadline is None else workload.deadline
    expect = expected_data(grid, workload)
    needs = _needs(grid, workload)
    requires = frozenset(workload.requires) or None

    def make(task: Task) -> Job:
        if task.withdrawn < inf:
            job = placeholder(
                task.user, task.submit, task.estimate, task.runtime, kind=role,
                processors=task.processors, group=task.group, mandatory=False,
            )  # fmt: skip
            job.qos = task.qos
            if needs is not None:
                job.needs = next(needs)
            assert isinstance(receiver, BatchSite)  # see `check`
            receiver.admission.direct(job, task.queue)
            grid.agenda.after(task.withdrawn, receiver.cancel, job, ARRIVAL)
            return job
        job = create(
            task.user,
            task.submit,
            task.runtime,
            kind=role,
            processors=task.processors,
            estimate=task.estimate,
            group=task.group,
            deadline=task.submit
            + (patience if bound is None else min(patience, bound.of(task.runtime / grid.mean_speed))),
            data=requires,
        )
        if expect is not None:
            expect(job)
        if needs is not None:
            job.needs = next(needs)
        job.qos = task.qos
        if task.log_id is not None:
            log_ids[job.id] = task.log_id
        if task.queue:
            queues[job.id] = task.queue
            if isinstance(receiver, BatchSite):
                receiver.admission.direct(job, task.queue)
        return job

    tasks: Iterable[Task] = workload.tasks(grid.streams)
    followers: dict[int, list[Task]] = {}
    if isinstance(workload, TraceJobs) and workload.dependencies == "keep":
        by_themselves: list[Task] = []
        for task in tasks:
            (followers.setdefault(task.preceding, []) if task.preceding else by_themselves).append(task)
        tasks = by_themselves
    submitter = Submitter(grid, workload.name, make, receiver.submit, followers)
    grid.record.held_back.append(lambda now: [one._replace(kind=role) for one in submitter.missing(now)])
    return submitter.schedule(tasks)


def _needs(grid: Grid, workload: JobWorkload) -> Iterator[Mapping[str, int]] | None:
    """What each job of a workload holds beside processors, in the order of coming; None for nothing."""
    if not workload.needs:
        return None
    drawn = {
        name: draws(law, grid.streams.stream(f"workload:{workload.name}:needs.{name}"))
        for name, law in workload.needs.items()
    }
    return (
        {name: int(units) for name, units in zip(drawn, values, strict=True)}
        for values in zip(*drawn.values(), strict=True)
    )


def expected_data(grid: Grid, workload: JobWorkload) -> Callable[[Job], None] | None:
    """Draws the data of each job of a workload, in the order in which they come; None where there is none."""
    network = network_of(grid)
    if workload.data is None or network is None:
        return None
    data = workload.data

    def stream(what: str) -> np.random.Generator:
        return grid.streams.stream(f"workload:{workload.name}:{what}")

    sandboxes, inputs, outputs = (
        draws(getattr(data, kind), stream(kind)) for kind in ("sandbox", "input", "output")
    )
    files: Iterator[tuple[float, str]] = zip(inputs, repeat(""))
    if data.files is not None:
        sizes = list(islice(inputs, data.files))
        chosen = by_rank(data.files, data.popularity, stream("file"))
        files = ((sizes[k], f"{workload.name}-{k}") for k in chosen)

    def expect(job: Job) -> None:
        size, file = next(files)
        network.volumes[job.id] = Volume(next(sandboxes), size, next(outputs), file)

    return expect


def delay(law: Law, grid: Grid, purpose: str) -> Delay:
    """Draws from a law, one at each call."""
    if isinstance(law, Constant):
        value = law.value
        return (lambda: value) if value > 0 else no_delay
    return draws(law, grid.streams.stream(purpose)).__next__
