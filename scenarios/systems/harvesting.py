"""Harvesting of idle processors: CiGri over a batch site (BatCiGri)."""

from __future__ import annotations

from collections.abc import Mapping

import gridtune.model.harvest  # noqa: F401 - importing it registers the controllers
from gridtune.agents.batch.best_effort import BestEffortQueue, Preemption
from gridtune.agents.batch.submitter import Submitter
from gridtune.agents.harvest.bags import Bag, Bags
from gridtune.agents.harvest.harvester import Harvester
from gridtune.model.grid import Grid
from gridtune.model.harvest.control import Control
from gridtune.model.job import Job
from gridtune.model.metrics.lost import Reckoning, left_over
from gridtune.model.metrics.registry import FROM_ONE, WORK, define
from gridtune.model.metrics.users import mean
from gridtune.scenarios.fields.laws import draws
from gridtune.scenarios.systems.batch import delay, expected_data, sites_of
from gridtune.scenarios.systems.destinations import workloads_for
from gridtune.scenarios.tables.batch import FROM_LOG, SiteSpec
from gridtune.scenarios.tables.harvesting import HarvesterSpec
from gridtune.scenarios.tables.schema import ScenarioSpec
from gridtune.scenarios.workloads.jobs import EVERY, BestEffortSpec, Campaign, JobWorkload, Task

define("best_effort_completed", "jobs", "maximize", "completed best-effort jobs")
define("best_effort_work", "s", "maximize", "work of completed best-effort jobs, at speed 1", WORK)
define("unfinished_campaigns", "campaigns", "minimize", "best-effort campaigns with work left at the end")
define(
    "abandoned",
    "jobs",
    "minimize",
    "best-effort jobs that were dropped, given up, or left alone for the last tenth of the run",
)
define("dropped", "jobs", "minimize", "best-effort jobs that were refused, or killed and not put back")
define("best_effort_left", "jobs", "minimize", "best-effort jobs that were not done when the run ended")
define("best_effort_left_work", "s", "minimize", "work of these, slot-seconds at speed 1", WORK)
define(
    "campaign_unfairness",
    "",
    "minimize",
    "largest minus least share of the harvest that campaigns got, relative to equal shares",
)
define(
    "premium_slowdown",
    "",
    "minimize",
    "mean bounded slow-down of mandatory jobs at harvested sites, and of those lost on their way to a site",
    within=FROM_ONE,
)
define(
    "tracking_error", "", "minimize", "root of the mean squared control error over the cycles of a harvester"
)


def check(spec: ScenarioSpec) -> None:
    """Whether harvesters and best-effort workloads fit together, and to the sites.

    Raises:
        ValueError: one without the other, or a site that cannot be harvested.
    """
    workloads = [*workloads_for(spec, "bags")]
    if workloads and not spec.harvester:
        raise ValueError(f"workload {workloads[0].name}: best-effort jobs need a [[harvester]]")
    if spec.harvester and not workloads:
        raise ValueError(
            "a [[harvester]] needs a best-effort [[workload]] (kind: campaign, or with best_effort)"
        )
    sites = {site.name: site for site in spec.site if site.vres is None}
    taken: set[str] = set()
    for harvester in spec.harvester:
        known = ", ".join(sites) or "none"
        if harvester.site is None and len(sites) != 1:
            raise ValueError(f"harvester {harvester.name}: site: name one of the sites; there are {known}")
        for name in _harvested_sites(harvester, sites):
            if name not in sites:
                raise ValueError(f"harvester {harvester.name}: site: no site {name!r}; there are {known}")
            if name in taken:
                raise ValueError(f"harvester {harvester.name}: site {name} has a harvester already")
            taken.add(name)
            if "load" in _sensors(harvester.controller) and sites[name].file_system is None:
                raise ValueError(
                    f"harvester {harvester.name}: controller.sensor: load is that of a file system; "
                    f"site {name} has none (site.{name}.file_system)"
                )
            if harvester.victims.blind and not _named(sites[name]):
                raise ValueError(
                    f"harvester {harvester.name}: victims: {harvester.victims.kind} asks where jobs are; "
                    f"set site.{name}.named_nodes = true"
                )
            if isinstance(sites[name].speed, list) and len({*sites[name].speed}) > 1:  # type: ignore[misc]
                raise ValueError(
                    f"harvester {harvester.name}: the nodes of {name} have different speeds; a site can be "
                    "harvested unseen by its own jobs only where it does not matter which nodes they get"
                )
    for workload in workloads:
        sizes = [sites[name].size * sites[name].slots for name in taken if sites[name].nodes != FROM_LOG]
        room = min(sizes, default=workload.processors if isinstance(workload, Campaign) else 0)
        if isinstance(workload, Campaign) and workload.processors > room:
            raise ValueError(
                f"workload {workload.name}: processors: {workload.processors} do not fit into {room} slots"
            )


def _sensors(control: Control) -> set[str]:
    """What a controller, or those that it is made of, measures."""
    own = str(getattr(control, "sensor", ""))
    return {own}.union(*map(_sensors, getattr(control, "parts", ())))


