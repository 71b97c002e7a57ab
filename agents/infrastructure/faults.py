"""Faults that come and go: of sites, nodes, links, services and what sites report."""

from __future__ import annotations

from collections.abc import Callable

import mesa

from gridtune.model.agenda import DECISION
from gridtune.model.grid import Grid
from gridtune.model.metrics.registry import define

define("faults", "faults", "minimize", "faults that began")
define("broken_executions", "executions", "minimize", "executions that failed because their node was broken")

SHORTEST = 1.0  # s that something works between two faults, and that a fault lasts, at least


class Fault(mesa.Agent):
    """Something that works for a time, has a fault for a time, and so on, whatever else happens.

    A fault that has begun is always mended. None begins while nothing but repairs is to happen in the grid:
    faults keep no run from ending, nor do many of them each other.

    Args:
        grid: where it lives.
        name: of it, in the journal.
        between: s from the beginning, or the end of a fault, to the next one, drawn for each.
        repair: s that a fault lasts, drawn for each.
        begin, end: what it does, and undoes.

    Attributes:
        lasts: whether it has begun, and is not mended.
    """

    def __init__(
        self,
        grid: Grid,
        name: str,
        between: Callable[[], float],
        repair: Callable[[], float],
        begin: Callable[[], object],
        end: Callable[[], object],
    ) -> None:
        super().__init__(grid)
        self.grid = grid
        self.name = name
        self.begin, self.end = begin, end
        self._between, self._repair = between, repair
        self.lasts = False
        grid.record.counters["faults"] += 0
        self._work()

    def _work(self) -> None:
        agenda = self.grid.agenda
        agenda.poll(agenda.now + max(SHORTEST, self._between()), self._fail, None, DECISION)

    def _fail(self, _: object) -> None:
        agenda = self.grid.agenda
        if not agenda.busy:
            return
        repairs = sum(fault.lasts for fault in self.grid.agents_by_type[Fault])
        if not agenda.busy_beyond(repairs):
            self._work()
            return
        self.lasts = True
        self.grid.record.counters["faults"] += 1
        self.grid.record.log(agenda.now, "fault", site=self.name)
        agenda.after(max(SHORTEST, self._repair()), self._mend, None, DECISION)
        self.begin()

    def _mend(self, _: object) -> None:
        self.grid.record.log(self.grid.now, "mended", site=self.name)
        self.lasts = False
        self.end()
        self._work()
