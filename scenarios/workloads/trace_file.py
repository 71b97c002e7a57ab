"""What workloads that rest on a trace have in common."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import file_digest
from typing import Protocol, runtime_checkable

from gridtune.scenarios.trace_files.find import find_trace

GENERATED = ("auto", "embedded")  # what stands for a trace that no file is named for


@runtime_checkable
class FromTrace(Protocol):
    """A workload that can say what it was made from.

    Attributes:
        trace: the file as the scenario names it, or one of `GENERATED`.
    """

    trace: str

    def provenance(self) -> str:
        """The file that was found, or what stands in for it."""


def digests(workloads: Iterable[object]) -> dict[str, str]:
    """SHA-256 of each file that workloads name, by that name.

    Raises:
        TraceError: one is not found.
    """
    named = {one.trace for one in workloads if isinstance(one, FromTrace)}.difference(GENERATED)
    found = {}
    for name in sorted(named):
        with find_trace(name).open("rb") as file:
            found[name] = file_digest(file, "sha256").hexdigest()
    return found
