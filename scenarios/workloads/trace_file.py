"""What workloads that rest on a trace have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Protocol, runtime_checkable

from pydantic import AfterValidator, ValidationInfo


def _beside_scenario(name: str, info: ValidationInfo) -> str:
    """The path of a file that stands in the scenario's own folder; any other name as it is.

    Whether a file exists at all is found out when a run is built, so that a scenario whose trace is
    elsewhere can be loaded and given another one.
    """
    beside = Path((info.context or {}).get("base", "")) / name
    return str(beside) if beside.is_file() else name


TraceFile = Annotated[str, AfterValidator(_beside_scenario)]


@runtime_checkable
class FromTrace(Protocol):
    """A workload that can say what it was made from."""

    def provenance(self) -> str:
        """The file that was found, or what stands in for it."""
