"""Interactive sessions: a user at a front end who looks at each reconstruction before the next (gPTM3D)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import NamedTuple

import mesa

from gridtune.agents.batch.services import Delay
from gridtune.agents.wms.overlay import Master, MasterHabits
from gridtune.agents.wms.workers import Submits
from gridtune.model.agenda import DECISION
from gridtune.model.grid import Grid
from gridtune.model.job import DONE, Job


class FrontEnd(NamedTuple):
    """A workstation that is no part of the grid, and its link to the scheduler (the Interaction Bridge).

    Attributes:
        rate: tasks per s for which it generates contours.
        bridge: s that anything takes from the scheduler to the front end.
        result: s that the link is occupied by the result of one task.
        acceptable: s for which its user waits for a reconstruction without complaint.
    """

    rate: float
    bridge: float
    result: float
    acceptable: float


class Session(mesa.Agent):
    """One user: workers are submitted when the session opens, and released when it closes.

    The user reconstructs a volume, waits until all of its slices are shown, thinks, and reconstructs parts of
    it again (Responsive Grids, section 4.2).

    Args:
        grid: where it lives.
        rounds: run times of the slices of each reconstruction, s at speed 1.
        habits: how its scheduler works.
        gateway: where workers are submitted.
        front_end: of the user.
        first: s from opening to the first contour.
        think: s from a reconstruction that is shown to the next.

    Attributes:
        responses: s from the first contour of each reconstruction until all of it was shown.
    """

    def __init__(
        self,
        grid: Grid,
        rounds: Sequence[Sequence[float]],
        habits: MasterHabits,
        gateway: Submits,
        front_end: FrontEnd,
        first: float,
        think: Delay,
    ) -> None:
        super().__init__(grid)
        self.grid = grid
        self.rounds = rounds
        self.front_end = front_end
        self.first = first
        self.think = think
        self.responses: list[float] = []
        self.master = Master(grid, [], habits, gateway, self._settled)
        self._made = 0
        self._began = 0.0
        self._tasks: Sequence[Job] = ()

    def open(self, _: object) -> None:
        """Submit the workers; the first contours follow."""
        self.master.begin(None)
        self.grid.agenda.after(self.first, self._reconstruct, None, DECISION)

    @property
    def timely(self) -> int:
        """Reconstructions that were shown within the acceptable time."""
        return sum(response <= self.front_end.acceptable for response in self.responses)

    def shown(self) -> float:
        """When the last slice of the present reconstruction is shown, s; infinite if one is lost.

        Results cross the link one after the other.
        """
        if any(task.state is not DONE for task in self._tasks):
            return inf
        free = 0.0
        for end in sorted(task.end for task in self._tasks):
            free = max(free, end + self.master.habits.latency) + self.front_end.result
        return free + self.front_end.bridge

    def _reconstruct(self, _: object) -> None:
        now, habits = self.grid.now, self.master.habits
        self._tasks = [
            self.grid.record.job(
                habits.user,
                now + self.front_end.bridge + k / self.front_end.rate,
                runtime,
                kind="task",
                group=habits.user,
                processors=habits.processors,
            )
            for k, runtime in enumerate(self.rounds[self._made])
        ]
        self._began = now
        self._made += 1
        self.master.add(self._tasks)

    def _settled(self) -> None:
        """All slices are computed, or given up; results are still on their way."""
        shown = self.shown()
        self.responses.append(shown - self._began)
        if self._made == len(self.rounds):
            self.master.close()
        else:
            pause = max(0.0, shown - self.grid.now) if shown < inf else 0.0
            self.grid.agenda.after(pause + self.think(), self._reconstruct, None, DECISION)


def open_sessions(grid: Grid, sessions: Sequence[Session], start: float, gap: Callable[[], float]) -> None:
    """Have sessions open one after the other.

    Args:
        grid: where they live.
        sessions: in their order.
        start: s at which the first opens.
        gap: s from one to the next, drawn for each.
    """
    at = start
    for session in sessions:
        grid.agenda.at(at, session.open)
        at += gap()
