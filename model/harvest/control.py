"""Control policies: how many best-effort jobs a harvester submits in a cycle."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Any, ClassVar, Literal, NamedTuple

from gridtune.model.policy import Policy, parameter

Sensor = Literal["waiting+running", "waiting", "load"]
Memory = Any


class CampaignReading(NamedTuple):
    """What a harvester measures of one campaign.

    Attributes:
        name: of the campaign.
        waiting: processors asked for by its jobs that wait at the site.
        left: its jobs that are still in its bag.
    """

    name: str
    waiting: int
    left: int


class Reading(NamedTuple):
    """What a harvester measures at the beginning of a cycle.

    Attributes:
        time: s.
        cycle: s between two readings.
        waiting: processors asked for by best-effort jobs that wait at the site.
        running: processors held by best-effort jobs.
        used: processors held by anybody, premium jobs included.
        load: load average of the shared file system; 0 where there is none.
        left: jobs that are still in the bags.
        slots: of the site.
        campaigns: of each, in the order of their bags, for controllers that distinguish them.
    """

    time: float
    cycle: float
    waiting: int = 0
    running: int = 0
    used: int = 0
    load: float = 0.0
    left: int = 0
    slots: int = 0
    campaigns: tuple[CampaignReading, ...] = ()


class Decision(NamedTuple):
    """What a controller wants.

    Attributes:
        jobs: to submit, not negative; the harvester submits the whole part of it, as far as its bags go.
        memory: handed back to the controller in the next cycle.
        reference: value that is aimed at; nan for rules that have none.
        measured: value that was compared with it.
        of: jobs of each campaign, by name, where the rule distinguishes them.
    """

    jobs: float
    memory: Memory
    reference: float = nan
    measured: float = nan
    of: tuple[tuple[str, int], ...] = ()

    @property
    def error(self) -> float:
        """Reference minus measured value."""
        return self.reference - self.measured


class Control(Policy):
    """The contract of the family `control`: a rule from readings to submissions.

    A controller keeps nothing itself: what it must remember it hands out and is given back.

    Attributes:
        by_campaign: whether it distinguishes campaigns, and so has to be told of each.
    """

    by_campaign: ClassVar[bool] = False

    def decide(self, reading: Reading, memory: Memory) -> Decision:
        """What to submit in this cycle.

        Args:
            reading: of this cycle.
            memory: from the decision before; None in the first cycle.
        """
        raise NotImplementedError

    def settled(self, reading: Reading, before: Memory, decision: Decision) -> bool:
        """Whether less than one job will be wanted for ever, as long as readings stay as they are.

        So it is at a fixed point of the controller: it wants no job and leaves its memory as it was. A
        controller that looks at the time must say more.

        Args:
            reading: of this cycle; the one before was the same, but for the time.
            before: memory before this cycle.
            decision: of this cycle.
        """
        return decision.jobs < 1.0 and bool(decision.memory == before)


@dataclass(frozen=True)
class Feedback(Control):
    """What controllers with a sensor and a reference have in common."""

    sensor: Sensor = parameter(
        "waiting+running",
        help="what is regulated: jobs waiting plus processors used, jobs waiting, or file-system load",
        source="BatCiGri, section 3.5",
    )
    reference: float = parameter(
        64.0,
        help="value at which the sensor is to be held",
        unit="processors, or load",
        low=1.0,
        high=4096.0,
        log=True,
        minimum=0.0,
        source="BatCiGri, section 4.1",
    )
    relative: bool = parameter(
        False, help="whether a reference in processors is in multiples of the site's slots"
    )

    def target(self, reading: Reading) -> float:
        """The reference in the unit of the sensor."""
        relative = self.relative and self.sensor != "load"
        return self.reference * reading.slots if relative else self.reference

    def measure(self, reading: Reading) -> float:
        """The value of the sensor."""
        if self.sensor == "waiting+running":
            return float(reading.waiting + reading.used)
        return float(reading.waiting) if self.sensor == "waiting" else reading.load

    def decide(self, reading: Reading, memory: Memory) -> Decision:
        """What the law wants; no job can be taken back, so it never wants less than none."""
        measured, target = self.measure(reading), self.target(reading)
        jobs, memory = self.law(target - measured, reading, memory)
        return Decision(max(0.0, jobs), memory, target, measured)

    def law(self, error: float, reading: Reading, memory: Memory) -> tuple[float, Memory]:
        """Jobs to submit and the next memory, from the error of this cycle."""
        raise NotImplementedError
