"""Workload management of a computing grid in scenarios: brokers, their latencies and failures."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan
from statistics import median

from gridtune.agents.infrastructure.network import network_of
from gridtune.agents.wms.advertising import BatchElement, ComputingElement
from gridtune.agents.wms.broker import (
    BrokerHabits,
    Described,
    JobDescription,
    Latencies,
    Trip,
    Wms,
    WmsBroker,
)
from gridtune.model.grid import Grid
from gridtune.model.job import DONE
from gridtune.model.metrics.registry import define
from gridtune.model.wms.ranking import formula
from gridtune.scenarios.systems.batch import arrivals, delay, feed, sites_of
from gridtune.scenarios.systems.destinations import used_sites, workloads_for
from gridtune.scenarios.systems.vres import vres_sites
from gridtune.scenarios.tables.schema import ScenarioSpec
from gridtune.scenarios.tables.wms import WmsSpec
from gridtune.scenarios.workloads.jobs import JobWorkload

define("overhead_ratio", "", "minimize", "median of (makespan - execution) / execution over brokered jobs")
define("queueing_ratio", "", "minimize", "median of queueing / execution over brokered jobs")
define(
    "queueing_ratio_printed",
    "",
    "minimize",
    "median of (queueing - execution) / execution, as printed",
    within=(-1.0, inf),
)
define("turnaround_median", "s", "minimize", "median time from submission to notification of brokered jobs")


def check(spec: ScenarioSpec) -> None:
    """Whether brokers have sites: those with virtual reservations.

    Raises:
        ValueError: there is none, or one is without that nobody but brokers could use.
    """
    if spec.wms is None:
        return
    served = used_sites(spec)
    without = [site.name for site in spec.site if site.vres is None]
    idle = [name for name in without if name not in served and spec.middleware is None]
    generated = spec.platform is not None and spec.platform.vres is not None
    needs = spec.wms.sites == "reserved" and not generated
    if needs and (idle or len(without) == len(spec.site)):
        place = f"site.{(idle or without)[0]}.vres" if without else "site"
        raise ValueError(f"{place}: brokers need shares at their sites, e.g. vres = {{ batch = 1.0 }}")


def build(grid: Grid, spec: ScenarioSpec) -> None:
    """Put the brokers on the grid, if the scenario has any, and have jobs submitted to them."""
    if spec.wms is None:
        return
    sites: list[ComputingElement] = list(vres_sites(grid).values())
    if spec.wms.sites == "all":
        sites += [BatchElement(site) for site in sites_of(grid).values()]
    wms = place(grid, spec.wms, sites)
    feed(
        grid,
        [arrivals(grid, workload, _described(wms, workload)) for workload in workloads_for(spec, "wms")],
    )
    grid.record.measure("overhead_ratio", lambda: _median_ratio(wms, _overhead))
    grid.record.measure("queueing_ratio", lambda: _median_ratio(wms, _queueing))
    grid.record.measure("queueing_ratio_printed", lambda: _median_ratio(wms, _queueing) - 1.0)
    grid.record.measure("turnaround_median", lambda: _turnaround(wms))


def _described(wms: Wms, workload: JobWorkload) -> Described:
    """The brokers, for jobs of one workload."""
    asked = formula(workload.requirements) if workload.requirements else None
    return Described(wms, JobDescription(asked, workload.ranking))


def place(grid: Grid, spec: WmsSpec, sites: Sequence[ComputingElement]) -> Wms:
    """Put brokers on the grid; their looks at the sites are spread over the period."""
    latencies = Latencies(
        *(
            delay(law, grid, f"wms:{purpose}")
            for purpose, law in (
                ("submission", spec.submission),
                ("scheduling", spec.scheduling),
                ("notification", spec.notification),
                ("failure", spec.failure_delay),
            )
        )
    )
    habits = BrokerHabits(
        spec.ranking,
        formula(spec.requirements) if spec.requirements else None,
        spec.update_period,
        spec.failure,
        spec.retries,
        spec.rejected,
        spec.revisit,
    )
    phase = spec.update_period / spec.brokers if spec.update_period < inf else 0.0
    brokers = [WmsBroker(grid, k, sites, habits, latencies, k * phase) for k in range(spec.brokers)]
    for k, broker in enumerate(brokers):
        broker.service = spec.service.place(grid, f"wms-{k}")
        broker.network = network_of(grid)
    return Wms(grid, brokers)


def wms_of(grid: Grid) -> Wms | None:
    """The brokers that stand on a grid."""
    return next((agent for agent in grid.agents if isinstance(agent, Wms)), None)


def overhead_of(trip: Trip) -> tuple[float, float, float]:
    """Execution time t, queueing time q and makespan m of a completed job, s (section 2.1)."""
    job = trip.job
    return job.end - job.start, job.start - job.queued, trip.told - job.submit


def _overhead(execution: float, queueing: float, makespan: float) -> float:
    return (makespan - execution) / execution


def _queueing(execution: float, queueing: float, makespan: float) -> float:
    return queueing / execution


def _completed(wms: Wms) -> list[tuple[float, float, float]]:
    return [overhead_of(trip) for trip in wms.trips if trip.job.state is DONE and trip.told == trip.told]


def _median_ratio(wms: Wms, ratio: object) -> float:
    values = [ratio(*times) for times in _completed(wms) if times[0] > 0]  # type: ignore[operator]
    return median(values) if values else nan


def _turnaround(wms: Wms) -> float:
    values = [makespan for _, _, makespan in _completed(wms)]
    return median(values) if values else nan
