"""User-level schedulers in scenarios: tasks of one user, by a master and workers or as plain grid jobs."""

from __future__ import annotations

from math import inf
from typing import Literal, Self

from pydantic import Field, model_validator

from gridtune.model.wms.farming import ByKind, InOrder
from gridtune.scenarios.fields.laws import Constant, Law
from gridtune.scenarios.fields.policies import policy_of
from gridtune.scenarios.fields.table import Name, Switchable, Table, number


class ErrorsSpec(Table):
    """What goes wrong with tasks of a master (Responsive Grids, section 4.1.6)."""

    application: float = number(
        0.0,
        "0 to 1",
        "share of pieces that fail wherever they are executed, and their task with them",
        ge=0,
        le=1,
    )
    system: float = number(
        0.0, "0 to 1", "share of workers whose node is set up wrongly: tasks fail there", ge=0, lt=1
    )
    connection: float = number(
        0.0, "0 to 1", "share of executions whose result does not reach the master", ge=0, lt=1
    )
    after: Law = number(Constant(value=1.0), "s", "s of work until an error of a task or node shows")


class SessionSpec(Table):
    """Users who look at one reconstruction before they ask for the next (Responsive Grids, section 4.2).

    Each has a scheduler and workers of its own; `tasks` are the slices of the first reconstruction.
    """

    users: int = number(1, "count", "sessions; each has its own workers", ge=1)
    gap: Law = number(Constant(value=0.0), "s", "s from one session's opening to the next")
    reconstructions: int = number(
        1, "count", "number of reconstructions that a user asks for in a session", ge=1
    )
    renewed: float = number(
        1.0, "0 to 1", "share of the slices that reconstructions after the first renew", gt=0, le=1
    )
    think: Law = number(Constant(value=0.0), "s", "s from a reconstruction that is shown to the next")
    result_bytes: float = number(0.0, "bytes", "bytes of the result of a slice", ge=0)
    bandwidth: float = number(inf, "bytes/s", "bytes per s of the link to the front end", gt=0)
    bridge: float = number(
        0.0, "s", "s between scheduler and front end, through the Interaction Bridge", ge=0
    )
    acceptable: float = number(
        120.0, "s", "s within which a reconstruction is to be shown; later it is slow", gt=0
    )


class OverlaySpec(Switchable):
    """A user's job that is split into tasks (Responsive Grids, section 4)."""

    name: Name = "overlay"
    mode: Literal["master", "plain"] = Field(
        default="master", description="a master with workers that pull tasks, or each task a job of the grid"
    )
    start: float = number(0.0, "s", "s at which workers, or plain jobs, are submitted", ge=0)
    first_task: float = number(0.0, "s", "s after the start at which tasks begin to come", ge=0)
    tasks: int = number(..., "count", "pieces of work that the job can be split into", ge=1)
    runtime: Law = number(..., "s", "s of a piece at speed 1")
    bundle: int = number(1, "count", "pieces in one task: the granularity of splitting", ge=1)
    processors: int = number(1, "count", "processors of a task, and so slots of a worker", ge=1)
    rate: float = number(
        inf, "1/s", "tasks per s that come into being (contours of an interactive front end)", gt=0
    )
    workers: int = number(..., "count", "workers that are to be available; plain: see `window`", ge=1)
    window: int = number(0, "count", "tasks that are in the grid at once under plain; 0 for all", ge=0)
    role: str = Field(default="batch", description="what its jobs are called at sites: decides their class")
    watch: float = number(0.0, "s", "s between looks of the operator at the pool; 0: none", ge=0)
    dispatch_rate: float = number(120.0, "1/s", "tasks per s that a master can dispatch", gt=0)
    latency: float = number(0.05, "s", "s of a message between master and worker", ge=0)
    detection: float = number(30.0, "s", "s until a master knows that a worker is lost", ge=0)
    lifetime: Law | None = number(None, "s", "s until a worker crashes; left out, none does")
    estimate: float = number(3600.0, "s", "s that workers promise to run", gt=0)
    patience: float = number(inf, "s", "s that a worker may wait at a site before it is submitted anew", gt=0)
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
