"""A damaged study made anew from what is whole of it, so that its search can go on."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from gridtune.optimize.records.evaluations import Evaluation
from gridtune.optimize.search_space.distributions import distribution
from gridtune.optimize.search_space.settings import Settings
from gridtune.optimize.storages.storage import open_for_writing
from gridtune.optimize.study.contents import IDENTITY, SETTINGS
from gridtune.optimize.study.extra_runs import FURTHER, ExtraRuns, keep_further, part_of
from gridtune.optimize.study.salvage import salvaged
from gridtune.optimize.study.serialization import entry_of
from gridtune.optimize.study.stored import CHECK
from gridtune.optimize.study.study import create, trial_of
from gridtune.scenarios.errors import ScenarioError


def mend(where: str | Path, to: Path, name: str | None = None) -> int:
    """Write what is whole of a study to a new journal, from which its search goes on; the damaged one stays.

    Evaluations are numbered anew, without gaps, and further replications kept as far as they follow one
    another. What is lost is evaluated again when the search goes on.

    Args:
        where: directory of a search, journal file, or storage URL.
        to: the new journal.
        name: of the study; needed only where the storage holds several.

    Returns:
        How many evaluations there are.

    Raises:
        ScenarioError: nothing can be salvaged, or the journal exists or cannot be written.
    """
    if os.path.lexists(to):
        raise ScenarioError(f"{to}: exists; a mended study goes to a new file")
    found = salvaged(where, name)
    known, stored = found.contents.entries, found.contents.settings
    settings = Settings.of_json(stored)
    distributions = {parameter.path: distribution(parameter) for parameter in settings.space}
    numbers = {old: new for new, old in enumerate(sorted(known))}
    first = {}
    for trial in found.trials:
        old = trial.known[CHECK][0] if CHECK in trial.known else trial.number
        if old in numbers and old not in first:
            first[old] = entry_of(numbers[old], trial.values, trial.known)
    opened = open_for_writing(to)
    try:
        with opened.together():
            study = create(opened, found.contents.name, settings, stored["budget"])
            identity = str(study.user_attrs[SETTINGS][IDENTITY])
            study.add_trials(
                [trial_of(first[old], settings, distributions, identity) for old in sorted(first)]
            )
            had = {
                old: {False: entry.replications, True: 0}
                for old, entry in first.items()
                if isinstance(entry, Evaluation)
            }
            parts = []
            for attribute in sorted(name for name in found.attributes if name.startswith(FURTHER)):
                for part in found.attributes[attribute]:
                    old, fresh = part["number"], part["fresh"]
                    entry = first.get(old)
                    if not isinstance(entry, Evaluation) or part.get("first") not in (None, had[old][fresh]):
                        continue
                    made = part_of(entry, part)
                    parts.append(ExtraRuns(replace(made.part, number=numbers[old]), fresh, had[old][fresh]))
                    if isinstance(made.part, Evaluation):
                        had[old][fresh] += made.part.replications
            if parts:
                keep_further(study, parts, 0, identity)
    finally:
        opened.close()
    return len(first)
