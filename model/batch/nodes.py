"""The nodes of a site: which of them a job gets, and how fast it runs there."""

from __future__ import annotations

import re
from bisect import insort
from collections.abc import Iterable, Sequence, Set
from typing import NamedTuple, Protocol

FEW = 8  # slots that are put back one by one; more are sorted in


class Placement(NamedTuple):
    """Where a job runs.

    Attributes:
        nodes: their names as a host list (`lal-[000-003,007]`), "" where nodes have no names.
        speed: of the slowest of them.
        slots: numbers of the slots held.
        delay: s until all of them are up.
    """

    nodes: str
    speed: float
    slots: Sequence[int]
    delay: float = 0.0


class NodePool(Protocol):
    """Slots that are handed out and given back.

    Attributes:
        slots: in all.
        pace: speed of the slowest node: what a plan can rely on.
        power: sum of the speeds of all slots.
    """

    slots: int
    pace: float
    power: float

    def take(self, count: int) -> Placement:
        """Hand out that many free slots; the caller knows that there are enough."""

    def give_back(self, placement: Placement) -> None:
        """Take the slots of a placement back."""

    def any_out(self, placement: Placement) -> bool:
        """Whether any of its nodes hands out no slots any more."""


class Counted:
    """Equal nodes that need no names: only the number of slots counts.

    Args:
        slots: in all.
        speed: of every node.
    """

    def __init__(self, slots: int, speed: float = 1.0) -> None:
        self.slots = slots
        self.pace = speed
        self.power = slots * speed
        self._placement = Placement("", speed, ())

    def take(self, count: int) -> Placement:
        """The same placement for every job."""
        return self._placement

    def give_back(self, placement: Placement) -> None:
        """Nothing to do."""

    def any_out(self, placement: Placement) -> bool:
        """Nodes without names are never out."""
        return False


class Named:
    """Nodes with names and speeds of their own; the first free ones are taken.

    Args:
        site: whose nodes; they are called `site-000`, `site-001`, …
        speeds: of each node.
        slots_per_node: jobs (or processors of jobs) that a node holds at once.
    """

    def __init__(self, site: str, speeds: Sequence[float], slots_per_node: int = 1) -> None:
        self.site = site
        self.speeds = tuple(speeds)
        self.slots_per_node = slots_per_node
        self.slots = len(speeds) * slots_per_node
        self.pace = min(speeds)
        self.power = sum(speeds) * slots_per_node
        self._equal = self.pace == max(speeds)
        self._names = [f"{site}-{node:03}" for node in range(len(speeds))]
        self._free = list(range(self.slots))  # ascending
        self._out: dict[int, list[int]] = {}  # idle slots of nodes that hand out none

    @property
    def free_slots(self) -> Sequence[int]:
        """Numbers of the slots that can be handed out, ascending."""
        return self._free

    def take(self, count: int) -> Placement:
        """The free slots with the lowest numbers."""
        free = self._free
        if count == 1:
            slots = [free.pop(0)]
        else:
            slots = free[:count]
            del free[:count]
        return self.placed(slots)

    def placed(self, slots: Sequence[int]) -> Placement:
        """What slots are for a job that has them all."""
        if len(slots) == 1:
            node = slots[0] // self.slots_per_node
            return Placement(self._names[node], self.speeds[node], slots)
        if self.slots_per_node == 1:
            nodes = sorted(slots)
        else:
            nodes = sorted({slot // self.slots_per_node for slot in slots})
        speed = self.pace if self._equal else min([self.speeds[node] for node in nodes])
        return Placement(host_list(self.site, nodes), speed, slots)

    def give_back(self, placement: Placement) -> None:
        """Free its slots."""
        free, out, slots = self._free, self._out, placement.slots
        if out:
            for slot in slots:
                node = slot // self.slots_per_node
                insort(out.get(node, free), slot)
        elif len(slots) <= FEW:
            for slot in slots:
                insort(free, slot)
        else:
            free += slots
            free.sort()

    def withdraw(self, node: int) -> None:
        """Hand out no slots of a node any more."""
        self._out[node] = [slot for slot in self._free if slot // self.slots_per_node == node]
        self._free = [slot for slot in self._free if slot // self.slots_per_node != node]

    def readmit(self, node: int) -> None:
        """Hand out the slots of a node again."""
        self._free += self._out.pop(node)
        self._free.sort()

    def set_aside(self, slots: Set[int]) -> Sequence[int]:
        """Hand out some slots no more, those of them that are free; which these are, ascending."""
        kept = [slot for slot in self._free if slot in slots]
        self._free = [slot for slot in self._free if slot not in slots]
        return kept

    def put_back(self, slots: Iterable[int]) -> None:
        """Hand out slots again that were set aside."""
        self._free += slots
        self._free.sort()

    def any_out(self, placement: Placement) -> bool:
        """Whether any of its nodes hands out no slots any more."""
        return any(slot // self.slots_per_node in self._out for slot in placement.slots)

    def idle_on(self, node: int) -> int:
        """Slots without a job on a node that hands out none."""
        return len(self._out[node])


def host_list(site: str, nodes: Iterable[int]) -> str:
    """Names of several nodes in one: `lal-[000-003,007]`; nodes in ascending order."""
    nodes = list(nodes)
    if nodes[-1] - nodes[0] == len(nodes) - 1 > 0:  # one after the other, as most jobs are placed
        return f"{site}-[{nodes[0]:03}-{nodes[-1]:03}]"
    runs: list[str] = []
    first = last = nodes[0]
    for node in [*nodes[1:], -1]:
        if node != last + 1:
            runs.append(f"{first:03}" if first == last else f"{first:03}-{last:03}")
            first = node
        last = node
    return f"{site}-{runs[0]}" if len(runs) == 1 and "-" not in runs[0] else f"{site}-[{','.join(runs)}]"


def hosts_in(nodes: str) -> list[str]:
    """The names in a host list, one by one; the inverse of `host_list`."""
    match = re.fullmatch(r"(.*)-\[([\d,-]+)\]", nodes)
    if match is None:
        return [nodes] if nodes else []
    hosts: list[str] = []
    for run in match[2].split(","):
        first, _, last = run.partition("-")
        hosts.extend(f"{match[1]}-{node:03}" for node in range(int(first), int(last or first) + 1))
    return hosts
