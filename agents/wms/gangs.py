"""Jobs of several processors at a site with virtual reservations: gangs of slots of one class."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Protocol

from gridtune.model.agenda import COMPLETION
from gridtune.model.grid import Grid
from gridtune.model.job import Job
from gridtune.model.vres import Gang, GangWork, SharedProcessor, SlotClass


class Sharing(Protocol):
    """A site whose processors are shared; a `VresSite` is one.

    Attributes:
        grid: where it lives.
        units: processors, or those of a node that share as one.
    """

    grid: Grid
    units: list[SharedProcessor]

    def least_loaded(self, among: int) -> int:
        """The first of the least loaded units in a bit mask that is not empty."""

    def before(self, unit: int) -> None:
        """Something is about to come to a unit or to leave it."""

    def after(self, unit: int, changed: SlotClass, by: int) -> None:
        """So many executions of a class have come to a unit."""

    def completed(self, execution: Gang) -> None:
        """A gang has done its own work."""


class Gangs:
    """Starts, feeds and ends the gangs of a site.

    A job of p processors starts when p slots of its class are free on p distinct processors, on the least
    loaded of these. It advances at the rate of the slowest of them.

    Args:
        site: where they run.

    Attributes:
        computing: what gangs compute, by the units on which they do.
    """

    def __init__(self, site: Sharing) -> None:
        self.site = site
        self.agenda = site.grid.agenda
        self.computing: dict[int, list[GangWork]] = {}

    def take(self, job: Job, slot_class: SlotClass) -> Gang:
        """Hold the slots of a job for which there is room."""
        units: list[int] = []
        full = 0
        for _ in range(job.processors):
            unit = self._least_loaded(slot_class.open & ~full, units)
            slot_class.take(unit)
            units.append(unit)
            if units.count(unit) == self.site.units[unit].capacity:
                full |= 1 << unit
        return Gang(job, slot_class, sorted(units))

    def _least_loaded(self, among: int, taken: list[int]) -> int:
        """The first of the least loaded units in a bit mask, with those that the gang has taken counted."""
        units = self.site.units
        if units[0].capacity == 1:
            return self.site.least_loaded(among)
        fitting = (unit for unit in range(len(units)) if among >> unit & 1)
        return min(fitting, key=lambda unit: (units[unit].active + taken.count(unit), unit))

    def compute(
        self, gang: Gang, task: Job, then: Callable[[Job], object] | None, work: float | None = None
    ) -> None:
        """Have a gang compute a task on as many of its idle processors, on the least loaded ones."""
        site, now = self.site, self.agenda.now
        gang.idle.sort(key=lambda unit: (site.units[unit].active, unit))
        units, gang.idle = gang.idle[: task.processors], gang.idle[task.processors :]
        made = GangWork(gang, task, then, units, task.runtime if work is None else work, now)
        for unit, strand in zip(units, made.strands, strict=True):
            site.before(unit)
            site.units[unit].begin(now, strand, inf)
            site.after(unit, gang.slot_class, 1)
        for unit in set(units):
            self.computing.setdefault(unit, []).append(made)
        gang.works.append(made)
        self._renew(made)

    def rates_changed(self, unit: int) -> None:
        """Something has come to a unit or left it."""
        for work in self.computing.get(unit, ()):
            self._renew(work)

    def leave(self, gang: Gang) -> None:
        """Stop what a gang computes, and give its slots back."""
        for work in list(gang.works):
            self._stop(work)
        for unit in gang.units:
            gang.slot_class.give_back(unit)

    def _renew(self, work: GangWork) -> None:
        """Note what a gang gets now, and when it will be done."""
        agenda, units = self.agenda, self.site.units
        work.advance(agenda.now)
        work.set_rates([units[unit].rate for unit in work.units])
        if work.event:
            agenda.cancel(work.event)
        work.event = agenda.at(work.end(agenda.now), self._done, work, COMPLETION)

    def _done(self, work: GangWork) -> None:
        work.event = 0
        self._stop(work)
        if work.then is None:
            self.site.completed(work.gang)
        else:
            work.then(work.task)

    def _stop(self, work: GangWork) -> None:
        """Take a work off its processors."""
        site, gang, now = self.site, work.gang, self.agenda.now
        work.advance(now)
        gang.slot_class.waited += work.waited
        if work.event:
            self.agenda.cancel(work.event)
            work.event = 0
        for unit in set(work.units):
            self.computing[unit].remove(work)
            if not self.computing[unit]:
                del self.computing[unit]
        for unit, strand in zip(work.units, work.strands, strict=True):
            site.before(unit)
            site.units[unit].stop(now, strand)
            site.after(unit, gang.slot_class, -1)
        gang.works.remove(work)
        gang.idle.extend(work.units)
