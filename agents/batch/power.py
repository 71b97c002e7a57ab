"""Nodes that need power: what they draw, when they are switched off, and what booting them costs."""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import inf

from gridtune.model.agenda import Agenda
from gridtune.model.batch.nodes import Named, Placement
from gridtune.model.metrics.registry import define
from gridtune.model.record import Record

define("energy", "kWh", "minimize", "energy that nodes drew from the beginning to the end of the run")
define("node_boots", "boots", "minimize", "nodes that were booted after they had been switched off")

JOULES = 3.6e6  # in a kWh


@dataclass(frozen=True)
class Power:
    """What a node draws, and when it is switched off.

    Source: Batsim, energy platform of one of its nodes (defaults); SimGrid, host energy plug-in (in between,
    power grows with the part of a node that is busy).

    Attributes:
        idle, busy, off: W that a node draws on which nothing runs, on which all slots are held, and that
            is off.
        idle_time: s that a node is idle before it is switched off; infinite for never.
        shutdown, shutdown_energy: s and J until it is off then.
        boot, boot_energy: s and J until it is on again.
        kept_on: nodes that are never switched off, those with the lowest numbers.
    """

    idle: float = 95.0
    busy: float = 190.7
    off: float = 9.75
    idle_time: float = inf
    shutdown: float = 6.1
    shutdown_energy: float = 616.0
    boot: float = 151.5
    boot_energy: float = 18966.0
    kept_on: int = 0

    def while_idle(self, time: float) -> float:
        """J that a node draws in the first s of being idle, if it can be switched off."""
        on = min(time, self.idle_time)
        leaving = min(max(0.0, time - on), self.shutdown)
        part = leaving / self.shutdown if self.shutdown > 0 else float(time > on)
        return on * self.idle + part * self.shutdown_energy + (time - on - leaving) * self.off


class PoweredNodes(Named):
    """Named nodes that are switched off when they have been idle for long, and booted for jobs.

    Jobs get nodes that are on before others. A job that gets one which is off holds it while it boots. No
    event is entered for that: what a node has drawn is worked out when a job comes or goes.

    Args:
        site, speeds, slots_per_node: as for `Named`.
        power: what they draw.
        agenda: whose clock it is.

    Attributes:
        boots: nodes that were booted.
    """

    def __init__(
        self, site: str, speeds: Sequence[float], slots_per_node: int, power: Power, agenda: Agenda
    ) -> None:
        super().__init__(site, speeds, slots_per_node)
        nodes = len(speeds)
        self.terms = power
        self.boots = 0
        self._agenda = agenda
        self._energy = 0.0
        self._held = [0] * nodes  # slots with jobs
        self._since = [0.0] * nodes  # s up to which energy is counted
        self._ready = [0.0] * nodes  # s from which a node that boots is on
        self._idle_from = [0.0] * nodes
        leave = range(power.kept_on, nodes) if power.idle_time < inf else ()
        self._to_leave = [
            (power.idle_time, node) for node in leave
        ]  # when they are switched off if still idle
        self._asleep: set[int] = set()  # nodes that are off, or on their way
        self._sleeping: list[int] = []  # their free slots, as far as they have been looked at

    @property
    def free_slots(self) -> Sequence[int]:
        """Numbers of the slots that can be handed out, in no order."""
        return [*self._free, *self._sleeping]

    @property
    def energy(self) -> float:
        """Drawn from the beginning until now, kWh."""
        for node in range(len(self.speeds)):
            self._count(node)
        return self._energy / JOULES

    def take(self, count: int) -> Placement:
        """The free slots with the lowest numbers, of nodes that are on first."""
        self._fall_asleep()
        slots: list[int] = []
        while len(slots) < count and self._free:
            slot = self._free.pop(0)
            if slot // self.slots_per_node in self._asleep:
                heappush(self._sleeping, slot)
            else:
                slots.append(slot)
        while len(slots) < count:
            slots.append(heappop(self._sleeping))
        delay, now = 0.0, self._agenda.now
        taken = Counter(slot // self.slots_per_node for slot in slots)
        woken = self._asleep & taken.keys()
        for node, held in taken.items():
            self._count(node)
            if node in woken:
                self._wake(node)
            self._held[node] += held
            delay = max(delay, self._ready[node] - now)
        if woken:
            up = [slot for slot in self._sleeping if slot // self.slots_per_node in woken]
            if up:
                self._sleeping = [slot for slot in self._sleeping if slot // self.slots_per_node not in woken]
                heapify(self._sleeping)
                for slot in up:
                    insort(self._free, slot)
        return self.placed(slots)._replace(delay=delay)

    def give_back(self, placement: Placement) -> None:
        """Free its slots; nodes on which nothing runs any more are idle from now on."""
        for node, held in Counter(slot // self.slots_per_node for slot in placement.slots).items():
            self._count(node)
            self._held[node] -= held
            if not self._held[node]:
                self._idle_from[node] = max(self._agenda.now, self._ready[node])
                if node >= self.terms.kept_on and self.terms.idle_time < inf:
                    heappush(self._to_leave, (self._idle_from[node] + self.terms.idle_time, node))
        super().give_back(placement)

    def withdraw(self, node: int) -> None:
        """Hand out no slots of a node any more."""
        for slot in self._sleeping:
            insort(self._free, slot)
        self._sleeping.clear()
        super().withdraw(node)

    def _fall_asleep(self) -> None:
        """Note the nodes that have been idle for long enough."""
        now = self._agenda.now
        while self._to_leave and self._to_leave[0][0] <= now:
            time, node = heappop(self._to_leave)
            if not self._held[node] and self._idle_from[node] + self.terms.idle_time == time:
                self._asleep.add(node)

    def _wake(self, node: int) -> None:
        """Boot a node; one that is on its way off goes off first."""
        terms, now = self.terms, self._agenda.now
        self._asleep.discard(node)
        gone = self._idle_from[node] + terms.idle_time + terms.shutdown
        start = max(now, gone)
        self._energy += terms.while_idle(start - self._idle_from[node]) - terms.while_idle(
            now - self._idle_from[node]
        )
        self._energy += terms.boot_energy
        self._since[node] = self._ready[node] = start + terms.boot
        self.boots += 1

    def _count(self, node: int) -> None:
        """Count what a node has drawn since the last time."""
        since, now, terms = self._since[node], self._agenda.now, self.terms
        if now <= since:
            return
        self._since[node] = now
        held = self._held[node]
        if held or node < terms.kept_on or terms.idle_time == inf:
            load = held / self.slots_per_node
            self._energy += (terms.idle + (terms.busy - terms.idle) * load) * (now - since)
        else:
            begin = self._idle_from[node]
            self._energy += terms.while_idle(now - begin) - terms.while_idle(since - begin)


def count_power(record: Record, nodes: PoweredNodes) -> None:
    """Measure what nodes draw, together with those of other sites."""
    record.add_to_measure("energy", lambda: nodes.energy)
    record.add_to_measure("node_boots", lambda: nodes.boots)
