"""What a search gives: its evaluations, front, recommendations, pictures and explanations, as `Study`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from gridtune.optimize.api.explained import Explained
from gridtune.optimize.explanation.explain import explain, find_configuration
from gridtune.optimize.front.front import Front, front
from gridtune.optimize.records.evaluations import Archive, Evaluation, Failed, Value
from gridtune.optimize.report.answer import answer
from gridtune.optimize.report.export import to_csv, to_dict
from gridtune.optimize.report.frame import Row, frame, rows
from gridtune.optimize.report.progress import progress_of
from gridtune.optimize.report.tables import listed
from gridtune.optimize.runs.stored import keep_trial, open_trials
from gridtune.optimize.search_space.settings import Settings
from gridtune.optimize.studies.reading import NUMBER
from gridtune.scenarios.api.experiment import Scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.execution.prepare import log, prepare, workers
from gridtune.scenarios.results.files import write_json
from gridtune.scenarios.results.frames import as_html
from gridtune.scenarios.results.locks import own_folder
from gridtune.scenarios.results.text import WIDTH
from gridtune.scenarios.whole_files import replace_text
from gridtune.scenarios.workers.local_workers import sigterm_as_interrupt

if TYPE_CHECKING:
    import optuna
    from matplotlib.figure import Figure
    from optuna.trial import FrozenTrial

PAGE, OVERVIEW = "front.html", "pairs.png"  # what a search leaves in its folder


@dataclass(frozen=True, repr=False)
class Study:
    """What a search has found: `search` gives it, and `open_study` finds it again.

    Attributes:
        settings: what was searched, and how.
        archive: every evaluation, as records.
        notes: what to know of how it was kept, a line each, such as a search that has not ended.

    Example:
        >>> import gridtune as gt
        >>> study = gt.search("diet/day-regular", budget=4, sampler="random", jobs=1)
        >>> study
        Study('diet/day-regular', 4 evaluations, front of ... for unhappy_users, unfairness, completed)
    """

    settings: Settings
    archive: Archive
    notes: tuple[str, ...] = ()

    @property
    def failures(self) -> tuple[Failed, ...]:
        """Configurations that could not be evaluated, and why."""
        return self.archive.failed

    @property
    def name(self) -> str:
        """Of the study; that of the scenario unless it was given another."""
        return self.archive.study

    @property
    def scenario(self) -> Scenario:
        """The scenario that was searched, with the values of the baseline."""
        return Scenario.of(self.settings.scenario)

    @cached_property
    def details(self) -> Front:
        """The front with all that is known of it: bootstrap, hypervolumes, reference point."""
        return front(self.archive)

    @cached_property
    def evaluations(self) -> pd.DataFrame:
        """A row for each configuration, by `number`; first baseline, recommendations and front.

        Columns: `name` (`baseline`, the letter of a recommendation, or the number) and `state` (`baseline`,
        `front`, `dominated`, `infeasible` or `failed`); of each objective the expected mean, as every report
        shows it, its `_difference` to the baseline with the 95 % interval (`_difference_low` and
        `_difference_high`), the plain mean of its runs in the search (`_search` and `_search_se`) and on
        validation seeds (`_validated` and `_validated_se`); `probability_non_dominated`; how many runs stand
        behind it (`replications`, `validation_replications`); `failure`, why it could not be evaluated; its
        parameters, by path (missing where one does not exist); the means of all other metrics in the search.
        Units are those of the metrics.

        Example:
            >>> len(study.evaluations), study.evaluations["completed"].dtype
            (4, dtype('float64'))
        """
        return frame(self.details)

    @cached_property
    def front(self) -> pd.DataFrame:
        """The rows of `evaluations` that are on the Pareto front.

        Of configurations that gave the same in every run there is one, and `equivalents` counts the others.
        """
        return frame(self.details, [row for row in listed(self.details) if row.on_front])

    @property
    def hypervolume(self) -> float:
        """Of the front, by estimated means, up to `details.reference`; its unit is the product of theirs."""
        return self.details.hypervolume

    @property
    def best_trials(self) -> list[FrozenTrial]:
        """The configurations on the front as trials of Optuna, in the order of `front`."""
        known = {trial.user_attrs[NUMBER]: trial for trial in self.to_optuna().trials}
        return [known[number] for number in self.front.index]

    def to_optuna(self) -> optuna.Study:
        """The configurations as a study of Optuna in memory, for its plots and importances.

        Values are plain means of the runs in the search. The storage of a search holds the same trials with
        their times: `optuna.load_study(storage=…)` reads it.

        Example:
            >>> len(study.to_optuna().trials)
            4
        """
        with open_trials(self.settings, None, self.name) as made:
            entries: list[Evaluation | Failed] = [*self.archive.evaluations, *self.archive.failed]
            for entry in sorted(entries, key=lambda one: one.number):
                keep_trial(made, self.settings, entry, datetime.now())
        return made.study

    def trials_dataframe(self) -> pd.DataFrame:
        """A row for each configuration in Optuna's columns: `values_…`, `params_…`, `user_attrs_…`."""
        return self.to_optuna().trials_dataframe(("number", "value", "params", "user_attrs", "state"))

    @cached_property
    def recommendations(self) -> pd.DataFrame:
        """The rows of `evaluations` that are recommended, by their `name`: `A`, `B`, …"""
        table = self.evaluations
        return table[table["name"].str.fullmatch("[A-Z]")].reset_index().set_index("name")

    @property
    def summary(self) -> str:
        """What to change, what that gains and costs, as `gridtune search` prints it."""
        return answer(self.details, WIDTH)

    def at(self, configuration: int | str) -> Scenario:
        """The scenario as a configuration of the search sets it, to be run or changed further.

        Args:
            configuration: number of a configuration, letter of a recommendation, or `baseline`.

        Raises:
            ScenarioError: there is none.

        Example:
            >>> study.at("baseline").run(seed=2)["completed"] > 0
            True
        """
        return self.scenario.override(chosen(self.details, str(configuration))[1])

    def plot(self, kind: str = "pairs", *, out: Path | str | None = None) -> Figure:
        """Draw the front.

        Args:
            kind: `pairs`, `parallel`, `parameters` or `history`.
            out: file to write, too (png, svg, pdf).

        Raises:
            ScenarioError: no such kind of picture, an empty front, or the file cannot be written.

        Example:
            >>> len(study.plot("history").axes) > 0
            True
        """
        from gridtune.optimize.report.pictures.draw import draw
        from gridtune.scenarios.plots import save

        drawing = draw(self.details, kind)
        if out is not None:
            save(drawing, out)
        return drawing

    def save(self, out: Path | str) -> Path:
        """Write the front to a folder as JSON, CSV, a page and an overview picture, and return the folder.

        Raises:
            ScenarioError: a file cannot be written, or the folder is somebody else's.
        """
        folder, found = own_folder(out), self.details
        write_json(folder / "front.json", to_dict(found))
        replace_text(folder / "front.csv", to_csv(found))
        if found.members:
            from gridtune.optimize.report.pictures.draw import save

            # Pictures go to files: no display is needed, and none must be looked for.
            os.environ.setdefault("MPLBACKEND", "Agg")
            for name in (PAGE, OVERVIEW):
                try:
                    save(found, folder / name)
                except ScenarioError:
                    raise
                except Exception as error:  # a search survives a failed picture
                    why = " ".join(f"{type(error).__name__}: {error}".split())
                    log.warning(
                        f"note: {folder / name} was not drawn ({why}); the search with --resume tries again"
                    )
        return folder

    def explain(
        self,
        configuration: int | str,
        *,
        replications: int | None = None,
        ablate: bool = True,
        jobs: int | None = None,
        dask: str | None = None,
        progress: bool | None = None,
    ) -> Explained:
        """Why a configuration: its gains and costs on validation seeds, and which settings cause them.

        Args:
            configuration: number of a configuration, `baseline`, or letter of a recommendation, e.g. `A`.
            replications: validation runs per configuration; as many as the front has if left out.
            ablate: whether to put its settings back one by one.
            jobs: worker processes; all cores if left out.
            dask: address of the scheduler of a Dask cluster to run on instead.
            progress: whether to say on standard error how far it is; on a terminal only if left out.

        Raises:
            ScenarioError: there is no such configuration, or it cannot be run.

        Example:
            >>> why = study.explain("baseline", replications=2, ablate=False, jobs=1)
            >>> why.changes.index.name
            'metric'
        """
        evaluation = find_configuration(self.details, str(configuration))  # before traces are read
        cases = [case.scenario for case in self.settings.run_in]
        for case in cases:
            prepare(case)
        heard = progress_of(progress)
        try:
            with sigterm_as_interrupt(), workers(jobs or os.cpu_count() or 1, dask, *cases) as pool:
                made = explain(
                    self.details, self.settings, evaluation,
                    replications=replications, ablate=ablate, pool=pool, progress=heard,
                )  # fmt: skip
                return Explained(made)
        finally:
            heard.finish()

    def __repr__(self) -> str:
        count = len(self.archive.evaluations)
        names = ", ".join(one.name for one in self.archive.objectives)
        return f"Study({self.name!r}, {count} evaluations, front of {len(self.details.on_front)} for {names})"

    def _repr_html_(self) -> str:
        some = frame(self.details, listed(self.details))
        return as_html(self.archive.heading, self.summary.splitlines(), some)


def chosen(front: Front, name: str, *, full: bool = False) -> tuple[Row, dict[str, Value]]:
    """A configuration of a study, and what it sets.

    Args:
        front: of the study.
        name: letter of a recommendation, `baseline`, or a number.
        full: whether to take the configuration that a recommendation was made from.

    Raises:
        ScenarioError: there is none; says which there are.
    """
    known = {row.number: row for row in rows(front)}
    letter = name.strip().upper()
    advice = next((one for one in front.archive.recommendations if one.letter == letter), None)
    if advice is None:
        found = find_configuration(front, name)
        return known[found.number], found.values
    row = known[advice.origin if full else advice.number]
    return row, row.values if full else advice.values
