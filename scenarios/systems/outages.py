"""The life of a machine put on the grid: failures, outages, reservations and preemption at batch sites."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import inf

from gridtune.agents.batch.availability import AdvanceReservation, availability_of
from gridtune.agents.batch.batch_site import BatchSite
from gridtune.agents.batch.outages import Failures, Outage, schedule_outages, schedule_reservation
from gridtune.agents.batch.qos import QosPreemption, Terms, count_preemptions
from gridtune.agents.batch.timeline import Timeline
from gridtune.agents.wms.vres_outages import VresAvailability
from gridtune.agents.wms.vres_site import VresSite
from gridtune.model.batch.priority import HIGHEST, Priority
from gridtune.model.grid import Grid
from gridtune.model.prediction import Promise
from gridtune.model.streams import Streams
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.fields.faults import needs_names
from gridtune.scenarios.systems.batch import delay, sites_of
from gridtune.scenarios.tables.batch import SiteSpec
from gridtune.scenarios.tables.outages import PreemptionSpec, chosen
from gridtune.scenarios.tables.schema import ScenarioSpec
from gridtune.scenarios.trace_files.find import find_trace
from gridtune.scenarios.trace_files.outages import read_outages
from gridtune.scenarios.trace_files.records import TraceError
from gridtune.scenarios.workloads.jobs import EVERY, JobWorkload, Task
from gridtune.scenarios.workloads.tasks import TaskWorkload
from gridtune.scenarios.workloads.trace_jobs import TraceJobs

OTHER_KINDS = {"lease", "pilot", "task"}  # of jobs, beside the roles of workloads


def check(spec: ScenarioSpec) -> None:
    """Whether only sites with a batch scheduler have reservations, power, and jobs that make way.

    Raises:
        ValueError: another has.
    """
    for site in spec.site:
        given = {
            "reservation": bool(site.reservation),
            "preemption": site.preemption is not None,
            "power": site.power is not None,
            "prediction": not isinstance(site.prediction, Promise),
        }
        for key, there in given.items():
            if there and site.vres is not None:
                raise ValueError(
                    f"site.{site.name}.{key}: is for sites with a batch scheduler; leave it out, or vres"
                )
        files = site.file_system
        slowed = files is not None and files.io_share > 0
        if site.preemption is not None and site.preemption.mode == "checkpoint" and slowed:
            raise ValueError(
                f"site.{site.name}.preemption.mode: no checkpoints where a file system slows jobs down; "
                'give "requeue" or "cancel", or io_share = 0'
            )
        if site.suspends:
            _check_suspension(spec, site)


def _check_suspension(spec: ScenarioSpec, site: SiteSpec) -> None:
    """Whether the scheduler of a site alone decides who gets slots, and time alone how far jobs get.

    Raises:
        ValueError: something does.
    """
    first = next(one.name for one in spec.site if one.vres is None)
    harvested = {part.site or first for part in spec.harvester}
    given = {
        "failures, outages, reservations": site.lives,
        "power": site.power is not None,
        "faults of its nodes": needs_names(spec.fault, site.name),
        "a harvester": bool(harvested & {EVERY, site.name}),
        "a file system that slows jobs down": site.file_system is not None and site.file_system.io_share > 0,
        "links that are shared": spec.network.sharing != "none",
    }
    if there := [name for name, is_there in given.items() if is_there]:
        raise ValueError(
            f"site.{site.name}.preemption.mode: no suspension beside {', '.join(there)}; "
            'give "requeue" or "cancel", or leave that out'
        )


def build(grid: Grid, spec: ScenarioSpec) -> None:
    """Have nodes fail and be out, processors be reserved and jobs make way, as the tables of the sites say.

    Raises:
        ScenarioError: a file of outages cannot be used, or a site is too small for what is said of it.
    """
    sites = sites_of(grid)
    shared = {agent.name: agent for agent in grid.agents if isinstance(agent, VresSite)}
    for part in spec.site:
        if part.lives and part.vres is not None:
            have_outages(grid, part, VresAvailability(shared[part.name], part.requeues))
        elif part.lives:
            availability = availability_of(sites[part.name])
            have_outages(grid, part, availability)
            for reservation in (*_cap(part, sites[part.name]), *_reservations(part)):
                schedule_reservation(availability, *reservation)
        if part.preemption is not None:
            count_preemptions(grid.record)
            if part.preemption.qos or part.preemption.express:
                QosPreemption(sites[part.name], _terms(part.preemption))


def qos_notes(spec: ScenarioSpec) -> Iterator[str]:
    """What a site gives a level or priority, but is QOS or kind of no job, a line for each table."""
    with_roles = [load for load in spec.workload if isinstance(load, JobWorkload | TaskWorkload)]
    known = {part.role for part in (*with_roles, *spec.overlay)} | OTHER_KINDS
    tables: list[tuple[str, str, Mapping[str, float]]] = [
        (site.name, "preemption", site.preemption.qos) for site in spec.site if site.preemption
    ]
    tables += [
        (site.name, "policy", site.policy.qos) for site in spec.site if isinstance(site.policy, Priority)
    ]
    if any(table.keys() - known for _, _, table in tables):
        known |= {name for load in with_roles if isinstance(load, TraceJobs) for name in load.qos()}
    for site, place, table in tables:
        if strangers := sorted(table.keys() - known - {HIGHEST}):
            there, of = ", ".join(sorted(known - OTHER_KINDS)), ", ".join(strangers)
            yield f"site {site}: {place}.qos: no jobs have the QOS or kind {of}; there are {there}"


def owner_notes(spec: ScenarioSpec) -> Iterator[str]:
    """Users and groups of reservations and weights of a portal that no job has, a line for each table.

    Nothing is said where owners of jobs are known only when a scenario runs.

    Raises:
        ScenarioError: a log cannot be found or read.
    """
    every = [*spec.workload, *spec.overlay]
    named: list[tuple[str, str, Collection[str], Sequence[object], tuple[str, ...]]] = [
        (f"site.{site.name}.reservation.{one.name}", kind, names, every, (kind,))
        for site in spec.site
        for one in site.reservation
        for kind, names in (("user", one.users), ("group", one.groups))
    ]
    if spec.portal is not None:
        its = [load for load in spec.workload if load.name in spec.portal.workloads]
        named.append(("portal.weights", "user or group", spec.portal.weights, its, ("user", "group")))
    for place, kind, names, loads, attributes in named:
        if names and all(_has_owners(load) for load in loads):
            tasks = [task for load in loads if isinstance(load, JobWorkload) for task in _tasks(load)]
            known = {getattr(task, attribute) for task in tasks for attribute in attributes}
            if strangers := sorted(set(names) - known):
                yield f"{place}: no job is of the {kind} {', '.join(strangers)}"


def _has_owners(load: object) -> bool:
    """Whether a workload has the same owners in every run."""
    return load.from_file if isinstance(load, TraceJobs) else isinstance(load, JobWorkload)


def _tasks(load: JobWorkload) -> Iterator[Task]:
    """Its jobs, of a log as they were."""
    return load.replayed() if isinstance(load, TraceJobs) else load.tasks(Streams(0))


def have_outages(grid: Grid, spec: SiteSpec, availability: Timeline) -> None:
    """Have nodes of one site fail and be out."""
    try:
        spec.check_life(spec.size, spec.slots)
    except ValueError as error:
        raise ScenarioError(f"site.{spec.name}.{error}") from None
    schedule_outages(availability, _outages(spec))
    for number, failures in enumerate(spec.failures, 1):
        nodes = chosen(failures.nodes, spec.size)
        for first in range(0, len(nodes), failures.together):
            name = f"failures:{spec.name}:{number}:{nodes[first]}"
            between = delay(failures.between, grid, f"{name}:between")
            repair = delay(failures.repair, grid, f"{name}:repair")
            Failures(availability, nodes[first : first + failures.together], name, between, repair)


def _cap(spec: SiteSpec, site: BatchSite) -> Iterator[tuple[AdvanceReservation, float]]:
    """What a power cap keeps from the scheduler: processors that would draw too much."""
    if spec.power is None:
        return
    usable = spec.power.usable(spec.size, spec.slots)
    if usable < site.slots:
        site.admission.narrow(usable)
        yield AdvanceReservation("power cap", 0.0, inf, site.slots - usable), inf


def _terms(spec: PreemptionSpec) -> Terms:
    facts = spec.model_dump()
    facts["levels"] = facts.pop("qos")
    return Terms(**facts)


def _outages(spec: SiteSpec) -> Iterator[Outage]:
    for outage in spec.outage:
        yield Outage(outage.start, outage.end, chosen(outage.nodes, spec.size), outage.drain)
    if spec.outages is None:
        return
    try:
        rows = read_outages(find_trace(spec.outages))
    except TraceError as error:
        raise ScenarioError(f"site.{spec.name}.outages: {error}") from None
    for row in rows:
        if row.node >= spec.size:
            raise ScenarioError(
                f"site.{spec.name}.outages: {spec.outages} has node {row.node}; the nodes are 0 to "
                f"{spec.size - 1}"
            )
        yield Outage(row.start, row.end, (row.node,), row.drain)


def _reservations(spec: SiteSpec) -> Iterator[tuple[AdvanceReservation, float]]:
    """Each, and the s before its start that the scheduler learns of it."""
    for table in spec.reservation:
        processors = spec.size * spec.slots if table.processors == "all" else table.processors
        for number in range(table.times):
            start = table.start + (number * table.every if number else 0.0)
            users, groups = frozenset(table.users), frozenset(table.groups)
            made = AdvanceReservation(table.name, start, start + table.duration, processors, users, groups)
            yield made, table.notice
