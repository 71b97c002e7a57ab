"""What lies between sites and central services: the sites as seen from there, and the channel."""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from gridtune.agents.infrastructure.network import Network, Way
from gridtune.agents.middleware.resource import SiteResource
from gridtune.model.agenda import ARRIVAL, Action
from gridtune.model.grid import Grid
from gridtune.model.job import Job
from gridtune.model.metrics.registry import define
from gridtune.model.middleware.matching import NOTHING, Resource, time_for

define("messages", "messages", "minimize", "control messages of the middleware")
define("messages_per_task", "messages", "minimize", "messages over tasks; a lost one counts as all messages")
define("message_bytes", "B", "minimize", "size of the middleware's control messages in all")

Time = TypeVar("Time", float, NDArray[np.float64])


class MemberSite(NamedTuple):
    """A site of the grid, as its middleware knows it.

    Attributes:
        site: where its tasks go.
        delay: s that a control message takes between the site and the central services.
        tags: properties of its nodes that tasks may require.
        limit: s that a job of one processor may run there; wider ones may have less, see `time_for`.
        groups: whose tasks it accepts; all if there are none.
        way: that messages share with others; None where they take the delay, whatever else is on its way.
    """

    site: SiteResource
    delay: float = 0.0
    tags: frozenset[str] = NOTHING
    limit: float = inf
    way: Way | None = None
    groups: frozenset[str] = NOTHING

    @property
    def resource(self) -> Resource:
        """What the site offers to one task, whichever of its nodes it gets."""
        site = self.site
        return Resource(
            site.name, site.widest, site.pace, self.limit, self.tags, site.limits, groups=self.groups
        )

    def time_for(self, processors: int) -> float:
        """Seconds that a job of so many processors may run there."""
        limits = self.site.limits
        return self.limit if limits is None else min(self.limit, time_for(processors, limits))


class MessageChannel:
    """Carries control messages of one size.

    Args:
        grid: where it works.
        size: of a message, bytes (RR-5576, section 7: 30 KB).
        network: that all share, if messages do.

    Attributes:
        sent: messages so far.
    """

    def __init__(self, grid: Grid, size: float, network: Network | None = None) -> None:
        self.grid = grid
        self.size = size
        self.network = network
        self.sent = 0
        self._agenda = grid.agenda
        self._record = grid.record
        grid.record.measures["messages"] = lambda: self.sent
        grid.record.measures["message_bytes"] = lambda: self.sent * size

    def count(self, kind: str, count: int = 1, sent: float | None = None) -> None:
        """Count messages of a kind that were sent at a time, s; now, if none is given."""
        self.sent += count
        self._record.message("middleware", kind, self._agenda.now if sent is None else sent, count)

    def bin(self, sent: Time) -> Time:
        """Number of the bin in which the record counts a message that is sent at a time, s."""
        return sent / self._record.message_bin // 1

    def send(
        self,
        kind: str,
        member: MemberSite,
        action: Action,
        argument: Any,
        count: int = 1,
        task: Job | None = None,
    ) -> None:
        """Deliver a message: `action` is called with `argument` when it has come.

        Of several messages that travel together one call of `action` stands for all.

        Args:
            kind: of the message.
            member: site that it comes from or goes to.
            action, argument: what happens when it has come.
            count: messages that travel together.
            task: whose sandbox travels with it.
        """
        self.sent += count
        agenda = self._agenda
        self._record.message("middleware", kind, agenda.now, count)
        delay = member.delay
        if member.way is not None:
            volume = None if task is None or self.network is None else self.network.volumes.get(task.id)
            sandbox = 0.0 if volume is None else volume.sandbox
            member.way.send(self.size * count + sandbox, action, argument)
        elif delay > 0:
            agenda.after(delay, action, argument, ARRIVAL)
        else:
            action(argument)
