"""The evaluations of a search: in memory, and in a study if they are to stay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from optimize.archive import Archive, Evaluation
from optimize.database import reason
from optimize.distributions import distribution
from optimize.recorder import Recorder
from optimize.space import key
from optimize.storage import Opened, open_for_writing, shown
from optimize.study import (
    SETTINGS,
    VALIDATED,
    VALIDATED_CASES,
    Failed,
    Settings,
    archive_of,
    cases_as_json,
    create,
    entries_of,
    estimates_as_json,
    stored_settings,
    trial_of,
)
from scenarios.errors import ScenarioError

if TYPE_CHECKING:
    from optuna import Study

Entry = Evaluation | Failed


class Store:
    """What is known of points, by `optimize.space.key`.

    Args:
        settings: what is searched, and how.
        name: of the study.
        budget: evaluations in all.
    """

    def __init__(self, settings: Settings, name: str, budget: int) -> None:
        self.settings = settings
        self.name = name
        self.budget = budget
        self.known: dict[str, Entry] = {}
        self.next_number = 0

    def add(self, entry: Entry) -> None:
        """Keep what became of a point."""
        self.known[key(entry.values)] = entry
        self.next_number = max(self.next_number, entry.number + 1)

    def validate(self, fresh: Mapping[int, Evaluation]) -> None:
        """Keep what fresh seeds gave, by trial number."""
        for name, entry in self.known.items():
            again = fresh.get(entry.number)
            if isinstance(entry, Evaluation) and again is not None:
                cases = again.cases or None
                self.known[name] = replace(entry, validated=again.objectives, validated_cases=cases)

    def entries(self) -> list[Entry]:
        """All there is, by trial number."""
        return sorted(self.known.values(), key=lambda entry: entry.number)

    def archive(self) -> Archive:
        """All there is, as plain data."""
        return archive_of(self.name, self.settings.as_json(), self.entries(), self.budget)

    def close(self) -> None:
        """Make sure that everything is kept."""


class StudyStore(Store):
    """A store that an Optuna study backs; what is added is written in the background.

    Args:
        settings, name, budget: see `Store`.
        where: the storage; see `optimize.storage.open_for_writing`.
        resume: whether to go on with a study that exists.

    Raises:
        ScenarioError: the storage cannot be used, or the study exists and is not to be resumed, or was
            about something else.
    """

    def __init__(
        self, settings: Settings, name: str, budget: int, where: str | Path, *, resume: bool = False
    ) -> None:
        super().__init__(settings, name, budget)
        self._where = shown(where)
        self._distributions = {parameter.path: distribution(parameter) for parameter in settings.space}
        self._opened = open_for_writing(where)
        try:
            with self._one_line():
                self._study = self._open(resume)
        except BaseException:
            self._opened.close()
            raise
        self._recorder: Recorder[Entry] = Recorder(self._write)

    def add(self, entry: Entry) -> None:
        """Keep what became of a point; written soon.

        Raises:
            ScenarioError: the storage has stopped taking what is written.
        """
        super().add(entry)
        with self._one_line():
            self._recorder.put(entry)

    def validate(self, fresh: Mapping[int, Evaluation]) -> None:
        """Keep what fresh seeds gave, by trial number."""
        super().validate(fresh)
        entries = [entry for entry in self.entries() if isinstance(entry, Evaluation)]
        known = {str(e.number): estimates_as_json(e.validated) for e in entries if e.validated is not None}
        cases = {str(e.number): cases_as_json(e.validated_cases) for e in entries if e.validated_cases}
        with self._one_line():
            self._recorder.flush()
            if cases:  # first, for what is validated is not run again
                self._study.set_user_attr(VALIDATED_CASES, cases)
            self._study.set_user_attr(VALIDATED, known)

    def close(self) -> None:
        """Wait until everything is written.

        Raises:
            ScenarioError: it could not be.
        """
        try:
            with self._one_line():
                self._recorder.close()
        finally:
            self._opened.close()

    def _open(self, resume: bool) -> Study:
        import optuna

        storage = self._opened.storage
        stored = stored_settings(storage, self.name)
        if stored is None:
            return create(storage, self.name, self.settings, self.budget)
        if not resume:
            raise ScenarioError(
                f"{self._where}: the study {self.name} exists; --resume continues it, --study names another"
            )
        differences = self.settings.differences(stored)
        if differences:
            raise ScenarioError(
                f"{self._where}: the study {self.name} cannot be resumed: {'; '.join(differences)}"
            )
        study = optuna.load_study(study_name=self.name, storage=storage)
        if stored["budget"] != self.budget:
            study.set_user_attr(SETTINGS, {**stored, "budget": self.budget})
        for entry in entries_of(study):
            if key(entry.values) not in self.known:
                super().add(entry)
        # Trials of others have numbers, too.
        self.next_number = len(study.get_trials(deepcopy=False))
        return study

    def _write(self, entries: Sequence[Entry]) -> None:
        trials = [trial_of(entry, self.settings, self._distributions) for entry in entries]
        self._opened.add_trials(self._study, trials)

    @contextmanager
    def _one_line(self) -> Iterator[None]:
        """Turn what a file system or database has to say, each in its own way, into one line."""
        try:
            yield
        except ScenarioError:
            raise
        except Exception as error:
            problem = f"{self._where}: cannot be written: {reason(error)}"
            raise ScenarioError(f"{problem}; what was written stays, --resume continues") from error


def stored_choice(where: str | Path, name: str) -> tuple[str, int] | None:
    """Sampler and batch of a study that exists; None if there is no such study.

    Raises:
        ScenarioError: the storage cannot be used.
    """
    opened: Opened = open_for_writing(where)
    try:
        stored = stored_settings(opened.storage, name)
    finally:
        opened.close()
    return (stored["sampler"], stored["batch"]) if stored else None
