"""Controllers made of controllers: the most careful of several, the boldest, or their sum."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gridtune.model.harvest.control import Control, Decision, Memory, Reading
from gridtune.model.policy import PolicyError, make, parameter, register

SIGRI = "Sigri simulator of CiGri"


@dataclass(frozen=True)
class Composition(Control):
    """What compositions have in common: every part decides in every cycle, on its own sensor."""

    of: Sequence[str | Mapping[str, Any]] = parameter(help="controllers, each a name or a table with `kind`")

    def __post_init__(self) -> None:
        if isinstance(self.of, str | Mapping) or not isinstance(self.of, Sequence) or not self.of:
            raise PolicyError(f"{self.kind}.of: expected a list of controllers, not {self.of!r}")
        _ = self.parts

    @cached_property
    def parts(self) -> tuple[Control, ...]:
        """The controllers."""
        return tuple(make("control", part) for part in self.of)  # type: ignore[misc]

    def decide(self, reading: Reading, memory: Memory) -> Decision:
        """The combination of what all parts want, with the reference and sensor of the part it follows."""
        before = memory or (None,) * len(self.parts)
        decisions = [part.decide(reading, own) for part, own in zip(self.parts, before, strict=True)]
        jobs, followed = self.combine(decisions)
        kept = tuple(decision.memory for decision in decisions)
        return Decision(jobs, kept, followed.reference, followed.measured)

    def settled(self, reading: Reading, before: Memory, decision: Decision) -> bool:
        """Whether all parts are settled; together they want less than a job."""
        return decision.jobs < 1.0 and all(self.settled_parts(reading, before))

    def settled_parts(self, reading: Reading, before: Memory) -> Iterator[bool]:
        """Whether each part is at a fixed point."""
        for part, own in zip(self.parts, before or (None,) * len(self.parts), strict=True):
            yield part.settled(reading, own, part.decide(reading, own))

    @abstractmethod
    def combine(self, decisions: Sequence[Decision]) -> tuple[float, Decision]:
        """Jobs to submit, and the decision whose signals are recorded."""


def _jobs(decision: Decision) -> float:
    return decision.jobs


@register("control", "min", source=SIGRI)
@dataclass(frozen=True)
class Minimum(Composition):
    """The harvester submits the least that any of several controllers wants: no limit is exceeded."""

    def settled(self, reading: Reading, before: Memory, decision: Decision) -> bool:
        """One part that wants nothing for ever is enough, whatever the sums of the others grow to."""
        return any(self.settled_parts(reading, before))

    def combine(self, decisions: Sequence[Decision]) -> tuple[float, Decision]:
        """That of the most careful part."""
        least = min(decisions, key=_jobs)
        return least.jobs, least


@register("control", "max", source=SIGRI)
@dataclass(frozen=True)
class Maximum(Composition):
    """The harvester submits the most that any of several controllers wants."""

    def combine(self, decisions: Sequence[Decision]) -> tuple[float, Decision]:
        """That of the boldest part."""
        most = max(decisions, key=_jobs)
        return most.jobs, most


@register("control", "sum", source=SIGRI)
@dataclass(frozen=True)
class Sum(Composition):
    """The harvester submits what several controllers want together."""

    def combine(self, decisions: Sequence[Decision]) -> tuple[float, Decision]:
        """The sum, with the signals of the first part."""
        return sum(map(_jobs, decisions)), decisions[0]
