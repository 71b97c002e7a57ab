"""What workloads that rest on a trace have in common."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class FromTrace(Protocol):
    """A workload that can say what it was made from."""

    def provenance(self) -> str:
        """The file that was found, or what stands in for it."""
