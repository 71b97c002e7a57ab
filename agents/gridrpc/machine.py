"""A machine whose processor handles messages: what it has to do there delays what it does."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from typing import Any

from gridtune.model.agenda import COMPLETION
from gridtune.model.grid import Grid
from gridtune.model.vres.gangs import Strand
from gridtune.model.vres.processor_sharing import SharedProcessor

Action = Callable[[Any], object]


class _Process(Strand):
    """A process of a machine: handles its messages one after the other."""

    __slots__ = ("waiting",)

    def __init__(self) -> None:
        super().__init__()
        self.waiting: deque[tuple[Action, Any]] = deque()


class Machine:
    """One processor that its processes share equally; each handles its messages first come, first served.

    Args:
        grid: where it stands.
        cost: s of processor time that a message takes; 0 for none, and then nothing waits.

    Attributes:
        busy: s that the processor has worked until the last change.
    """

    def __init__(self, grid: Grid, cost: float) -> None:
        self.grid = grid
        self.cost = cost
        self.busy = 0.0
        self._processor = SharedProcessor(1, 1.0)
        self._processes: dict[Hashable, _Process] = {}
        self._since = 0.0
        self._seen = 0.0

    def handle(self, process: Hashable, action: Action, argument: Any) -> None:
        """Do something once a process has handled the message that is about it.

        Who sends or takes requests does not come here where messages take no time: a call less for each.
        """
        if self.cost == 0:
            action(argument)
            return
        known = self._processes.get(process)
        if known is None:
            known = self._processes[process] = _Process()
        known.waiting.append((action, argument))
        if len(known.waiting) == 1:
            self._begin(known)

    def share(self) -> float:
        """Share of the time since it was last asked that the processor has worked."""
        now = self.grid.now
        worked = self.busy + (now - self._since if self._processor.active else 0.0)
        return_ = worked - self._seen
        self._seen = worked
        return return_

    def _begin(self, process: _Process) -> None:
        if self._processor.active == 0:
            self._since = self.grid.now
        self._processor.begin(self.grid.now, process, self.cost)
        self._plan()

    def _plan(self) -> None:
        agenda = self.grid.agenda
        if self._processor.event:
            agenda.cancel(self._processor.event)
            self._processor.event = 0
        if self._processor.active:
            end = self._processor.next_end(self.grid.now)
            self._processor.event = agenda.at(end, self._handled, None, COMPLETION)

    def _handled(self, _: object) -> None:
        self._processor.event = 0
        process = self._processor.finish(self.grid.now)
        assert isinstance(process, _Process)
        if self._processor.active == 0:
            self.busy += self.grid.now - self._since
        action, argument = process.waiting.popleft()
        if process.waiting:
            self._begin(process)
        else:
            self._plan()
        action(argument)
