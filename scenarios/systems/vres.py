"""Virtual reservations of a site: shares of classes, their limits, and the jobs that come directly."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import nan
from typing import Any

from gridtune.agents.wms.vres_site import VresSite
from gridtune.model.grid import Grid
from gridtune.model.job import CANCELLED, DONE, EXPIRED, FAILED, REJECTED, RUNNING, Job
from gridtune.model.metrics.lost import Reckoning
from gridtune.model.metrics.registry import SHARE, define
from gridtune.model.metrics.users import failed
from gridtune.model.vres import ClassRules, ShareError, SlotClass, slot_counts
from gridtune.scenarios.tables.batch import SiteSpec
from gridtune.scenarios.tables.schema import ScenarioSpec
from gridtune.scenarios.tables.vres import VresFields
from gridtune.scenarios.workloads.tasks import TaskWorkload

LOST = (REJECTED, CANCELLED, EXPIRED, FAILED)

define(
    "sdj_rejection",
    "",
    "minimize",
    "jobs that a class without queue refused, over those offered to it",
    within=SHARE,
)
define(
    "sdj_failed", "", "minimize",
    "jobs of classes without queue that were refused, killed at the limit or late, over those submitted",
    within=SHARE,
)  # fmt: skip
define(
    "batch_response_ratio", "", "minimize",
    "mean of response over run time, both at least 10 s, of jobs of classes with queues; waiting included",
)  # fmt: skip
define("batch_slowdown", "", "minimize", "mean execution time over run time of jobs of classes with queues")
define("batch_slowdown_worst", "", "minimize", "largest of the single ratios of these jobs")


def check(spec: ScenarioSpec) -> None:
    """Whether all virtual reservations can be had.

    Raises:
        ValueError: naming the place and what would be right.
    """
    for site in spec.site:
        if site.vres is None:
            if site.classes:
                raise ValueError(f"site.{site.name}.classes: need shares in site.{site.name}.vres")
            continue
        place = f"site.{site.name}"
        if site.policy.kind != "fcfs":
            raise ValueError(f"{place}.policy: classes with slots of their own are served first come: fcfs")
        try:
            counts_of(site)
        except ShareError as error:
            name = f".{error.name}" if error.name else ""
            raise ValueError(f"{place}.vres{name}: {error}") from None


def vres_notes(spec: ScenarioSpec) -> Iterator[str]:
    """Roles of workloads that no class of any site admits which their jobs may come to, a line each."""
    shared = [site for site in spec.site if site.vres is not None]
    for part in (*spec.workload, *spec.overlay):
        named, role = getattr(part, "site", None), str(getattr(part, "role", ""))
        if not role or isinstance(part, TaskWorkload):
            continue
        where = [site for site in shared if named in (None, site.name)]
        if not where or (named is None and len(where) < len(spec.site)) or spec.platform is not None:
            continue
        known = [one for site in where for one in rules_of(site)]
        if not any(not one.kinds or role in one.kinds for one in known):
            kinds = ", ".join(sorted(set().union(*(one.kinds for one in known))))
            yield f"workload {part.name}: no class admits its role {role}, only {kinds}: its jobs are lost"


def rules_of(site: SiteSpec) -> list[ClassRules]:
    """What each class of a site with shares is granted."""
    known = {part.name: part for part in site.classes}
    names = counts_of(site)
    return [known[name].rules() if name in known else ClassRules(name, frozenset({name})) for name in names]


def counts_of(site: SiteSpec) -> dict[str, int]:
    """Slots of each class.

    Raises:
        ShareError: shares or slots that are not whole.
        ValueError: classes and shares do not fit together.
    """
    assert site.vres is not None
    place = f"site.{site.name}"
    unit = _capacity(site) * site.virtual_slots
    if abs(unit - round(unit)) > 1e-6:
        raise ValueError(
            f"{place}.virtual_slots: {site.virtual_slots:g} for each of {_capacity(site)} processors that "
            f"share is {unit:g} slots, not a whole number"
        )
    names = check_shares(site, place)
    slots = round(site.size * site.slots * site.virtual_slots)
    return slot_counts({name: site.vres.get(name) for name in names}, slots)


def check_shares(shared: VresFields, place: str) -> list[str]:
    """The names of the classes, if the shares fit them.

    Raises:
        ShareError: they do not.
    """
    shares = shared.vres or {}
    for name, share in shares.items():
        if not 0 <= share <= 1:
            raise ShareError(name, f"{share:g} is no share; it must be between 0 and 1")
    names = [known.name for known in shared.classes] or list(shares)
    if not names and shared.vres is not None:
        raise ShareError("", "names no class: give each its share, e.g. { batch = 1.0 }")
    unknown = sorted(set(shares) - set(names))
    if unknown:
        raise ShareError(unknown[0], f"no such class in {place}.classes; there are {', '.join(names)}")
    left_out = [name for name in names if name not in shares]
    if len(left_out) > 1:
        raise ShareError("", f"shares needed for {', '.join(left_out)}; one of them may be left out")
    return names


def _capacity(site: SiteSpec) -> int:
    return site.slots if site.sharing == "node" else 1


def with_shares(site: SiteSpec, shared: VresFields) -> SiteSpec:
    """A generated site with virtual reservations: each share as near as whole slots come to it.

    A class with a share has a slot at least where there are as many slots as classes; the class of which no
    share is given, or else the last, takes the rest.
    """
    shares = shared.vres or {}
    names = [known.name for known in shared.classes] or list(shares)
    rest = next((name for name in names if name not in shares), names[-1])
    slots = round(site.size * shared.virtual_slots)
    left, counts = slots, {}
    for number, name in enumerate(known for known in names if known != rest):
        others = len(names) - number - 1
        wanted = max(round(shares[name] * slots), 1 if shares[name] > 0 else 0)
        counts[name] = max(0, min(wanted, left - others))
        left -= counts[name]
    made = {name: count / slots for name, count in counts.items()}
    return site.model_copy(
        update={
            "vres": made if rest not in shares else {**made, rest: left / slots},
            "virtual_slots": shared.virtual_slots,
            "classes": shared.classes,
        }
    )


def measure_together(grid: Grid, prefix: str, sites: list[VresSite]) -> None:
    """Have signals and metrics of each class taken over many sites as one.

    Args:
        grid: on which they stand.
        prefix: by which they are called in place of a site's name.
        sites: all with the same classes.
    """

    def of(name: str) -> list[SlotClass]:
        return [known for site in sites for known in site.classes if known.rules.name == name]

    def summed(name: str, attribute: str) -> Callable[[], float]:
        return lambda: sum(getattr(known, attribute) for known in of(name))

    def waiting(name: str) -> Callable[[], float]:
        return lambda: sum(len(known.queue) for known in of(name))

    def slowdown(name: str) -> Callable[[], float]:
        many, much = summed(name, "stretched"), summed(name, "stretch")
        return lambda: much() / many() if many() else nan

    for name in dict.fromkeys(known.rules.name for site in sites for known in site.classes):
        called = f"{prefix}.{name}"
        grid.record.probe(f"{called}.running", summed(name, "running"))
        grid.record.probe(f"{called}.waiting", waiting(name))
        define(f"slowdown.{called}", "", "minimize", "mean execution over run time at generated sites")
        define(f"started.{called}", "jobs", "maximize", "jobs of the class started at generated sites")
        define(f"rejected.{called}", "jobs", "minimize", "jobs of the class refused at generated sites")
        grid.record.measure(f"slowdown.{called}", slowdown(name))
        grid.record.measure(f"started.{called}", summed(name, "started"))
        grid.record.measure(f"rejected.{called}", summed(name, "rejected"))


def place(grid: Grid, site: SiteSpec) -> VresSite:
    """Put a declared site with virtual reservations on the grid, with its signals and metrics."""
    made = stand(grid, site)
    for slot_class in made.classes:
        name = f"{site.name}.{slot_class.rules.name}"
        _probe(grid, name, slot_class)
        for metric, unit, better, meaning, value in _class_metrics(made, slot_class):
            define(f"{metric}.{name}", unit, better, meaning)
            grid.record.measure(f"{metric}.{name}", value)
    return made


def stand(grid: Grid, site: SiteSpec) -> VresSite:
    """Put a site with virtual reservations on the grid."""
    counts = counts_of(site)
    capacity = _capacity(site)
    per_node = site.slots // capacity
    speeds = site.speed if isinstance(site.speed, list) else [site.speed] * site.size
    rules = rules_of(site)
    return VresSite(
        grid,
        site.name,
        [speed for speed in speeds for _ in range(per_node)],
        rules,
        list(counts.values()),
        capacity=capacity,
        units_per_node=per_node,
    )


def _probe(grid: Grid, name: str, slot_class: SlotClass) -> None:
    grid.record.probe(f"{name}.running", lambda: slot_class.running)
    grid.record.probe(f"{name}.waiting", lambda: len(slot_class.queue))


def _class_metrics(site: VresSite, known: SlotClass) -> list[tuple[str, str, Any, str, Any]]:
    """Name, unit, direction, meaning and value of what is measured of each class."""

    def share() -> float:
        time, service = known.saturated_by(site.grid.now)
        return service / (time * site.power) if time else nan

    return [
        ("slowdown", "", "minimize", "mean execution over run time of the class", lambda: known.mean_stretch),
        ("share", "", "maximize", "of the processors, received while all slots of the class computed", share),
        ("started", "jobs", "maximize", "jobs of the class that were started", lambda: known.started),
        ("rejected", "jobs", "minimize", "jobs of the class that found no slot", lambda: known.rejected),
    ]  # fmt: skip


def vres_sites(grid: Grid) -> dict[str, VresSite]:
    """The sites with virtual reservations that stand on a grid, by name."""
    return {agent.name: agent for agent in grid.agents if isinstance(agent, VresSite)}


def build(grid: Grid, spec: ScenarioSpec) -> None:
    """Put all sites with virtual reservations on the grid, and have their own users' jobs submitted."""
    from gridtune.scenarios.systems.batch import own_users

    for site in spec.site:
        if site.vres is not None:
            place(grid, site)
    sites = vres_sites(grid)
    if not sites:
        return
    grid.record.measure("sdj_rejection", lambda: _rejection(list(sites.values())))
    grid.record.measure("sdj_failed", lambda: failed_fraction(grid, list(sites.values())))
    grid.record.measure("batch_response_ratio", lambda: response_ratio(grid, list(sites.values())))
    grid.record.measure("batch_slowdown", lambda: _slowdown(list(sites.values())))
    grid.record.measure("batch_slowdown_worst", lambda: _worst(list(sites.values())))
    grid.record.measure("utilisation", lambda: _utilisation(grid, sites))
    own_users(grid, spec, sites)


