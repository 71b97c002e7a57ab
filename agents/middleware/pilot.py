"""Pilots, jobs that hold a slot of a site and run tasks that they ask for, and those who submit them."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import mesa

from gridtune.agents.middleware.matchmaker import MatchMaker, Query
from gridtune.agents.middleware.messages import MemberSite, MessageChannel
from gridtune.agents.middleware.site_agent import SiteAgent
from gridtune.model.agenda import DECISION
from gridtune.model.grid import Grid
from gridtune.model.job import DONE, RUNNING, Job
from gridtune.model.metrics.registry import define
from gridtune.model.middleware.matching import Resource
from gridtune.model.middleware.pilots import PilotMode

define("pilots", "pilots", "minimize", "pilots submitted")
define("aborted_pilots", "pilots", "minimize", "pilots that started but never ran a task")
define("killed_pilots", "pilots", "minimize", "pilots killed at the limit of their queue")
define("pilot_idle", "s", "minimize", "slot-seconds that pilots held without running a task")


@dataclass(frozen=True, slots=True)
class PilotHabits:
    """How pilots of a scenario behave.

    Attributes:
        mode: decides whether a pilot goes on after a task.
        lifetime: s that a pilot asks its site for; at most the limit of the site's queue.
        idle: s that a pilot waits for a task in one go before it gives up.
        retry: s after which it asks again; doubled after every further answer without a task.
        cap: pilots that may wait at one site.
    """

    mode: PilotMode
    lifetime: float = inf
    idle: float = 0.0
    retry: float = 20.0
    cap: float = inf

    def allowed(self, member: MemberSite) -> float:
        """Seconds that a pilot may live at a site."""
        return min(self.lifetime, member.limit)

    def resource(self, member: MemberSite) -> Resource:
        """What a pilot that has just started offers, whichever node it gets.

        Its first question and the answer take three messages' time from its start at most.
        """
        time = self.allowed(member) - 3 * member.delay
        return Resource(member.site.name, 1, member.site.pace, time, member.tags)


class Pilot(mesa.Agent):
    """One pilot: `started` and `ended` are what its site tells it. It leaves the grid when its job ends.

    Args:
        agent: that submits it.
    """

    def __init__(self, agent: PilotAgent) -> None:
        super().__init__(agent.grid)
        self.agent = agent
        record = agent.grid.record
        allowed = agent.habits.allowed(agent.member)
        self.job = record.placeholder("pilot", agent.grid.now, allowed * agent.site.pace, kind="pilot")
        self.task: Job | None = None
        self.tasks = 0
        self._speed = 1.0
        self._death = inf
        self._event: int | None = None
        record.counters["pilots"] += 1

    def started(self, job: Job, speed: float) -> None:
        """The pilot holds a node of that speed: ask for a task."""
        agent = self.agent
        agent.waiting -= 1
        self._speed = speed
        self._death = agent.grid.now + min(agent.habits.allowed(agent.member), job.estimate / speed)
        self._begin_to_ask()

    def ended(self, job: Job) -> None:
        """The site has taken the node back, or never gave one."""
        agent, grid = self.agent, self.agent.grid
        self.remove()
        if job.start != job.start:
            agent.waiting -= 1
            return
        if job.state is not DONE:
            grid.record.counters["killed_pilots"] += 1
            self._abandon()
        if self.tasks == 0:
            grid.record.counters["aborted_pilots"] += 1

    def _begin_to_ask(self) -> None:
        self._asked_since = self.agent.grid.now
        self._pause = self.agent.habits.retry
        self._ask(None)

    def _ask(self, _: object) -> None:
        self._event = None
        self.agent.channel.send("request", self.agent.member.delay, self._request, None)

    def _request(self, _: object) -> None:
        member = self.agent.member
        time = self._death - self.agent.grid.now - member.delay
        resource = Resource(member.site.name, 1, self._speed, time, member.tags)
        self.agent.match_maker.request(Query(resource, self._reply))

    def _reply(self, task: Job | None) -> None:
        self.agent.channel.send("answer", self.agent.member.delay, self._answered, task)

    def _answered(self, task: Job | None) -> None:
        """Run the task; without one give up, or ask again later."""
        agent, grid = self.agent, self.agent.grid
        if self.job.state is not RUNNING:
            # The site killed the pilot while its question or the answer was on the way.
            if task is not None:
                agent.match_maker.take_back(task)
        elif task is not None:
            self._run(task)
        elif grid.now + self._pause > self._asked_since + agent.habits.idle:
            agent.site.finish(self.job)
        else:
            self._event = grid.agenda.after(self._pause, self._ask, None, DECISION)
            self._pause *= 2

    def _abandon(self) -> None:
        """The site has killed the pilot: a task that had it to itself is lost, another goes back."""
        if self._event is not None:
            self.agent.grid.agenda.cancel(self._event)
        task, now = self.task, self.agent.grid.now
        if task is None:
            return
        if self.tasks == 1:
            task.expire(now)
            self.agent.match_maker.ended(task)
            return
        task.kill(now)
        # Its promise was broken: it is believed to need the whole life of a pilot.
        task.estimate = max(task.estimate, self.agent.resource.time * self.agent.resource.speed)
        self.agent.match_maker.take_back(task)

    def _run(self, task: Job) -> None:
        grid = self.agent.grid
        task.queue(grid.now, self.agent.site.name)
        task.begin(grid.now, self.job.node)
        self.task = task
        self.tasks += 1
        self.agent.site.compute(self.job, task.runtime, self._completed)

    def _completed(self, _: Job) -> None:
        task, now = self.task, self.agent.grid.now
        assert task is not None
        self.task = None
        task.finish(now)
        self.agent.match_maker.ended(task)
        if self.agent.habits.mode.goes_on(now - self.job.start, self._death - self.job.start, self._speed):
            self._begin_to_ask()
        else:
            self.agent.site.finish(self.job)


class PilotAgent(SiteAgent):
    """Asks whether there is work, and submits a pilot to its site for it (RR-5576, section 7).

    Args:
        grid, member, match_maker, epsilon, channel: as for any site agent.
        habits: of its pilots.
    """

    def __init__(
        self,
        grid: Grid,
        member: MemberSite,
        match_maker: MatchMaker,
        epsilon: float,
        channel: MessageChannel,
        habits: PilotHabits,
    ) -> None:
        super().__init__(grid, member, match_maker, epsilon, channel)
        self.habits = habits
        self.resource = habits.resource(member)
        self.waiting = 0  # pilots that have not started
        for counter in ("pilots", "aborted_pilots", "killed_pilots"):
            grid.record.counters[counter] += 0

    @property
    def available(self) -> bool:
        """Whether the site has room, and not too many pilots wait there."""
        return self.waiting < self.habits.cap and super().available

    def _ask(self, _: object) -> None:
        self.match_maker.inquire(Query(self.resource, self._reply))

    def _submit(self, task: Job) -> None:
        """Submit a pilot; the task stays with the match-maker for whoever asks first."""
        self.waiting += 1
        pilot = Pilot(self)
        self.site.submit(pilot.job, pilot.ended, pilot.started)
        if self._is_outside(pilot.job):
            self._travelling.append(pilot.job)
