"""Scenarios that can be run: the way in from Python, and what `gridtune run` does."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from multiprocessing import current_process
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from gridtune.scenarios.api.run_result import Result, unfinished
from gridtune.scenarios.document import scenario as documents
from gridtune.scenarios.document.paths import by_path
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.execution.prepare import log, prepare, workers
from gridtune.scenarios.execution.replicate import Metrics, Task, replicate
from gridtune.scenarios.execution.size import tell_size
from gridtune.scenarios.results.files import tables
from gridtune.scenarios.results.frames import as_html
from gridtune.scenarios.results.locks import results_folder
from gridtune.scenarios.simulation.simulate import simulate

if TYPE_CHECKING:
    import pandas as pd


class Scenario(documents.Scenario):
    """A scenario is what `load` gives: it was checked, and you can change and run it.

    Attributes:
        name: the name of a shipped scenario, such as `diet/day-regular`, or the path of the file.
        document: the tables of the file as nested dicts, with overrides applied.
        base: the folder that files named in the document are relative to.
        allow_plugins: whether the Python files that it names may run, beside those that are trusted anyway.
        pinned: SHA-256 of Python files by name; a file with another checksum does not run.

    Example:
        >>> import gridtune as gt
        >>> scenario = gt.load("diet/day-regular")
        >>> scenario, scenario.spec.title
        (Scenario('diet/day-regular'), 'Day-time submissions with regular arrivals')
    """

    @classmethod
    def of(cls, scenario: documents.Scenario | str | Path) -> Self:
        """Make a `Scenario` of a scenario, or of the name or file of one.

        Args:
            scenario: a scenario, the name of a shipped one, or the path of a TOML file or of a manifest.

        Returns:
            The scenario, unchanged if it is a `gt.Scenario` already.

        Raises:
            ScenarioError: there is no such scenario, or it is not valid.

        Example:
            >>> gt.Scenario.of("diet/day-regular") == scenario
            True
        """
        found = scenario if isinstance(scenario, documents.Scenario) else documents.load(scenario)
        if isinstance(found, cls):
            return found
        return cls(**{field.name: getattr(found, field.name) for field in fields(found)})

    def override(self, values: Mapping[str, Any] | None = None, /, **keywords: Any) -> Self:
        """Set a value at each path, and check the scenario that results.

        Args:
            values: values by dotted path; an array's table is named by its `name`, or `*` for all.
            **keywords: further values, with `__` for each dot: `client__n_submit=100`.

        Returns:
            A scenario with these values; this one does not change.

        Raises:
            ScenarioError: a path or a value does not fit; `faults` names every one.

        Example:
            >>> import gridtune as gt
            >>> changed = gt.load("diet/day-regular").override({"sed.count": 5}, client__dispatch="legacy")
            >>> changed.spec.sed[0].count
            5
        """
        return super().override(by_path(values, **keywords))

    def run(
        self,
        *,
        seed: int = 1,
        replications: int = 1,
        jobs: int = 1,
        events: bool = False,
        out: Path | str | None = None,
        dask: str | None = None,
        tables: bool = True,
    ) -> Result:
        """Simulate the scenario.

        Args:
            seed: the seed of all random numbers, non-negative; equal seeds give equal results, whatever
                `jobs`.
            replications: the number of runs, each on a workload of its own.
            jobs: the number of worker processes.
            events: whether to keep the table of events: every transition of every job.
            out: the folder for metrics, manifest and tables; nothing is written without it.
            dask: the address of a Dask scheduler, to run there instead of locally.
            tables: whether to keep the tables; without them there are metrics only, for less memory.

        Returns:
            The result: metrics of every replication, and their tables if they are kept.

        Raises:
            ScenarioError: a number makes no sense, the folder cannot be written, or a run fails.

        Example:
            >>> import gridtune as gt
            >>> scenario = gt.load("diet/day-regular", workload__count=2)
            >>> scenario.run(seed=1, replications=2)["completed"] == scenario.run(replications=2)["completed"]
            True
        """
        check_counts(replications=replications, jobs=jobs)
        check_seed(seed)
        seed, replications, jobs = int(seed), int(replications), int(jobs)  # NumPy's, too
        tell_size(self, replications, jobs)
        prepare(self)
        replaced = out is not None and Path(out, "manifest.json").exists()
        with workers(min(jobs, replications), dask, self) as pool, results_folder(out) as folder:
            if replaced:
                log.warning("note: %s: replaces what an earlier command wrote there", out)
            if tables or folder is not None:
                kept = replicate(self, seed, replications, pool, partial(kept_run, events=events))
                metrics, kept_tables = [run.metrics for run in kept], [run.tables for run in kept]
            else:
                metrics, kept_tables = replicate(self, seed, replications, pool), []
            result = Result(self, seed, metrics, kept_tables, folder)
            for note in unfinished(metrics):
                log.info(note)
            if folder is not None:
                result.save(folder)
        return result

    def _repr_html_(self) -> str:
        spec = self.spec
        source = f"Source: {spec.source}" if spec.source else ""
        return as_html(self.name, [spec.title, spec.description.strip(), source], self._searched())

    def _searched(self) -> pd.DataFrame | None:
        """What a search would vary, for a notebook."""
        import pandas as pd

        if not self.spec.searching.space:
            return None
        rows = {path: [str(values)] for path, values in self.document["search"]["space"].items()}
        table = pd.DataFrame.from_dict(rows, orient="index", columns=["searched"])
        return table.rename_axis("path")


def load(
    name: str | Path | Scenario,
    values: Mapping[str, Any] | None = None,
    /,
    *,
    allow_plugins: bool | None = None,
    **keywords: Any,
) -> Scenario:
    """Load a shipped scenario by its name, or the scenario of a TOML file or of the manifest of a run.

    Args:
        name: the name of a shipped scenario, such as `diet/day-regular`, or the path of a file;
            `gridtune scenarios` lists the names. A scenario is taken as it is.
        values: values to set, by dotted path: `{"middleware.update_period": 60}`.
        allow_plugins: whether the Python files that it names may run, beside those that `gridtune trust` has
            allowed; left out: not, unless the command allows it (`--allow-plugins`).
        **keywords: further values, with `__` for each dot: `middleware__update_period=60`.

    Returns:
        The scenario with the values set, checked.

    Raises:
        ScenarioError: there is no such scenario, it is not valid, or a value does not fit; `faults` names
            every fault.

    Example:
        >>> import gridtune as gt
        >>> gt.load("dirac/search", {"middleware.update_period": 60}).name
        'dirac/search'
        >>> gt.load("diet/day-regulr")
        Traceback (most recent call last):
        gridtune.scenarios.errors.ScenarioError: diet/day-regulr: no such scenario or file; did you mean ...
    """
    known = name if isinstance(name, Scenario) else documents.load(name, allow_plugins=allow_plugins)
    return Scenario.of(known).override(values, **keywords)


class Kept(NamedTuple):
    """A run of which everything is kept."""

    metrics: Metrics
    tables: dict[str, pd.DataFrame]


def kept_run(task: Task, events: bool) -> Kept:
    """Simulate, and keep metrics and tables."""
    run = simulate(task.resolved(), task.seed, task.replication, keep_events=events)
    return Kept(run.metrics, tables(run))


def check_counts(**counts: int) -> None:
    """Make sure that each is a whole number of at least 1.

    Raises:
        ScenarioError: one is not.
    """
    for name, count in counts.items():
        if not isinstance(count, Integral) or isinstance(count, bool) or count < 1:
            raise ScenarioError(f"{name} {count!r}: expected a whole number of at least 1")


def processes_of(jobs: int | None) -> int:
    """A number of worker processes; all cores if left out, but one in a worker of a multiprocessing pool.

    Raises:
        ScenarioError: it is no whole number of at least 1.
    """
    if jobs is None:
        return 1 if current_process().daemon else os.cpu_count() or 1
    check_counts(jobs=jobs)
    return jobs


def check_seed(seed: int) -> None:
    """Make sure that a seed is one.

    Raises:
        ScenarioError: it is not.
    """
    if not isinstance(seed, Integral) or isinstance(seed, bool) or seed < 0:
        raise ScenarioError(f"seed {seed!r}: expected a whole number from 0")