def _of(sites: list[VresSite], full: str) -> list[SlotClass]:
    return [known for site in sites for known in site.classes if known.rules.full == full]


def _rejection(sites: list[VresSite]) -> float:
    classes = _of(sites, "reject")
    offered = sum(known.rejected + known.started for known in classes)
    return sum(known.rejected for known in classes) / offered if offered else 0.0


def failed_fraction(grid: Grid, sites: list[VresSite]) -> float:
    """Jobs of classes without queue that failed, over those submitted; nan if there are none.

    One fails that is refused in the end, ends before its work is done, misses its deadline, or has none and
    is not done when the run ends. A job that brokers bring to a second site counts once.
    """
    jobs = _jobs_of(grid, sites, "reject")
    return sum(_failed(job, grid.judged) for job in jobs) / len(jobs) if jobs else nan


def _failed(job: Job, judged: float) -> bool:
    return job.state in LOST or failed(job, judged)


def response_ratio(grid: Grid, sites: list[VresSite], bound: float = 10.0) -> float:
    """Mean of (end - submission) / run time over jobs of classes with queues; nan if there are none.

    Lost jobs count as `model.metrics.lost.Reckoning` says: else a site that never comes round to them would
    look good.

    Args:
        grid: after its run.
        sites: all with virtual reservations.
        bound: s that response and run time count at least, so that jobs of a second do not outweigh all.
    """
    reckoning = Reckoning.of_run(grid)
    ratios = [
        max(reckoning.response(job), bound) / max(job.runtime, bound) for job in _jobs_of(grid, sites, "wait")
    ]
    return sum(ratios) / len(ratios) if ratios else nan


