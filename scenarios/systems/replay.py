"""Replays of logs: the size of the site that a log names, and how a replay differs from the log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil
from typing import Any

from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.systems.destinations import at_sites
from gridtune.scenarios.tables.batch import FROM_LOG, QueueSpec, SiteSpec
from gridtune.scenarios.tables.schema import ScenarioSpec
from gridtune.scenarios.workloads.burst_sessions import BurstSessions
from gridtune.scenarios.workloads.trace_jobs import TraceJobs
from gridtune.scenarios.workloads.trace_tasks import TraceTasks


def sized(spec: ScenarioSpec) -> ScenarioSpec:
    """The scenario with the nodes of sites that take them from a log, and prime time by its clock.

    Raises:
        ScenarioError: no log is replayed there, it does not say, or several say different things.
    """
    if all(site.nodes != FROM_LOG and not _dated(site) for site in spec.site):
        return spec
    logs = _logs_at(spec)
    sites = []
    for site in spec.site:
        theirs = logs.get(site.name, [])
        known: dict[str, Any] = {"nodes": _nodes_of(site, theirs)} if site.nodes == FROM_LOG else {}
        if _dated(site):
            began = next((log.began() for log in theirs), None)
            known["prime_time"] = [one.from_run(began) for one in site.prime_time]
        sites.append(site.model_copy(update=known))
    return spec.model_copy(update={"site": sites})


def _dated(site: SiteSpec) -> bool:
    """Whether hours of its prime time count from a date."""
    return any(one.since is not None for one in site.prime_time)


def _logs_at(spec: ScenarioSpec) -> dict[str, list[TraceJobs]]:
    """The logs that are replayed at each site."""
    logs: dict[str, list[TraceJobs]] = {}
    for name, workload in at_sites(spec):
        if isinstance(workload, TraceJobs):
            logs.setdefault(name, []).append(workload)
    return logs


def _nodes_of(site: SiteSpec, logs: list[TraceJobs]) -> int:
    place = f"site.{site.name}.nodes"
    if not logs:
        raise ScenarioError(
            f'{place}: "log" needs a [[workload]] of kind "trace" whose jobs go to the site; give a number'
        )
    sizes: dict[str, int] = {}
    for log in logs:
        size = log.processors()
        if size is None:
            raise ScenarioError(
                f"{place}: {log.trace} does not say how many processors there were; its largest job asks for "
                f"{log.largest()}: give a number"
            )
        sizes[log.trace] = size
    if len(set(sizes.values())) > 1:
        said = ", ".join(f"{trace} {size}" for trace, size in sizes.items())
        raise ScenarioError(f"{place}: the logs name different sizes ({said}); give a number")
    return ceil(next(iter(sizes.values())) / site.slots)


def replay_differences(spec: ScenarioSpec) -> Iterator[str]:
    """How the replays of a scenario differ from their logs, a line for each difference.

    Raises:
        ScenarioError: a log cannot be read.
    """
    sites = {site.name: site for site in sized(spec).site}
    for site in spec.site:
        if site.nodes == FROM_LOG:
            yield f"site {site.name}: {sites[site.name].nodes} nodes, the size that the log names"
    for workload in spec.workload:
        if isinstance(workload, (TraceJobs, TraceTasks, BurstSessions)):
            yield from (f"workload {workload.name}: {line}" for line in workload.differences())


def undated(spec: ScenarioSpec) -> Iterator[str]:
    """Sites whose prime time counts from a date, but whose log does not say when it began, a line each.

    Raises:
        ScenarioError: a log cannot be read.
    """
    for site in sized(spec).site:
        if _dated(site):
            yield (
                f"site {site.name}: prime_time counts hours from the first job, not from `since`: no log "
                "says when it began"
            )


def refused_jobs(spec: ScenarioSpec) -> Iterator[str]:
    """Jobs of logs that no site will take, a line for each reason.

    Raises:
        ScenarioError: a log cannot be read.
    """
    places = {workload.name: name for name, workload in at_sites(spec)}
    sites = {site.name: site for site in sized(spec).site}
    for workload in spec.workload:
        if isinstance(workload, TraceJobs):
            place = sites.get(places.get(workload.name, ""))
            lines = _refused(workload, place) if place else _too_wide(workload, spec, sites.values())
            yield from (f"workload {workload.name}: {line}" for line in lines)


def _too_wide(log: TraceJobs, spec: ScenarioSpec, sites: Iterable[SiteSpec]) -> Iterator[str]:
    """Jobs that are brought to sites, but fit at none; sizes that are drawn are not known before a run."""
    rooms = {site.size * site.slots: site.name for site in sites}
    if not log.from_file or spec.platform is not None or not rooms:
        return
    room = max(rooms)
    widths = [task.processors for task in log.replayed()]
    wide = sum(width > room for width in widths)
    if wide:
        yield (
            f"{wide:,} of {len(widths):,} jobs ask for more than the {room:,} processors of site "
            f"{rooms[room]}, the largest, and are refused: they count as lost"
        )


def _refused(log: TraceJobs, site: SiteSpec) -> Iterator[str]:
    """Jobs that the site cannot take."""
    if not log.from_file:
        return
    room = site.size * site.slots
    widths = [task.processors for task in log.replayed()]
    wide = sum(width > room for width in widths)
    if wide:
        yield (
            f"{wide:,} of {len(widths):,} jobs ask for more than the {room:,} processors of site {site.name} "
            "and are refused: they count as lost"
        )
    quota = site.quota.limits.widest
    if site.queue or quota < room:
        slowest = min(site.speed) if isinstance(site.speed, list) else site.speed
        kept = sum(
            task.processors <= room
            and not any(
                task.processors <= min(queue.max_processors, queue.slots, queue.quota.limits.widest)
                and task.estimate / slowest <= queue.max_runtime
                and task.processors <= quota
                for queue in site.queue or [QueueSpec(name="default")]
            )
            for task in log.replayed()
        )
        if kept:
            limits = f"the limits of no queue of site {site.name}"
            if not site.queue:
                limits = f"not the quota of site {site.name} (at most {quota:,.0f} processors)"
            yield f"{kept:,} of {len(widths):,} jobs keep {limits} and are refused: they count as lost"
