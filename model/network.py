"""Links between actors: what a message costs in time."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf


@dataclass(frozen=True, slots=True)
class Link:
    """A link with constant latency and bandwidth.

    Args:
        latency: seconds a message takes however small it is.
        bandwidth: bytes per second; infinite by default.
    """

    latency: float = 0.0
    bandwidth: float = inf

    def delay(self, size: float = 0.0) -> float:
        """Seconds that a message of `size` bytes takes: latency + size / bandwidth."""
        return self.latency + size / self.bandwidth