def _jobs_of(grid: Grid, sites: list[VresSite], full: str) -> list[Job]:
    """Jobs whose class, at the first site that has one for them, treats them so when it is full.

    Jobs that were brought to a place without virtual reservations are none of them.
    """
    found, names = [], {"", *(site.name for site in sites)}
    treated: dict[tuple[str, str], bool] = {}  # by what decides on the class
    for job in grid.record.jobs:
        if job.site not in names:
            continue
        key = job.kind, job.group
        if key not in treated:
            known = next((known for site in sites if (known := site.class_for(job)) is not None), None)
            treated[key] = known is not None and known.rules.full == full
        if treated[key]:
            found.append(job)
    return found


def _slowdown(sites: list[VresSite]) -> float:
    classes = _of(sites, "wait")
    count = sum(known.stretched for known in classes)
    return sum(known.stretch for known in classes) / count if count else nan


def _utilisation(grid: Grid, sites: Mapping[str, VresSite]) -> float:
    """Busy slot-seconds over slots times the time in use, of all sites.

    Slots that share a processor are not each a whole one: there the work that was got counts.
    """
    jobs = grid.record.jobs
    ends = [
        job.end if job.state is DONE or job.end <= grid.now else grid.now
        for job in jobs
        if job.state is DONE or job.state is RUNNING or job.wasted
    ]
    span = max(ends, default=0.0) - min((job.submit for job in jobs), default=0.0)
    busy = 0.0
    for site in sites.values():
        processors = sum(unit.capacity for unit in site.units)
        busy += sum(known.service_by(grid.now) for known in site.classes) * processors / site.power
    for job in jobs:
        if job.site not in sites:
            busy += job.wasted
            if job.state is DONE or job.state is RUNNING:
                busy += ((job.end if job.state is DONE else grid.now) - job.start) * job.processors
    return busy / (span * grid.slots) if span > 0 else 0.0


def _worst(sites: list[VresSite]) -> float:
    return max((known.worst_stretch for known in _of(sites, "wait")), default=nan)
