"""The harvester: injects best-effort jobs into the holes of a site, cycle by cycle, under control."""

from __future__ import annotations

from math import floor, nan, sqrt

import mesa

from gridtune.agents.batch.best_effort import BestEffortQueue, BestEffortRequest
from gridtune.agents.harvest.bags import Bag, Bags
from gridtune.model.agenda import DECISION
from gridtune.model.batch.file_system import Timer
from gridtune.model.grid import Grid
from gridtune.model.harvest.control import Control, Decision, Memory, Reading
from gridtune.model.job import Job

# Cycles without anything to look at in which a controller has not asked for more: it never will.
PATIENCE = 100
SIGNALS = ("reference", "measured", "error", "input", "waiting", "running", "used", "load")


class Harvester(mesa.Agent):
    """CiGri's server for one site: sensor, controller, actuator (BatCiGri, section 3.5).

    In every cycle it measures, asks its controller, submits, and records its signals. It sleeps while it has
    nothing to submit and none of its jobs waits or runs. It gives up, and leaves its bags as they are, when
    nothing else is to happen in the grid and the controller has long asked for less than one job.

    Args:
        grid: where it lives.
        name: by which its signals are called: `name.reference`, `name.measured`, …
        queue: the best-effort queue of its site.
        bags: where it draws its jobs from.
        control: the controller.
        cycle: s between two submissions; the first is at time 0.
    """

    def __init__(
        self, grid: Grid, name: str, queue: BestEffortQueue, bags: Bags, control: Control, cycle: float
    ) -> None:
        super().__init__(grid)
        self.grid = grid
        self.name = name
        self.queue = queue
        self.bags = bags
        self.control = control
        self.cycle = cycle
        self.cycles = 0
        self._memory: Memory = None
        self._awake = False
        self._wanted = 0.0
        self._quiet = 0  # cycles in a row in which nothing was, and nothing more was wanted
        self._errors = (0, 0.0)  # cycles with a reference, sum of squares
        self._names = [f"{name}.{signal}" for signal in SIGNALS]
        bags.listen(self.wake)

    def wake(self) -> None:
        """There is work: act from the next multiple of the cycle on."""
        if not self._awake:
            self._awake = True
            number = floor(self.grid.now / self.cycle)
            if number * self.cycle < self.grid.now or (number == self.cycles - 1):
                number += 1
            self._enter(number)

    @property
    def tracking_error(self) -> float:
        """Root of the mean squared error over all cycles in which there was something to submit."""
        count, squares = self._errors
        return sqrt(squares / count) if count else nan

    def _enter(self, number: int) -> None:
        # Multiples of the cycle, not sums of it: no rounding creeps in.
        self.cycles = number + 1
        self.grid.agenda.at(number * self.cycle, self._act, None, DECISION)

    def _act(self, _: object) -> None:
        """One cycle."""
        queue, bags = self.queue, self.bags
        reading = self._read()
        decision = Decision(0.0, self._memory)
        # With nothing to schedule there is nothing to control: an integral would only wind up.
        if bags.left or queue.depth:
            decision = self.control.decide(reading, self._memory)
            self._memory = decision.memory
            error = decision.error
            if error == error:
                self._errors = (self._errors[0] + 1, self._errors[1] + error * error)
        submitted = min(int(decision.jobs), bags.left)
        self._record(reading, decision)
        for _k in range(submitted):
            self._submit(*bags.take())
        if (bags.left or queue.depth or queue.running) and not self._in_vain(decision, submitted):
            self._enter(self.cycles)
        else:
            self._awake = False
            self._quiet = 0

    def _in_vain(self, decision: Decision, submitted: int) -> bool:
        """Whether going on would last for ever."""
        idle = not (submitted or self.queue.depth or self.queue.running)
        self._quiet = self._quiet + 1 if idle and decision.jobs <= self._wanted else 0
        self._wanted = decision.jobs
        return self._quiet >= PATIENCE and not self.grid.agenda.busy

    def _read(self) -> Reading:
        queue = self.queue
        system = queue.site.file_system
        return Reading(
            self.grid.now,
            self.cycle,
            queue.waiting,
            queue.held,
            queue.used,
            0.0 if system is None else system.load,
            self.bags.left,
        )

    def _record(self, reading: Reading, decision: Decision) -> None:
        values = (
            decision.reference,
            decision.measured,
            decision.error,
            float(int(decision.jobs)),
            float(reading.waiting),
            float(reading.running),
            float(reading.used),
            reading.load,
        )
        now = reading.time
        self.grid.record.signals.extend(
            (now, name, value) for name, value in zip(self._names, values, strict=True)
        )

    def _submit(self, bag: Bag, job: Job, overhead: float) -> None:
        system = self.queue.site.file_system
        timer: Timer = self.grid.agenda if system is None else system.lane(bag.io_share)
        self.queue.submit(BestEffortRequest(job, timer, overhead, self.bags.started, self.bags.ended))
