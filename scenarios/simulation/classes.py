"""Classes of jobs: what the users and metrics of a scenario are broken down by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from typing import TYPE_CHECKING, Any

from gridtune.model.grid import Grid
from gridtune.model.metrics.registry import CLASS_METRICS, define_classes, define_sizes
from gridtune.scenarios.workloads.jobs import JobWorkload
from gridtune.scenarios.workloads.sessions import SessionWorkload
from gridtune.scenarios.workloads.tasks import TaskWorkload

if TYPE_CHECKING:
    from gridtune.scenarios.tables.schema import ScenarioSpec


def classes_of(spec: ScenarioSpec) -> tuple[str, ...]:
    """The kinds of a scenario's jobs, in the order of its workloads; none if there are not at least two.

    Requests of sessions are `mandatory` and `optional`; all other jobs are what the `role` of their workload
    says.
    """
    found: dict[str, None] = {}
    for workload in spec.workload:
        if isinstance(workload, SessionWorkload):
            found.update(dict.fromkeys(("mandatory", "optional")))
        elif isinstance(workload, JobWorkload | TaskWorkload):
            found[workload.role] = None
    for part in spec.overlay:
        found["task" if part.mode == "master" else part.role] = None
    return tuple(found) if len(found) > 1 else ()


def promises(spec: ScenarioSpec) -> bool:
    """Whether any work has a deadline, so that users may be unhappy for more than lost work."""
    return bool(spec.overlay) or any(
        not isinstance(workload, JobWorkload)
        or (workload.deadline or inf) < inf
        or (workload.bound is not None and workload.bound.factor < inf)
        for workload in spec.workload
    )


def announce(grid: Grid, spec: ScenarioSpec) -> None:
    """Have the metrics of each class measured, and at batch sites of each size; all known as objectives."""
    grid.record.classes = classes_of(spec)
    define_classes(grid.record.classes)
    grid.record.sites = {site.name: site.size * site.slots for site in spec.site if site.vres is None}
    if grid.record.sites:
        define_sizes()


def by_class(metrics: Mapping[str, Any], classes: Iterable[str]) -> dict[str, dict[str, Any]]:
    """What a run prints as `classes`: the metrics of each class, by the name that they have of all jobs."""
    return {kind: {name: metrics[f"{name}.{kind}"] for name in CLASS_METRICS} for kind in classes}


def split(made: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """What a run printed as JSON in two parts: the metrics of all jobs, and those of each class."""
    classes: dict[str, dict[str, Any]] = made.get("classes", {})
    taken = {f"{name}.{kind}" for kind, metrics in classes.items() for name in metrics}
    overall = {name: value for name, value in made["metrics"].items() if name not in taken}
    return overall, classes
