"""Small grids with a middleware, for tests."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from gridtune.agents.batch.batch_site import BatchSite
from gridtune.agents.middleware.gateway import Gateway
from gridtune.agents.middleware.messages import MemberSite
from gridtune.model.agenda import ARRIVAL
from gridtune.model.batch.nodes import Named
from gridtune.model.batch.policies import Fcfs
from gridtune.model.batch.queues import Queue
from gridtune.model.grid import Grid
from gridtune.scenarios.systems.middleware import hand_in, place
from gridtune.scenarios.systems.platform import limit_of
from gridtune.scenarios.tables.middleware import MiddlewareSpec


class Task(NamedTuple):
    """A task to come: `site` is the index of the site of a local one, None for a meta-task."""

    submit: float
    runtime: float
    estimate: float | None = None
    site: int | None = None
    user: str = "user"
    group: str = ""
    processors: int = 1
    requires: frozenset[str] | None = None


class Played(NamedTuple):
    """A finished run."""

    grid: Grid
    gateway: Gateway
    sites: list[BatchSite]

    @property
    def tasks(self):
        return self.gateway.tasks

    @property
    def counters(self):
        return self.grid.record.counters


def play(
    kind, slots, tasks, *, limit=inf, limits=None, delay=0.0, speeds=None, tags=None, horizon=inf, **options
) -> Played:
    """Run tasks through a middleware over sites with these numbers of slots."""
    grid = Grid(horizon=horizon)
    sites = [
        BatchSite(
            grid,
            f"s{k}",
            Named(f"s{k}", speeds[k] if speeds else [1.0] * count),
            Fcfs(),
            queues=[Queue(max_processors=most, max_runtime=time) for most, time in limits[k]]
            if limits
            else (Queue(max_runtime=limit),),
        )
        for k, count in enumerate(slots)
    ]
    members = [
        MemberSite(site, delay, frozenset(tags[k]) if tags else frozenset(), limit_of(site))
        for k, site in enumerate(sites)
    ]
    gateway = place(grid, MiddlewareSpec(kind=kind, **options), members)

    def arrive(task: Task) -> None:
        job = grid.record.job(
            task.user,
            task.submit,
            task.runtime,
            kind="meta" if task.site is None else "local",
            estimate=task.estimate,
            group=task.group,
            processors=task.processors,
            data=task.requires,
        )
        (gateway if task.site is None else sites[task.site]).submit(job)

    ordered = sorted(tasks, key=lambda task: task.submit)
    hand_in(grid, gateway, [(task.submit, arrive, task) for task in ordered if task.site is None])
    for task in ordered:
        if task.site is not None:
            grid.agenda.at(task.submit, arrive, task, ARRIVAL)
    grid.run()
    return Played(grid, gateway, sites)
