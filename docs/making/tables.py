"""Write the tables that docs/metrics.md shows of docs/data into the page.

    python docs/making/tables.py

Each stands between two comments, `<!-- NAME: … -->` and `<!-- end -->`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1]
PAGE = DOCS / "metrics.md"
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


def saboteur_table(rows: dict[str, Any]) -> str:
    """Seeds in which objectives, or only the constraint on lost work, beat each twin."""
    kinds = list(dict.fromkeys(kind for row in rows.values() for kind in row["twins"]))
    lines = [
        _line("scenario", "seeds", *(f"`{kind}`" for kind in kinds), "unbeaten"),
        f"|---|{'---:|' * (len(kinds) + 2)}",
    ]
    for name, row in rows.items():
        unbeaten = sum(counts.get("", 0) for counts in row["twins"].values())
        cells = [_verdicts(row["twins"].get(kind)) for kind in kinds]
        lines.append(_line(f"`{name}`", str(row["seeds"]), *cells, str(unbeaten)))
    return "\n".join(lines)


def written(page: str) -> str:
    """The page with its tables as the data say."""
    for name, table in (("signal", signal_table), ("saboteurs", saboteur_table)):
        rows = json.loads((DOCS / "data" / f"{name}.json").read_text(encoding="utf-8"))
        found = re.compile(rf"(<!-- {name}: [^\n]*-->\n).*?(<!-- end -->)", re.DOTALL)
        if not found.search(page):
            raise SystemExit(f"{PAGE.name}: no place for the table {name}")
        page = found.sub(lambda match, rows=rows, table=table: f"{match[1]}{table(rows)}\n{match[2]}", page)
    return page


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
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
