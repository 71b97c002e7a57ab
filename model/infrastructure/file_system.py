"""A shared file system: its load, and how it slows down the jobs of a site when too many use it."""

from __future__ import annotations

from math import exp

from gridtune.model.agenda import Agenda
from gridtune.model.infrastructure.lane import Lane, Timer
from gridtune.model.job import Job

KNOWN = 10_000  # slow-downs that are kept, as most of them come again


class FileSystem:
    """A file server that serves up to `threads` processes at full speed.

    A process that would spend the share f of its time on the file system, if it were alone, advances at the
    rate 1 / (1 - f + f s), where s >= 1 is the common slow-down that makes all demands together fit:
    sum of f / (1 - f + f s) over all processes = `threads`, or s = 1 where they fit anyway.

    The load is that of the server's operating system: the number n of processes in I/O through a first-order
    filter, L' = (n - L) / time_constant. It answers to a job submitted per cycle as the plant
    that CiGri's authors identified (a = exp(-cycle / time_constant)).

    Args:
        agenda: of the grid.
        threads: processes served at once; more than 0, infinite for no slow-down.
        time_constant: s; 60 for the load average over a minute.
    """

    def __init__(self, agenda: Agenda, threads: float, time_constant: float = 60.0) -> None:
        self.agenda = agenda
        self.threads = threads
        self.time_constant = time_constant
        self.slow_down = 1.0
        self._lanes: list[IoLane] = []
        self._solved: dict[tuple[int, ...], float] = {}  # slow-downs, by what is active in each lane
        self._in_io = 0.0
        self._load = 0.0
        self._since = 0.0

    @property
    def load(self) -> float:
        """Load average now."""
        faded = exp(-(self.agenda.now - self._since) / self.time_constant)
        return self._in_io + (self._load - self._in_io) * faded

    def lane(self, share: float) -> Timer:
        """The timer of processes that alone would spend that share of their time in I/O."""
        if share == 0.0:
            return self.agenda
        for lane in self._lanes:
            if lane.share == share:
                return lane
        lane = IoLane(self, share)
        self._lanes.append(lane)
        return lane

    def changed(self) -> None:
        """Processes have begun or ended."""
        lanes = self._lanes
        self._load, self._since = self.load, self.agenda.now
        demand = 0.0
        for lane in lanes:
            demand += lane.active * lane.share
        # The slow-down is solved for only where there is one: usually there is none.
        if demand <= self.threads:
            self.slow_down = 1.0
            self._in_io = demand
            for lane in lanes:
                if lane.rate != 1.0:
                    lane.turn(1.0)
            return
        active = tuple([lane.active for lane in lanes])
        known = self._solved.get(active)
        if known is None:
            if len(self._solved) >= KNOWN:
                self._solved.clear()
            known = self._solved[active] = self._solve()
        self.slow_down = slow = known
        self._in_io = 0.0
        for lane in lanes:
            rate = 1.0 / (1.0 - lane.share + lane.share * slow)
            self._in_io += lane.active * lane.share * slow * rate
            if rate != lane.rate:
                lane.turn(rate)

    def _solve(self) -> float:
        """The slow-down at which all demands fit, by Newton's method from below (the demand is convex)."""
        slow = 1.0
        for _ in range(60):
            excess, slope = -self.threads, 0.0
            for lane in self._lanes:
                rate = 1.0 / (1.0 - lane.share + lane.share * slow)
                excess += lane.active * lane.share * rate
                slope -= lane.active * lane.share * lane.share * rate * rate
            step = -excess / slope
            slow += step
            if step <= 1e-12 * slow:
                break
        return slow


class IoLane(Lane):
    """Jobs that spend the same share of their time in I/O, and so all advance at one rate."""

    def __init__(self, system: FileSystem, share: float) -> None:
        super().__init__(system.agenda, system.changed)
        self.share = share

    def weight(self, argument: Job) -> int:
        """All processors of a job use the file system."""
        return argument.processors
