"""User-level schedulers in scenarios: tasks of one user, by a master and workers or as plain grid jobs."""

from __future__ import annotations

from math import inf
from typing import Literal

from pydantic import Field

from gridtune.scenarios.fields.laws import Law
from gridtune.scenarios.fields.table import Switchable


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
    processors: int = Field(default=1, ge=1, description="of a task, and so slots of a worker")
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
