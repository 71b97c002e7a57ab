"""Sweeps from Python and from the command line: every combination of values, as tables and pictures."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gridtune.scenarios.api.experiment import Scenario, check_counts, check_seed
from gridtune.scenarios.document import scenario as documents
from gridtune.scenarios.document.paths import doubles
from gridtune.scenarios.errors import ScenarioError, not_measured
from gridtune.scenarios.execution.prepare import log, prepare, workers
from gridtune.scenarios.execution.replicate import as_json, known_metrics
from gridtune.scenarios.execution.size import tell_size
from gridtune.scenarios.execution.sweep import grid, logarithmic_paths, parse_vary
from gridtune.scenarios.execution.sweep import sweep as run_configurations
from gridtune.scenarios.execution.variations import Variations, as_texts
from gridtune.scenarios.results.files import manifest, writable_folder, write_json
from gridtune.scenarios.results.frames import as_html, columns_of_values
from gridtune.scenarios.results.locks import results_folder

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

OBJECTIVES = ("unhappy_users", "unfairness", "completed")


@dataclass(frozen=True, repr=False)
class Sweep:
    """A sweep holds the metrics of every combination of the varied values.

    Attributes:
        scenario: the scenario that was run.
        seed: the seed of the experiment; all combinations run on the same workloads.
        vary: the varied paths and their values, each as `PATH=…`.
        objectives: the metrics that pictures and short tables show.
        outcomes: a dict for each combination, as in the JSON of `gridtune sweep`: `values` by path, `metrics`
            by name, and `failure` where it has none.

    Example:
        >>> import gridtune as gt
        >>> made = gt.sweep("diet/day-regular", {"workload.count": [1, 2]}, replications=2)
        >>> made
        Sweep('diet/day-regular', 2 configurations of workload.count)
        >>> list(made.configurations.columns[:3])
        ['workload.count', 'unhappy_users', 'unhappy_users_se']
    """

    scenario: documents.Scenario
    seed: int
    vary: Sequence[str]
    objectives: Sequence[str]
    outcomes: Sequence[Mapping[str, Any]]

    @property
    def paths(self) -> list[str]:
        """List the dotted paths of the varied parameters.

        Example:
            >>> made.paths
            ['workload.count']
        """
        return list(self.outcomes[0]["values"])

    @cached_property
    def configurations(self) -> pd.DataFrame:
        """List the configurations, a row for each combination of the varied values.

        Columns are the varied paths, and of each metric the mean and its standard error `METRIC_se` over the
        replications, in the `unit` of the frame `runs`. A configuration that failed has no metrics; then the
        column `failure` says why. The index counts rows from 0, the last path varying fastest.

        Example:
            >>> made.configurations.set_index("workload.count")["completed"].is_monotonic_increasing
            True
        """
        import pandas as pd

        columns = columns_of_values([configuration["values"] for configuration in self.outcomes], self.paths)
        for name in self._metrics():
            found = [configuration["metrics"].get(name, {}) for configuration in self.outcomes]
            columns[name] = [_number(one.get("mean")) for one in found]
            columns[f"{name}_se"] = [_number(one.get("standard_error")) for one in found]
        if any("failure" in configuration for configuration in self.outcomes):
            columns["failure"] = [configuration.get("failure") for configuration in self.outcomes]
        return pd.DataFrame(columns)

    @property
    def points(self) -> pd.DataFrame:
        """Deprecated: the former name of `configurations`."""
        warnings.warn(
            "Sweep.points is now called Sweep.configurations; version 0.4.0 removes the old name",
            FutureWarning,
            stacklevel=2,
        )
        return self.configurations

    @cached_property
    def runs(self) -> pd.DataFrame:
        """List the single runs, a row for each combination, replication and metric.

        The columns are the varied paths, `replication` (from 0), `metric`, `value` and its `unit`. The index
        has no meaning.

        Example:
            >>> list(made.runs.columns)
            ['workload.count', 'replication', 'metric', 'value', 'unit']
        """
        import pandas as pd

        rows = list(self._runs())
        columns = columns_of_values([values for values, *_ in rows], self.paths)
        for at, name in enumerate(("replication", "metric", "value", "unit"), start=1):
            columns[name] = [row[at] for row in rows]
        return pd.DataFrame(columns).astype({"metric": "category", "value": float, "unit": "category"})

    def plot(self, objectives: Sequence[str] = (), *, out: Path | str | None = None) -> Figure:
        """Draw metrics over the varied values, with bands of 95 % confidence.

        Args:
            objectives: the names of metrics, a panel each; those of the sweep if left out.
            out: a file to write as well (png, svg, pdf).

        Returns:
            A figure of Matplotlib, which notebooks show.

        Raises:
            ScenarioError: there is no such metric, or the file cannot be written.

        Example:
            >>> len(made.plot(["completed"]).axes)
            1
        """
        from gridtune.scenarios.plots import draw_sweep, save

        shown = _names(objectives) or self.objectives
        drawing = draw_sweep(self.outcomes, shown, logarithmic_paths(self.vary))
        if out is not None:
            save(drawing, out)
        return drawing

    def rows(self) -> list[dict[str, Any]]:
        """Give the combinations with the means of the objectives only.

        Returns:
            A dict for each combination: its values by path, and the mean of each objective by name.

        Example:
            >>> list(made.rows()[0])
            ['workload.count', 'unhappy_users', 'unfairness', 'completed']
        """
        return [
            configuration["values"]
            | {name: configuration["metrics"].get(name, {}).get("mean") for name in self.objectives}
            for configuration in self.outcomes
        ]

    def to_dict(self) -> dict[str, Any]:
        """Give the sweep as `gridtune sweep --format json` prints it.

        Returns:
            A dict with the name of the `scenario` and the `outcomes`, which are called `points` there.

        Example:
            >>> list(made.to_dict()), made.to_dict()["points"][0]["values"]
            (['scenario', 'points'], {'workload.count': 1})
        """
        return {"scenario": self.scenario.name, "points": list(self.outcomes)}

    def _metrics(self) -> list[str]:
        found = (name for configuration in self.outcomes for name in configuration["metrics"])
        return list(dict.fromkeys(found)) or list(self.objectives)

    def _runs(self) -> Iterator[tuple[Mapping[str, Any], int, str, float, str]]:
        for configuration in self.outcomes:
            for name, one in configuration["metrics"].items():
                for replication, value in enumerate(one["values"]):
                    yield configuration["values"], replication, name, _number(value), one["unit"]

    def __repr__(self) -> str:
        return (
            f"Sweep({self.scenario.name!r}, {len(self.outcomes)} configurations of {', '.join(self.paths)})"
        )

    def _repr_html_(self) -> str:
        shown = [*self.paths, *(c for name in self.objectives for c in (name, f"{name}_se"))]
        shown += ["failure"] if "failure" in self.configurations else []
        return as_html(
            f"{self.scenario.name}: {len(self.outcomes)} configurations", [], self.configurations[shown]
        )


def _names(objectives: Sequence[str]) -> Sequence[str]:
    """Names of metrics; one text is one of them."""
    return [objectives] if isinstance(objectives, str) else objectives


def sweep(
    scenario: documents.Scenario | str | Path,
    vary: Variations,
    *,
    seed: int = 1,
    replications: int = 1,
    jobs: int = 1,
    objectives: Sequence[str] = (),
    out: Path | str | None = None,
    plot: Path | str | None = None,
    dask: str | None = None,
) -> Sweep:
    """Run every combination of varied values, all with the same random numbers.

    Args:
        scenario: a scenario, or the name or file of one.
        vary: values by dotted path: a list of values, or a tuple `(low, high, count)` or
            `(low, high, count, "log")`. Or texts as on the command line, `PATH=V1,V2,…` or
            `PATH=LOW:HIGH:COUNT[:log]`.
        seed: the seed of all random numbers, non-negative.
        replications: the number of runs of each combination.
        jobs: the number of worker processes.
        objectives: the metrics to show; those of the scenario's search if left out.
        out: the folder for `sweep.json` and the manifest; nothing is written without it.
        plot: the file of a picture to draw (png, svg, pdf).
        dask: the address of a Dask scheduler, to run there instead of locally.

    Returns:
        The sweep: its `configurations` has a row for each combination, the last path varying fastest. One
        that fails does not stop the others, and has no metrics.

    Raises:
        ScenarioError: a value does not fit, a metric is not measured, or a file cannot be written.

    Example:
        >>> import gridtune as gt
        >>> made = gt.sweep("diet/day-regular", {"workload.count": [1, 2], "sed.speed": (1.0, 4.0, 3, "log")})
        >>> len(made.configurations)
        6
    """
    found = Scenario.of(scenario)
    texts = as_texts(vary)
    check_counts(replications=replications, jobs=jobs)
    check_seed(seed)
    seed, replications, jobs = int(seed), int(replications), int(jobs)  # NumPy's, too
    configurations = grid([parse_vary(text) for text in texts])
    for first, second in doubles(found.document, configurations[0]):
        raise ScenarioError(f"{first} and {second} lead to one value; vary one of them")
    tell_size(found, len(configurations) * replications, jobs)
    prepare(found)  # which also defines the metrics that only some scenarios have
    names = known_metrics(_names(objectives) or _objectives(found))
    if plot is not None:
        from gridtune.scenarios.plots import picture_format

        picture_format(plot)
        writable_folder(Path(plot).parent)
    made: list[dict[str, Any]] = [{} for _ in configurations]
    with (
        workers(min(jobs, len(configurations) * replications), dask, found) as pool,
        results_folder(out) as folder,
    ):
        done = run_configurations(found, configurations, seed, replications, pool)
        for index, configuration in done:
            metrics = as_json(configuration.metrics)
            _measured(names, metrics)
            made[index] = {"values": configuration.values, "metrics": metrics}
            if configuration.failure is not None:
                made[index]["failure"] = str(configuration.failure)
                log.warning("%s: %s", configuration.values, configuration.failure)
        result = Sweep(found, seed, texts, names, made)
        if folder is not None:
            about = manifest(found, seed, replications, folder)
            write_json(folder / "sweep.json", result.to_dict())
            write_json(folder / "manifest.json", {**about, "vary": list(texts)})
    if plot is not None:
        result.plot(out=plot)
    return result


def _objectives(scenario: Scenario) -> Sequence[str]:
    search = scenario.spec.search
    return OBJECTIVES if search is None else search.objectives


def _measured(names: Sequence[str], metrics: Mapping[str, Any]) -> None:
    """Stop at the first configuration that lacks a metric asked for (one that failed has none)."""
    missing = [name for name in names if metrics and name not in metrics]
    if missing:
        raise not_measured(missing[0], "this scenario", metrics)


def _number(value: float | None) -> float:
    return nan if value is None else value
