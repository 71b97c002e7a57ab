"""Control policies: how many best-effort jobs a harvester submits in a cycle."""

from __future__ import annotations

from abc import abstractmethod
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
    """A reading holds the measurements of a harvester at the beginning of a cycle.

    Attributes:
        time: the present time, s.
        cycle: the time between two readings, s.
        waiting: the number of processors asked for by best-effort jobs that wait at the site.
        running: the number of processors held by best-effort jobs.
        used: the number of processors held by anybody, premium jobs included.
        load: the load average of the shared file system; 0 where there is none.
        left: the number of jobs that are still in the bags.
        slots: the number of slots of the site.
        campaigns: the measurements of each campaign, in the order of their bags, for controllers that
            distinguish them.

    Example:
        >>> reading = gt.policies.Reading(time=0.0, cycle=60.0, running=4, used=10, waiting=2, slots=16)
        >>> reading.slots - reading.used
        6
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
    """A decision says how many jobs a controller submits.

    Attributes:
        jobs: the number of jobs to submit, not negative; the harvester submits the whole part of it, as far
            as its bags go.
        memory: any object, which is given back to the controller in the next cycle.
        reference: the value that is aimed at; nan for rules that have none.
        measured: the value that was compared with it.
        of: the number of jobs of each campaign, by name, where the rule distinguishes them.

    Example:
        >>> decision = gt.policies.Decision(4, memory=None, reference=8.0, measured=6.5)
        >>> decision.jobs, decision.error
        (4, 1.5)
    """

    jobs: float
    memory: Memory
    reference: float = nan
    measured: float = nan
    of: tuple[tuple[str, int], ...] = ()

    @property
    def error(self) -> float:
        """Subtract the measured value from the reference, in their unit.

        Example:
            >>> decision.error
            1.5
        """
        return self.reference - self.measured


class Control(Policy, family="control"):
    """A controller chooses how many best-effort jobs a harvester submits.

    A controller keeps no state of its own: it returns what it must remember, and gets it back in the next
    cycle.

    Attributes:
        by_campaign: whether it distinguishes campaigns, and so needs the measurements of each.

    Example:
        >>> @gt.policies.register("control", "fill")
        ... @dataclass(frozen=True)
        ... class Fill(gt.policies.Control):
        ...     "As many jobs as there are idle slots, but for those that wait already."
        ...     def decide(self, reading, memory):
        ...         return gt.policies.Decision(max(0, reading.slots - reading.used - reading.waiting), None)
        >>> Fill().decide(gt.policies.Reading(time=0.0, cycle=60.0, used=10, waiting=2, slots=16), None).jobs
        4
    """

    by_campaign: ClassVar[bool] = False

    @abstractmethod
    def decide(self, reading: Reading, memory: Memory) -> Decision:
        """Choose how many jobs to submit in this cycle.

        Args:
            reading: the measurements of this cycle.
            memory: the memory of the decision before; None in the first cycle.

        Returns:
            The decision, with the memory for the next cycle.
        """

    def settled(self, reading: Reading, before: Memory, decision: Decision) -> bool:
        """Tell whether no job will ever be wanted again while readings stay unchanged.

        By default that is so at a fixed point: the controller wants no job and leaves its memory as it was.
        A controller that looks at the time must override this method.

        Args:
            reading: the measurements of this cycle; those before were the same, but for the time.
            before: the memory before this cycle.
            decision: the decision of this cycle.

        Example:
            >>> reading = gt.policies.Reading(time=0.0, cycle=60.0, used=16, waiting=2, slots=16)
            >>> Fill().settled(reading, None, Fill().decide(reading, None))
            True
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

    @abstractmethod
    def law(self, error: float, reading: Reading, memory: Memory) -> tuple[float, Memory]:
        """Jobs to submit and the next memory, from the error of this cycle."""
