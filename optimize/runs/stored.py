"""What a search has left, as it is found in a storage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from gridtune.optimize.records.evaluations import Archive, Failed
from gridtune.optimize.records.recommendation import Recommendation
from gridtune.optimize.runs.table import FIRST_VALIDATION, Entry, RunTable
from gridtune.optimize.runs.trials import (
    BUDGET,
    ENDED,
    RECOMMENDATIONS,
    REFUSED,
    REMARKS,
    UNITS,
    archive_of,
)
from gridtune.optimize.search_space.settings import STORED, Settings
from gridtune.optimize.studies.databases import shown
from gridtune.optimize.studies.reading import FAILURE, read_study
from gridtune.scenarios.errors import ScenarioError


@dataclass(frozen=True)
class StoredStudy:
    """What a search has left in a storage.

    Attributes:
        settings: what was searched, and how.
        archive: every evaluation.
        notes: what a user should know, a line each.
    """

    settings: Settings
    archive: Archive
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"StoredStudy({self.archive.study!r}, {len(self.archive.evaluations)} evaluations)"


def load(study: str | Path, name: str | None = None, *, skip_broken: bool = False) -> StoredStudy:
    """What a search has left in a storage; nothing is changed.

    Args:
        study: folder of a search, journal file, or storage URL.
        name: of the study; needed only where the storage holds several.
        skip_broken: whether to pass over broken lines of the table of runs.

    Raises:
        ScenarioError: no such storage or study, several to choose from, or it is damaged.
    """
    found = read_study(study, name, skip_broken=skip_broken)
    settings = settings_of(found.settings, study)
    try:
        kept = found.attributes.get(RECOMMENDATIONS, ())
        recommendations = TypeAdapter(tuple[Recommendation, ...]).validate_python(kept)
        refused = {int(number): tuple(names) for number, names in found.attributes.get(REFUSED, {}).items()}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise _garbled(study, error) from error
    table = RunTable(settings, found.runs, found.attributes.get(UNITS))
    entries = list[Entry]()
    for number, trial in sorted(found.trials.items()):
        values = dict(trial.params)
        searched = table.had(values)
        if FAILURE in trial.user_attrs:
            entries.append(Failed(number, values, trial.user_attrs[FAILURE]))
        elif searched:
            entries.append(table.entry(number, values, searched, table.had(values, FIRST_VALIDATION)))
    notes = list(found.notes)
    if not found.attributes.get(ENDED):
        notes.append(
            f"note: the search has not ended: {len(entries)} configurations are kept; "
            "it is under way, or was interrupted and --resume continues it"
        )
    runs = len(found.runs)
    budget = found.attributes.get(BUDGET, len(entries))
    remarks = found.attributes.get(REMARKS, ())
    archive = archive_of(found.name, settings, entries, budget, recommendations, refused, runs, remarks)
    return StoredStudy(settings, archive, tuple(notes))


def settings_of(stored: Mapping[str, Any], study: str | Path) -> Settings:
    """The settings that a study has.

    Raises:
        ScenarioError: they are damaged, or of another version.
    """
    try:
        return STORED.validate_python(stored)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise _garbled(study, error) from error


def _garbled(study: str | Path, error: Exception) -> ScenarioError:
    why = " ".join(str(error).split())[:200]
    return ScenarioError(
        f"{shown(study)}: the settings of the study are garbled, or of another version: {why}"
    )


def load_archive(study: str | Path, name: str | None = None) -> Archive:
    """The evaluations that a search has left in a storage; see `load`."""
    return load(study, name).archive
