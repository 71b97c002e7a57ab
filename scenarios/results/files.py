"""Results on disk: tidy tables, metrics and a manifest from which a run can be repeated."""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Iterable, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from gridtune.model.job import Job, State
from gridtune.model.record import Record
from gridtune.plain_text import hidden
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.results.json_text import to_json
from gridtune.scenarios.results.run import Run, notes
from gridtune.scenarios.whole_files import replace, replace_text

if TYPE_CHECKING:
    import pandas as pd

JOB_COLUMNS = (
    "id", "user", "group", "kind", "mandatory", "priority", "site", "node", "submit", "queued", "start",
    "end", "processors", "runtime", "estimate", "deadline", "state", "kills", "wasted",
)  # fmt: skip
ROWS = 100_000  # of a table that are written together
PILOT_COLUMNS = ("id", "site", "node", "submit", "queued", "start", "end", "state")
USER_COLUMNS = (
    "user", "jobs", "completed", "lost_jobs", "lost_work", "mandatory_failed", "unhappy", "allocated",
    "deserved", "satisfaction", "waiting_mean", "response_mean", "slowdown_mean",
)  # fmt: skip
CLASS_COLUMNS = (
    "user", "kind", "jobs", "completed", "lost_jobs", "lost_work", "mandatory_failed", "unhappy", "allocated",
    "waiting_mean", "response_mean", "slowdown_mean",
)  # fmt: skip


def tables(run: Run) -> dict[str, pd.DataFrame]:
    """The tables of a run: `jobs`, `users`, `stays`, `signals`, `messages`; with several classes of
    jobs, `classes`, a row for each user and class; where there were any, `pilots`; and `events` if kept, in
    order of time.

    Times are in seconds; a time that does not exist is missing. Columns `site` and `node` name places. `jobs`
    has a column `qos` where the log names QOS, and `log_id` where jobs come from a log.
    """
    import pandas as pd

    record = run.record
    qos = any(job.qos for job in record.jobs)
    jobs = _table_of(record.jobs, (*JOB_COLUMNS, "qos") if qos else JOB_COLUMNS)
    if record.log_ids:
        jobs["log_id"] = pd.array([record.log_ids.get(job.id) for job in record.jobs], dtype="Int64")
    made = {
        "jobs": jobs,
        "users": pd.DataFrame(
            {column: [getattr(user, column) for user in run.users.values()] for column in USER_COLUMNS}
        ),
        "stays": _stays(record),
        "signals": pd.DataFrame(record.signals, columns=["time", "name", "value"]),
        "messages": pd.DataFrame(
            [
                (agent, kind, interval * record.message_bin, count)
                for (agent, kind, interval), count in sorted(
                    record.messages.items(), key=lambda item: item[0][2]
                )
            ],
            columns=["agent", "kind", "time", "count"],
        ),
    }
    if record.classes:
        parts = [part for user in run.users.values() for part in user.classes.values()]
        made["classes"] = pd.DataFrame(
            {column: [getattr(part, column) for part in parts] for column in CLASS_COLUMNS}
        ).rename(columns={"kind": "class"})
    if record.placeholders:
        made["pilots"] = _table_of(record.placeholders, PILOT_COLUMNS)
    if record.journal is not None:
        rows = sorted(record.journal, key=itemgetter(0))  # an overlay hears only later that a task was lost
        made["events"] = pd.DataFrame(rows, columns=["time", "event", "job", "site", "node"])
    return made


def manifest(scenario: Scenario, seed: int, replications: int, out: Path) -> dict[str, Any]:
    """What is needed to repeat a run: the scenario with all overrides and defaults, seed and versions.

    Args:
        scenario: what was run.
        seed, replications: of the experiment.
        out: folder of the manifest; files that the scenario names are found relative to it.
    """
    return {
        "scenario": scenario.name,
        "seed": seed,
        "replications": replications,
        "document": scenario.document,
        "notes": notes(scenario),
        "base": os.path.relpath(scenario.base, out),
        "plugins": scenario.plugins,
        "resolved": scenario.spec.model_dump(mode="json"),
        "versions": {
            "python": platform.python_version(),
            **{name: version_of(name) for name in ("gridtune", "mesa", "numpy", "pandas", "optuna", "pymoo")},
        },
    }


def writable_folder(out: Path) -> Path:
    """The folder for results, made if need be, once it is known that files can be written there.

    Raises:
        ScenarioError: it cannot be made or written to, or is to have a name with a control character.
    """
    if not out.exists() and (fault := hidden(str(out))):
        raise ScenarioError(fault)
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise ScenarioError(f"{out}: results cannot be written there: {error.strerror}") from error
    return out


def write_run(
    out: Path, runs: Sequence[dict[str, pd.DataFrame]], metrics: Any, about: dict[str, Any]
) -> None:
    """Write tables, `metrics.json` and `manifest.json`; each file appears whole or not at all.

    Args:
        out: an existing folder.
        runs: the tables of every replication; several get a column `replication`.
        metrics: as printed.
        about: the manifest.
    """
    import pandas as pd

    for name in runs[0]:
        parts = [run[name] for run in runs]
        if len(parts) > 1:
            parts = [part.assign(replication=number) for number, part in enumerate(parts)]
        table = pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]
        replace(out / f"{name}.parquet", partial(_write_table, table))
    write_json(out / "metrics.json", metrics)
    write_json(out / "manifest.json", about)


def write_json(path: Path, content: Any) -> None:
    """Write JSON, whole or not at all; what is not finite becomes null."""
    replace_text(path, to_json(content) + "\n")


def _write_table(table: pd.DataFrame, file: IO[bytes]) -> None:
    """Write a table as Parquet, a long one part by part: a copy of all of it would not fit."""
    if len(table) <= ROWS:
        table.to_parquet(file, compression="zstd")
        return
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    schema = pa.Schema.from_pandas(table)
    with ParquetWriter(file, schema, compression="zstd") as writer:
        for first in range(0, len(table), ROWS):
            writer.write_table(pa.Table.from_pandas(table[first : first + ROWS], schema=schema))


def _stays(record: Record) -> pd.DataFrame:
    import pandas as pd

    columns = ("user", "entry", "deadline", "demand", "setup_end", "leave")
    return pd.DataFrame({column: [getattr(stay, column) for stay in record.stays] for column in columns})


def _table_of(jobs: Sequence[Job], columns: Sequence[str]) -> pd.DataFrame:
    """A row for each job; made column by column: of millions of jobs several copies would not fit."""
    import pandas as pd

    states = {state: state.value for state in State}  # one text for all jobs
    made = {}
    for column in columns:
        values: Iterable[Any] = map(attrgetter(column), jobs)
        made[column] = pd.Series(list(map(states.get, values) if column == "state" else values))
    return pd.DataFrame(made, copy=False)


def version_of(name: str) -> str | None:
    """Version of an installed distribution; None if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None
