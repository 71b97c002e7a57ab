"""Which logs a scenario rests on, to tell whether one has changed."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import file_digest
from pathlib import Path
from typing import Any

from gridtune.scenarios.trace_files.find import beside, find_trace
from gridtune.scenarios.trace_files.records import TraceError


def digests(document: Mapping[str, Any], base: Path) -> dict[str, str]:
    """SHA-256 of each file that workloads replay, by the name that the scenario gives it.

    Args:
        document: of the scenario; it need not be valid.
        base: folder of the scenario, in which its files are looked for first.

    Returns:
        Nothing for a file that is not there: a run says so.
    """
    found = {}
    for workload in document.get("workload", ()):
        name = workload.get("trace") if isinstance(workload, Mapping) else None
        if isinstance(name, str):
            try:
                found[name] = sha256_of(find_trace(beside(name, base)))
            except (TraceError, OSError):
                continue
    return found


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
