"""User-level schedulers in scenarios: tasks of one user, by a master and workers or as plain grid jobs."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from agents.overlay import Master, MasterHabits, PlainUser, Submits
from model.grid import Grid
from model.metrics import define
from scenarios.laws import Law, draws
from scenarios.parts import Switchable
from scenarios.vres import vres_sites
from scenarios.wms import wms_of

if TYPE_CHECKING:
    from scenarios.schema import ScenarioSpec

define(
    "efficiency", "", "maximize", "work of completed tasks over the time that jobs for them were in the grid"
)
define("tasks_left", "tasks", "minimize", "tasks of user-level schedulers that were not completed")


class OverlaySpec(Switchable):
    """A user's job that is split into tasks (Responsive Grids, section 4)."""

    name: str = "overlay"
    mode: Literal["master", "plain"] = Field(
        default="master", description="a master with workers that pull tasks, or each task a job of the grid"
    )
    start: float = Field(default=0.0, ge=0, description="s at which workers, or plain jobs, are submitted")
    first_task: float = Field(default=0.0, ge=0, description="s after the start at which tasks begin to come")
    tasks: int = Field(ge=1, description="number of tasks")
    runtime: Law = Field(description="s of a task at speed 1")
    rate: float = Field(
        default=inf,
        gt=0,
        description="tasks per s that come into being (contours of an interactive front end)",
    )
    workers: int = Field(ge=1, description="that are to be available; plain: see `window`")
    window: int = Field(default=0, ge=0, description="plain: tasks in the grid at once; 0 for all")
    role: str = Field(default="batch", description="what its jobs are called at sites: decides their class")
    watch: float = Field(
        default=0.0, ge=0, description="s between looks of the operator at the pool; 0: none"
    )
    dispatch_rate: float = Field(default=120.0, gt=0, description="tasks per s that a master can dispatch")
    latency: float = Field(default=0.05, ge=0, description="s of a message between master and worker")
    detection: float = Field(default=30.0, ge=0, description="s until a master knows that a worker is lost")
    lifetime: Law | None = Field(default=None, description="s until a worker crashes; left out, none does")
    estimate: float = Field(default=3600.0, gt=0, description="s that workers promise to run")


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
    entrance: Submits = wms_of(grid) or next(iter(vres_sites(grid).values()))
    users = [_place(grid, part, entrance) for part in spec.overlay]

    def efficiency() -> float:
        work, held = (sum(values) for values in zip(*(user.efficiency() for user in users), strict=True))
        return work / held if held else 0.0

    grid.record.measure("efficiency", efficiency)
    grid.record.measure(
        "tasks_left", lambda: sum(task.state != "done" for user in users for task in user.tasks)
    )


def _place(grid: Grid, part: OverlaySpec, entrance: Submits) -> Master | PlainUser:
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
        )
        for k, runtime in enumerate(part.runtime.draw(stream, part.tasks).tolist())
    ]
    if plain:
        user: Master | PlainUser = PlainUser(grid, tasks, entrance, part.window)
    else:
        user = master = Master(grid, tasks, _habits(grid, part), entrance)
        grid.record.probe(f"{part.name}.busy", lambda: master.busy)
        grid.record.probe(f"{part.name}.pool", lambda: len(master.workers))
    grid.agenda.at(part.start, user.begin)
    return user


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
    )
