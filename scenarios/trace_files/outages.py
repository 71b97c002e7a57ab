"""Lists of outages in CSV: which node was out, from when to when."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from math import inf, isnan
from pathlib import Path
from typing import NamedTuple

from gridtune import limits
from gridtune.scenarios.trace_files.numbers import number, whole
from gridtune.scenarios.trace_files.records import TraceError


class OutageRow(NamedTuple):
    """One outage of one node; times in s, the end infinite where there is none."""

    node: int
    start: float
    end: float
    drain: bool


def read_outages(path: Path) -> list[OutageRow]:
    """The outages of a file with columns node, start and end, and perhaps drain, by their start.

    Raises:
        TraceError: the file cannot be read, lacks a column, or a row is no outage.
    """
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return sorted(_rows(file, path), key=lambda row: (row.start, row.node))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise TraceError(f"{path}: cannot be read: {error}") from None


def _rows(file: Iterator[str], path: Path) -> Iterator[OutageRow]:
    reader = csv.DictReader(file)
    missing = [name for name in ("node", "start", "end") if name not in (reader.fieldnames or ())]
    if missing:
        raise TraceError(f"{path}: no column {', '.join(missing)}; a list of outages has node, start, end")
    for row in reader:
        try:
            node, start = whole(row["node"] or ""), number(row["start"] or "")
            end = number(row["end"]) if (row["end"] or "").strip() else inf
            drain = bool(whole(row.get("drain") or "0"))
        except (TypeError, ValueError) as error:
            raise TraceError(f"{path}:{reader.line_num}: no outage: {error}") from None
        if node < 0 or isnan(end) or not 0 <= start < end or start > limits.NUMBER:
            raise TraceError(f"{path}:{reader.line_num}: needs node >= 0 and 0 <= start < end")
        yield OutageRow(node, start, end, drain)
