"""Results on standard output: a table for people, JSON for programs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any


def print_result(content: Any, rows: Iterable[dict[str, Any]], columns: Sequence[str], json: bool) -> None:
    """Print the content as JSON, or the rows as a table.

    Args:
        content: for JSON.
        rows: for the table, by column; what is missing or not a number is a dash.
        columns: titles, in their order.
        json: which of the two.
    """
    from gridtune.scenarios.results.files import to_json

    if json:
        print(to_json(content))
    else:
        print_table(columns, rows)


def print_table(columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> None:
    """Print rows below their column titles."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(*columns, box=box.SIMPLE_HEAD, pad_edge=False)
    for row in rows:
        table.add_row(*(_cell(row.get(column)) for column in columns))
    # Off a terminal nothing is cut to fit: the reader may be a pager or another program.
    console = Console(width=None if sys.stdout.isatty() else 10_000, markup=False, highlight=False)
    console.print(table)


def metric_rows(metrics: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Metrics as in the JSON of a run, as rows of a table."""
    return [
        {
            "metric": name,
            "mean": value["mean"],
            "standard error": value["standard_error"],
            "unit": value["unit"],
        }
        for name, value in metrics.items()
    ]


def _cell(value: Any) -> str:
    if value is None or value != value:
        return "–"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
