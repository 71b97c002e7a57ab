"""The tables of a run that was written to a folder, as pictures need them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from gridtune.plain_text import argument
from gridtune.scenarios.plots.columns import COLUMNS, OF_ONE, check_together, read_manifest, read_table
from gridtune.scenarios.plots.style import PlotError

if TYPE_CHECKING:
    import pandas as pd

LOST = ("killed", "expired", "cancelled", "failed")  # how an execution ends without a result
ENDS = ("done", "suspended", *LOST)


@dataclass(frozen=True)
class RunTables:
    """One replication of a run.

    Attributes:
        name: of the scenario.
        replication: which, and how many there are.
        jobs, users, signals, messages: a row each per job, user, sample, count; times in s. Empty if the
            run has none.
        events: transitions of the jobs; None if the run did not keep them.
        classes: a row per user and class of jobs; None if all jobs are of one class.
    """

    name: str
    replication: tuple[int, int]
    jobs: pd.DataFrame
    users: pd.DataFrame
    signals: pd.DataFrame
    messages: pd.DataFrame
    events: pd.DataFrame | None = None
    classes: pd.DataFrame | None = None

    @cached_property
    def span(self) -> tuple[float, float]:
        """First and last time at which anything happened, s."""
        times = [self.jobs[column] for column in ("submit", "start", "end") if len(self.jobs)]
        times += [table["time"] for table in (self.signals, self.messages) if len(table)]
        if not times:
            return 0.0, 1.0
        return float(min(column.min() for column in times)), float(max(column.max() for column in times))

    @cached_property
    def executions(self) -> pd.DataFrame:
        """Every execution: job, user, kind, site, node, processors, start, end (s), outcome, kills.

        From the events where they were kept; otherwise the last execution of each job.
        """
        jobs = self.jobs
        facts = jobs[["id", "user", "kind", "processors", "kills"]].rename(columns={"id": "job"})
        if self.events is None:
            ran = jobs[jobs["start"].notna()]
            made = ran[["id", "site", "node", "start", "end"]].rename(columns={"id": "job"})
            made = made.assign(outcome=ran["state"]).merge(facts, on="job")
        else:
            moves = self.events[self.events["event"].isin(("started", *ENDS))]
            moves = moves.sort_values("job", kind="stable")
            following = moves.groupby("job", sort=False)[["time", "event"]].shift(-1)
            made = moves[["job", "site", "node"]].assign(
                start=moves["time"], end=following["time"], outcome=following["event"].fillna("running")
            )
            made = made[moves["event"] == "started"].merge(facts, on="job")
        made["end"] = made["end"].fillna(self.span[1])
        return made.sort_values(["start", "job"], kind="stable").reset_index(drop=True)

    @property
    def outages(self) -> list[tuple[str, float, float]]:
        """Nodes that were lost or drained, as node, start and end (s); none where events were not kept."""
        out: dict[str, float] = {}
        made: list[tuple[str, float, float]] = []
        if self.events is not None:
            told = self.events[self.events["event"].isin(("node lost", "node drained", "node back"))]
            for time, event, node in zip(told["time"], told["event"], told["node"], strict=True):
                if event != "node back":
                    out.setdefault(str(node), float(time))
                elif node in out:
                    made.append((str(node), out.pop(str(node)), float(time)))
        return made + [(node, start, self.span[1]) for node, start in out.items()]

    @property
    def title(self) -> str:
        """Name of the scenario, and the replication if there are several."""
        number, count = self.replication
        return self.name if count == 1 else f"{self.name}, replication {number} of {count}"


def read_run(folder: Path | str, replication: int = 0) -> RunTables:
    """Read a run.

    Args:
        folder: that `gridtune run --out` wrote.
        replication: which one, from 0.

    Raises:
        PlotError: no run is there, it is not as it was written, or there is no such replication.
    """
    folder = Path(folder)
    if not (folder / "jobs.parquet").is_file() or not (folder / "manifest.json").is_file():
        raise PlotError(
            f"{folder}: no run is there; `gridtune run SCENARIO --out {argument(folder)}` writes one"
        )
    name, count = read_manifest(folder)
    if not 0 <= replication < count:
        raise PlotError(f"{folder}: replication {replication}: there are {count}, the first is 0")
    tables = {kind: table for kind in COLUMNS if (table := read_table(folder, kind)) is not None}
    kept = {
        kind: table[table[OF_ONE] == replication] if OF_ONE in table else table
        for kind, table in tables.items()
    }
    check_together(folder, kept)
    return _made(name, (replication, count), kept)


def run_tables(name: str, runs: Sequence[Mapping[str, pd.DataFrame]], replication: int = 0) -> RunTables:
    """One replication of a run that is in memory.

    Args:
        name: of the scenario.
        runs: the tables of each replication, by name.
        replication: which one, from 0.

    Raises:
        PlotError: no such replication.
    """
    if not 0 <= replication < len(runs):
        raise PlotError(f"{name}: replication {replication}: there are {len(runs)}, the first is 0")
    return _made(name, (replication, len(runs)), runs[replication])


def _made(name: str, replication: tuple[int, int], tables: Mapping[str, pd.DataFrame]) -> RunTables:
    return RunTables(
        name,
        replication,
        tables["jobs"],
        tables.get("users", _empty("user")),
        tables.get("signals", _empty("time", "name", "value")),
        tables.get("messages", _empty("agent", "kind", "time", "count")),
        tables.get("events"),
        tables.get("classes"),
    )


def _empty(*columns: str) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame({column: [] for column in columns})
