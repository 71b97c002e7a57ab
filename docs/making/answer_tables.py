"""Tables of docs/answers.md: what searches print, and whether their recommendations hold on new seeds."""

from __future__ import annotations

import re
from typing import Any

TAKEN = re.compile(r"(?<= runs), (\d+ min )?\d+ s")  # differs from machine to machine


def texts(rows: list[dict[str, Any]]) -> str:
    """The answers of the first seed but README's, as they were printed, without the time the search took."""
    parts = []
    for row in rows:
        if row["seed"] == 1 and row["search"] != "federation/small":
            log = " --set workload.log.trace=KTH-SP2-1996-2.1-cln.swf.gz" * (row["search"] == "batch/replay")
            words = " ".join(["gridtune search", row["search"], *row["words"]])
            text = TAKEN.sub("", row["text"].strip())
            parts.append(f"```\n$ {words}{log} --seed 1 --out found\n\n{text}\n```")
    return "\n\n".join(parts)


def held(rows: list[dict[str, Any]]) -> str:
    """A row for each recommendation: its changes, the gains that it keeps, what it makes worse."""
    lines = [
        "| search | seed | recommendation | changes before | changes after | share of each gain | worse |",
        "|---|---:|---|---:|---:|---|---|",
    ]
    for row in sorted(rows, key=lambda row: (row["search"], row["seed"])):
        head = f"| `{row['search']}` | {row['seed']} "
        if not row["recommendations"]:
            lines.append(f"{head}| none | | | | |")
        for one in row["recommendations"]:
            shares = ", ".join(f"{share:.0%}" for share in one["kept"].values()) or "none significant"
            worse = ", ".join(f"`{name}`" for name in one["worse"]) or "–"
            counts = f"{one['changes in full']} | {one['changes']}"
            lines.append(f"{head}| {one['letter']} | {counts} | {shares} | {worse} |")
    return "\n".join(lines)
