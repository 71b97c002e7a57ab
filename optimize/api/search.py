"""Searches from Python and from the command line: run one, or open one that was kept."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from gridtune.optimize.api.search_result import Study
from gridtune.optimize.budget import Budget, seconds_of
from gridtune.optimize.progress import progress_of
from gridtune.optimize.search import search as search_space
from gridtune.optimize.study.study import load
from gridtune.scenarios.api.experiment import Scenario, check_counts
from gridtune.scenarios.document import scenario as documents
from gridtune.scenarios.execution.prepare import prepare, workers
from gridtune.scenarios.execution.variations import Variations, as_texts


def search(
    scenario: documents.Scenario | str | Path,
    *,
    budget: int | None = None,
    runs: int | None = None,
    time: float | str | None = None,
    converged: bool = False,
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
    start: Sequence[Mapping[str, Any]] = (),
    jobs: int | None = None,
    dask: str | None = None,
    out: Path | str | None = None,
    storage: str | Path | None = None,
    study: str | None = None,
    resume: bool = False,
    progress: bool | None = None,
) -> Study:
    """Search a scenario's parameters for the best trade-offs.

    Args:
        scenario: what `load` gave, or the name or file of a scenario.
        budget: points to evaluate, today's setting and earlier parts of a resumed search included; 100 if
            nothing else says where the search ends. Of several limits the first that is met counts.
        runs: simulations in all, those on fresh seeds included.
        time: how long it may take, in seconds or as text (`10m`, `1.5h`).
        converged: whether it ends when nothing changes, see `optimize.convergence`.
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
        start: settings to evaluate after today's, values by path; what one leaves out is as today.
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
    check_counts(jobs=processes)
    limits = Budget.of(budget, runs, seconds_of(time) if isinstance(time, str) else time, converged)
    for one in (found, *further):
        prepare(one)
    folder = None if out is None else Path(out)
    with ExitStack() as holding, workers(processes, dask, found, *further) as pool:
        result = search_space(
            found,
            budget=limits,
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
            start=start,
            out=folder,
            storage=storage,
            study=study,
            resume=resume,
            pool=pool,
            progress=progress_of(progress),
            holding=holding,
        )
        made = Study(result.settings, result.archive)
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
    return Study(kept.settings, kept.archive, kept.notes)
