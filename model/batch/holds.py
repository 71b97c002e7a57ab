"""Processors that a site keeps from its scheduler: lost and drained nodes, reservations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

KEYS: Final = -(1 << 62)  # keys of holds lie below it, ids of jobs and of placeholders above


class Window(NamedTuple):
    """A window will keep processors from the scheduler, as far as it knows.

    Attributes:
        start: s from which they are; in the past if they should be kept already, but are not all free yet.
        end: s at which they come back, infinite if that is not known.
        processors: how many.
    """

    start: float
    end: float
    processors: int


@dataclass(eq=False, slots=True)
class Hold:
    """A hold keeps processors from the scheduler now.

    Attributes:
        key: number below `KEYS` that distinguishes holds of a cluster.
        until: s at which they are expected to come back, infinite if that is not known.
        lends: whether waiting jobs may start on them (those of a reservation's members).
        idle: processors kept that run nothing.
        lent: processors kept that jobs still hold, by their ids; they come to the hold when these end.
    """

    key: int
    until: float
    lends: bool = False
    idle: int = 0
    lent: dict[int, int] = field(default_factory=dict)

    @property
    def processors(self) -> int:
        """Processors kept in all."""
        return self.idle + sum(self.lent.values())
