"""Searches from Python and from the command line: run one, open one, look at what it found."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from html import escape
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gridtune.optimize.explanation.changes import Change
from gridtune.optimize.explanation.explain import Explanation, explain, find_point
from gridtune.optimize.explanation.report import told
from gridtune.optimize.front.export import summary, to_csv, to_dict
from gridtune.optimize.front.front import Front, front
from gridtune.optimize.front.tables import advice_frame, evaluations_frame, front_frame
from gridtune.optimize.progress import reporter
from gridtune.optimize.records.evaluations import Archive, Failed
from gridtune.optimize.replication.listener import Progress
from gridtune.optimize.search import search as search_space
from gridtune.optimize.search_space.settings import Settings
from gridtune.optimize.study.study import StoredStudy, load
from gridtune.scenarios.document import scenario as documents
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.execution.experiment import Scenario, check_counts
from gridtune.scenarios.execution.local_workers import sigterm_as_interrupt
from gridtune.scenarios.execution.prepare import log, prepare, workers
from gridtune.scenarios.execution.variations import Variations, as_texts
from gridtune.scenarios.results.files import replace, writable_folder, write_json
from gridtune.scenarios.results.frames import as_html

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class Study:
    """What a search has found: `search` gives it, and `open_study` finds it again.

    Attributes:
        settings: what was searched, and how.
        archive: every evaluation, as records.
        failures: points that could not be evaluated, and why.
        notes: what to know of how it was kept, a line each: a search that has not ended, what was salvaged.

    Example:
        >>> import gridtune as gt
        >>> study = gt.search("diet/day-regular", budget=4, sampler="random", jobs=1)
        >>> study
        Study('diet/day-regular', 4 evaluations, front of ... for unhappy_users, unfairness, completed)
    """

    settings: Settings
    archive: Archive
    failures: tuple[Failed, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Of the study; that of the scenario unless it was given another."""
        return self.archive.study

    @property
    def scenario(self) -> Scenario:
        """What was searched, with the values of today."""
        return Scenario.of(self.settings.scenario)

    @cached_property
    def details(self) -> Front:
        """The front with all that is known of it: bootstrap, hypervolumes, reference point."""
        return front(self.archive)

    @cached_property
    def evaluations(self) -> pd.DataFrame:
        """A row for each evaluated point, by `number`.

        Columns: the values that were set, by path (missing where a parameter does not exist at the point);
        each objective and `OBJECTIVE_se`, its standard error, on the seeds of the search; the same on fresh
        seeds, `OBJECTIVE_validated` and `OBJECTIVE_validated_se`, where there are any; the means of all other
        metrics; `replications` and `fresh_replications`; `feasible`, whether it keeps the constraints;
        `on_front`; and `failure`, why it could not be evaluated. Units are those of the metrics.

        Example:
            >>> len(study.evaluations), study.evaluations["completed"].dtype
            (4, dtype('float64'))
        """
        return evaluations_frame(self.details, self.failures)

    @cached_property
    def front(self) -> pd.DataFrame:
        """A row for each member of the front, by `number`, the best first.

        Columns as those of `evaluations`, and `non_dominated` (on fresh seeds, if there are any) with its
        probability, `probability_non_dominated`.
        """
        return front_frame(self.details)

    @cached_property
    def recommendations(self) -> pd.DataFrame:
        """A row for each recommended point, by `name`: its `number`, values, objectives and the `reason`."""
        return advice_frame(self.details)

    @property
    def summary(self) -> list[str]:
        """What to know of the front, a sentence each."""
        return summary(self.details)

    def at(self, point: int | str) -> Scenario:
        """The scenario as a point of the search sets it, to be run or changed further.

        Args:
            point: number of an evaluation, or name of a recommendation, e.g. `compromise`.

        Raises:
            ScenarioError: there is none.

        Example:
            >>> study.at("compromise").run(seed=2)["completed"] > 0
            True
        """
        evaluation, _ = find_point(self.details, str(point))
        return self.scenario.override(evaluation.values)

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
        from gridtune.optimize.visualization import draw
        from gridtune.scenarios.plots import save

        drawing = draw(self.details, kind)
        if out is not None:
            save(drawing, out)
        return drawing

    def save(self, out: Path | str) -> Path:
        """Write the front to a folder in every form (JSON, CSV, a page, pictures), and return the folder.

        Raises:
            ScenarioError: a file cannot be written.
        """
        folder, found = writable_folder(Path(out)), self.details
        write_json(folder / "front.json", to_dict(found))
        replace(folder / "front.csv", lambda path: path.write_text(to_csv(found), encoding="utf-8"))
        if found.members:
            from gridtune.optimize.visualization import PLOTS, save

            # Pictures go to files: no display is needed, and none must be looked for.
            os.environ.setdefault("MPLBACKEND", "Agg")
            for name, kind in (("front.html", "pairs"), *((f"{kind}.png", kind) for kind in PLOTS)):
                try:
                    save(found, folder / name, kind)
                except ScenarioError:
                    raise
                except Exception as error:  # a picture is not worth the results of a search
                    why = " ".join(f"{type(error).__name__}: {error}".split())
                    log.warning(
                        f"note: {folder / name} was not drawn ({why}); "
                        f"`gridtune front {folder} --plot {name}` tries again"
                    )
        return folder

    def explain(
        self,
        point: int | str,
        *,
        replications: int | None = None,
        ablate: bool = True,
        jobs: int | None = None,
        dask: str | None = None,
        progress: bool | None = None,
    ) -> Explained:
        """Why a point: what it gains and pays, and which of its settings do it, on fresh seeds.

        Args:
            point: number of an evaluation, or name of a recommendation, e.g. `compromise`.
            replications: fresh runs per point; as many as the front has if left out.
            ablate: whether to put its settings back one by one.
            jobs: worker processes; all cores if left out.
            dask: address of the scheduler of a Dask cluster to run on instead.
            progress: whether to say on standard error how far it is; on a terminal only if left out.

        Raises:
            ScenarioError: there is no such point, or it cannot be run.

        Example:
            >>> why = study.explain("compromise", replications=2, ablate=False, jobs=1)
            >>> why.changes.index.name
            'metric'
        """
        find_point(self.details, str(point))  # before traces are read
        cases = [case.scenario for case in self.settings.run_in]
        for case in cases:
            prepare(case)
        heard = _progress(progress)
        try:
            with sigterm_as_interrupt(), workers(jobs or os.cpu_count() or 1, dask, *cases) as pool:
                return Explained(
                    explain(
                        StoredStudy(self.settings, self.archive, self.failures),
                        str(point),
                        replications=replications,
                        ablate=ablate,
                        pool=pool,
                        progress=heard,
                    )
                )
        finally:
            heard.finish()

    def __repr__(self) -> str:
        count = len(self.archive.evaluations)
        names = ", ".join(one.name for one in self.archive.objectives)
        return f"Study({self.name!r}, {count} evaluations, front of {len(self.details.kept)} for {names})"

    def _repr_html_(self) -> str:
        return as_html(self.archive.heading, self.summary, self.front)


