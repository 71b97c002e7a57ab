"""Tables of docs/performance.md: where time goes, growth, other simulators."""

from __future__ import annotations

import json
from math import log
from pathlib import Path
from typing import Any

PRICE = Path(__file__).parents[1] / "data" / "event_price.json"
PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def scaling_table(rows: list[dict[str, Any]]) -> str:
    """Time and memory of runs with 1, 4 and 16 times as much; exponents over the jobs, from 4 to 16 times.

    The limit is what a bare event loop in C would need for as many events.
    """
    price = json.loads(PRICE.read_text(encoding="utf-8"))["seconds per event"]
    lines = [
        _line(
            "what there is 1, 4, 16 times of", "jobs", "CPU s", "exponent", "MB", "exponent",
            "limit at 16 times, s", "times the limit",
        ),
        "|---|---|---|---:|---|---:|---:|---:|",
    ]  # fmt: skip
    for case in dict.fromkeys(row["case"] for row in rows):
        mine = sorted((row for row in rows if row["case"] == case), key=lambda row: row["scale"])
        cells = [", ".join(f"{row['jobs']:,}" for row in mine)]
        for key, form in (("seconds", ".2f"), ("grown", ".1f")):
            cells.append(", ".join(format(row[key], form) for row in mine))
            less, more = mine[-2:]
            grown = more["jobs"] / less["jobs"]
            # Where there are no more jobs, over what there is more of.
            per = log(grown) if grown > 1.5 else log(more["scale"] / less["scale"])
            cells.append(f"{log(more[key] / less[key]) / per:.2f}")
        limit = price * more["events"]
        cells += [f"{limit:.4f}", f"{more['seconds'] / limit:,.0f}"]
        lines.append(_line(case, *cells))
    return "\n".join(lines)


def shares_table(rows: list[dict[str, Any]]) -> str:
    """Where the time of runs goes by room, their calls, and the share of the dearest function."""
    rooms = list(rows[0]["shares"])
    lines = [
        _line("case", "calls per event", *(f"{room}, %" for room in rooms), "dearest function, %"),
        f"|---|{'---:|' * (len(rooms) + 2)}",
    ]
    for row in rows:
        shares = (f"{100 * row['shares'][room]:.0f}" for room in rooms)
        calls = f"{row['calls_per_event']:.0f}"
        lines.append(_line(row["case"], calls, *shares, f"{100 * row['largest']:.0f}"))
    return "\n".join(lines)


def peers_table(rows: list[dict[str, Any]]) -> str:
    """Whole processes of gridtune and AccaSim on the same logs, by turns."""
    lines = [
        _line(
            "log", "jobs", "policy", "jobs/s, gridtune", "AccaSim", "times faster", "MiB, gridtune", "AccaSim"
        ),
        "|---|---:|---|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        mine, theirs = row["gridtune"], row["AccaSim"]
        least = "more than " if theirs["given_up"] else ""
        rates = f"{row['jobs'] / mine['seconds']:,.0f}", f"{row['jobs'] / theirs['seconds']:,.0f}"
        if theirs["given_up"]:
            rates = rates[0], f"fewer than {rates[1]}"
        ratio = f"{least}{theirs['seconds'] / mine['seconds']:.1f}"
        cells = (
            f"{row['jobs']:,}",
            f"`{row['policy']}`",
            *rates,
            ratio,
            f"{mine['mib']:,}",
            f"{theirs['mib']:,}",
        )
        lines.append(_line(row["log"], *cells))
    return "\n".join(lines)


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
