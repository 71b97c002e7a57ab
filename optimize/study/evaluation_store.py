"""The evaluations of a search: in memory, and in a study if they are to stay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from gridtune.optimize.records.evaluations import Archive, Evaluation
from gridtune.optimize.replication.run_cache import Run
from gridtune.optimize.search_space.distributions import distribution
from gridtune.optimize.search_space.settings import Settings
from gridtune.optimize.search_space.space import Point, key
from gridtune.optimize.storages.background_writer import BackgroundWriter
from gridtune.optimize.storages.damage import DamagedError
from gridtune.optimize.storages.rdb import reason
from gridtune.optimize.storages.storage import (
    exists,
    is_foreign,
    is_server,
    open_for_reading,
    open_for_writing,
    shown,
)
from gridtune.optimize.study.contents import CLOSED, IDENTITY, SETTINGS
from gridtune.optimize.study.extra_runs import (
    ExtraRuns,
    joined,
    keep_further,
    keep_runs,
    kept_further,
    kept_runs,
)
from gridtune.optimize.study.stored import signed
from gridtune.optimize.study.study import (
    Failed,
    archive_of,
    contents,
    create,
    keep_settings,
    stored_settings,
    trial_of,
)
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.execution.replicate import Metrics

if TYPE_CHECKING:
    from optuna import Study

Entry = Evaluation | Failed


class Store:
    """What is known of points, by `optimize.search_space.space.key`.

    Args:
        settings: what is searched, and how.
        name: of the study.
        budget: evaluations in all.

    Attributes:
        left: runs of points that an interruption left incomplete.
        explored: whether all points of the budget, and what further runs they were given, are known, so that
            a search which goes on need not retrace its steps to see who was given what when.
    """

    def __init__(self, settings: Settings, name: str, budget: int) -> None:
        self.settings = settings
        self.name = name
        self.budget = budget
        self.known: dict[str, Entry] = {}
        self.left: dict[Run, Metrics] = {}
        self.explored = False
        self.next_number = 0

    def add(self, entry: Entry) -> None:
        """Keep what became of a point."""
        self.known[key(entry.values)] = entry
        self.next_number = max(self.next_number, entry.number + 1)

    def extend(self, further: ExtraRuns) -> None:
        """Keep further replications of a point that is known."""
        name = key(further.part.values)
        entry = self.known[name]
        if isinstance(entry, Evaluation):
            self.known[name] = joined(entry, further)

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
        where: the storage; see `optimize.storages.storage.open_for_writing`.
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
        self._identity = ""
        self._entries = self._further = 0  # written
        self._opened = open_for_writing(where)
        try:
            with self._one_line():
                self._opened.hold(name)
                self._study = self._open(resume)
        except BaseException:
            self._opened.close()
            raise
        self._attributes = kept_further(self._study)
        self._recorder: BackgroundWriter[Entry | ExtraRuns] = BackgroundWriter(self._write)

    def add(self, entry: Entry) -> None:
        """Keep what became of a point; written soon.

        Raises:
            ScenarioError: the storage has stopped taking what is written.
        """
        super().add(entry)
        with self._one_line():
            self._recorder.put(entry)

    def extend(self, further: ExtraRuns) -> None:
        """Keep further replications of a point that is known; written soon.

        Raises:
            ScenarioError: the storage has stopped taking what is written.
        """
        entry = self.known[key(further.part.values)]
        if isinstance(entry, Evaluation):
            first = entry.fresh_replications if further.fresh else entry.replications
            further = replace(further, first=first)
        super().extend(further)
        with self._one_line():
            self._recorder.put(further)

    def close(self) -> None:
        """Wait until everything is written.

        Raises:
            ScenarioError: it could not be.
        """
        try:
            with self._one_line():
                self._recorder.close()
                with self._opened.together():
                    keep_runs(self._study, self.left, self._identity)
                    if self._identity:
                        closed = {
                            "entries": self._entries,
                            "parts": self._further,
                            "explored": self.explored,
                        }
                        self._study.set_user_attr(CLOSED, signed(self._identity, CLOSED, closed))
        finally:
            self._opened.close()

    def _open(self, resume: bool) -> Study:
        import optuna

        storage = self._opened.storage
        stored = stored_settings(storage, self.name)
        if stored is None:
            study = create(self._opened, self.name, self.settings, self.budget)
            self._identity = str(study.user_attrs[SETTINGS][IDENTITY])
            return study
        if not resume:
            raise _exists(self._where, self.name)
        differences = self.settings.differences(stored)
        if differences:
            raise ScenarioError(
                f"{self._where}: the study {self.name} cannot be resumed: {'; '.join(differences)}"
            )
        study = optuna.load_study(study_name=self.name, storage=storage)
        found = contents(study)
        if found.faults:
            raise DamagedError(self._where, found.faults)
        if stored["budget"] != self.budget:
            keep_settings(study, stored, self.budget)
        if found.closed:
            study.set_user_attr(CLOSED, None)
        self._identity, self._further, self.explored = found.identity, found.parts, found.explored
        self.left = kept_runs(study, found.identity)
        for _, entry in sorted(found.entries.items()):
            if key(entry.values) not in self.known:
                super().add(entry)
        # Trials of others have numbers, too.
        self.next_number = max(self.next_number, len(study.get_trials(deepcopy=False)))
        self._entries = len(found.entries)
        return study

    def _write(self, items: Sequence[Entry | ExtraRuns]) -> None:
        entries = [item for item in items if not isinstance(item, ExtraRuns)]
        further = [item for item in items if isinstance(item, ExtraRuns)]
        trials = [trial_of(entry, self.settings, self._distributions, self._identity) for entry in entries]
        self._opened.add_trials(self._study, trials)
        self._entries += len(trials)
        if further:
            keep_further(self._study, further, self._attributes, self._identity)
            self._attributes += 1
            self._further += len(further)

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


@dataclass(frozen=True)
class Choice:
    """What a study was begun with and a resumed search need not say again.

    Attributes:
        sampler: name of it.
        batch: points that it proposes at once.
        today: whether the scenario as it stands is among its points.
        starts: points that it began with.
    """

    sampler: str
    batch: int
    today: bool
    starts: tuple[Point, ...]


def stored_choice(where: str | Path, name: str, *, resume: bool) -> Choice | None:
    """What a study that exists and can be resumed was begun with; None if there is no such study.

    It is only looked at, so that what cannot be gone on with stays as it is.

    Raises:
        ScenarioError: the storage cannot be used, the study is damaged, or it is not to be resumed.
    """
    import optuna

    if (is_server(where) and not resume) or not exists(where) or is_foreign(where):
        return None  # what opens it for writing has the words for that
    storage = open_for_reading(where)
    try:
        stored = stored_settings(storage, name)
        if stored is None:
            return None
        if not resume:
            raise _exists(shown(where), name)
        if faults := contents(optuna.load_study(study_name=name, storage=storage)).faults:
            raise DamagedError(shown(where), faults)
        starts = tuple(stored.get("starts", ()))
        return Choice(stored["sampler"], stored["batch"], stored.get("today") is not None, starts)
    except ScenarioError:
        raise
    except Exception as error:  # Optuna takes what is stored on trust
        raise DamagedError(shown(where), [reason(error)]) from error
    finally:
        storage.remove_session()


def _exists(where: str, name: str) -> ScenarioError:
    return ScenarioError(f"{where}: the study {name} exists; --resume continues it, --study names another")
