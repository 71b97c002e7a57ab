"""What lies between sites and central services: the sites as seen from there, and the post."""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

from agents.batch_site import BatchSite
from model.agenda import ARRIVAL, Action
from model.grid import Grid
from model.matching import NOTHING, Resource
from model.metrics import define

define("messages", "messages", "minimize", "control messages of the middleware")
define("message_bytes", "B", "minimize", "size of the middleware's control messages in all")


class Member(NamedTuple):
    """A site of the grid, as its middleware knows it.

    Attributes:
        site: the batch site.
        delay: s that a control message takes between the site and the central services.
        tags: properties of its nodes that tasks may require.
        limit: s that a job may run there.
    """

    site: BatchSite
    delay: float = 0.0
    tags: frozenset[str] = NOTHING
    limit: float = inf

    @property
    def resource(self) -> Resource:
        """What the site offers to one task, whichever of its nodes it gets."""
        nodes = self.site.nodes
        return Resource(self.site.name, nodes.slots, nodes.pace, self.limit, self.tags)


class Post:
    """Carries control messages of one size.

    Args:
        grid: where it works.
        size: of a message, bytes (RR-5576, section 7: 30 KB).
    """

    def __init__(self, grid: Grid, size: float) -> None:
        self.grid = grid
        self.size = size
        grid.record.counters["messages"] = 0
        grid.record.measures["message_bytes"] = lambda: grid.record.counters["messages"] * size

    def count(self, kind: str, count: int = 1) -> None:
        """Count messages of a kind."""
        record = self.grid.record
        record.message("middleware", kind, self.grid.now, count)
        record.counters["messages"] += count

    def send(self, kind: str, delay: float, action: Action, argument: Any) -> None:
        """Deliver a message: `action` is called with `argument` after `delay` seconds, at once if 0."""
        self.count(kind)
        if delay > 0:
            self.grid.agenda.after(delay, action, argument, ARRIVAL)
        else:
            action(argument)