class Explained:
    """Why a point, in words and as tables; `print` shows the words.

    Attributes:
        details: the explanation with all that stands behind it.

    Example:
        >>> import gridtune as gt
        >>> study = gt.search("diet/day-regular", budget=4, sampler="random", jobs=1)
        >>> why = study.explain("compromise", replications=2, jobs=1)
        >>> why
        Explained(point ... of 'diet/day-regular')
        >>> why.text.splitlines()[0]
        'Point ... of diet/day-regular'
    """

    def __init__(self, details: Explanation) -> None:
        self.details = details

    @property
    def text(self) -> str:
        """The explanation in words, as `gridtune explain` prints it."""
        return told(self.details)

    @cached_property
    def changes(self) -> pd.DataFrame:
        """What the point changes against the scenario as it stands, a row for each objective.

        `start` and `to` are means over paired fresh replications, `difference` is `to` minus `start`, `low`
        and `high` its 95 % interval, all in the `unit` of the metric; `better` says whether that is good, and
        `verdict` how sure it is.
        """
        import pandas as pd

        rows = [(c.metric.name, *_change(c)) for c in self.details.changes]
        return pd.DataFrame(rows, columns=["metric", *CHANGE]).set_index("metric")

    @cached_property
    def ablations(self) -> pd.DataFrame:
        """What putting back each setting alone changes, a row for each setting (`path`) and objective."""
        import pandas as pd

        rows = [
            (one.removal.path, c.metric.name, *_change(c))
            for one in self.details.ablations or ()
            for c in one.changes
        ]
        return pd.DataFrame(rows, columns=["path", "metric", *CHANGE]).set_index(["path", "metric"])

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Explained(point {self.details.evaluation.number} of {self.details.front.archive.study!r})"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.text)}</pre>"


CHANGE = ("start", "to", "difference", "low", "high", "better", "verdict", "unit")


def _change(one: Change) -> tuple[Any, ...]:
    gap = one.difference
    bounds = (nan if bound is None else bound for bound in (gap.low, gap.high))
    return one.start, one.to, gap.mean, *bounds, one.better, gap.verdict, one.metric.unit


