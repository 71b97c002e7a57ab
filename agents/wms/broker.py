"""Workload management: brokers that match jobs to what sites publish, and follow them to their end."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from numbers import Real
from typing import Literal, NamedTuple

import mesa

from gridtune.agents.batch.services import Delay, no_delay
from gridtune.agents.infrastructure.network import Network
from gridtune.agents.infrastructure.service import Service
from gridtune.agents.wms.advertising import ComputingElement
from gridtune.agents.wms.vres_site import Ended, Started
from gridtune.model.agenda import ARRIVAL, DECISION, OBSERVATION
from gridtune.model.grid import Grid
from gridtune.model.job import CANCELLED, CREATED, QUEUED, Job
from gridtune.model.metrics.registry import define
from gridtune.model.middleware.retrying import Never, Retry, pause_after
from gridtune.model.policy import misjudged
from gridtune.model.wms.expression import Formula
from gridtune.model.wms.ranking import Advert, Ranking

define("rerouted", "jobs", "minimize", "submissions that a site refused and a broker sent elsewhere")
define("revisited", "jobs", "minimize", "jobs that a broker offered again to sites that had refused them")
define("grid_failures", "failures", "minimize", "submissions lost by the middleware")
define("aborted", "jobs", "minimize", "jobs given up after as many failures as their retries allow")
define("told_rejected", "jobs", "minimize", "jobs for which no site had a slot, whose owners were told so")


class Latencies(NamedTuple):
    """What the middleware costs in time, each drawn when needed, s.

    Attributes:
        submission: from the owner to the broker.
        scheduling: from the match to the site.
        notification: from the end of the job until its owner hears of it.
        failure: from a lost submission until the broker hears of it.
    """

    submission: Delay = no_delay
    scheduling: Delay = no_delay
    notification: Delay = no_delay
    failure: Delay = no_delay


class BrokerHabits(NamedTuple):
    """How brokers work.

    Attributes:
        ranking: of what fits.
        requirements: that what is advertised has to meet; None for none.
        update_period: s between two looks at the sites; 0 looks at every match.
        failure: probability that a submission is lost.
        retries: how often a lost job is submitted again.
        rejected: what a broker does when a site has no slot: try another, or tell the owner.
        revisit: decides whether a job that no site had a slot for is offered to them again.
    """

    ranking: Ranking
    requirements: Formula | None = None
    update_period: float = 60.0
    failure: float = 0.0
    retries: int = 3
    rejected: Literal["resubmit", "tell"] = "resubmit"
    revisit: Retry = Never()


class JobDescription(NamedTuple):
    """What a job asks of its site, in place of what its broker does (the JDL of the grid).

    Attributes:
        requirements: that what is advertised has to meet, beside the broker's; None for none.
        ranking: of what fits; None for the broker's.
    """

    requirements: Formula | None = None
    ranking: Ranking | None = None


class Trip:
    """The way of one job through the middleware.

    Attributes:
        job: which.
        description: what it asks of its site.
        done, started: of its owner.
        refused: sites that had no slot for it in this round.
        rounds: how often all sites have refused it.
        failures: submissions lost.
        told: when its owner heard of its end, s.
    """

    __slots__ = ("description", "done", "failures", "job", "refused", "rounds", "started", "told")

    def __init__(
        self, job: Job, done: Ended | None, started: Started | None, description: JobDescription
    ) -> None:
        self.job = job
        self.description = description
        self.done = done
        self.started = started
        self.refused: set[str] = set()
        self.rounds = 0
        self.failures = 0
        self.told = float("nan")


class WmsBroker(mesa.Agent):
    """One resource broker, with its own view of the sites (Responsive Grids, section 2.1).

    It sends a job again only if that failed or was refused, never because the state of sites changes.

    Args:
        grid: where it lives.
        index: among the brokers.
        sites: all of them.
        habits: how it works.
        latencies: of the middleware.
        phase: s by which its looks at the sites are shifted.

    Attributes:
        service: that every match has to pass, if that takes time.
        network: that sandboxes cross on their way to a site, if links are shared.
    """

    def __init__(
        self,
        grid: Grid,
        index: int,
        sites: Sequence[ComputingElement],
        habits: BrokerHabits,
        latencies: Latencies,
        phase: float,
    ) -> None:
        super().__init__(grid)
        self.grid = grid
        self.sites = sites
        self.habits = habits
        self.latencies = latencies
        self.service: Service | None = None
        self.network: Network | None = None
        self.trips: list[Trip] = []
        self._rng = grid.streams.stream(f"broker:{index}")
        self._sites = {site.name: site for site in sites}
        self._view: dict[tuple[str, str], Advert] = {}
        self._look(None)
        if habits.update_period > 0:
            grid.agenda.every(habits.update_period, self._look, start=phase, order=OBSERVATION)

    def submit(
        self,
        job: Job,
        done: Ended | None = None,
        started: Started | None = None,
        description: JobDescription = JobDescription(),  # noqa: B008 (immutable)
    ) -> None:
        """Take a job in; `done` is called once its owner hears of its end, `started` see `VresSite.offer`."""
        trip = Trip(job, done, started, description)
        self.trips.append(trip)
        self._later(self.latencies.submission(), self._match, trip)

    def cancel(self, job: Job) -> None:
        """Take a job out on its owner's demand, on its way or at its site; too late is no error."""
        if job.state is CREATED:
            job.cancel(self.grid.now)
        elif job.site in self._sites:
            self._sites[job.site].cancel(job)

    def _match(self, trip: Trip) -> None:
        """Match a job to a site, as soon as the broker comes to it."""
        if self.service is None:
            self._choose(trip)
        else:
            self.service.serve(self._choose, trip)

    def _choose(self, trip: Trip) -> None:
        """Choose among the sites that fit; if there is none, tell the owner."""
        job = trip.job
        if job.state is CANCELLED:
            return
        if self.habits.update_period == 0:
            self._look(None)
        adverts = self._fitting(trip)
        if not adverts:
            self._refused_by_all(trip)
            return
        ranking = trip.description.ranking or self.habits.ranking
        ranks = [ranking.rank(advert, job) for advert in adverts]
        try:
            strange = [rank for rank in ranks if not rank <= inf]
        except TypeError:
            strange = [rank for rank in ranks if not isinstance(rank, Real)]
        if strange:
            raise misjudged(ranking, f"ranks by {strange[0]!r:.40}, which is no number")
        best = max(ranks)
        among = [advert for advert, rank in zip(adverts, ranks, strict=True) if rank == best]
        chosen = among[int(self._rng.random() * len(among))] if len(among) > 1 else among[0]
        self._note_sent(chosen, job)
        if self.habits.failure and self._rng.random() < self.habits.failure:
            self._later(self.latencies.failure(), self._lost, trip)
        else:
            self._later(self.latencies.scheduling(), self._send, (trip, chosen))

    def _refused_by_all(self, trip: Trip) -> None:
        """No site is left that could take a job: wait and ask them all again, or tell the owner."""
        wait = None
        if trip.refused:
            trip.rounds += 1
            wait = pause_after(self.habits.revisit, trip.rounds)
        if wait is None:
            self._give_up(trip, "told_rejected")
            return
        trip.refused.clear()
        self.grid.record.counters["revisited"] += 1
        self._later(wait, self._match, trip)

    def _fitting(self, trip: Trip) -> list[Advert]:
        asked = (self.habits.requirements, trip.description.requirements)
        requirements = [one for one in asked if one is not None]
        fitting = []
        for site in self.sites:
            if site.name in trip.refused:
                continue
            for queue in site.queues_for(trip.job):
                advert = self._view[site.name, queue]
                if advert.slots and all(meets(advert._asdict()) for meets in requirements):
                    fitting.append(advert)
        return fitting

    def _note_sent(self, advert: Advert, job: Job) -> None:
        """Until it looks again, a broker goes by what it has sent itself."""
        self._view[advert.name, advert.queue] = (
            advert._replace(free=advert.free - job.processors, running=advert.running + job.processors)
            if advert.free >= job.processors
            else advert._replace(
                waiting=advert.waiting + 1,
                ett=advert.ett + job.estimate * job.processors / (advert.slots * advert.speed),
            )
        )

    def _send(self, what: tuple[Trip, Advert]) -> None:
        """A job goes to its site, with its sandbox if it has one."""
        volume = None if self.network is None else self.network.volumes.get(what[0].job.id)
        if self.network is None or volume is None:
            self._deliver(what)
        else:
            self.network.ways[what[1].name].send(volume.sandbox, self._deliver, what)

    def _deliver(self, what: tuple[Trip, Advert]) -> None:
        trip, chosen = what
        site = self._sites[chosen.name]
        if trip.job.state is not CREATED and trip.job.state is not QUEUED:
            return
        if not site.offer(trip.job, lambda _: self._left(trip, site.name), trip.started, chosen.queue):
            self._refused(trip, site.name)

    def _left(self, trip: Trip, site: str) -> None:
        """A job has ended at a site, or lost its slot there with a node."""
        if trip.job.state is QUEUED:
            self._refused(trip, site)
        else:
            self._ended(trip)

    def _refused(self, trip: Trip, site: str) -> None:
        """A site has no slot for a job."""
        trip.refused.add(site)
        if self.habits.rejected == "resubmit":
            self.grid.record.counters["rerouted"] += 1
            self._later(self.latencies.scheduling(), self._match, trip)
        else:
            self._give_up(trip, "told_rejected")

    def _lost(self, trip: Trip) -> None:
        if trip.job.state is CANCELLED:
            return
        trip.failures += 1
        self.grid.record.counters["grid_failures"] += 1
        if trip.failures > self.habits.retries:
            self._give_up(trip, "aborted")
        else:
            self._match(trip)

    def _give_up(self, trip: Trip, why: str) -> None:
        self.grid.record.counters[why] += 1
        trip.job.reject(self.grid.now)
        self._ended(trip)

    def _ended(self, trip: Trip) -> None:
        self._later(self.latencies.notification(), self._tell, trip)

    def _tell(self, trip: Trip) -> None:
        trip.told = self.grid.now
        if trip.done is not None:
            trip.done(trip.job)

    def _later(self, delay: float, action: object, argument: object) -> None:
        if delay > 0:
            self.grid.agenda.after(delay, action, argument, ARRIVAL)  # type: ignore[arg-type]
        else:
            self.grid.agenda.at(self.grid.now, action, argument, DECISION)  # type: ignore[arg-type]

    def _look(self, _: object) -> None:
        """Renew the view."""
        for site in self.sites:
            for advert in site.adverts():
                self._view[site.name, advert.queue] = advert


