"""Tables of real logs: what calibration gives, what searches find, whether it holds, how long it takes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

SITE = "site.cluster."


def calibrated_table(rows: dict[str, Any]) -> str:
    """A row for each log: mean waits over the logged ones, and misfits; then known settings."""
    made = {name: row for name, row in rows.items() if "made_by" in row}
    rows = {name: row for name, row in rows.items() if name not in made}
    lines = [
        "| log | jobs | logged wait | fitted part | last third | `easy` | misfit | of `easy` |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, row in rows.items():
        log, calibrated, easy = (one for one in row["tested"] if one["what"] != "persistence")
        cells = (
            name, f"{row['jobs']:,}", f"{log['mean']:,.0f} s", f"{row['fitted']['ratio']:.2f}",
            f"{calibrated['ratio']:.2f}", f"{easy['ratio']:.2f}", f"{calibrated['misfit']:.2f}",
            f"{easy['misfit']:.2f}",
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    for name, row in rows.items():
        if len(ratios := row["ratios"]) > 1:
            lines.append(
                f"\nIn each of the {name}, the mean wait is {min(ratios):.2f} to {max(ratios):.2f} times the "
                "logged one."
            )
    return "\n".join([*lines, *_known_settings(made)])


def _known_settings(rows: dict[str, Any]) -> Iterator[str]:
    """How many logs that known settings made are explained by the very same."""
    if rows:
        found = [
            {path.removeprefix(SITE): one for path, one in row["values"].items()} for row in rows.values()
        ]
        exact = sum(one == row["made_by"] for one, row in zip(found, rows.values(), strict=True))
        those = "all" if exact == len(rows) else f"{exact} of them"
        yield (
            f"\nAs a test, gridtune's own simulator made {len(rows)} logs with known settings; `calibrate` "
            f"found the right settings for {those}."
        )


def held_out_table(rows: list[dict[str, Any]]) -> str:
    """A row for each recommendation: what later weeks say of it; then the searches without one."""
    lines = [
        "| log | seed | mean slow-down | longest wait, h | worse metrics | warned of | worst without warning "
        "| delayed users, % (warned of) |",
        "|---|---:|---:|---:|---:|---:|---|---:|",
    ]
    for row in sorted(rows, key=lambda row: (row["log"], row["seed"])):
        for one in row["recommendations"]:
            slow = "→".join(f"{value:.3g}" for value in one["slowdown"])
            longest = "→".join(f"{value / 3600:.3g}" for value in one["longest"])
            others = {name: after / before for name, (before, after) in one["unsaid"].items()}
            worst = max(others, key=lambda name: others[name], default="")
            told = f"`{worst}` ×{others[worst]:.1f}" if worst else "none"
            warned = sum(len(one[place]) for place in ("named", "some", "busier"))
            worse = f"{warned + len(others)} of {one['statements']}"
            head = f"| {row['log']} | {row['seed']} |"
            said, late = (f"{100 * share:.1f}" for share in one["delayed"])
            cells = slow, longest, worse, warned, told, f"{late} ({said})"
            lines.append(f"{head} {' | '.join(map(str, cells))} |")
    none = sum(not row["recommendations"] for row in rows)
    lines += ["", f"{none} of {len(rows)} searches recommended nothing."]
    return "\n".join(lines)


def my_log_time(rows: list[dict[str, Any]]) -> str:
    """How long the commands of the page for administrators took, and the two longest of them."""
    jobs = re.search(r"([\d,]+) kept", rows[0]["text"])
    assert jobs is not None
    wall, cpu = (sum(row[name] for row in rows) for name in ("seconds", "cpu"))
    longest = sorted(rows, key=lambda row: -row["seconds"])[:2]
    told = " and ".join(f"`{row['command'].split()[1]}` {row['seconds']:.0f} s" for row in longest)
    took = f"{wall:.0f} s ({cpu:.0f} s of CPU time)"
    return f"For {jobs[1]} jobs, {len(rows)} commands took {took}, of which {told}."
