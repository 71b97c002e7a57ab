"""Pilots, jobs that hold slots of a site and run tasks that they ask for, and those who submit them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import inf

import mesa

from gridtune.agents.middleware.matchmaker import MatchMaker, Query
from gridtune.agents.middleware.messages import MemberSite, MessageChannel
from gridtune.agents.middleware.site_agent import SiteAgent
from gridtune.model.agenda import DECISION
from gridtune.model.grid import Grid
from gridtune.model.job import DONE, FAILED, RUNNING, Job
from gridtune.model.metrics.registry import define
from gridtune.model.middleware.matching import Resource, time_for
from gridtune.model.middleware.pilots import PilotMode, PilotSlots

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

    def allowed(self, member: MemberSite, slots: int) -> float:
        """Seconds that a pilot of so many slots may live at a site."""
        return min(self.lifetime, member.time_for(slots))

    def resource(self, member: MemberSite) -> Resource:
        """What a pilot that has just started offers, whichever nodes it gets, with as many slots as may be.

        Its first question and the answer take three messages' time from its start at most.
        """
        site, dialogue = member.site, 3 * member.delay
        limits = None
        if site.limits is not None:
            limits = [(most, min(self.lifetime, time) - dialogue) for most, time in site.limits]
        time = self.allowed(member, 1) - dialogue
        return Resource(site.name, site.widest, site.pace, time, member.tags, limits, groups=member.groups)


class Pilot(mesa.Agent):
    """One pilot: `started` and `ended` are what its site tells it. It leaves the grid when its job ends.

    Which tasks a pilot of several slots gets, `PilotSlots` says. It asks for one after the other until there
    is none for its free slots, and again whenever a task has ended.

    Args:
        agent: that submits it.
        slots: that it asks its site for.

    Attributes:
        job: its placeholder at the site.
        free: slots that hold no task.
        running: its present tasks, in the order of their start.
        tasks: number of tasks that it has got.
    """

    def __init__(self, agent: PilotAgent, slots: int) -> None:
        super().__init__(agent.grid)
        self.agent = agent
        self._agenda = agent.grid.agenda
        record = agent.grid.record
        allowed = agent.habits.allowed(agent.member, slots)
        self.job = record.placeholder(
            "pilot", self._agenda.now, allowed * agent.site.pace, kind="pilot", processors=slots
        )
        self.free = slots
        self.running: list[Job] = []
        self.tasks = 0
        self._first: Job | None = None
        self._asking = self._news = False
        self._waits = True
        self._speed = 1.0
        self._death = inf
        self._event: int | None = None
        record.counters["pilots"] += 1

    def started(self, job: Job, speed: float) -> None:
        """The pilot holds slots of that speed: ask for a task."""
        agent = self.agent
        self._leave_queue()
        self._speed = speed
        allowed = agent.habits.allowed(agent.member, job.processors)
        self._death = self._agenda.now + min(allowed, job.estimate / speed)
        self._begin_to_ask()

    def ended(self, job: Job) -> None:
        """The site has taken the slots back, or never gave any."""
        agent, grid = self.agent, self.agent.grid
        self.remove()
        self._leave_queue()
        if job.start != job.start:
            return
        if job.state is FAILED:
            self._fall_silent()
            for task in self.running:
                agent.match_maker.interrupted(task)
            agent.match_maker.trouble.note(agent.site.name)
        elif job.state is not DONE:
            grid.record.counters["killed_pilots"] += 1
            self._abandon()
        if self.tasks == 0:
            grid.record.counters["aborted_pilots"] += 1

    def _leave_queue(self) -> None:
        """The pilot waits no longer, if it did."""
        if self._waits:
            self._waits = False
            self.agent.left_queue(self.job.processors)

    def _shadow(self) -> float:
        """Seconds from the arrival of an answer until all tasks have ended as promised."""
        ends = (task.start + task.estimate / self._speed for task in self.running)
        return max(ends, default=inf) - self._agenda.now - self.agent.member.delay

    @property
    def _goes_on(self) -> bool:
        start = self.job.start
        return self.agent.habits.mode.goes_on(self._agenda.now - start, self._death - start, self._speed)

    def _begin_to_ask(self) -> None:
        self._news = False
        self._asked_since = self._agenda.now
        self._pause = self.agent.habits.retry
        self._ask(None)

    def _ask(self, _: object) -> None:
        self._event = None
        self._asking = True
        self.agent.channel.send("request", self.agent.member, self._request, None)

    def _request(self, _: object) -> None:
        member = self.agent.member
        time = self._death - self._agenda.now - member.delay
        resource = Resource(member.site.name, self.free, self._speed, time, member.tags, groups=member.groups)
        slots = self.job.processors
        described = None if slots == 1 else PilotSlots(slots, self._shadow(), self.agent.habits.mode.alone)
        self.agent.match_maker.request(Query(resource, self._reply, described))

    def _reply(self, task: Job | None) -> None:
        self.agent.channel.send("answer", self.agent.member, self._answered, task, task=task)

    def _answered(self, task: Job | None) -> None:
        """Run the task, and ask for one more beside it; without one give up, or ask again later."""
        agent = self.agent
        self._asking = False
        if self.job.state is not RUNNING:
            # The site killed the pilot while its question or the answer was on the way.
            if task is not None:
                agent.match_maker.take_back(task)
        elif task is not None:
            self._run(task)
            if self.free and self._goes_on:
                self._begin_to_ask()
        elif self._news:
            self._begin_to_ask()
        elif self._agenda.now + self._pause > self._asked_since + agent.habits.idle:
            if not self.running:
                agent.site.finish(self.job)
        else:
            self._event = self._agenda.after(self._pause, self._ask, None, DECISION)
            self._pause *= 2

    def _fall_silent(self) -> None:
        """Ask no more."""
        if self._event is not None:
            self._agenda.cancel(self._event)

    def _abandon(self) -> None:
        """The site has killed the pilot: the task that had all its life is lost, others go back."""
        self._fall_silent()
        now = self._agenda.now
        for task in self.running:
            if task is self._first:
                task.expire(now, task.given)
                self.agent.match_maker.ended(task)
                continue
            task.kill(now)
            # Its promise was broken: it is believed to need the whole life of a pilot.
            task.estimate = max(task.estimate, self.agent.whole_life(task.processors))
            self.agent.match_maker.take_back(task)

    def _run(self, task: Job) -> None:
        now = self._agenda.now
        task.queue(now, self.agent.site.name)
        task.begin(now, self.job.node)
        if self.tasks == 0:
            self._first = task
        self.running.append(task)
        self.free -= task.processors
        self.tasks += 1
        self.agent.site.compute(self.job, task, self._completed)

    def _completed(self, task: Job) -> None:
        self.running.remove(task)
        self.free += task.processors
        task.finish(self._agenda.now)
        self.agent.match_maker.ended(task)
        if self._asking:
            self._news = self._goes_on  # more slots are free than the question under way told
        elif self._goes_on:
            if self._event is not None:
                self._agenda.cancel(self._event)
            self._begin_to_ask()
        elif not self.running and self._event is None:
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
        self.cap = habits.cap
        self._widths: Counter[int] = Counter()  # those of several slots
        for counter in ("pilots", "aborted_pilots", "killed_pilots"):
            grid.record.counters[counter] += 0

    def whole_life(self, slots: int) -> float:
        """Work that a task can do at most that has all the life of a pilot of so many slots."""
        resource = self.resource
        limits = resource.limits
        time = resource.time if limits is None else min(resource.time, time_for(slots, limits))
        return time * resource.speed

    def _carried(self, task: Job | None) -> Job | None:
        """Nothing: the agent only hears of the task."""
        return None

    def left_queue(self, slots: int) -> None:
        """A pilot of so many slots waits no longer."""
        self.pilots -= 1
        if slots > 1:
            self._widths[slots] -= 1
            if not self._widths[slots]:
                del self._widths[slots]

    def question(self) -> Query:
        """See `SiteAgent`; pilots that wait at the site are told of."""
        return Query(self.resource, self._reply, None, self._widths or None)

    def _ask(self, _: object) -> None:
        self.match_maker.inquire(self.question())

    def _submit(self, task: Job) -> None:
        """Submit a pilot of the task's width; the task stays with the match-maker for whoever asks first."""
        self.pilots += 1
        if task.processors > 1:
            self._widths[task.processors] += 1
        pilot = Pilot(self, task.processors)
        self.site.submit(pilot.job, pilot.ended, pilot.started)
        if self._is_outside(pilot.job):
            self._travelling.append(pilot.job)
