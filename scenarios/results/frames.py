"""Tables as people analyse them: categories, numbers, missing times; and how a notebook shows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import inf, nan
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

# Columns that name one of few things; all others are numbers or truth values.
NAMES = (
    "agent", "class", "event", "group", "kind", "name", "node", "site", "state", "user",
)  # fmt: skip
SHOWN = 20  # rows of a table in a notebook, at most


def joined(runs: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The table of several replications as one, with a column `replication`; that of one as it is.

    Names are categories, and times that do not exist (no deadline, no start) are nan.
    """
    import pandas as pd

    parts = [run.assign(replication=number) for number, run in enumerate(runs)] if len(runs) > 1 else runs
    table = pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0].copy()
    for column in table.columns:
        if column in NAMES:
            table[column] = table[column].astype("category")
        elif column == "deadline":
            table[column] = table[column].astype(float).replace(inf, nan)
    return table


def columns_of_values(rows: Sequence[Mapping[str, Any]], paths: Iterable[str]) -> dict[str, Any]:
    """Columns of varied values: texts as categories, others as numbers, what is not set as missing."""
    import pandas as pd

    made: dict[str, Any] = {}
    for path in paths:
        values = [row.get(path) for row in rows]
        given = [value for value in values if value is not None]
        if any(isinstance(value, str) for value in given):
            made[path] = pd.Categorical([None if value is None else str(value) for value in values])
        elif given and all(isinstance(value, bool) for value in given):
            made[path] = pd.array(values, dtype="boolean")
        elif any(isinstance(value, dict | list) for value in given):
            made[path] = pd.Series(
                [None if value is None else str(value) for value in values], dtype="category"
            )
        else:
            made[path] = pd.to_numeric(pd.Series(values, dtype=object))
    return made


def as_html(heading: str, lines: Iterable[str], table: pd.DataFrame | None = None) -> str:
    """What a notebook shows of a result: a heading, lines of text, the first rows of a table."""
    parts = [f"<strong>{escape(heading)}</strong>"]
    parts += [f"<div>{escape(line)}</div>" for line in lines if line]
    if table is not None:
        parts.append(table.to_html(max_rows=SHOWN, float_format="{:.6g}".format, na_rep="–", border=0))
    return "".join(parts)
