"""User-level schedulers in scenarios: tasks of one user, by a master and workers or as plain grid jobs."""

from __future__ import annotations

from math import inf
from typing import Literal, Self

from pydantic import Field, model_validator

from gridtune.model.wms.farming import ByKind, InOrder
from gridtune.scenarios.fields.laws import Constant, Law
from gridtune.scenarios.fields.policies import policy_of
from gridtune.scenarios.fields.table import Name, Switchable, Table, says


class ErrorsSpec(Table):
    """What goes wrong with tasks of a master (Responsive Grids, section 4.1.6)."""

    application: float = Field(
        default=0.0,
        ge=0,
        le=1,
        json_schema_extra=says("0 to 1"),
        description="share of pieces that fail wherever they are executed, and their task with them",
    )
    system: float = Field(
        default=0.0,
        ge=0,
        lt=1,
        json_schema_extra=says("0 to 1"),
        description="share of workers whose node is set up wrongly: tasks fail there",
    )
    connection: float = Field(
        default=0.0,
        ge=0,
        lt=1,
        json_schema_extra=says("0 to 1"),
        description="share of executions whose result does not reach the master",
    )
    after: Law = Field(
        default=Constant(value=1.0),
        json_schema_extra=says("s"),
        description="s of work until an error of a task or node shows",
    )


class SessionSpec(Table):
    """Users who look at one reconstruction before they ask for the next (Responsive Grids, section 4.2).

    Each has a scheduler and workers of its own; `tasks` are the slices of the first reconstruction.
    """

    users: int = Field(
        default=1, ge=1, json_schema_extra=says("count"), description="sessions; each has its own workers"
    )
    gap: Law = Field(
        default=Constant(value=0.0),
        json_schema_extra=says("s"),
        description="s from one session's opening to the next",
    )
    reconstructions: int = Field(
        default=1, ge=1, json_schema_extra=says("count"), description="reconstructions of each session"
    )
    renewed: float = Field(
        default=1.0,
        gt=0,
        le=1,
        json_schema_extra=says("0 to 1"),
        description="share of the slices that reconstructions after the first renew",
    )
    think: Law = Field(
        default=Constant(value=0.0),
        json_schema_extra=says("s"),
        description="s from a reconstruction that is shown to the next",
    )
    result_bytes: float = Field(
        default=0.0, ge=0, json_schema_extra=says("bytes"), description="bytes of the result of a slice"
    )
    bandwidth: float = Field(
        default=inf,
        gt=0,
        json_schema_extra=says("bytes/s"),
        description="bytes per s of the link to the front end",
    )
    bridge: float = Field(
        default=0.0,
        ge=0,
        json_schema_extra=says("s"),
        description="s between scheduler and front end, through the Interaction Bridge",
    )
    acceptable: float = Field(
        default=120.0,
        gt=0,
        json_schema_extra=says("s"),
        description="s within which a reconstruction is to be shown; later it is slow",
    )


class OverlaySpec(Switchable):
    """A user's job that is split into tasks (Responsive Grids, section 4)."""

    name: Name = "overlay"
    mode: Literal["master", "plain"] = Field(
        default="master", description="a master with workers that pull tasks, or each task a job of the grid"
    )
    start: float = Field(
        default=0.0,
        ge=0,
        json_schema_extra=says("s"),
        description="s at which workers, or plain jobs, are submitted",
    )
    first_task: float = Field(
        default=0.0,
        ge=0,
        json_schema_extra=says("s"),
        description="s after the start at which tasks begin to come",
    )
    tasks: int = Field(
        ge=1, json_schema_extra=says("count"), description="pieces of work that the job can be split into"
    )
    runtime: Law = Field(json_schema_extra=says("s"), description="s of a piece at speed 1")
    bundle: int = Field(
        default=1,
        ge=1,
        json_schema_extra=says("count"),
        description="pieces in one task: the granularity of splitting",
    )
    processors: int = Field(
        default=1,
        ge=1,
        json_schema_extra=says("count"),
        description="processors of a task, and so slots of a worker",
    )
    rate: float = Field(
        default=inf,
        gt=0,
        json_schema_extra=says("1/s"),
        description="tasks per s that come into being (contours of an interactive front end)",
    )
    workers: int = Field(
        ge=1,
        json_schema_extra=says("count"),
        description="workers that are to be available; plain: see `window`",
    )
    window: int = Field(
        default=0,
        ge=0,
        json_schema_extra=says("count"),
        description="plain: tasks in the grid at once; 0 for all",
    )
    role: str = Field(default="batch", description="what its jobs are called at sites: decides their class")
    watch: float = Field(
        default=0.0,
        ge=0,
        json_schema_extra=says("s"),
        description="s between looks of the operator at the pool; 0: none",
    )
    dispatch_rate: float = Field(
        default=120.0,
        gt=0,
        json_schema_extra=says("1/s"),
        description="tasks per s that a master can dispatch",
    )
    latency: float = Field(
        default=0.05,
        ge=0,
        json_schema_extra=says("s"),
        description="s of a message between master and worker",
    )
    detection: float = Field(
        default=30.0,
        ge=0,
        json_schema_extra=says("s"),
        description="s until a master knows that a worker is lost",
    )
    lifetime: Law | None = Field(
        default=None, json_schema_extra=says("s"), description="s until a worker crashes; left out, none does"
    )
    estimate: float = Field(
        default=3600.0, gt=0, json_schema_extra=says("s"), description="s that workers promise to run"
    )
    patience: float = Field(
        default=inf,
        gt=0,
        json_schema_extra=says("s"),
        description="s that a worker may wait at a site before it is submitted anew",
    )
    assignment: policy_of("assignment") = Field(default_factory=InOrder)  # type: ignore[valid-type]
    recovery: policy_of("recovery") = Field(default_factory=ByKind)  # type: ignore[valid-type]
    errors: ErrorsSpec | None = Field(default=None, description="what goes wrong; left out, nothing")
    session: SessionSpec | None = Field(default=None, description="users at front ends; left out, one job")

    @model_validator(mode="after")
    def _with_a_master(self) -> Self:
        for name in ("errors", "session"):
            if self.mode == "plain" and getattr(self, name) is not None:
                raise ValueError(f"{name}: needs mode = 'master', as plain jobs have none")
        return self
