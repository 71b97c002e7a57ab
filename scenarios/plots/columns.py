"""What the tables of a run must hold so that it can be drawn: a folder may have come from anywhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gridtune import limits
from gridtune.scenarios.plots.style import PlotError
from gridtune.scenarios.regular_files import text_of

if TYPE_CHECKING:
    import pandas as pd

JOBS = 2**63 - 1  # largest number of a job
ROWS = 10**12  # what counts something of a run

Check = tuple[str, Callable[["pd.Series[Any]"], bool]]  # what a column must hold, and whether it does


def _numbers(column: pd.Series[Any]) -> bool:
    return column.dtype.kind in "iuf"


def _texts(column: pd.Series[Any]) -> bool:
    from pandas.api.types import infer_dtype

    return infer_dtype(column, skipna=False) == "string"


def _times(column: pd.Series[Any]) -> bool:
    return _numbers(column) and bool((column.abs() <= limits.NUMBER).all())


def _values(column: pd.Series[Any]) -> bool:
    return _numbers(column) and _times(column[column.abs() != float("inf")].dropna())


def _whole(least: int, most: int) -> Check:
    def holds(column: pd.Series[Any]) -> bool:
        return _numbers(column) and bool((column.between(least, most) & (column % 1 == 0)).all())

    return f"whole numbers from {least} to {most:,}", holds


TEXT: Check = ("texts", _texts)
TRUTH: Check = ("truth values", lambda column: column.dtype.kind == "b")
TIME: Check = (f"times within {limits.NUMBER:g} s", _times)
PERHAPS: Check = (f"times within {limits.NUMBER:g} s or nothing", lambda column: _times(column.dropna()))
VALUE: Check = (f"numbers within {limits.NUMBER:g}, or nothing, or without end", _values)
COUNT: Check = _whole(0, ROWS)

# Columns that pictures are drawn from, by table; others may be there.
COLUMNS: Mapping[str, Mapping[str, Check]] = {
    "jobs": {
        "id": _whole(1, JOBS), "user": TEXT, "kind": TEXT, "site": TEXT, "node": TEXT, "state": TEXT,
        "submit": TIME, "queued": PERHAPS, "start": PERHAPS, "end": PERHAPS,
        "processors": _whole(0, limits.COUNTS["processors"]), "kills": COUNT,
    },
    "users": {"user": TEXT, "satisfaction": VALUE, "unhappy": TRUTH},
    "signals": {"time": TIME, "name": TEXT, "value": VALUE},
    "messages": {"time": TIME, "agent": TEXT, "count": COUNT},
    "events": {"time": TIME, "event": TEXT, "job": _whole(-JOBS, JOBS), "site": TEXT, "node": TEXT},
    "classes": {
        "user": TEXT, "class": TEXT, "jobs": COUNT, "completed": COUNT, "mandatory_failed": COUNT,
        "unhappy": TRUTH,
    },
}  # fmt: skip
OF_ONE = "replication"  # column of tables of several replications


def read_table(folder: Path, name: str) -> pd.DataFrame | None:
    """A table of a run; None if the run has none of that name.

    Raises:
        PlotError: it cannot be read, lacks a column, or a column holds something else.
    """
    import pandas as pd
    from pyarrow.lib import ArrowException
    from pyarrow.parquet import read_metadata

    path = folder / f"{name}.parquet"
    if not path.is_file():
        return None
    try:
        if read_metadata(path).num_rows > limits.TABLE_ROWS:
            raise ValueError(f"has more than {limits.TABLE_ROWS:,} rows")
        table = pd.read_parquet(path)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, ArrowException) as error:
        why = next((line.strip() for line in str(error).splitlines() if line.strip()), "it is damaged")
        raise PlotError(f"{path}: the run cannot be read: {why:.200}") from error
    wanted = dict(COLUMNS[name])
    if OF_ONE in table:
        wanted[OF_ONE] = _whole(0, limits.REPLICATIONS)
    for column, (what, holds) in wanted.items():
        if column not in table:
            raise PlotError(f"{path}: not as a run has written it: lacks the column {column}")
        if len(table) and not holds(table[column]):
            raise PlotError(f"{path}: not as a run has written it: column {column}: expected {what}")
    return table


def read_manifest(folder: Path) -> tuple[str, int]:
    """Name of the scenario that was run, and how many replications there are.

    Raises:
        PlotError: the manifest cannot be read, or says neither.
    """
    path = folder / "manifest.json"
    try:
        about = json.loads(text_of(path, limits.DOCUMENT_BYTES))
    except (OSError, ValueError, RecursionError) as error:
        raise PlotError(f"{path}: the run cannot be read: {str(error) or 'too deep':.200}") from error
    about = about if isinstance(about, dict) else {}
    name, count = about.get("scenario"), about.get("replications", 1)
    if not isinstance(name, str) or type(count) is not int or not 1 <= count <= limits.REPLICATIONS:
        raise PlotError(f"{path}: not the manifest of a run: scenario or replications are missing or strange")
    return name, count


def check_together(folder: Path, tables: Mapping[str, pd.DataFrame]) -> None:
    """Catch tables of one replication that cannot be of one run.

    Raises:
        PlotError: two jobs have one number, or something happened to a job that there is not.
    """
    jobs = tables["jobs"]["id"]
    if not jobs.is_unique:
        raise PlotError(f"{folder / 'jobs.parquet'}: not as a run has written it: two jobs have one id")
    if "events" in tables:
        known = tables["events"]["job"]
        if not known[known > 0].isin(jobs).all():
            path = folder / "events.parquet"
            raise PlotError(
                f"{path}: not as a run has written it: events of jobs that are not in jobs.parquet"
            )
