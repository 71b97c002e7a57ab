"""Write the tables that pages show of docs/data into them.

    python docs/making/tables.py

Each stands between two comments, `<!-- NAME: … -->` and `<!-- end -->`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import batch_tables
import robustness_tables
import search_tables
import speed_tables

DOCS = Path(__file__).parents[1]
SHOWN = (
    "failed_fraction", "unhappy_users", "unfairness", "unfairness_jain", "unfairness_spread",
    "shortfall_mean", "shortfall_worst", "slowdown_unfairness", "slowdown_jain", "slowdown_spread",
    "slowdown_excess", "slowdown_worst", "slowdown_worst_log", "slowdown_mean", "slowdown_mean_log",
    "slowdown_geometric", "slowdown_p95", "waiting_mean", "waiting_p95", "response_mean", "response_p95",
    "completed", "completed_work", "lost_work",
)  # fmt: skip


def signal_table(rows: dict[str, Any]) -> str:
    """Signal over noise of the metrics by scenario; default objectives are bold."""
    names = dict.fromkeys((*SHOWN, *(name for row in rows.values() for name in row["objectives"])))
    lines = [_line("metric", *(f"`{scenario}`" for scenario in rows)), f"|---|{'---:|' * len(rows)}"]
    for name in names:
        cells = []
        for row in rows.values():
            text = _ratio(row["metrics"].get(name))
            cells.append(f"**{text}**" if name in row["objectives"] else text)
        lines.append(_line(f"`{name}`", *cells))
    lines.append(_line("lose no more than today", *(f"{row['feasible']:.0%}" for row in rows.values())))
    lines.append(_line("points measured", *(str(row["points"]) for row in rows.values())))
    return "\n".join(lines)


def federations_table(rows: dict[str, Any]) -> str:
    """Signal over noise of the federations' objectives: all points, the allowed ones, their front."""
    lines = [_line("scenario", "objective", "random", "lose no more", "front"), "|---|---|---:|---:|---:|"]
    for name in ("federation/small", "federation/lcg-week"):
        row = rows[name]
        narrowed = row.get("narrowed", {})
        counts = [row["points"], *(narrowed.get(one, {}).get("points", "–") for one in ("feasible", "front"))]
        lines.append(_line(f"`{name}`", "configurations", *map(str, counts)))
        for objective in row["objectives"]:
            found = [row["metrics"][objective]["ratio"]]
            found += [narrowed.get(one, {}).get(objective) for one in ("feasible", "front")]
            lines.append(_line("", f"`{objective}`", *("–" if x is None else f"{x:.3g}" for x in found)))
    return "\n".join(lines)


def saboteur_table(rows: dict[str, Any]) -> str:
    """Seeds in which objectives, or only the constraint on lost work, beat each twin."""
    kinds = list(dict.fromkeys(kind for row in rows.values() for kind in row["twins"]))
    lines = [
        _line("scenario", "seeds", *(f"`{kind}`" for kind in kinds), "lost no more", "unbeaten"),
        f"|---|{'---:|' * (len(kinds) + 3)}",
    ]
    for name, row in rows.items():
        left = [str(sum(counts.get(one, 0) for counts in row["twins"].values())) for one in ("level", "")]
        cells = [_verdicts(row["twins"].get(kind)) for kind in kinds]
        lines.append(_line(f"`{name}`", str(row["seeds"]), *cells, *left))
    return "\n".join(lines)


def parallel_table(rows: dict[str, Any]) -> str:
    """What each way to bring parallel tasks to sites completes."""
    lines = [
        _line("scenario", "way", "completed", "mean response", "pilots", "idle", "messages"),
        "|---|---|---|---|---|---|---|",
    ]
    for name, ways in rows.items():
        for row in ways:
            values, idle = row["metrics"], ""
            if "pilot_idle" in values:
                idle = f"{values['pilot_idle'] / 3600:,.0f} h"
            cells = (_completed(row), _seconds(row), f"{values['pilots']:,.0f}" if idle else "", idle)
            lines.append(_line(f"`{name}`", row["way"], *cells, f"{values['messages']:,.0f}"))
    return "\n".join(lines)


