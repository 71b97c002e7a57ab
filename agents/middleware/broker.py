"""Push: a broker that sends each task to a site as soon as it comes, by what it knows of the sites."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Literal

from gridtune.agents.infrastructure.service import Service
from gridtune.agents.middleware.gateway import Gateway
from gridtune.agents.middleware.messages import MemberSite, MessageChannel
from gridtune.agents.middleware.resource import SiteResource
from gridtune.model.grid import Grid
from gridtune.model.job import Job
from gridtune.model.middleware.routing import Routing, SiteView
from gridtune.model.policy import misjudged

Report = Literal["old", "idle"]


class Broker(Gateway):
    """Central scheduling on the snapshot of an information system (RR-5576, sections 2 and 7).

    Every `period` seconds each site reports its state; in between the broker goes by the last report.

    Args:
        grid: where it lives.
        members: the sites.
        routing: chooses among them.
        period: s between two reports; with 0 every site is asked at every decision, with infinity none
            ever reports and all are taken to be as at the start.
        channel: carries its messages.

    Attributes:
        service: that tasks have to pass before they are matched, if that takes time.
        reports: of sites whose reports are not what is so: nothing new, or that the site is idle; for each
            fault that has begun.
        information: the information system, if reports and questions take its time.
    """

    def __init__(
        self,
        grid: Grid,
        members: Sequence[MemberSite],
        routing: Routing,
        period: float,
        channel: MessageChannel,
    ) -> None:
        super().__init__(grid)
        self.members = members
        self.routing = routing
        self.period = period
        self.channel = channel
        self.service: Service | None = None
        self.information: Service | None = None
        self.reports: dict[int, list[Report]] = {}
        self._sizes = [(member.site.slots, member.site.pace) for member in members]
        self.views = [self.measure(k) for k in range(len(members))]
        self._measured = list(self.views)  # what each site said last
        self._eligible: dict[tuple[int, frozenset[str] | None, str], list[int]] = {}
        self._groups = any(member.groups for member in members)
        self._everywhere = list(range(len(members)))
        self._by_distance: dict[tuple[float, int], list[int]] = {}
        for k, member in enumerate(members):
            # What shares its way with others comes when it comes.
            together = -1 if member.way is None else k
            self._by_distance.setdefault((member.delay, together), []).append(k)
        self._least_limit = min(map(_least_limit, members), default=inf)
        self._promised = 0.0
        self._rng = grid.streams.stream("tie:broker")
        if 0 < period < inf:
            self.every(period, [self._report], start=period)

    @property
    def waiting(self) -> int:
        """Tasks that wait for a site: none ever do."""
        return 0

    def submit(self, task: Job) -> None:
        """Push a task to a site, or reject it if none accepts it."""
        self.accept(task)
        self._promised += task.estimate
        self.resubmit(task)

    def resubmit(self, task: Job) -> None:
        """Match a task, as soon as the broker comes to it."""
        if self.service is None:
            self._match(task)
        else:
            self.service.serve(self._match, task)

    def _match(self, task: Job) -> None:
        """Find the sites that accept a task, and what there is to know of them."""
        sites = self.sites_for(task)
        if self.trouble.shunning:  # a task goes to a site that is shunned before it goes nowhere
            sites = [k for k in sites if not self.trouble.shuns(self.members[k].site.name)] or sites
        if not sites:
            self.refuse(task)
        elif self.information is None:
            self._look_and_push((sites, task))
        else:
            # With reports one question is enough; without, all sites are asked through it.
            self.information.charge(len(sites) - 1 if self.period == 0 else 0)
            self.information.serve(self._look_and_push, (sites, task))

    def _look_and_push(self, what: tuple[Sequence[int], Job]) -> None:
        sites, task = what
        if self.period == 0:
            self.channel.count("information", 2 * len(sites))
            for k in sites:
                self._refresh(k)
        views = self.views if len(sites) == len(self.views) else [self.views[k] for k in sites]
        chosen = self.routing.choose(views, task, self._promised / len(self.tasks), self._rng)
        if chosen.site not in sites:
            raise misjudged(self.routing, "chooses a site that does not accept the task")
        self.views[chosen.site] = chosen._replace(
            sent=chosen.sent + 1, sent_slots=chosen.sent_slots + task.processors
        )
        member = self.members[chosen.site]
        if self.trouble.loses():
            self.lost(task)
            return
        self.channel.send("submit", member, self._deliver, (member.site, task), task=task)

    def move(self, task: Job, here: int, there: int) -> bool:
        """Take a task that waits at one site to another; False if it does not wait there."""
        if not self.members[here].site.give_back(task):
            return False
        member = self.members[there]
        self.channel.send("migrate", member, self._deliver, (member.site, task), task=task)
        return True

    def _deliver(self, what: tuple[SiteResource, Job]) -> None:
        site, task = what
        site.submit(task, self.ended)

    def sites_for(self, task: Job) -> Sequence[int]:
        """The sites that can ever run a task."""
        fitting = self._everywhere
        if task.data is not None or task.processors > 1 or self._groups:
            key = task.processors, task.data, task.group if self._groups else ""
            known = self._eligible.get(key)
            if known is None:
                known = self._eligible[key] = [
                    k for k in fitting if self.members[k].resource._replace(time=inf, limits=None).fits(task)
                ]
            fitting = known
        if task.estimate > self._least_limit:
            return [k for k in fitting if task.estimate <= self._limit(k, task.processors)]
        return fitting

    def _limit(self, k: int, processors: int) -> float:
        """Work that a task of so many processors may do at a site."""
        member = self.members[k]
        return member.time_for(processors) * member.site.pace

    def _report(self, _: object) -> None:
        """Every site sends its state; the news of those that are equally far arrives at once."""
        for sites in self._by_distance.values():
            heard = [k for k in sites if self._reported(k) != "old"] if self.reports else sites
            news = [self._measure_again(k) for k in heard]
            if self.quiet:  # what is no news would keep the run going for ever
                news = [view for view in news if view != self.views[view.site]]
            if news:
                self.channel.send("information", self.members[sites[0]], self._receive, news, len(news))

    def misreport(self, site: int, says: Report) -> None:
        """From now on the reports of a site are not what is so."""
        self.reports.setdefault(site, []).append(says)

    def report_again(self, site: int, says: Report) -> None:
        """One of the reasons for that is over."""
        self.reports[site].remove(says)
        if not self.reports[site]:
            del self.reports[site]

    def _reported(self, site: int) -> Report | None:
        """What is wrong with the reports of a site, if anything is."""
        wrong = self.reports.get(site)
        return wrong[-1] if wrong else None

    def _receive(self, views: Sequence[SiteView]) -> None:
        """Reports have come: each is news once the information system has taken it in."""
        if self.information is None:
            self._hear(views)
        else:
            for view in views:
                self.information.serve(self._hear, (view,))

    def _hear(self, views: Sequence[SiteView]) -> None:
        for view in views:
            self.views[view.site] = view

    def _refresh(self, k: int) -> None:
        """Look at a site, and note what is new."""
        site, view = self.members[k].site, self.views[k]
        if self.reports:
            if self._reported(k) != "old":
                self.views[k] = self.measure(k)
        elif site.depth != view.depth or site.free != view.free or view.sent or site.wanted != view.wanted:
            self.views[k] = self.measure(k)

    def _measure_again(self, k: int) -> SiteView:
        """A site as it says that it is now: the same view as last time if that is still so."""
        site, view = self.members[k].site, self._measured[k]
        depth = site.depth
        same = depth == view.depth and site.free == view.free and (not depth or site.wanted == view.wanted)
        if not same or self.reports:
            view = self._measured[k] = self.measure(k)
        return view

    def measure(self, k: int) -> SiteView:
        """A site as it says that it is now."""
        site, (slots, pace) = self.members[k].site, self._sizes[k]
        if self.reports and self._reported(k) == "idle":
            return SiteView(k, 0, slots, slots, pace, 0, 0, 0)
        depth = site.depth
        return SiteView(k, depth, site.free, slots, pace, 0, site.wanted if depth else 0, 0)


def _least_limit(member: MemberSite) -> float:
    """Work that any task that finds a queue at a site may do there."""
    times = [time for _, time in member.site.limits or ()]
    return min(member.limit, *times) * member.site.pace if times else member.limit * member.site.pace
