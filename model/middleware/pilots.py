"""Modes of pilots: whether one that has done a task asks for another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Mode = Literal["run-once", "filling"]


@dataclass(frozen=True, slots=True)
class PilotMode:
    """How long a pilot goes on (RR-5576, section 7).

    Attributes:
        mode: `run-once` ends after one task, `filling` goes on while time is left.
        longest: work that a further task may take, in the unit of run times (NCU, or s at speed 1); 0
            leaves it to the match-maker to find one that fits.
    """

    mode: Mode = "run-once"
    longest: float = 0.0

    def goes_on(self, elapsed: float, lifetime: float, speed: float) -> bool:
        """Whether a pilot asks again, `elapsed` s into its `lifetime` (s) on a node of that speed."""
        return self.mode == "filling" and elapsed + self.longest / speed < lifetime