def _named(site: SiteSpec) -> bool:
    """Whether it is known on which nodes of a site a job is."""
    return site.named_nodes or site.lives or isinstance(site.speed, list)


def _harvested_sites(harvester: HarvesterSpec, sites: Mapping[str, object]) -> list[str]:
    """Names of the sites that a harvester works at."""
    if harvester.site == EVERY:
        return list(sites)
    return [harvester.site or next(iter(sites))]


def build(grid: Grid, spec: ScenarioSpec) -> None:
    """Put the harvesters on the grid, and have the best-effort jobs of all workloads put into bags."""
    if not spec.harvester:
        return
    sites = sites_of(grid)
    agenda = grid.agenda
    bags = Bags(lambda: agenda.now, spec.bags.sharing)
    declared = {site.name: site for site in spec.site if site.vres is None}
    harvesters = []
    for part in spec.harvester:
        for site in _harvested_sites(part, declared):
            name = part.name if part.site != EVERY else f"{part.name}-{site}"
            preemption = Preemption(
                delay(part.kill_delay, grid, f"kill_delay:{name}"),
                part.grace,
                part.lifetime,
                part.start_delay,
                part.victims,
            )
            queue = BestEffortQueue(sites[site], preemption)
            control: Control = part.controller
            harvesters.append(Harvester(grid, name, queue, bags, control, part.cycle))
    room = min(harvester.queue.site.nodes.slots for harvester in harvesters)
    submitters = []
    for workload in workloads_for(spec, "bags"):
        submitters.append(_submitter(grid, workload, bags, room))
        grid.agenda.feed(submitters[-1].schedule(workload.tasks(grid.streams)))
    _measure(grid, bags, harvesters, submitters, spec.metrics.slowdown_bound)


def _submitter(grid: Grid, workload: JobWorkload, bags: Bags, room: int) -> Submitter:
    """Who puts the jobs of a workload into bags; each user's go into a bag of their own."""
    facts: BestEffortSpec | None = workload.best_effort
    assert facts is not None
    # A stream of their own, drawn in order of arrival: what the controller does changes no overhead.
    overheads = draws(facts.overhead, grid.streams.stream(f"workload:{workload.name}:overhead"))
    known: dict[str, Bag] = {}
    expect = expected_data(grid, workload)

    def make(task: Task) -> Job:
        job = grid.record.job(
            task.user,
            task.submit,
            task.runtime,
            kind=workload.role,
            mandatory=False,
            processors=task.processors,
            estimate=task.estimate,
            group=task.group,
        )
        if expect is not None:
            expect(job)
        return job

    def fill(job: Job) -> None:
        overhead = next(overheads)
        if job.processors > room:
            job.reject(grid.now)
            return
        bag = known.get(job.user)
        if bag is None:
            name = f"{workload.name}/{job.user}"
            bag = known[job.user] = Bag(name, facts.io_share, facts.weight)
        bags.add(bag, job, overhead)

    return Submitter(grid, workload.name, make, fill)


def _measure(
    grid: Grid, bags: Bags, harvesters: list[Harvester], submitters: list[Submitter], shortest: float
) -> None:
    """Have the metrics worked out when the run is over; `shortest` s run times count in slow-downs."""

    harvested = {harvester.queue.site.name for harvester in harvesters}

    def slowdown() -> float:
        reckoning = Reckoning.of(grid.record.jobs, grid.now, grid.mean_speed, shortest)
        owed = [job for job in grid.record.jobs if job.mandatory]
        # What was lost before it reached a site was on its way here if others of its kind got here.
        kinds = {job.kind for job in owed if job.site in harvested}
        here = [job for job in owed if job.site in harvested or (not job.site and job.kind in kinds)]
        return mean([reckoning.slowdown(job) for job in here])

    def left() -> list[float]:
        made: list[float] = grid.record.reckon(
            bags, lambda: [job.work for job in grid.record.jobs if left_over(job)] + never_made()
        )
        return made

    def never_made() -> list[float]:
        missing = (submitter.missing(grid.now) for submitter in submitters)
        return [one.work for those in missing for one in those]

    def dropped() -> int:
        kept = bags.left + sum(harvester.queue.present for harvester in harvesters)
        return len(left()) - kept

    def abandoned() -> int:
        # Whoever drops a killed job instead of putting it back has abandoned it, too.
        return dropped() + (bags.left if all(harvester.stopped for harvester in harvesters) else 0)

    grid.record.measures.update(
        best_effort_completed=lambda: bags.completed,
        best_effort_work=lambda: bags.work,
        unfinished_campaigns=lambda: sum(bag.open > 0 for bag in bags.bags.values()),
        abandoned=abandoned,
        dropped=dropped,
        best_effort_left=lambda: len(left()),
        best_effort_left_work=lambda: sum(left()),
        campaign_unfairness=lambda: bags.unfairness,
        premium_slowdown=slowdown,
        tracking_error=lambda: max(harvester.tracking_error for harvester in harvesters),
    )