class Wms(mesa.Agent):
    """The brokers together: every owner has one of them, in the order in which owners come.

    Args:
        grid: where it lives.
        brokers: all of them.
    """

    def __init__(self, grid: Grid, brokers: Sequence[WmsBroker]) -> None:
        super().__init__(grid)
        self.brokers = brokers
        self._of: dict[str, WmsBroker] = {}
        for counter in ("rerouted", "revisited", "grid_failures", "aborted", "told_rejected"):
            grid.record.counters[counter] += 0

    def submit(
        self,
        job: Job,
        done: Ended | None = None,
        started: Started | None = None,
        description: JobDescription = JobDescription(),  # noqa: B008 (immutable)
    ) -> None:
        """Hand a job to its owner's broker."""
        broker = self._of.get(job.user)
        if broker is None:
            broker = self._of[job.user] = self.brokers[len(self._of) % len(self.brokers)]
        broker.submit(job, done, started, description)

    def cancel(self, job: Job) -> None:
        """Take a job out on its owner's demand, on its way or at its site; too late is no error."""
        self._of[job.user].cancel(job)

    @property
    def trips(self) -> list[Trip]:
        """All jobs that were submitted."""
        return [trip for broker in self.brokers for trip in broker.trips]


class Described:
    """The brokers, for jobs with a description of their own.

    Args:
        wms: the brokers.
        description: of all jobs that come this way.
    """

    def __init__(self, wms: Wms, description: JobDescription) -> None:
        self.wms = wms
        self.description = description

    def submit(self, job: Job) -> None:
        """Hand a job to its owner's broker."""
        self.wms.submit(job, description=self.description)
