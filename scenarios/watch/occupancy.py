"""Who holds what and who waits where, at one moment of a run."""

from __future__ import annotations

from collections import Counter
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
    agents = [agent for agent in grid.agents if isinstance(agent, BatchSite | VresSite | SeD)]
    groups = _groups([agent.name for agent in agents])
    places = {group: Place(group) for group in groups.values()}
    elsewhere = Place(ELSEWHERE)
    held: Counter[str] = Counter()
    for agent in agents:
        place = places[groups[agent.name]]
        if isinstance(agent, BatchSite):
            place.slots += agent.slots
            held[place.name] += agent.slots - agent.free
        elif isinstance(agent, VresSite):
            place.slots += sum(known.slots for known in agent.classes)
        else:
            place.slots += 1
            place.leased = agent.place is not None
    for job in grid.record.jobs:
        if job.state is RUNNING and job.site in groups:
            places[groups[job.site]].running[job.kind] += job.processors
        elif job.state is QUEUED:
            (places[groups[job.site]] if job.site in groups else elsewhere).waiting += 1
    for name, slots in held.items():
        places[name].running[HELD] = max(0, slots - places[name].running.total())
    return [*places.values(), *([elsewhere] if elsewhere.waiting else [])]


def _groups(names: list[str]) -> dict[str, str]:
    """For each name itself, or where there are many that of its group: what comes before its number."""
    stems = {name: name.rstrip("0123456789").rstrip("-") or name for name in names}
    sizes = Counter(stems.values())
    return {
        name: f"{stem} ({sizes[stem]})" if len(names) > MOST and sizes[stem] > 1 else name
        for name, stem in stems.items()
    }
