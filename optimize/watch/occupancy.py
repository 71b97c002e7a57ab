"""Who holds what and who waits where, at one moment of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from gridtune.agents.batch.batch_site import BatchSite
from gridtune.agents.gridrpc.sed import SeD
from gridtune.agents.wms.vres_site import VresSite
from gridtune.model.grid import Grid
from gridtune.model.job import QUEUED, RUNNING

MOST = 24  # places that are shown one by one; more are shown in groups
HELD = "held, no job"
ELSEWHERE = "(middleware)"


@dataclass
class Place:
    """A site, a server, or a group of them, at one moment.

    Attributes:
        name: of the site, or of the group and how many it has.
        slots: places where a job can run; of a site with virtual reservations those of all its classes.
        running: slots that jobs hold, by kind of job; what is held without a job is `HELD` (idle pilots,
            setting up and cleaning up).
        waiting: jobs in its queues.
        leased: whether its slots are those of another place: of a site, of which servers have leases.
    """

    name: str
    slots: int = 0
    running: Counter[str] = field(default_factory=Counter)
    waiting: int = 0
    leased: bool = False


def occupancy(grid: Grid) -> list[Place]:
    """Every site and server of a grid, and last what waits for a site to be chosen, if anything does."""
    names: dict[str, str] = {}
    made: dict[str, Place] = {}
    agents = [agent for agent in grid.agents if isinstance(agent, BatchSite | VresSite | SeD)]
    for agent, name in zip(agents, _grouped([agent.name for agent in agents]), strict=True):
        names[agent.name] = name
        place = made.setdefault(name, Place(name))
        place.slots += _slots(agent)
        place.leased = isinstance(agent, SeD) and agent.place is not None
    elsewhere = Place(ELSEWHERE)
    for job in grid.record.jobs:
        if job.state is RUNNING and job.site in names:
            made[names[job.site]].running[job.kind] += job.processors
        elif job.state is QUEUED:
            (made[names[job.site]] if job.site in names else elsewhere).waiting += 1
    held: Counter[str] = Counter()
    for agent in agents:
        if isinstance(agent, BatchSite):
            held[names[agent.name]] += agent.slots - agent.free
    for name, slots in held.items():
        idle = slots - sum(made[name].running.values())
        if idle > 0:
            made[name].running[HELD] = idle
    return [*made.values(), *([elsewhere] if elsewhere.waiting else [])]


def _slots(agent: BatchSite | VresSite | SeD) -> int:
    if isinstance(agent, VresSite):
        return sum(known.slots for known in agent.classes)
    return agent.slots if isinstance(agent, BatchSite) else 1


def _grouped(names: list[str]) -> Iterator[str]:
    """For each name itself, or where there are many that of its group: what comes before its number."""
    if len(names) <= MOST:
        yield from names
        return
    stems = [name.rstrip("0123456789").rstrip("-") or name for name in names]
    sizes = Counter(stems)
    yield from (
        f"{stem} ({sizes[stem]})" if sizes[stem] > 1 else name
        for stem, name in zip(stems, names, strict=True)
    )
