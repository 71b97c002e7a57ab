"""What is wrong with a storage that a search has written, in a line that says how to go on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gridtune.scenarios.errors import ScenarioError


class DamagedError(ScenarioError):
    """A storage holds what no search has written.

    Args:
        where: the storage, as it may be shown.
        found: what is wrong, each thing in a few words with its place.
    """

    def __init__(self, where: str | Path, found: Sequence[str]) -> None:
        self.found = list(found)
        self.where = str(where)
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        super().__init__(
            f"{where}: damaged: {found[0]}{more}; `gridtune front {where} --salvage` shows what is whole"
        )

    def __reduce__(self) -> tuple[type[DamagedError], tuple[str, list[str]]]:  # type: ignore[override]
        return type(self), (self.where, self.found)


class NoSuchStudyError(ScenarioError):
    """A storage holds no study of that name, or several to choose from."""
