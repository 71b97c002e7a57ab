"""The harvester: injects best-effort jobs into the holes of a site, cycle by cycle, under control."""

from __future__ import annotations

from collections import Counter
from itertools import repeat
from math import floor, inf, isclose, nan, sqrt

import mesa

from gridtune.agents.batch.best_effort import BestEffortQueue, BestEffortRequest
from gridtune.agents.harvest.bags import Bag, Bags
from gridtune.agents.infrastructure.network import Staged
from gridtune.model.agenda import DECISION
from gridtune.model.grid import Grid
from gridtune.model.harvest.control import CampaignReading, Control, Decision, Memory, Reading
from gridtune.model.infrastructure.lane import Timer
from gridtune.model.job import Job
from gridtune.model.policy import misjudged

# Cycles in which nothing happens before a harvester gives up, or looks ahead to when something will.
PATIENCE = 100
# Cycles that it looks ahead at most: years, if a controller neither settles nor wants a job.
FORESIGHT = 5_000_000
# In each cycle; the last one where there is a file system.
SIGNALS = ("reference", "measured", "error", "input", "waiting", "running", "used", "load")


class Harvester(mesa.Agent):
    """CiGri's server for one site: sensor, controller, actuator (BatCiGri, section 3.5).

    In every cycle it measures, asks its controller, submits, and records its signals. It sleeps while it has
    nothing to submit and none of its jobs waits or runs. It gives up, and leaves its bags as they are, when
    nothing else is to happen in the grid and the controller has settled where it wants less than one job:
    while an integral is still to be worked off, it waits, and passes over the cycles in which nothing
    happens.

    Args:
        grid: where it lives.
        name: by which its signals are called: `name.reference`, `name.measured`, …
        queue: the best-effort queue of its site.
        bags: where it draws its jobs from.
        control: the controller.
        cycle: s between two submissions; the first is at time 0.

    Attributes:
        cycles: that have begun.
        gave_up: whether it has left its bags as they are.
        active: when it last submitted something or had something at its site, s.
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
        self.gave_up = False
        self.active = grid.now
        self._last: Reading | None = None
        self._still = 0  # cycles in a row in which nothing was to be seen and nothing was submitted
        self._quiet = 0  # those of them in which the controller had settled
        self._errors = (0, 0.0)  # cycles with a reference, sum of squares
        loaded = queue.site.file_system is not None
        self._names = [f"{name}.{signal}" for signal in (SIGNALS if loaded else SIGNALS[:-1])]
        bags.listen(self.wake)

    def wake(self) -> None:
        """There is work: act from the next multiple of the cycle on."""
        if not self._awake:
            self._awake = True
            self.gave_up = False
            number = floor(self.grid.now / self.cycle)
            if number * self.cycle < self.grid.now or (number == self.cycles - 1):
                number += 1
            self._enter(number)

    @property
    def stopped(self) -> bool:
        """Whether it has given up or not touched its bags for a tenth of the run, 10 cycles at least."""
        return self.gave_up or self.grid.now - self.active > max(10 * self.cycle, self.grid.now / 10)

    @property
    def tracking_error(self) -> float:
        """Root of the mean squared error over cycles in which jobs were left, waited or were on their way."""
        count, squares = self._errors
        return sqrt(squares / count) if count else nan

    def _enter(self, number: int, *, waiting: bool = False) -> None:
        # Multiples of the cycle, not sums of it: no rounding creeps in.
        self.cycles = number + 1
        # Harvesters that only wait for something to happen do not keep each other waiting.
        enter = self.grid.agenda.poll if waiting else self.grid.agenda.at
        enter(number * self.cycle, self._act, None, DECISION)

    def _act(self, _: object) -> None:
        """One cycle."""
        queue, bags = self.queue, self.bags
        reading, before = self._read(), self._memory
        decision = Decision(0.0, before)
        # With nothing to schedule there is nothing to control: an integral would only wind up.
        if bags.left or queue.depth or queue.coming:
            decision = self.control.decide(reading, before)
            self._memory = decision.memory
            self._note_error(decision)
            if not 0 <= decision.jobs < inf:
                raise misjudged(self.control, f"wants {decision.jobs} jobs")
        submitted = 0
        for name, jobs in decision.of or (("", int(decision.jobs)),):
            given = min(jobs, bags.left_of(name) if name else bags.left)
            for _k in range(given):
                self._submit(*bags.take(name))
            submitted += given
        self._record(reading, decision, submitted)
        if submitted or queue.present:
            self.active = self.grid.now
        if bags.left or queue.present:
            self._go_on(reading, before, decision, submitted)
        else:
            self._rest()

    def _go_on(self, reading: Reading, before: Memory, decision: Decision, submitted: int) -> None:
        """Enter the next cycle, unless there is no use in going on."""
        idle = not (submitted or self.queue.held or self.queue.coming)
        still = idle and self._last is not None and _same(self._last, reading)
        self._last = reading
        self._still = self._still + 1 if still else 0
        settled = still and (not self.bags.left or self.control.settled(reading, before, decision))
        self._quiet = self._quiet + 1 if settled else 0
        long = self._still >= PATIENCE
        alone = long and not self.grid.agenda.busy
        if alone and self._quiet >= PATIENCE:
            self._give_up()
        elif alone and not settled:
            self._look_ahead(reading)
        else:
            self._enter(self.cycles, waiting=settled or long)

    def _look_ahead(self, reading: Reading) -> None:
        """Pass over the cycles in which the controller, with the same to see, only works off its memory."""
        control, memory = self.control, self._memory
        for number in range(self.cycles, self.cycles + FORESIGHT):
            reading = reading._replace(time=number * self.cycle)
            decision = control.decide(reading, memory)
            if (
                decision.jobs >= 1.0
                or control.settled(reading, memory, decision)
                or reading.time > self.grid.horizon
            ):
                self._memory = memory
                self._enter(number)
                return
            self._note_error(decision)
            memory = decision.memory
        self._give_up()

    def _note_error(self, decision: Decision) -> None:
        error = decision.error
        if error == error:
            self._errors = (self._errors[0] + 1, self._errors[1] + error * error)

    def _give_up(self) -> None:
        self.gave_up = True
        self._rest()

    def _rest(self) -> None:
        self._awake = False
        self._last = None
        self._still = self._quiet = 0

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
            queue.site.slots,
            self._campaigns() if self.control.by_campaign else (),
        )

    def _campaigns(self) -> tuple[CampaignReading, ...]:
        """What there is to see of each campaign that has work."""
        waiting: Counter[str] = Counter()
        for job in self.queue.waiting_jobs:
            waiting[self.bags.name_of(job)] += job.processors
        return tuple(
            CampaignReading(bag.name, waiting[bag.name], len(bag.tasks))
            for bag in self.bags.bags.values()
            if bag.open
        )

    def _record(self, reading: Reading, decision: Decision, submitted: int) -> None:
        values = (
            decision.reference,
            decision.measured,
            decision.error,
            float(submitted),
            float(reading.waiting),
            float(reading.running),
            float(reading.used),
            reading.load,
        )
        now = reading.time
        self.grid.record.signals += zip(repeat(now), self._names, values, strict=False)

    def _submit(self, bag: Bag, job: Job, overhead: float) -> None:
        system = self.queue.site.file_system
        timer: Timer = self.grid.agenda if system is None else system.lane(bag.io_share)
        if self.queue.site.way is not None:
            timer = Staged(self.queue.site.way, timer)
        self.queue.submit(BestEffortRequest(job, timer, overhead, self.bags.started, self.bags.ended))


def _same(before: Reading, now: Reading) -> bool:
    """Whether two readings differ in time only; a load that fades away counts as none."""
    return (
        before[2:5] == now[2:5] and before.left == now.left and isclose(before.load, now.load, abs_tol=1e-12)
    )
