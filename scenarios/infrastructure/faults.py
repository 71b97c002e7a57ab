"""Faults put on the grid: each befalls what it is about, by streams of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from gridtune.agents.batch.availability import availability_of
from gridtune.agents.batch.batch_site import BatchSite
from gridtune.agents.batch.services import no_delay
from gridtune.agents.deadline.task_server import TaskServer
from gridtune.agents.gridrpc.sed import SeD
from gridtune.agents.infrastructure.faults import SHORTEST, Fault
from gridtune.agents.infrastructure.network import network_of
from gridtune.agents.infrastructure.service import Service
from gridtune.agents.middleware.broker import Broker
from gridtune.agents.middleware.matchmaker import MatchMaker
from gridtune.agents.middleware.site_agent import SiteAgent
from gridtune.model.batch.nodes import Named
from gridtune.model.grid import Grid
from gridtune.scenarios.fields.faults import EVERY, OF_NODES, FaultSpec
from gridtune.scenarios.fields.laws import Law, draws
from gridtune.scenarios.tables.schema import ScenarioSpec

Change = tuple[Callable[[], object], Callable[[], object]]  # what a fault does, and undoes


def check(spec: ScenarioSpec) -> None:
    """Whether there is what faults are about; what is switched off with its part has none.

    Raises:
        ValueError: a fault is about a site, link or service that the scenario does not have.
    """
    for fault in spec.fault:
        if fault.kind == "link" and spec.network.sharing == "none":
            raise ValueError(
                f"fault {fault.name}: link: only links that are shared are cut; "
                'set network.sharing = "max-min"'
            )
    if not all(spec.parts.values()):
        return  # what is missing may be switched off
    names = [site.name for site in spec.site] + (spec.platform.names if spec.platform is not None else [])
    with_vres = {site.name for site in spec.site if site.vres is not None}
    if spec.platform is not None and spec.platform.vres is not None:
        with_vres |= set(spec.platform.names)
    for fault in spec.fault:
        what = f"fault {fault.name}"
        known = ", ".join(names) or "none"
        if fault.kind in ("service", "report") and spec.middleware is None:
            raise ValueError(f"{what}: {fault.kind}: needs a [middleware]")
        if fault.kind == "server":
            groups = [sed.name for sed in spec.sed]
            if not groups or fault.server not in (EVERY, *groups):
                known = ", ".join(groups) or "none"
                raise ValueError(f"{what}: server: no [[sed]] {fault.server!r}; there are {known}")
        elif fault.kind != "service" and not any(fault.concerns(name) for name in names):
            raise ValueError(f"{what}: site: no site {fault.site!r}; there are {known}")
        if fault.kind in OF_NODES and (fault.site in with_vres or not set(names) - with_vres):
            raise ValueError(f"{what}: {fault.kind}: befalls sites with a batch scheduler, not {fault.site}")


def build(grid: Grid, spec: ScenarioSpec) -> None:
    """Have faults come and go."""
    if spec.fault:
        grid.record.counters["faults"] += 0
    if any(fault.kind == "broken" for fault in spec.fault):
        grid.record.counters["broken_executions"] += 0
    for fault in spec.fault:
        for name, (begin, end) in _targets(grid, fault):
            stream = f"fault:{fault.name}:{name}"
            between = _draw(grid, fault.between, f"{stream}:between")
            repair = _draw(grid, fault.repair, f"{stream}:repair")
            Fault(grid, f"{fault.name}:{name}", between, repair, begin, end)


def _targets(grid: Grid, fault: FaultSpec) -> Iterator[tuple[str, Change]]:
    """All that a fault befalls, each by itself."""
    if fault.kind == "service":
        service = _service(grid, fault)
        if service is not None:
            yield fault.service, (service.halt, service.resume)
        return
    if fault.kind == "server":
        for server in list(grid.agents):
            told = isinstance(server, SeD) and not isinstance(server, TaskServer)
            if told and fault.server in (EVERY, server.group):
                yield server.name, (server.fail, server.restore)
        return
    network = network_of(grid)
    if fault.kind == "link":
        assert network is not None
        for site in filter(fault.concerns, network.ways):
            links = network.own_links(site)
            yield site, (partial(_each, network.cut, links), partial(_each, network.mend, links))
        return
    if fault.kind == "report":
        for broker, k, site in _reporting(grid):
            if fault.concerns(site):
                yield (
                    site,
                    (
                        partial(broker.misreport, k, fault.says),
                        partial(broker.report_again, k, fault.says),
                    ),
                )
        return
    for agent in list(grid.agents):
        if isinstance(agent, BatchSite) and fault.concerns(agent.name):
            yield from _of_nodes(grid, fault, agent)


def _of_nodes(grid: Grid, fault: FaultSpec, site: BatchSite) -> Iterator[tuple[str, Change]]:
    """What befalls the nodes of a batch site."""
    nodes = site.nodes
    assert isinstance(nodes, Named)
    count = len(nodes.speeds)
    if fault.kind == "power":
        yield site.name, _power(grid, fault, site, range(count))
        return
    for first in range(0, count, fault.together):
        chosen = range(first, min(count, first + fault.together))
        name = f"{site.name}-{first:03}"
        if fault.kind == "node":
            yield name, _nodes(site, chosen, f"{fault.name}:{name}")
        else:
            width = nodes.slots_per_node
            slots = range(chosen.start * width, chosen.stop * width)
            after = _draw(grid, fault.after, f"fault:{fault.name}:{name}:after")
            yield name, (partial(_break, site, slots, after), partial(_repair, site, slots))


def _nodes(site: BatchSite, nodes: range, cause: str) -> Change:
    """Nodes of a site are lost, and come back."""
    availability = availability_of(site)

    def happen(action: Callable[[object], object]) -> None:
        availability.at(site.grid.now, action)
        availability.catch_up()

    return (
        lambda: happen(lambda _: availability.lose(nodes, cause)),
        lambda: happen(lambda _: availability.open(nodes, cause)),
    )


def _power(grid: Grid, fault: FaultSpec, site: BatchSite, nodes: range) -> Change:
    """A site loses all its nodes, and whoever speaks for it falls silent."""
    lose, give_back = _nodes(site, nodes, f"{fault.name}:{site.name}")
    agents = [agent for agent in grid.agents if isinstance(agent, SiteAgent) and agent.site.name == site.name]
    places = [(broker, k) for broker, k, name in _reporting(grid) if name == site.name]

    def begin() -> None:
        for agent in agents:
            agent.silent += 1
        for broker, k in places:
            broker.misreport(k, "old")
        lose()

    def end() -> None:
        for agent in agents:
            agent.silent -= 1
        for broker, k in places:
            broker.report_again(k, "old")
        give_back()

    return begin, end


def _reporting(grid: Grid) -> Iterator[tuple[Broker, int, str]]:
    """Every site that reports to a broker: to whom, as which, and its name."""
    for broker in list(grid.agents):
        if isinstance(broker, Broker):
            for k, member in enumerate(broker.members):
                yield broker, k, member.site.name


def _service(grid: Grid, fault: FaultSpec) -> Service | None:
    """The central service that stands still, or none: pull has no information system.

    One that takes no time is made a queue for it.
    """
    for agent in list(grid.agents):
        if isinstance(agent, Broker) and fault.service == "information":
            agent.information = agent.information or Service(grid, "information", no_delay)
            return agent.information
        if isinstance(agent, Broker | MatchMaker) and fault.service == "middleware":
            name = "broker" if isinstance(agent, Broker) else "match-maker"
            agent.service = agent.service or Service(grid, name, no_delay)
            return agent.service
    return None


def _break(site: BatchSite, slots: range, after: Callable[[], float]) -> None:
    for slot in slots:
        site.executions.broken[slot] = after


def _repair(site: BatchSite, slots: range) -> None:
    for slot in slots:
        site.executions.broken.pop(slot, None)


def _each(action: Callable[[str], object], names: list[str]) -> None:
    for name in names:
        action(name)


def _draw(grid: Grid, law: Law, stream: str) -> Callable[[], float]:
    """Draws from a law, at least a second."""
    values = draws(law, grid.streams.stream(stream))
    return lambda: max(SHORTEST, next(values))
