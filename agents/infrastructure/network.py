"""The network that all share: messages, job data and bulk transfers cross links and slow each other down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import nan
from typing import Any, NamedTuple

import mesa

from gridtune.model.agenda import ARRIVAL, COMPLETION, OBSERVATION, Action
from gridtune.model.grid import Grid
from gridtune.model.infrastructure.cache import Cache
from gridtune.model.infrastructure.lane import Lane, Timer
from gridtune.model.infrastructure.sharing import max_min_rates
from gridtune.model.job import Job
from gridtune.model.metrics.registry import define

define("bytes_moved", "B", "minimize", "bytes that crossed the network: messages, job data, bulk transfers")
define("staging_mean", "s", "minimize", "mean time that an execution held its slots while its data moved")
define("bulk_transfer_mean", "s", "minimize", "mean duration of completed bulk transfers")
define(
    "cache_hits", "files", "maximize", "times that an execution found a shared input file kept at its site"
)
define("cache_misses", "files", "minimize", "times that one had to be brought to a site with a cache")
define("bytes_cached", "B", "maximize", "bytes of the files that executions found, which crossed no link")

UNLIMITED = 1e15  # bytes/s of a link without limit
KNOWN = 10_000  # divisions of the links that are kept, as most of them come again


class Volume(NamedTuple):
    """Data of a job, bytes.

    Attributes:
        sandbox: that travels with its submission.
        input: that an execution needs before it begins.
        output: that it leaves, and that has to be brought away before its slots come free.
        file: name of the input, if other jobs need the same; "" if it is this job's alone.
    """

    sandbox: float = 0.0
    input: float = 0.0
    output: float = 0.0
    file: str = ""


class Network(mesa.Agent):
    """Links whose bandwidth concurrent transfers share, max-min fair, whichever way they go.

    Args:
        grid: where it lives.
        bandwidth: of each link by name, bytes/s; may be infinite.
        ways: of each site the links between it and the central services, by name, and the latency of all of
            them together, s.

    Attributes:
        ways: by site.
        volumes: data of jobs, by id.
        bytes_moved: so far.
    """

    def __init__(
        self,
        grid: Grid,
        bandwidth: Mapping[str, float],
        ways: Mapping[str, tuple[Sequence[str], float]],
    ) -> None:
        super().__init__(grid)
        self.agenda = grid.agenda
        self.volumes: dict[int, Volume] = {}
        self.bytes_moved = 0.0
        self._index = {name: k for k, name in enumerate(bandwidth)}
        self._bandwidth = [min(value, UNLIMITED) for value in bandwidth.values()]
        self._capacity = list(self._bandwidth)
        self._cuts = [0] * len(self._bandwidth)
        self._given = dict(ways)
        self._routes: list[tuple[int, ...]] = []
        self._lanes: list[Lane] = []
        self._awake: dict[int, None] = {}  # lanes that are not at rest
        self._unshared = False  # whether links are still to be divided at this instant
        self._known: dict[tuple[tuple[int, int], ...], list[float]] = {}  # rates by lane and transfers
        self.ways = {site: self._way(links, latency) for site, (links, latency) in ways.items()}
        self._staged = [0, 0.0]  # executions, s
        self._bulk = [0, 0.0]  # transfers, s
        measures = grid.record.measures
        measures["bytes_moved"] = lambda: self.bytes_moved
        measures["staging_mean"] = lambda: _mean(self._staged)

    def cut(self, link: str) -> None:
        """Nothing crosses a link until it is mended as often as it was cut; what is on its way waits."""
        self._cuts[self._index[link]] += 1
        self._renew(link)

    def mend(self, link: str) -> None:
        """One of the cuts of a link is over."""
        self._cuts[self._index[link]] -= 1
        self._renew(link)

    def own_links(self, site: str) -> list[str]:
        """The links that only the way of one site has."""
        used = [link for links, _ in self._given.values() for link in links]
        return [link for link in self._given[site][0] if used.count(link) == 1]

    def transfer(self, site: str, size: float) -> None:
        """Bring a bulk of data to a site, or away from it, beside all others."""
        since = self.agenda.now
        self.ways[site].send(size, self._arrived, since)

    def note_staging(self, time: float, executions: int = 0) -> None:
        """An execution has held its slots for so many s while its data moved."""
        self._staged[0] += executions
        self._staged[1] += time

    def measure_bulk(self) -> None:
        """Have the duration of bulk transfers measured."""
        self.model.record.measures["bulk_transfer_mean"] = lambda: _mean(self._bulk)

    def add_cache(self, site: str, size: float) -> None:
        """Have input files kept at a site that several jobs need, up to so many bytes."""
        self.ways[site].cache = Cache(size)
        caches = [way.cache for way in self.ways.values() if way.cache is not None]
        measures = self.model.record.measures
        measures["cache_hits"] = lambda: sum(cache.hits for cache in caches)
        measures["cache_misses"] = lambda: sum(cache.misses for cache in caches)
        measures["bytes_cached"] = lambda: sum(cache.bytes_found for cache in caches)

    def _arrived(self, since: float) -> None:
        self._bulk[0] += 1
        self._bulk[1] += self.agenda.now - since

    def _way(self, links: Sequence[str], latency: float) -> Way:
        route = tuple(self._index[name] for name in links)
        if route not in self._routes:
            self._routes.append(route)
            self._lanes.append(Lane(self.agenda, partial(self._changed, len(self._lanes))))
        return Way(self, self._lanes[self._routes.index(route)], latency)

    def _renew(self, link: str) -> None:
        k = self._index[link]
        self._capacity[k] = 0.0 if self._cuts[k] else self._bandwidth[k]
        self._known.clear()
        self._share_soon()

    def _changed(self, lane: int) -> None:
        """Transfers have come to a lane, or gone."""
        self._awake[lane] = None
        self._share_soon()

    def _share_soon(self) -> None:
        """Divide the links anew, once for all that happens at this instant."""
        if not self._unshared:
            self._unshared = True
            self.agenda.at(self.agenda.now, self._share, None, OBSERVATION)

    def _share(self, _: object) -> None:
        self._unshared = False
        lanes, awake = self._lanes, self._awake
        for k in [k for k in awake if not lanes[k].active]:
            lanes[k].rest()
            del awake[k]
        if not awake:
            return
        flows = tuple([(k, lanes[k].active) for k in sorted(awake)])
        rates = self._known.get(flows)
        if rates is None:
            if len(self._known) >= KNOWN:
                self._known.clear()
            routes = [self._routes[k] for k, _ in flows]
            rates = max_min_rates(routes, [count for _, count in flows], self._capacity)
            self._known[flows] = rates
        for (k, _), rate in zip(flows, rates, strict=True):
            if rate != lanes[k].rate:
                lanes[k].turn(rate)


class Way:
    """The way between a site and the central services.

    Args:
        network: that it is part of.
        lane: in which all advance that go this way.
        latency: s.

    Attributes:
        cache: of input files, at the site.
    """

    cache: Cache | None = None

    def __init__(self, network: Network, lane: Lane, latency: float) -> None:
        self.network = network
        self.lane = lane
        self.latency = latency

    def send(self, size: float, action: Action, argument: Any = None) -> None:
        """Call `action` with `argument` when so many bytes have crossed; a cut holds up 0 bytes, too."""
        self.network.bytes_moved += size
        self.lane.after(size, self._crossed, (action, argument), ARRIVAL)

    def _crossed(self, what: tuple[Action, Any]) -> None:
        action, argument = what
        if self.latency > 0:
            self.network.agenda.after(self.latency, action, argument, ARRIVAL)
        else:
            action(argument)


class Stage(NamedTuple):
    """A stage of an execution: what times it, how long it is in the unit of that, and what it is about.

    Attributes:
        moves: whether data moves.
        file: that has come when it is over, and that others may need.
    """

    timer: Timer
    amount: float
    moves: bool
    file: str = ""


class Staged:
    """A timer of executions whose data moves first and last, while they hold their slots.

    Args:
        way: between the site and where data is kept.
        inner: timer of the executions themselves.
        output: whether they leave any: not where they are killed at a limit.
    """

    def __init__(self, way: Way, inner: Timer, *, output: bool = True) -> None:
        self.way = way
        self.inner = inner
        self.output = output
        self._handle = 0
        self._live: dict[
            int, tuple[list[Stage], float, int]
        ] = {}  # stages to come, since when (s), the event

    def after(self, delay: float, action: Action, argument: Any = None, order: int = COMPLETION) -> int:
        """Fire after so many seconds of work and all transfers of a job; a handle for `cancel`."""
        self._handle += 1
        network, agenda, lane, latency = (
            self.way.network,
            self.way.network.agenda,
            self.way.lane,
            self.way.latency,
        )
        volume = network.volumes.get(argument.id)
        stages = [Stage(self.inner, delay, False)]
        if volume is not None:
            network.note_staging(0.0, 1)
            if volume.input and not self._found(volume.file):
                stages = [Stage(agenda, latency, True), Stage(lane, volume.input, True, volume.file), *stages]
            if volume.output and self.output:
                stages += [Stage(lane, volume.output, True), Stage(agenda, latency, True)]
        self._next(self._handle, stages, action, argument, order)
        return self._handle

    def cancel(self, handle: int) -> None:
        """Take back what has not fired, wherever it is."""
        (stage, *_), _, event = self._live.pop(handle)
        stage.timer.cancel(event)

    def left(self, handle: int) -> float:
        """Work, in s at full rate, that an execution which has not ended still needs: no transfers."""
        (stage, *later), since, event = self._live[handle]
        to_come = sum(one.amount for one in later if not one.moves)
        if stage.moves:
            return to_come
        if isinstance(stage.timer, Lane):
            return to_come + stage.timer.left(event)
        return to_come + stage.amount - (self.way.network.agenda.now - since)

    def _found(self, file: str) -> bool:
        """Whether an input is kept at the site."""
        cache = self.way.cache
        return bool(file) and cache is not None and cache.find(file)

    def _next(self, handle: int, stages: list[Stage], action: Action, job: Job, order: int) -> None:
        network = self.way.network
        (stage, *left), since = stages, network.agenda.now
        if stage.timer is self.way.lane:
            network.bytes_moved += stage.amount

        def over(job: Job) -> None:
            del self._live[handle]
            if stage.moves:
                network.note_staging(network.agenda.now - since)
            if stage.file and self.way.cache is not None:
                self.way.cache.keep(stage.file, stage.amount)
            if left:
                self._next(handle, left, action, job, order)
            else:
                action(job)

        self._live[handle] = stages, since, stage.timer.after(stage.amount, over, job, order)


def passed(
    timer: Timer, handle: int, since: float, length: float, now: float, overhead: float = 0.0
) -> float:
    """Seconds of its work, without overhead, that an execution has behind it.

    Args:
        timer: that times it.
        handle: of its end.
        since: when it was begun, s.
        length: as the timer was told, overhead included, s.
        now: s.
        overhead: of the length, at its beginning, s.
    """
    if isinstance(timer, Lane | Staged):
        return max(0.0, length - overhead - timer.left(handle))
    return max(0.0, now - since - overhead)


def network_of(grid: Grid) -> Network | None:
    """The network that all of a grid share; None where links have constant delays."""
    return next((agent for agent in grid.agents if isinstance(agent, Network)), None)


def _mean(sums: Sequence[float]) -> float:
    count, total = sums
    return total / count if count else nan
