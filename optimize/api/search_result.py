"""What a search gives: its configurations, front, recommendations, pictures and explanations, as `Study`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from gridtune.optimize.api.explained import Explained
from gridtune.optimize.explanation.explain import explain, find_configuration
from gridtune.optimize.front.front import Front, front
from gridtune.optimize.records.evaluations import Archive, Failed
from gridtune.optimize.report.answer import answer
from gridtune.optimize.report.export import to_csv, to_dict
from gridtune.optimize.report.frame import frame
from gridtune.optimize.report.progress import progress_of
from gridtune.optimize.report.tables import listed
from gridtune.optimize.search_space.settings import Settings
from gridtune.optimize.studies.stored_study import NUMBER
from gridtune.optimize.studies.study import open_study
from gridtune.scenarios.api.experiment import Scenario, check_counts, processes_of
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.execution.prepare import log, prepare, workers
from gridtune.scenarios.results.files import write_json
from gridtune.scenarios.results.frames import as_html
from gridtune.scenarios.results.locks import own_folder
from gridtune.scenarios.results.text import WIDTH
from gridtune.scenarios.whole_files import replace_text
from gridtune.scenarios.workers.local_workers import interruptible

if TYPE_CHECKING:
    import optuna
    from matplotlib.figure import Figure
    from optuna.trial import FrozenTrial

PAGE, OVERVIEW = "front.html", "pairs.png"  # what a search leaves in its folder


@dataclass(frozen=True, repr=False, eq=False)
class Study:
    """A study holds the results of a search: `search` returns it, and `open_study` opens it again.

    Attributes:
        settings: the settings of the search: scenario, search space, objectives, sampler, seed, constraints.
        archive: every configuration and its estimates, as records.
        notes: notes of the search, or on the study as it was opened, a line each.

    Example:
        >>> import gridtune as gt
        >>> study = gt.search("diet/day-regular", budget=4, sampler="random", jobs=1)
        >>> study
        Study('diet/day-regular', 4 configurations, front of ... for unhappy_users, unfairness, completed)
    """

    settings: Settings
    archive: Archive
    notes: tuple[str, ...] = ()
    _trials: Mapping[int, FrozenTrial] = field(default_factory=dict, compare=False)

    @property
    def times(self) -> dict[int, tuple[datetime, datetime]]:
        """Say about when a worker took up each configuration, and when its last run ended, by number.

        Runs of the search count. Times are local, without a zone.

        Example:
            >>> len(study.times)
            4
        """
        return {
            number: (trial.datetime_start, trial.datetime_complete)
            for number, trial in self._trials.items()
            if trial.datetime_start is not None and trial.datetime_complete is not None
        }

    @property
    def failures(self) -> tuple[Failed, ...]:
        """List the configurations that could not be evaluated: `number`, `values` by path and `reason`.

        Example:
            >>> study.failures
            ()
        """
        return self.archive.failed

    @property
    def name(self) -> str:
        """Give the name of the study: that of the scenario, unless the search was given another.

        Example:
            >>> study.name
            'diet/day-regular'
        """
        return self.archive.study

    @property
    def scenario(self) -> Scenario:
        """Give the scenario that was searched, with the values of the baseline.

        Example:
            >>> study.scenario.spec.title
            'Day-time submissions with regular arrivals'
        """
        return Scenario.of(self.settings.scenario)

    @cached_property
    def details(self) -> Front:
        """Give the front as records: members, estimated means, posterior, hypervolumes, reference point.

        Example:
            >>> len(study.details.reference) == len(study.archive.objectives)
            True
        """
        return front(self.archive)

    @property
    def configurations(self) -> pd.DataFrame:
        """List the configurations, a row for each: first the baseline, the recommendations and the front.

        The index is the `number` of the configuration. Values are in the units of the metrics. Columns:

        - `name`: `baseline`, the letter of a recommendation, or the number.
        - `state`: `baseline`, `front`, `dominated`, `infeasible` or `failed`.
        - `on_front`, `feasible`: whether it is on the front, and whether it meets the constraints.
        - `OBJECTIVE`: the estimated mean, as every report shows it.
        - `OBJECTIVE_difference`, `_difference_low`, `_difference_high`: the difference from the baseline, and
          its 95 % interval.
        - `OBJECTIVE_search`, `OBJECTIVE_validated`: the plain means of the runs in the search and on
          validation seeds; `_se` (such as `OBJECTIVE_search_se`) is their standard error.
        - `METRIC<=BOUND`: for each constraint, its metric in the scenario nearest the bound.
        - `probability_non_dominated`: P: that no other configuration dominates it.
        - `replications`, `validation_replications`, `confirmation_replications`: the number of runs in the
          search, in validation, and in the comparison of baseline and recommendations.
        - `equivalents`: the number of other configurations that gave the same in every run.
        - `failure`: why it could not be evaluated; else "".
        - the parameters by path (missing where one does not exist).
        - all other metrics by name: plain means of the runs in the search.

        Example:
            >>> len(study.configurations), study.configurations["completed"].dtype
            (4, dtype('float64'))
        """
        return self._configurations.copy()

    @cached_property
    def _configurations(self) -> pd.DataFrame:
        return frame(self.details)

    @property
    def evaluations(self) -> pd.DataFrame:
        """Deprecated: the former name of `configurations`."""
        warnings.warn(
            "Study.evaluations is now called Study.configurations; version 0.4.0 removes the old name",
            FutureWarning,
            stacklevel=2,
        )
        return self.configurations

    @cached_property
    def front(self) -> pd.DataFrame:
        """List the configurations on the Pareto front, with the columns of `configurations`.

        If several gave the same in every run, one is shown, and `equivalents` counts the others.

        Example:
            >>> bool(study.front["on_front"].all())
            True
        """
        return frame(self.details, [row for row in listed(self.details) if row.on_front])

    @property
    def hypervolume(self) -> float:
        """Compute the hypervolume that the front dominates, by estimated means, up to `details.reference`.

        Its unit is the product of the units of the objectives.

        Example:
            >>> study.hypervolume > 0
            True
        """
        return self.details.hypervolume

    @property
    def best_trials(self) -> list[FrozenTrial]:
        """List the configurations on the front as Optuna's trials, in the order of `front`.

        `to_optuna().best_trials` may hold others: Optuna goes by the plain means of the search.

        Example:
            >>> [trial.number for trial in study.best_trials] == study.front.index.tolist()
            True
        """
        known = {trial.user_attrs[NUMBER]: trial for trial in self.to_optuna().trials}
        return [known[number] for number in self.front.index]

    def to_optuna(self) -> optuna.Study:
        """Convert to a study of Optuna, for its plots and importances.

        Returns:
            A study in memory with a trial for each configuration. Its values are the plain means of the runs
            in the search, in the units of the objectives. A trial starts when a worker takes up its
            configuration, and completes when its last run in the search ends.

        Example:
            >>> len(study.to_optuna().trials)
            4
        """
        numbers = [one.number for one in self.archive.evaluations] + [one.number for one in self.failures]
        with open_study(None, self.name, self.settings) as made:
            made.study.add_trials(self._trials[number] for number in sorted(numbers))
        return made.study

    def trials_dataframe(self, **columns: Any) -> pd.DataFrame:
        """Make the data frame that `optuna.Study.trials_dataframe` makes.

        Args:
            **columns: `attrs` and `multi_index`, as in Optuna.

        Returns:
            A frame with a row for each configuration and Optuna's columns: `number`, `values_OBJECTIVE`
            (`value_OBJECTIVE` for a single one), `datetime_start` and `datetime_complete` (local time),
            `duration`, `params_PATH`, `user_attrs_…` and `state`.

        Example:
            >>> "values_completed" in study.trials_dataframe().columns
            True
        """
        return self.to_optuna().trials_dataframe(**columns)

    @cached_property
    def recommendations(self) -> pd.DataFrame:
        """List the recommended configurations, with the columns of `configurations`.

        The index is the letter of the recommendation, `A`, `B`, …; the frame is empty if there are none.

        Example:
            >>> study.recommendations.index.name
            'name'
        """
        table = self._configurations
        return table[table["name"].str.fullmatch("[A-Z]")].reset_index().set_index("name")

    @property
    def summary(self) -> str:
        """Say what to change, and what that gains and costs, as `gridtune search` prints it.

        Example:
            >>> print(study.summary)
            diet/day-regular: 4 configurations, ...
        """
        return answer(self.details, WIDTH, study=None)

    def at(self, configuration: int | str) -> Scenario:
        """Set the values of a configuration in the scenario.

        Args:
            configuration: the number of a configuration, the letter of a recommendation, or `baseline`.

        Returns:
            The scenario with these values, to be run or changed further.

        Raises:
            ScenarioError: there is no such configuration.

        Example:
            >>> study.at("baseline").run(seed=2)["completed"] > 0
            True
        """
        return self.scenario.override(find_configuration(self.details, str(configuration)).entry.values)

    def plot(self, kind: str = "pairs", *, out: Path | str | None = None) -> Figure:
        """Draw the front.

        Args:
            kind: the picture: `pairs`, `parallel`, `parameters` or `history`.
            out: a file to write as well (png, svg, pdf).

        Returns:
            A figure of Matplotlib, which notebooks show.

        Raises:
            ScenarioError: there is no such picture, the front is empty, or the file cannot be written.

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
        """Write the front to a folder as JSON, CSV, a page and an overview picture.

        Args:
            out: the folder, which is made if need be.

        Returns:
            The path of the folder.

        Raises:
            ScenarioError: a file cannot be written, or the folder has files of others.

        Example:
            >>> import tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     (study.save(folder) / "front.csv").is_file()
            True
        """
        folder, found = own_folder(out), self.details
        write_json(folder / "front.json", to_dict(found))
        replace_text(folder / "front.csv", to_csv(found))
        if found.members:
            from gridtune.optimize.report.pictures.draw import save

            for name in (PAGE, OVERVIEW):
                try:
                    save(found, folder / name)
                except ScenarioError:
                    raise
                except Exception as error:  # a search survives a failed picture
                    why = " ".join(f"{type(error).__name__}: {error}".split())
                    again = f"({why}); the search with --resume tries again"
                    log.warning(f"note: {folder / name} was not drawn {again}")
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
        """Explain a configuration: its gains and costs, and the settings behind them.

        Args:
            configuration: the number of a configuration, `baseline`, or the letter of a recommendation.
            replications: the number of validation runs per configuration; as for the front if left out.
            ablate: whether to put its settings back one by one.
            jobs: the number of worker processes; all cores if left out.
            dask: the address of the scheduler of a Dask cluster to run on instead.
            progress: whether to report progress on standard error; left out: on a terminal and in a notebook.

        Returns:
            The explanation, in words (`text`) and as frames (`changes`, `ablations`).

        Raises:
            ScenarioError: there is no such configuration, or it cannot be run.

        Example:
            >>> why = study.explain("baseline", replications=2, ablate=False, jobs=1)
            >>> why.changes.index.name
            'metric'
        """
        processes = processes_of(jobs)
        if replications is not None:
            check_counts(replications=replications)
        row = find_configuration(self.details, str(configuration))  # before traces are read
        cases = [case.scenario for case in self.settings.run_in]
        for case in cases:
            prepare(case)
        with interruptible(), workers(processes, dask, *cases) as pool:
            made = explain(
                row, self.settings, replications=replications, ablate=ablate, pool=pool,
                progress=progress_of(progress),
            )  # fmt: skip
            return Explained(made)

    def __repr__(self) -> str:
        count = len(self.archive.evaluations) + len(self.archive.failed)
        names = ", ".join(one.name for one in self.archive.objectives)
        return (
            f"Study({self.name!r}, {count} configurations, front of {len(self.details.on_front)} for {names})"
        )

    def _repr_html_(self) -> str:
        some = frame(self.details, listed(self.details))
        return as_html(self.archive.heading, self.summary.splitlines(), some)
