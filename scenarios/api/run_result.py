"""What running a scenario gives: metrics, tables, pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.execution.replicate import Metrics, Summary, as_json, summarise
from gridtune.scenarios.results.amounts import counted
from gridtune.scenarios.results.files import manifest, write_run
from gridtune.scenarios.results.frames import as_html, joined
from gridtune.scenarios.results.locks import own_folder
from gridtune.scenarios.results.run import notes
from gridtune.scenarios.simulation.classes import by_class, classes_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

FEW = ("unhappy_users", "unfairness", "completed", "waiting_mean", "utilisation")  # of a short description


@dataclass(frozen=True, repr=False)
class Result:
    """What `Scenario.run` gives.

    Attributes:
        scenario: what was run, with the values that were set.
        seed: of the experiment.
        runs: the metrics of each replication, by name.
        tables: the tables of each replication, by name, as they are written to a folder; empty if they were
            not kept.
        out: folder to which they were written; None if to none.

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
        """How many runs there are."""
        return len(self.runs)

    @cached_property
    def summaries(self) -> dict[str, Summary]:
        """Every metric over the replications, by name."""
        return summarise(self.runs)

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """A row for each metric: `mean` and `standard_error` over the replications, and `unit`.

        The standard error is nan for a single replication, and the mean where one replication has no value.

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
        """A row for each replication, a column for each metric, in the unit that `metrics` names."""
        import pandas as pd

        columns = {name: list(one.values) for name, one in self.summaries.items()}
        return pd.DataFrame(columns, index=pd.RangeIndex(self.replications, name="replication"))

    def __getitem__(self, name: str) -> float:
        """The mean of a metric over the replications, in its unit.

        Raises:
            KeyError: no such metric.
        """
        if name not in self.summaries:
            near = get_close_matches(name, self.summaries, n=1)
            raise KeyError(
                f"{name}: not measured; " + (f"did you mean {near[0]}?" if near else "see .metrics")
            )
        return self.summaries[name].mean

    @cached_property
    def jobs(self) -> pd.DataFrame:
        """A row for each job: `id`, `user`, `group`, `kind`, `site`, `node`, `state`, times, work.

        `submit`, `queued`, `start`, `end` and `deadline` are in s (nan: never), `runtime` and `estimate` in s
        at speed 1, `wasted` in slot-seconds. Of several replications all, with a column `replication`.

        Example:
            >>> jobs = result.jobs
            >>> bool((jobs.end - jobs.start).max() > 0), str(jobs.state.dtype)
            (True, 'category')
        """
        return self.table("jobs")

    @cached_property
    def users(self) -> pd.DataFrame:
        """A row for each user: jobs, completed and failed ones, `unhappy`, `satisfaction` (1 is ideal).

        `allocated` and `deserved` are in slot-seconds at speed 1, or as `[metrics]` of the scenario says.
        """
        return self.table("users")

    @cached_property
    def classes(self) -> pd.DataFrame:
        """A row for each user and class of jobs; empty where all jobs are of one class. Times in s."""
        return self.table("classes")

    @cached_property
    def signals(self) -> pd.DataFrame:
        """A row for each sample: `time` (s), `name` and `value` of the signal.

        Example:
            >>> signals = result.signals.query("replication == 0")
            >>> wide = signals.pivot(index="time", columns="name", values="value")
            >>> list(wide.columns)
            ['sed.running', 'sed.waiting']
        """
        return self.table("signals")

    def table(self, name: str) -> pd.DataFrame:
        """A table by name: also `stays`, `messages`, `pilots`, and `events` if these were kept.

        Raises:
            ScenarioError: no table of that name was kept.
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
            kind: `gantt`, `signals`, `queues`, `users`, `classes`, `waits` or `messages`.
            window: from and to, in s; all that there is to see if left out.
            replication: which one, from 0.
            out: file to write, too (png, svg, pdf).

        Raises:
            ScenarioError: no such kind of picture or replication, nothing to draw, or the file cannot be
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

    @property
    def notes(self) -> list[str]:
        """What to know of it, a line each: the logs that were replayed, and work that was left unfinished."""
        return [*notes(self.scenario), *unfinished(self.runs)]

    def save(self, out: Path | str) -> Path:
        """Write metrics, manifest and tables to a folder, as `gridtune run --out` does; returns the folder.

        Raises:
            ScenarioError: there are no tables, or the folder cannot be written or is somebody else's.
        """
        if not self.tables:
            raise ScenarioError(f"{out}: the tables of the run were not kept, so they cannot be written")
        folder = own_folder(out)
        about = manifest(self.scenario, self.seed, self.replications, folder)
        write_run(folder, [dict(kept) for kept in self.tables], self.to_dict()["metrics"], about)
        return folder

    def to_dict(self) -> dict[str, Any]:
        """What `gridtune run --format json` prints."""
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
        return f"Result({self.scenario.name!r}, {which}: {few})"

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
        f"best-effort campaigns were left unfinished in {len(short)} of {len(runs)} runs "
        f"({campaigns:g} campaigns at most): {reason}"
    ]
