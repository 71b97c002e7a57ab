"""Migration: tasks that a broker has pushed to a site and that still wait there are taken to another."""

from __future__ import annotations

from collections import defaultdict

import mesa

from gridtune.agents.middleware.broker import Broker
from gridtune.model.job import QUEUED, Job
from gridtune.model.metrics.registry import define
from gridtune.model.middleware.migration import Migration
from gridtune.model.policy import misjudged

define("migrations", "moves", "minimize", "moves of waiting tasks from one site to another")


class Migrator(mesa.Agent):
    """Looks at all sites from time to time, and moves what waits (RR-5576, section 10).

    Args:
        broker: whose tasks.
        migration: decides whether one moves, and where to.
        period: s between two looks.
    """

    def __init__(self, broker: Broker, migration: Migration, period: float) -> None:
        super().__init__(broker.grid)
        self.broker = broker
        self.migration = migration
        broker.grid.record.counters["migrations"] += 0
        broker.every(period, [self._look], start=period)

    def _look(self, _: object) -> None:
        broker = self.broker
        known = {member.site.name: k for k, member in enumerate(broker.members)}
        waiting: dict[int, list[Job]] = defaultdict(list)
        for task in broker.tasks:
            if task.state is QUEUED and task.site in known:
                waiting[known[task.site]].append(task)
        if not waiting:
            return
        broker.channel.count("information", 2 * len(broker.members))
        views = [broker.measure(k) for k in range(len(broker.members))]
        for k, tasks in waiting.items():
            for task in reversed(tasks):
                others = [views[other] for other in broker.sites_for(task) if other != k]
                chosen = self.migration.choose(task, views[k], others)
                if chosen is None:
                    continue
                if chosen not in others:
                    raise misjudged(self.migration, "chooses a site that does not accept the task")
                if broker.move(task, k, chosen.site):
                    here, width = views[k], task.processors
                    views[k] = here._replace(depth=here.depth - 1, wanted=here.wanted - width)
                    views[chosen.site] = chosen._replace(
                        sent=chosen.sent + 1, sent_slots=chosen.sent_slots + width
                    )
                    self.broker.grid.record.counters["migrations"] += 1
