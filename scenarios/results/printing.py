"""Results on standard output: a table for people, JSON for programs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from shutil import get_terminal_size
from typing import Any

from gridtune.model.metrics.labels import label
from gridtune.plain_text import escaped, written
from gridtune.scenarios.results.amounts import human_metric
from gridtune.scenarios.results.headline import grouped, headline

MEANING = "meaning"  # the column of `print_metrics` that says a metric in words


def print_result(content: Any, rows: Iterable[dict[str, Any]], columns: Sequence[str], json: bool) -> None:
    """Print the content as JSON, or the rows as a table.

    Args:
        content: for JSON.
        rows: for the table, by column; what is missing or not a number is a dash.
        columns: titles, in their order.
        json: which of the two.
    """
    from gridtune.scenarios.results.json_text import to_json

    if json:
        print(to_json(content))
    else:
        print_table(columns, rows)


def print_table(columns: Sequence[str], rows: Iterable[dict[str, Any]], spare: str = "") -> None:
    """Print rows below their column titles.

    Where a terminal is too narrow, the column `spare` is left out, if there is one; else cells are folded.
    """
    rows = list(rows)
    cells = [tuple(_cell(row.get(column)) for column in columns) for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    # Off a terminal nothing is cut to fit: the reader may be a pager or another program.
    if sys.stdout.isatty() and sum(widths) + 3 * len(widths) > get_terminal_size().columns:
        if spare:
            print_table([column for column in columns if column != spare], rows)
        else:
            _print_folded(columns, cells)
        return
    lines = [_aligned(columns, widths), " " + "─" * (sum(widths) + 3 * len(widths) - 3)]
    lines += [_aligned(row, widths) for row in cells]
    print("", *(line.rstrip() for line in lines), "", sep="\n")


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    return " " + "   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))


def _print_folded(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(*columns, box=box.SIMPLE_HEAD, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    # Without colours, as standard output takes no escape sequences: names could bring some.
    Console(markup=False, highlight=False, color_system=None).print(table)


def print_metrics(
    metrics: dict[str, dict[str, Any]],
    *,
    every: bool,
    objectives: Sequence[str] = (),
    promised: bool = True,
) -> None:
    """Print the metrics of a run: those that matter first, the others by the part that they are about.

    Standard errors have a column where there are any: not of a single run, nor where all runs gave the same.

    Args:
        metrics: as in the JSON of a run.
        every: whether to print the others, too, or how many there are.
        objectives: what the scenario is searched for: they come first.
        promised: whether any work has a deadline.
    """
    first = headline(metrics, objectives, promised=promised)
    uncertain = any(value["standard_error"] for value in metrics.values())
    columns = ("metric", "mean", *["standard error"] * uncertain, "unit", MEANING)
    print_table(columns, (_metric_row(name, metrics[name]) for name in first), MEANING)
    others = [name for name in metrics if name not in first]
    if not every:
        print(f"{len(others)} more metrics: --all shows them, --format json has all")
        return
    for part, names in grouped(others).items():
        rows = ({part: name} | _metric_row(name, metrics[name]) for name in names)
        print_table((part, *columns[1:]), rows, MEANING)


def print_classes(classes: dict[str, dict[str, Any]]) -> None:
    """Print the metrics of each class of jobs: a column for each, in as many tables as the terminal needs."""
    names = list(next(iter(classes.values())))
    cells = {kind: {name: _cell(_mean(name, made[name])) for name in names} for kind, made in classes.items()}
    room = get_terminal_size().columns if sys.stdout.isatty() else inf
    tables: list[list[str]] = []
    left = -inf
    for kind, column in cells.items():
        width = 3 + max(map(len, (kind, *column.values())))
        if left < width:
            tables.append([])
            left = room - 3 - max(map(len, names))
        tables[-1].append(kind)
        left -= width
    for kinds in tables:
        rows = ({"by class": name} | {kind: cells[kind][name] for kind in kinds} for name in names)
        print_table(("by class", *kinds), rows)


def sweep_rows(outcomes: Iterable[Mapping[str, Any]], names: Sequence[str]) -> list[dict[str, Any]]:
    """Rows of a table: what was varied, and some metrics with their standard errors where there are any.

    Args:
        outcomes: as in the JSON of a sweep.
        names: of the metrics.
    """
    return [
        one["values"] | {name: _mean(name, one["metrics"].get(name, {"mean": None})) for name in names}
        for one in outcomes
    ]


def _mean(name: str, value: Mapping[str, Any]) -> str | None:
    """A mean, with its standard error where there is one."""
    if value["mean"] is None:
        return None
    mean, error = (
        None if value[key] is None else human_metric(name, value[key], value["unit"])
        for key in ("mean", "standard_error")
    )
    return f"{mean} ± {error}" if value["standard_error"] else mean


def _metric_row(name: str, value: dict[str, Any]) -> dict[str, Any]:
    unit = value["unit"]
    shown = {
        title: None if value[key] is None else human_metric(name, value[key], unit)
        for title, key in (("mean", "mean"), ("standard error", "standard_error"))
    }
    words = str(label(name))
    meaning = "" if words == name.replace("_", " ") else words
    return {"metric": name, "unit": "" if unit == "s" else unit, MEANING: meaning, **shown}


def _cell(value: Any) -> str:
    if value is None or value != value:
        return "–"
    return f"{value:.6g}" if isinstance(value, float) else escaped(written(value))
