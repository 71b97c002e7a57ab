"""Searches from Python and from the command line: run one, or open one that was kept."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any

from gridtune.optimize.api.search_result import Study
from gridtune.optimize.config import SearchConfig
from gridtune.optimize.report.progress import progress_of
from gridtune.optimize.runs.stored import load
from gridtune.optimize.search import search as search_space
from gridtune.scenarios.api.experiment import Scenario, processes_of
from gridtune.scenarios.document import scenario as documents
from gridtune.scenarios.document.trust import plugins_allowed
from gridtune.scenarios.execution.prepare import prepare, workers
from gridtune.scenarios.execution.variations import Variations, as_texts


def search(
    scenario: documents.Scenario | str | Path,
    *,
    jobs: int | None = None,
    dask: str | None = None,
    progress: bool | None = None,
    vary: Variations = (),
    others: Sequence[documents.Scenario | str | Path] = (),
    **fields: Any,
) -> Study:
    """Search a scenario's parameters for the best trade-offs.

    Args:
        scenario: a scenario, or the name or file of one.
        jobs: the number of worker processes; all cores if left out. It does not change the result.
        dask: the address of the scheduler of a Dask cluster to run on instead.
        progress: whether to report progress on standard error; left out: on a terminal and in a notebook.
        vary: by dotted path a list of values or a tuple `(low, high)` or `(low, high, "log")`, which add to
            the scenario's own search space or replace parts of it. Or texts as on the command line.
        others: additional scenarios that every configuration runs in.
        **fields: all other settings, by name, such as `budget` (configurations), `runs`, `time` (s),
            `objectives`, `require`, `sampler`, `replications`, `seed` and `out`. A table of the reference
            (below) has types, limits and defaults.

    Returns:
        The study: its frames `configurations` and `front` have a row for each configuration.

    Raises:
        ScenarioError: a setting is not possible; it is raised before anything is computed or written.
        KeyboardInterrupt: the search was interrupted; a study in `out` or `storage` keeps what was finished.

    Example:
        >>> import gridtune as gt
        >>> study = gt.search("diet/day-regular", budget=4, sampler="random", jobs=1,
        ...                   vary={"sed.count": [5, 10]}, objectives=["completed", "unfairness"])
        >>> sorted(study.configurations["sed.count"].unique().tolist())[0] >= 5
        True
    """
    others = [others] if isinstance(others, str | Path | documents.Scenario) else others
    found, further = Scenario.of(scenario), [Scenario.of(other) for other in others]
    processes = processes_of(jobs)
    config = SearchConfig.of(vary=as_texts(vary), others=tuple(further), **fields)
    for one in (found, *further):
        prepare(one)
    with ExitStack() as holding, workers(processes, dask, found, *further) as pool:
        result = search_space(found, config, pool=pool, progress=progress_of(progress), holding=holding)
        made = Study(result.settings, result.archive, result.notes, result.trials)
        if config.out is not None:
            made.save(config.out)
    return made


def open_study(
    study: Path | str,
    name: str | None = None,
    *,
    skip_broken: bool = False,
    allow_plugins: bool | None = None,
) -> Study:
    """Open the study that a search has kept, to read it.

    Args:
        study: the folder of a search, a journal file, or the URL of a storage.
        name: the name of the study, where the storage holds several.
        skip_broken: whether to pass over broken lines of the table of runs.
        allow_plugins: whether the Python files that its scenario names may run, beside those that are trusted
            anyway; left out, as the program or a surrounding block allows.

    Returns:
        The study as `search` returned it, or as far as the search has come.

    Raises:
        ScenarioError: there is no such study, or several to choose from, or it is damaged.

    Example:
        >>> import tempfile
        >>> import gridtune as gt
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     kept = f"{folder}/study.journal"
        ...     _ = gt.search("diet/day-regular", budget=4, sampler="random", jobs=1, storage=kept)
        ...     len(gt.open_study(kept).configurations)
        4
    """
    with nullcontext() if allow_plugins is None else plugins_allowed(allow_plugins):
        kept = load(study, name, skip_broken=skip_broken)
    return Study(kept.settings, kept.archive, kept.notes, kept.trials)
