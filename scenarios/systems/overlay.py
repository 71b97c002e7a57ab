"""User-level schedulers in scenarios: tasks of one user, by a master and workers or as plain grid jobs."""

from __future__ import annotations

from gridtune.agents.wms.overlay import Master, MasterHabits, PlainUser, Submits
from gridtune.model.grid import Grid
from gridtune.model.job import Job
from gridtune.model.metrics.registry import define
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.fields.laws import draws
from gridtune.scenarios.systems.vres import vres_sites
from gridtune.scenarios.systems.wms import wms_of
from gridtune.scenarios.tables.overlay import OverlaySpec
from gridtune.scenarios.tables.schema import ScenarioSpec

define(
    "efficiency", "", "maximize", "work of completed tasks over the time that jobs for them were in the grid"
)
define("tasks_left", "tasks", "minimize", "tasks of user-level schedulers that were not completed")


def check(spec: ScenarioSpec) -> None:
    """Whether user-level schedulers have somewhere to run.

    Raises:
        ValueError: naming what is missing.
    """
    if not spec.overlay:
        return
    reserved = [site for site in spec.site if site.vres is not None]
    if spec.wms is None and len(reserved) != 1:
        raise ValueError("overlay: needs brokers ([wms]) or one [[site]] with shares of classes in `vres`")


def build(grid: Grid, spec: ScenarioSpec) -> None:
    """Put the user-level schedulers of a scenario on the grid."""
    if not spec.overlay:
        return
    gateway: Submits = wms_of(grid) or next(iter(vres_sites(grid).values()))
    users = [_place(grid, part, gateway) for part in spec.overlay]

    def efficiency() -> float:
        work, held = (sum(values) for values in zip(*(user.efficiency() for user in users), strict=True))
        return work / held if held else 0.0

    grid.record.measure("efficiency", efficiency)
    grid.record.measure(
        "tasks_left", lambda: sum(task.state != "done" for user in users for task in user.tasks)
    )


def _place(grid: Grid, part: OverlaySpec, gateway: Submits) -> Master | PlainUser:
    stream = grid.streams.stream(f"workload:{part.name}:runtime")
    first = part.start + part.first_task
    plain = part.mode == "plain"
    tasks = [
        grid.record.job(
            part.name,
            part.start if plain else first + k / part.rate,
            runtime,
            kind=part.role if plain else "task",
            group=part.name,
            processors=part.processors,
        )
        for k, runtime in enumerate(part.runtime.draw(stream, part.tasks).tolist())
    ]
    _check_width(grid, part)
    if plain:
        user: Master | PlainUser = PlainUser(grid, tasks, gateway, part.window)
    else:
        user = master = Master(grid, tasks, _habits(grid, part), gateway)
        grid.record.probe(f"{part.name}.busy", lambda: master.busy)
        grid.record.probe(f"{part.name}.pool", lambda: len(master.workers))
    grid.agenda.at(part.start, user.begin)
    return user


def _check_width(grid: Grid, part: OverlaySpec) -> None:
    """Whether tasks of several processors can ever start.

    Raises:
        ScenarioError: they cannot: a master would submit workers for ever.
    """
    sites = vres_sites(grid).values()
    probe = Job(0, part.name, 0.0, 0.0, kind=part.role, group=part.name, processors=part.processors)
    if part.processors > 1 and not any(site.suits(probe) for site in sites):
        known = [site.class_for(probe) for site in sites]
        widest = max((slot_class.widest for slot_class in known if slot_class is not None), default=0)
        raise ScenarioError(
            f"overlay.{part.name}.processors: {part.processors} fit nowhere; a job can have {widest} at most"
        )


def _habits(grid: Grid, part: OverlaySpec) -> MasterHabits:
    lifetime = part.lifetime
    return MasterHabits(
        part.name,
        part.role,
        part.workers,
        part.watch,
        1.0 / part.dispatch_rate,
        part.latency,
        part.detection,
        None if lifetime is None else draws(lifetime, grid.streams.stream(f"crash:{part.name}")).__next__,
        part.estimate,
        part.processors,
    )
