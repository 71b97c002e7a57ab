"""Users and groups that a scenario names, though no job is theirs."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from gridtune.model.streams import Streams
from gridtune.scenarios.tables.schema import ScenarioSpec
from gridtune.scenarios.workloads.jobs import JobWorkload, Task
from gridtune.scenarios.workloads.trace_jobs import TraceJobs


def owner_notes(spec: ScenarioSpec) -> Iterator[str]:
    """Names in reservations and weights that no job has, a line for each table.

    Nothing is said where jobs come from workloads whose owners are known only when they run.

    Raises:
        ScenarioError: a log cannot be found or read.
    """
    named: list[tuple[str, str, Collection[str], Collection[str]]] = [
        (f"site.{site.name}.reservation.{one.name}", kind, names, (attribute,))
        for site in spec.site
        for one in site.reservation
        for kind, names, attribute in (("user", one.users, "user"), ("group", one.groups, "group"))
    ]
    if spec.portal is not None:
        named.append(("portal.weights", "user or group", spec.portal.weights, ("user", "group")))
    if not any(names for _, _, names, _ in named) or spec.overlay:
        return
    loads = [load for load in spec.workload if isinstance(load, JobWorkload)]
    if len(loads) < len(spec.workload):
        return
    tasks = [task for load in loads for task in _tasks(load)]
    for place, kind, names, attributes in named:
        known = {getattr(task, attribute) for task in tasks for attribute in attributes}
        if strangers := sorted(set(names) - known):
            yield f"{place}: no job is of the {kind} {', '.join(strangers)}"


def _tasks(load: JobWorkload) -> Iterator[Task]:
    """Its jobs, of a log as they were."""
    if isinstance(load, TraceJobs) and load.from_file:
        return load.replayed()
    return load.tasks(Streams(0))
