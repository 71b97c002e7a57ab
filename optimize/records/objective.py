"""What a search trades off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Objective:
    """What is traded off.

    Attributes:
        name: of the metric.
        direction: which way is better.
        unit: of the metric.
        resolution: least difference that means anything, in the unit; 0 if any does.
    """

    name: str
    direction: Literal["minimize", "maximize"]
    unit: str = ""
    resolution: float = 0.0