def search(
    scenario: documents.Scenario | str | Path,
    *,
    budget: int = 100,
    vary: Variations = (),
    objectives: Sequence[str] = (),
    require: Sequence[str] = (),
    sampler: str = "auto",
    replications: int | None = None,
    max_replications: int | None = None,
    seed: int = 1,
    others: Sequence[documents.Scenario | str | Path] = (),
    seeds: Sequence[int] = (),
    robust: str | None = None,
    allow_loss: bool | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    out: Path | str | None = None,
    storage: str | None = None,
    study: str | None = None,
    resume: bool = False,
    progress: bool | None = None,
) -> Study:
    """Search a scenario's parameters for the best trade-offs.

    Args:
        scenario: what `load` gave, or the name or file of a scenario.
        budget: points to evaluate, earlier parts of a resumed search included.
        vary: by dotted path a list of values or a tuple `(low, high)` or `(low, high, "log")`, added to the
            scenario's own search space or put in its place. Or texts as on the command line.
        objectives: metrics to trade off, one's own included; those of the scenario if left out.
        require: constraints, `METRIC<=NUMBER` or with `>=`, `<` or `>`; those of the scenario if left out.
        sampler: `auto` or a name; `gridtune search X --sampler list` prints them.
        replications: runs of every point at first, on the same workloads for all points; the scenario's
            number if left out, or 1.
        max_replications: runs of a point whose membership of the front is uncertain.
        seed: of workloads and sampler, non-negative.
        others: further scenarios in which every point is evaluated, too.
        seeds: of workloads in which every point is evaluated.
        robust: how an objective sums up several scenarios or seeds: `mean`, `worst` or `quantile:SHARE`.
        allow_loss: whether points may lose more mandatory work than the scenario as it stands; if left out
            what the scenario says.
        jobs: worker processes; all cores if left out. They do not change the result.
        dask: address of the scheduler of a Dask cluster to run on instead.
        out: folder for the study and its front in every form; nothing is kept without it or `storage`.
        storage: URL of a database, or path of a journal file, that keeps the study.
        study: its name; that of the scenario if left out.
        resume: whether to go on with a study that exists.
        progress: whether to say on standard error how far it is; on a terminal only if left out.

    Raises:
        ScenarioError: what was asked for cannot be done; found before anything is computed or written.
        KeyboardInterrupt: what was finished is kept, if anything is.

    Example:
        >>> import gridtune as gt
        >>> study = gt.search("diet/day-regular", budget=4, sampler="random", jobs=1,
        ...                   vary={"sed.count": [5, 10]}, objectives=["completed", "unfairness"])
        >>> sorted(study.evaluations["sed.count"].unique().tolist())[0] >= 5
        True
    """
    found, further = Scenario.of(scenario), [Scenario.of(other) for other in others]
    texts = as_texts(vary)
    processes = jobs or os.cpu_count() or 1
    check_counts(budget=budget, jobs=processes)
    for one in (found, *further):
        prepare(one)
    folder = None if out is None else Path(out)
    with ExitStack() as holding, workers(processes, dask, found, *further) as pool:
        result = search_space(
            found,
            budget=budget,
            sampler=sampler,
            replications=replications,
            max_replications=max_replications,
            seed=seed,
            objectives=objectives,
            vary=texts,
            require=require,
            others=further,
            seeds=seeds,
            robust=robust,
            allow_loss=allow_loss,
            out=folder,
            storage=storage,
            study=study,
            resume=resume,
            pool=pool,
            progress=_progress(progress),
            holding=holding,
        )
        made = Study(result.settings, result.archive, result.failures)
        if folder is not None:
            made.save(folder)
    return made


def open_study(study: Path | str, name: str | None = None, *, salvage: bool = False) -> Study:
    """The study that a search has kept.

    Args:
        study: a search's folder, a journal file, or the URL of a storage.
        name: of the study, where the storage holds several.
        salvage: whether to take what is whole of a damaged study.

    Raises:
        ScenarioError: there is no such study, or several to choose from, or it is damaged.

    Example:
        >>> import tempfile
        >>> import gridtune as gt
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     kept = f"{folder}/journal.log"
        ...     _ = gt.search("diet/day-regular", budget=4, sampler="random", jobs=1, storage=kept)
        ...     len(gt.open_study(kept).evaluations)
        4
    """
    kept = load(study, name, salvage=salvage)
    return Study(kept.settings, kept.archive, kept.failures, kept.notes)


def _progress(wanted: bool | None) -> Progress:
    """Who hears how it goes."""
    return reporter() if wanted or (wanted is None and sys.stderr.isatty()) else Progress()
