"""Agents of the middleware at the sites: they see that there is room, and ask for work."""

from __future__ import annotations

from math import inf

import mesa

from gridtune.agents.middleware.matchmaker import MatchMaker, Query
from gridtune.agents.middleware.messages import MemberSite, MessageChannel
from gridtune.model.agenda import DECISION
from gridtune.model.grid import Grid
from gridtune.model.job import CREATED, QUEUED, Job


class SiteAgent(mesa.Agent):
    """Asks the match-maker for one task after the other while its site is available.

    A site is available while the tasks waiting there (whoever owns them) number less than epsilon times
    its slots (RR-5576, equation 5). The agent looks when it is told to (`poll`); a look ends when the site is
    no longer available or the match-maker has nothing.

    Args:
        grid: where it lives.
        member: its site.
        match_maker: whom it asks.
        epsilon: criterion of availability.
        channel: carries its messages.

    Attributes:
        looking: whether a look is under way.
        pilots: of its own that wait at the site.
        cap: pilots that may wait there.
    """

    def __init__(
        self, grid: Grid, member: MemberSite, match_maker: MatchMaker, epsilon: float, channel: MessageChannel
    ) -> None:
        super().__init__(grid)
        self.grid = grid
        self.member = member
        self.site = member.site
        self.match_maker = match_maker
        self.channel = channel
        self.resource = member.resource
        self.room = epsilon * member.site.slots
        self._travelling: list[Job] = []
        self.looking = False
        self.pilots = 0
        self.cap = inf
        self.silent = 0  # reasons for which it does not look: its site has no power

    @property
    def available(self) -> bool:
        """Whether the site has room for a waiting task, those on their way to its queue counted, and not too
        many pilots wait there.
        """
        if self.pilots >= self.cap or self.silent:
            return False
        depth = self.site.depth
        if self._travelling:
            self._travelling = [job for job in self._travelling if self._is_outside(job)]
            depth += len(self._travelling)
        return depth < self.room

    def poll(self, _: object) -> None:
        """Look at the site, unless a look is under way."""
        if not self.looking:
            self._look(None)

    def _look(self, _: object) -> None:
        """Ask, if there is room."""
        self.looking = self.available
        if self.looking:
            self.channel.send("query", self.member, self._ask, None)

    def question(self) -> Query:
        """What it asks the match-maker now."""
        return Query(self.resource, self._reply)

    def _ask(self, _: object) -> None:
        self.match_maker.probe(self.question())

    def _reply(self, task: Job | None) -> None:
        self.channel.send("answer", self.member, self._answered, task, task=self._carried(task))

    def _carried(self, task: Job | None) -> Job | None:
        """The task that travels with an answer."""
        return task

    def _answered(self, task: Job | None) -> None:
        """Submit a task locally, and look again once the local scheduler has had its say."""
        self.looking = task is not None
        if task is not None:
            self._submit(task)
            self.grid.agenda.at(self.grid.now, self._look, None, DECISION)

    def _submit(self, task: Job) -> None:
        self.site.submit(task, self.match_maker.ended)
        if self._is_outside(task):
            self._travelling.append(task)

    def _is_outside(self, job: Job) -> bool:
        """Whether a job has been submitted to the site but not yet entered its queue."""
        return job.site != self.site.name and (job.state is QUEUED or job.state is CREATED)
