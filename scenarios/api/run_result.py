"""What running a scenario gives: metrics, tables, pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gridtune.plain_text import counted
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError, meant
from gridtune.scenarios.execution.replicate import Metrics, Summary, as_json, summarise
from gridtune.scenarios.results.files import manifest, write_run
from gridtune.scenarios.results.frames import as_html, joined
from gridtune.scenarios.results.locks import own_folder
from gridtune.scenarios.results.run import notes
from gridtune.scenarios.simulation.classes import by_class, classes_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

FEW = ("unhappy_users", "unfairness", "completed", "waiting_mean", "utilisation")  # of a short description


@dataclass(frozen=True, repr=False, eq=False)
class Result:
    """A result holds the metrics and tables of every replication that `Scenario.run` has simulated.

    `result["completed"]` is the mean of a metric over the replications, in its unit.

    Attributes:
        scenario: the scenario that was run, with the values that were set.
        seed: the seed of the experiment.
        runs: the metrics of each replication, by name.
        tables: the tables of each replication, by name, as they are written to a folder; empty if they were
            not kept.
        out: the folder to which the result was written; None if to none.

    Example:
        >>> import gridtune as gt
        >>> result = gt.load("diet/day-regular", workload__count=2).run(replications=3)
        >>> result
        Result('diet/day-regular', seed=1, replications=3: unhappy_users 0, unfairness 0.0054..., ...)
        >>> result["completed"], float(result.metrics.loc["completed", "standard_error"])
        (1077.0, 0.0)
    """

    scenario: Scenario
    seed: int
    runs: Sequence[Metrics]
    tables: Sequence[Mapping[str, pd.DataFrame]] = ()
    out: Path | None = None

    @property
    def replications(self) -> int:
        """Count the runs, one for each replication.

        Example:
            >>> result.replications
            3
        """
        return len(self.runs)

    @cached_property
    def summaries(self) -> dict[str, Summary]:
        """Summarise each metric, by name: `mean`, `standard_error`, `unit`, `values` of the replications.

        Example:
            >>> result.summaries["completed"].values
            (1077.0, 1077.0, 1077.0)
        """
        return summarise(self.runs)

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """List the metrics, a row for each: `mean` and `standard_error` over the replications, and `unit`.

        The index is the name of the metric. The standard error is nan for a single replication. The mean is
        nan where one replication has no value.

        Example:
            >>> result.metrics.loc["waiting_mean", "unit"]
            's'
        """
        import pandas as pd

        rows = [
            (one.mean, nan if one.standard_error is None else one.standard_error, one.unit)
            for one in self.summaries.values()
        ]
        index = pd.Index(list(self.summaries), name="metric")
        table = pd.DataFrame(rows, columns=["mean", "standard_error", "unit"], index=index)
        return table.astype({"mean": float, "standard_error": float, "unit": "category"})

    @cached_property
    def values(self) -> pd.DataFrame:
        """List the metrics of each replication: a row for each replication, a column for each metric.

        The index is `replication`, from 0. Units are those that `metrics` names.

        Example:
            >>> result.values.shape == (result.replications, len(result.metrics))
            True
        """
        import pandas as pd

        columns = {name: list(one.values) for name, one in self.summaries.items()}
        return pd.DataFrame(columns, index=pd.RangeIndex(self.replications, name="replication"))

    def __contains__(self, name: object) -> bool:
        """Whether the run measures a metric of this name."""
        return name in self.summaries

    def __iter__(self) -> Iterator[str]:
        """Go over the names of the metrics."""
        return iter(self.summaries)

    def keys(self) -> list[str]:
        """List the names of the metrics, so that `dict(result)` has their means.

        Returns:
            The names, in the order of `metrics`.

        Example:
            >>> dict(result)["completed"] == result["completed"]
            True
        """
        return list(self.summaries)

    def __getitem__(self, name: str) -> float:
        """Look up the mean of a metric over the replications.

        Args:
            name: the name of the metric, such as `completed`.

        Returns:
            The mean, in the unit of the metric.

        Raises:
            KeyError: the run does not measure this metric.
        """
        if name not in self.summaries:
            raise KeyError(f"{name}: not measured; {meant(str(name), self.summaries, 'see .metrics')}")
        return self.summaries[name].mean

    @cached_property
    def jobs(self) -> pd.DataFrame:
        """List the jobs, a row for each; the index has no meaning.

        `gt.Job` defines the columns. With several replications, the frame has the jobs of all.

        - `id`, `user`, `group`, `kind`, `mandatory`, `priority`, `site`, `node`, `processors`, `state`.
        - `submit`, `queued`, `start`, `end`, `deadline`: times, s (nan: never).
        - `runtime`, `estimate`: the actual and the promised run time, s at speed 1.
        - `kills`, `wasted`: the number of kills, and the slot-seconds lost by them.
        - `qos`, `log_id`: the QOS and the number of the job in a log, if the log has them.
        - `replication`: the index of the replication, from 0, if there are several.

        Example:
            >>> jobs = result.jobs
            >>> bool((jobs.end - jobs.start).max() > 0), str(jobs.state.dtype)
            (True, 'category')
        """
        return self.table("jobs")

    @cached_property
    def users(self) -> pd.DataFrame:
        """List the users, a row for each; the index has no meaning.

        - `user`: the name; with several replications, `replication` (from 0) as well.
        - `jobs`, `completed`, `lost_jobs`, `mandatory_failed`: numbers of jobs.
        - `lost_work`: the work of lost jobs, slot-seconds at speed 1.
        - `unhappy`: whether some mandatory work of the user failed.
        - `allocated`, `deserved`: the work that the user got and should get, slot-seconds at speed 1, unless
          the scenario's `[metrics]` says otherwise.
        - `satisfaction`: `allocated` over `deserved`; 1 is ideal.
        - `waiting_mean`, `response_mean`: mean times of mandatory jobs, s.
        - `slowdown_mean`: the mean bounded slow-down of mandatory jobs, without unit.

        Example:
            >>> int(result.users["jobs"].sum()) > 0
            True
        """
        return self.table("users")

    @cached_property
    def classes(self) -> pd.DataFrame:
        """List the classes of jobs, a row for each user and `class`, with the columns of `users`.

        There is neither `deserved` nor `satisfaction`. Means are those of the jobs of the class. The frame is
        empty if all jobs are of one class; the index has no meaning.

        Example:
            >>> sorted(result.classes["class"].unique())
            ['mandatory', 'optional']
        """
        return self.table("classes")

    @cached_property
    def signals(self) -> pd.DataFrame:
        """List the sampled signals, a row for each sample: `time` (s), `name` and `value` of the signal.

        The unit is that of the signal. With several replications there is a column `replication`, from 0;
        the index has no meaning.

        Example:
            >>> signals = result.signals.query("replication == 0")
            >>> wide = signals.pivot(index="time", columns="name", values="value")
            >>> list(wide.columns)
            ['sed.running', 'sed.waiting']
        """
        return self.table("signals")

    def table(self, name: str) -> pd.DataFrame:
        """Look up a table by name.

        Args:
            name: `jobs`, `users`, `classes`, `signals`, `stays`, `messages`, `pilots` or, if they were kept,
                `events`.

        Returns:
            A frame with the rows of all replications; with several there is a column `replication`. Times
            are in s. Columns of `stays`: `user`, `entry`, `deadline`, `demand`, `setup_end`, `leave`; of
            `messages`: `agent`, `kind`, `time` (when the bin begins) and `count`; of `pilots`: `id`, `site`,
            `node`, `submit`, `queued`, `start`, `end`, `state`; of `events`: `time`, `event`, `job` (its
            id), `site` and `node`, in order of time within each replication.

        Raises:
            ScenarioError: no table of that name was kept.

        Example:
            >>> list(result.table("messages").columns[:4])
            ['agent', 'kind', 'time', 'count']
        """
        import pandas as pd

        parts = [kept[name] for kept in self.tables if name in kept]
        if parts:
            return joined(parts)
        if name == "classes" and self.tables:
            from gridtune.scenarios.results.files import CLASS_COLUMNS

            return pd.DataFrame(columns=[column.replace("kind", "class") for column in CLASS_COLUMNS])
        known = ", ".join(dict.fromkeys(name for kept in self.tables for name in kept))
        if name == "events" and known:
            known += "; run(events=True) keeps the events"
        raise ScenarioError(f"{name}: no such table was kept; there are {known or 'none'}")

    def plot(
        self,
        kind: str = "gantt",
        *,
        window: tuple[float, float] | None = None,
        replication: int = 0,
        out: Path | str | None = None,
    ) -> Figure:
        """Draw a picture of one replication.

        Args:
            kind: the picture; `gridtune plot --list` says what each shows.
            window: the start and end of the time shown, in s; the whole run if left out.
            replication: the index of the replication, from 0.
            out: a file to write as well (png, svg, pdf).

        Returns:
            A figure of Matplotlib, which notebooks show.

        Raises:
            ScenarioError: there is no such picture or replication, nothing to draw, or the file cannot be
                written.

        Example:
            >>> result.plot("users")
            <...Figure size ...>
        """
        from gridtune.scenarios.plots import draw_run, run_tables, save

        if not self.tables:
            raise ScenarioError("a picture needs the tables of the run, which were not kept")
        drawing = draw_run(run_tables(self.scenario.name, self.tables, replication), kind, window)
        if out is not None:
            save(drawing, out)
        return drawing

    @cached_property
    def notes(self) -> list[str]:
        """Note, a line each, the logs that were replayed, and work that was left unfinished.

        Example:
            >>> result.notes
            []
        """
        return [*notes(self.scenario), *unfinished(self.runs)]

    def save(self, out: Path | str) -> Path:
        """Write metrics, manifest and tables to a folder as `gridtune run --out` does.

        Args:
            out: the folder, which is made if need be.

        Returns:
            The path of the folder.

        Raises:
            ScenarioError: there are no tables, the folder cannot be written, or it has files of others.

        Example:
            >>> import tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     sorted(file.name for file in result.save(folder).glob("*.json"))
            ['manifest.json', 'metrics.json']
        """
        if not self.tables:
            raise ScenarioError(f"{out}: the tables of the run were not kept, so they cannot be written")
        folder = own_folder(out)
        about = manifest(self.scenario, self.seed, self.replications, folder)
        write_run(folder, [dict(kept) for kept in self.tables], self.to_dict()["metrics"], about)
        return folder

    def to_dict(self) -> dict[str, Any]:
        """Give the result as `gridtune run --format json` prints it.

        Returns:
            A dict with `scenario`, `seed`, `replications`, `metrics` by name (`mean`, `standard_error`,
            `values`, `unit`), `out` and, with several classes of jobs, `classes`.

        Example:
            >>> result.to_dict()["metrics"]["completed"]["unit"]
            'jobs'
        """
        made: dict[str, Any] = {
            "scenario": self.scenario.name,
            "seed": self.seed,
            "replications": self.replications,
            "metrics": as_json(self.summaries),
            "out": None if self.out is None else str(self.out),
        }
        if classes := classes_of(self.scenario.active):
            made["classes"] = by_class(made["metrics"], classes)
        return made

    def __repr__(self) -> str:
        few = ", ".join(f"{name} {self.summaries[name].mean:.6g}" for name in FEW if name in self.summaries)
        which = f"seed={self.seed}, replications={self.replications}"
        more = f"; {counted(len(self.notes), 'note')} in .notes" if self.notes else ""
        return f"Result({self.scenario.name!r}, {which}: {few}{more})"

    def _repr_html_(self) -> str:
        runs = f"{counted(self.replications, 'replication')}, seed {self.seed}"
        return as_html(f"{self.scenario.name}: {runs}", self.notes, self.metrics)


def unfinished(runs: Sequence[Metrics]) -> list[str]:
    """Whether best-effort campaigns were left unfinished, and why; a line, or none."""
    short = [run for run in runs if "unfinished_campaigns" in run and run["unfinished_campaigns"].value > 0]
    if not short:
        return []
    abandoned = [run["abandoned"].value for run in short if run["abandoned"].value > 0]
    campaigns = max(run["unfinished_campaigns"].value for run in short)
    reason = (
        f"harvesters had stopped, with up to {max(abandoned):g} jobs in their bags: their controllers wanted "
        "less than one for the last tenth of the run; another reference, other gains or more room may help"
        if abandoned
        else "the run ended at its horizon"
    )
    return [
        f"best-effort campaigns were left unfinished in {len(short)} of {counted(len(runs), 'run')} "
        f"({campaigns:g} campaigns at most): {reason}"
    ]
