"""What a search keeps in its study, and finds there: trials of its evaluations, settings, archive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from optuna.trial import FrozenTrial
from pydantic import TypeAdapter

from gridtune.optimize.records.evaluations import Archive, Evaluation, Failed
from gridtune.optimize.records.recommendation import Recommendation, Refusal
from gridtune.optimize.runs.table import Entry, RunTable
from gridtune.optimize.search_space.settings import STORED, Settings
from gridtune.optimize.search_space.space import key
from gridtune.optimize.studies.databases import shown
from gridtune.optimize.studies.stored_study import FAILURE, StoredStudy, read_study
from gridtune.optimize.studies.study import OpenStudy
from gridtune.scenarios.errors import ScenarioError

# Attributes of a study.
RECOMMENDATIONS, REFUSALS, REMARKS = "recommendations", "refusals", "remarks"
ENDED, ASKED = "ended", "asked"

RECOMMENDED = TypeAdapter(tuple[Recommendation, ...])
REFUSED = TypeAdapter(dict[int, Refusal])


@dataclass(frozen=True)
class SearchResult:
    """What a search has found."""

    settings: Settings
    archive: Archive
    notes: tuple[str, ...] = ()  # what a user should know, a line each
    simulated: int = 0  # runs done now; the others were known from an earlier part of the search
    trials: Mapping[int, FrozenTrial] = field(default_factory=dict, compare=False)  # by number


def archive_of(name: str, table: RunTable, entries: Sequence[Entry | None]) -> Archive:
    """All that a search has evaluated as plain data, without recommendations; see `Archive`."""
    settings, evaluations = table.settings, tuple(one for one in entries if isinstance(one, Evaluation))
    return Archive(
        study=name,
        scenario=settings.scenario.name,
        objectives=settings.objectives,
        evaluations=evaluations,
        failed=tuple(one for one in entries if isinstance(one, Failed)),
        seed=settings.seed,
        replications=settings.replications,
        cases=tuple(case.name for case in settings.cases),
        robust=settings.robust,
        constraints=settings.constraints,
        baseline=next((one.number for one in evaluations if key(one.values) == table.baseline), None),
        logarithmic=settings.space.logarithmic,
        present={} if settings.baseline is None else settings.baseline.values,
        simulated=len(table),
    )


def load(study: str | Path, name: str | None = None, *, skip_broken: bool = False) -> SearchResult:
    """What a search has left in a storage, by what `read_study` finds; a `ScenarioError` if it is damaged."""
    found = read_study(study, name, skip_broken=skip_broken)
    settings = settings_of(found.settings, study)
    with _understood(study):
        archive = result_of(found, RunTable(settings, found.runs))
    notes = found.notes
    if not found.attributes.get(ENDED):
        count = len(archive.evaluations) + len(archive.failed)
        notes += (
            f"note: the search has not ended: {count} configurations are kept; "
            "it is under way, or was interrupted and --resume continues it",
        )
    return SearchResult(settings, archive, notes, trials=found.trials)


def result_of(study: OpenStudy | StoredStudy, table: RunTable) -> Archive:
    """What a search has found, as far as it has come, from its trials, attributes and table of runs."""
    entries: list[Entry | None] = []
    for number, trial in sorted(study.trials.items()):
        values, failure = dict(trial.params), trial.user_attrs.get(FAILURE)
        entries.append(table.entry(number, values) if failure is None else Failed(number, values, failure))
    kept = study.attributes
    return replace(
        archive_of(study.name, table, entries),
        recommendations=RECOMMENDED.validate_python(kept.get(RECOMMENDATIONS, ())),
        refusals=REFUSED.validate_python(kept.get(REFUSALS, {})),
        remarks=tuple(kept.get(REMARKS, ())),
    )


def settings_of(stored: Mapping[str, Any], study: str | Path) -> Settings:
    """The settings that a study has; a `ScenarioError` if they are damaged, or of another version."""
    with _understood(study):
        return STORED.validate_python(stored)


@contextmanager
def _understood(study: str | Path) -> Iterator[None]:
    try:
        yield
    except ScenarioError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        why = " ".join(str(error).split())[:200]
        garbled = "the settings of the study are garbled, or of another version"
        raise ScenarioError(f"{shown(study)}: {garbled}: {why}") from error
