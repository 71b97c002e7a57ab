"""The match-maker: keeps the tasks of all users until a resource asks for one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from gridtune.agents.infrastructure.service import Service
from gridtune.agents.middleware.gateway import Gateway
from gridtune.model.agenda import DECISION
from gridtune.model.grid import Grid
from gridtune.model.job import Job
from gridtune.model.metrics.registry import define
from gridtune.model.middleware.matching import Matching, Resource, TaskQueues
from gridtune.model.middleware.pilots import PilotSlots
from gridtune.model.policy import misjudged

define("site_probes", "queries", "minimize", "queries of site agents to the match-maker")
define("pilot_requests", "queries", "minimize", "queries of pilots to the match-maker")
define("empty_answers", "answers", "minimize", "queries that the match-maker had no task for")

NAME = "match-maker"


class Query(NamedTuple):
    """A question to the match-maker.

    Attributes:
        resource: for which a task is wanted.
        reply: receives the answer.
        slots: of a pilot that has several; None for one that has one.
        pilots: how many pilots wait for their start at the site of an agent, by their slots.
    """

    resource: Resource
    reply: Callable[[Job | None], object]
    slots: PilotSlots | None = None
    pilots: Mapping[int, int] | None = None


class MatchMaker(Gateway):
    """Central service of DIRAC: job queues, and a match for whoever asks (RR-5576, section 3.1).

    Args:
        grid: where it lives.
        matching: decides who gets what.
        queues: where tasks wait.
        resources: of which at least one must fit a task, else it is rejected.

    Attributes:
        service: that tasks and queries have to pass, if that takes time.
    """

    def __init__(
        self, grid: Grid, matching: Matching, queues: TaskQueues, resources: Sequence[Resource]
    ) -> None:
        super().__init__(grid)
        self.matching = matching
        self.queues = queues
        self.resources = resources
        self.service: Service | None = None
        self._counters = grid.record.counters
        for counter in ("site_probes", "pilot_requests", "empty_answers"):
            self._counters[counter] = 0

    @property
    def waiting(self) -> int:
        """Tasks that wait for a resource."""
        return len(self.queues)

    def submit(self, task: Job) -> None:
        """Let a task wait, or reject it if no resource will ever fit."""
        self.accept(task)
        if self.service is None:
            self._admit(task)
        else:
            self.service.serve(self._admit, task)

    def _admit(self, task: Job) -> None:
        if any(resource.fits(task) for resource in self.resources):
            self.take_back(task)
        else:
            self.refuse(task)

    def take_back(self, task: Job) -> None:
        """Let a task wait (again): behind the others of its queue."""
        task.queue(self.grid.now, NAME)
        self.queues.push(task)

    def resubmit(self, task: Job) -> None:
        """Let a task that has failed or was lost wait again."""
        self.take_back(task)

    def interrupted(self, task: Job) -> None:
        """The pilot of a task has failed: the task comes back once that is found out."""
        task.kill(self.grid.now)
        delay = self.trouble.detection()
        if delay > 0:
            self.grid.agenda.after(delay, self.take_back, task, DECISION)
        else:
            self.take_back(task)

    def probe(self, query: Query) -> None:
        """A site agent asks for a task."""
        self._counters["site_probes"] += 1
        if self.service is None:
            self._serve(query)
        else:
            self.service.serve(self._serve, query)

    def request(self, query: Query) -> None:
        """A pilot asks for a task; see `PilotSlots` for one of several slots."""
        self._counters["pilot_requests"] += 1
        if self.service is None:
            self._serve(query)
        else:
            self.service.serve(self._serve, query)

    def inquire(self, query: Query) -> None:
        """A site agent asks whether there is a task for a pilot; it stays.

        One of several processors is answered only beyond the pilots of as many slots that wait at the site.
        """
        self._counters["site_probes"] += 1
        if self.service is None:
            self._tell(query)
        else:
            self.service.serve(self._tell, query)

    def finds(self, query: Query) -> bool:
        """Whether a site agent that asks, now or before anything else happens, may get or learn of a task."""
        if not len(self.queues):
            return False
        # A site is shunned for a time, and its end is no event.
        return self.trouble.shuns(query.resource.site) or self._found(query) is not None

    def count_fruitless(self, queries: int) -> None:
        """Count queries of site agents that found no task."""
        self._counters["site_probes"] += queries
        self._counters["empty_answers"] += queries

    def _found(self, query: Query) -> Job | None:
        """A task for the resource, beyond what pilots wait for at its site."""
        resource = query.resource
        if self.trouble.shuns(resource.site):
            return None
        if query.pilots:
            widths = self.queues.widths
            covered = frozenset(slots for slots, count in query.pilots.items() if count >= widths[slots])
            resource = resource._replace(covered=covered)
        return self._match(resource)

    def _tell(self, query: Query) -> None:
        """Answer whether there is a task."""
        task = self._found(query)
        if task is None:
            self._counters["empty_answers"] += 1
        query.reply(task)

    def _serve(self, query: Query) -> None:
        if self.trouble.shuns(query.resource.site):
            task = None
        elif query.slots is None:
            task = self._match(query.resource)
        else:
            task = query.slots.task(self.matching, self.queues, query.resource)
            self._check(task, query.resource)
        if task is None:
            self._counters["empty_answers"] += 1
        else:
            self.queues.remove(task)
            if self.trouble.loses():
                self.lost(task)
                task = None
        query.reply(task)

    def _match(self, resource: Resource) -> Job | None:
        task = self.matching.match(self.queues, resource) if len(self.queues) else None
        self._check(task, resource)
        return task

    def _check(self, task: Job | None, resource: Resource) -> None:
        if task is not None and not (task in self.queues and resource.fits(task)):
            raise misjudged(self.matching, "hands out a task that does not wait, or does not fit")
