"""Workload management of a computing grid in scenarios: brokers, their latencies and failures."""

from __future__ import annotations

from math import inf, nan
from statistics import median
from typing import TYPE_CHECKING, Literal

from pydantic import Field, field_validator

from agents.vres_site import VresSite
from agents.wms import BrokerHabits, Latencies, Trip, Wms, WmsBroker
from model.expression import ExpressionError
from model.grid import Grid
from model.job import DONE
from model.metrics import define
from model.ranking import LeastTraversalTime, formula
from scenarios.batch import arrivals, delay, feed
from scenarios.destinations import at_sites, workloads_for
from scenarios.laws import Constant, Law
from scenarios.parts import Switchable, policy_of
from scenarios.vres import vres_sites

if TYPE_CHECKING:
    from scenarios.schema import ScenarioSpec

define("overhead_ratio", "", "minimize", "median of (makespan - execution) / execution over brokered jobs")
define("queueing_ratio", "", "minimize", "median of queueing / execution over brokered jobs")
define("queueing_ratio_printed", "", "minimize", "median of (queueing - execution) / execution, as printed")
define("turnaround_median", "s", "minimize", "median time from submission to notification of brokered jobs")

NONE = Constant(value=0.0)


class WmsSpec(Switchable):
    """Brokers between users and sites (Responsive Grids, section 2.1)."""

    brokers: int = Field(default=1, ge=1, description="each with its own view; owners are spread over them")
    ranking: policy_of("ranking") = Field(default_factory=LeastTraversalTime)  # type: ignore[valid-type]
    requirements: str = Field(default="", description="expression over what sites publish; empty for none")
    update_period: float = Field(
        default=60.0, ge=0, description="s between two looks at the sites; 0 looks at every match"
    )
    submission: Law = Field(default=NONE, description="s from owner to broker")
    scheduling: Law = Field(default=NONE, description="s from match to site")
    notification: Law = Field(default=NONE, description="s from end to owner")
    failure: float = Field(default=0.0, ge=0, lt=1, description="probability that a submission is lost")
    failure_delay: Law = Field(default=NONE, description="s until a broker hears of a lost submission")
    retries: int = Field(default=3, ge=0, description="submissions after a lost one")
    rejected: Literal["resubmit", "tell"] = Field(
        default="resubmit", description="when a site has no slot: try another, or tell the owner"
    )

    @field_validator("requirements")
    @classmethod
    def _understood(cls, text: str) -> str:
        if text:
            try:
                formula(text)
            except ExpressionError as error:
                raise ValueError(str(error)) from None
        return text


def check(spec: ScenarioSpec) -> None:
    """Whether brokers have sites: those with virtual reservations.

    Raises:
        ValueError: there is none, or one is without that nobody but brokers could bring jobs to.
    """
    if spec.wms is None:
        return
    served = {name for name, _ in at_sites(spec)}
    without = [site.name for site in spec.site if site.vres is None]
    idle = [name for name in without if name not in served and spec.middleware is None]
    if idle or len(without) == len(spec.site):
        place = f"site.{(idle or without)[0]}.vres" if without else "site"
        raise ValueError(f"{place}: brokers need shares at their sites, e.g. vres = {{ batch = 1.0 }}")


def build(grid: Grid, spec: ScenarioSpec) -> None:
    """Put the brokers on the grid, if the scenario has any, and have jobs submitted to them."""
    if spec.wms is None:
        return
    wms = place(grid, spec.wms, list(vres_sites(grid).values()))
    feed(grid, [arrivals(grid, workload, wms) for workload in workloads_for(spec, "wms")])
    grid.record.measure("overhead_ratio", lambda: _median_ratio(wms, _overhead))
    grid.record.measure("queueing_ratio", lambda: _median_ratio(wms, _queueing))
    grid.record.measure("queueing_ratio_printed", lambda: _median_ratio(wms, _queueing) - 1.0)
    grid.record.measure("turnaround_median", lambda: _turnaround(wms))


def place(grid: Grid, spec: WmsSpec, sites: list[VresSite]) -> Wms:
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
    )
    phase = spec.update_period / spec.brokers if spec.update_period < inf else 0.0
    brokers = [WmsBroker(grid, k, sites, habits, latencies, k * phase) for k in range(spec.brokers)]
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