def parallel_front_table(members: list[dict[str, Any]]) -> str:
    """What the points of a front complete, by the kind of middleware."""
    lines = [_line("middleware", "points of the front", "completed by each"), "|---|---:|---|"]
    for kind in dict.fromkeys(row["settings"]["middleware.kind"] for row in members):
        own = [row for row in members if row["settings"]["middleware.kind"] == kind]
        lines.append(_line(kind, str(len(own)), ", ".join(sorted({_completed(row) for row in own}))))
    return "\n".join(lines)


TABLES: dict[str, dict[str, Callable[[Any], str]]] = {
    "metrics.md": {"signal": signal_table, "saboteurs": saboteur_table},
    "validation.md": {
        "fuzz": robustness_tables.fuzz_table,
        "kills": robustness_tables.kills_table,
        "io_faults": robustness_tables.io_faults_table,
        "full_disk": robustness_tables.full_disk_table,
        "mutants": robustness_tables.mutants_table,
        "fresh-mutants": robustness_tables.mutants_table,
    },
    "method.md": {"calibration": search_tables.calibration_table},
    "samplers.md": {
        "allocations": search_tables.allocations_table,
        "allocations gains": search_tables.gains_table,
    },
    "four-parameters.md": {"four_parameters": search_tables.four_parameters_table},
    "federation.md": {
        "signal federations": federations_table,
        "federation": search_tables.fronts_table,
        "federation chances": search_tables.chances_table,
        "federation_parts small": partial(search_tables.parts_table, scenario="federation/small"),
        "federation_parts week": partial(search_tables.parts_table, scenario="federation/lcg-week"),
        "federation_week": search_tables.fronts_table,
        **{
            f"federation_effects {name}": partial(search_tables.effect_table, effect=name)
            for name in search_tables.EFFECTS
            if name != "caches"
        },
    },
    "costs-and-faults.md": {
        "federation_effects caches": partial(search_tables.effect_table, effect="caches")
    },
    "systems/dirac.md": {"parallel": parallel_table, "parallel-front": parallel_front_table},
    "systems/batch.md": {
        "calibrated": batch_tables.calibrated_table,
        "batch_search": batch_tables.search_table,
    },
    "performance.md": {
        "peers": speed_tables.peers_table,
        "profile_shares": speed_tables.shares_table,
        "scaling": speed_tables.scaling_table,
        "weight": speed_tables.weight_table,
    },
}


def written(name: str) -> str:
    """A page with its tables as the data say."""
    page = (DOCS / name).read_text(encoding="utf-8")
    for of, table in TABLES[name].items():
        rows = _data(of.split()[0])
        found = re.compile(rf"(<!-- {of}: [^\n]*-->\n).*?(<!-- end -->)", re.DOTALL)
        if not found.search(page):
            raise SystemExit(f"{name}: no place for the table {of}")
        made = table(rows) if rows else f"Not measured yet: `python -m tests.benchmarks.{of}` does so."
        page = found.sub(lambda match, made=made: f"{match[1]}{made}\n{match[2]}", page)
    return page


def _data(name: str) -> Any:
    """What was measured: one JSON text, or one in each line; nothing if there is no such file."""
    path = DOCS / "data" / f"{name}.json"
    if path.exists():
        return json.loads(path.read_text(encoding="utf-8"))
    path = path.with_suffix(".jsonl")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else ()
    return [json.loads(line) for line in lines]


def _completed(row: dict[str, Any]) -> str:
    return f"{row['done']:,} of {row['fitting']:,}"


def _seconds(row: dict[str, Any]) -> str:
    return f"{row['response']:,.0f} s"


def _ratio(known: dict[str, Any] | None) -> str:
    if known is None:
        return "–"
    return "∞" if known["ratio"] is None else f"{known['ratio']:.3g}"


def _verdicts(counts: dict[str, int] | None) -> str:
    if counts is None:
        return ""
    first, second = counts.get("objectives", 0), counts.get("loss", 0)
    return f"{first} + {second}" if first or second else "–"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    for page in TABLES:
        (DOCS / page).write_text(written(page), encoding="utf-8")
