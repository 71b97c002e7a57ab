"""Write the tables that pages show of docs/data into them.

    python docs/making/tables.py

Each stands between two comments, `<!-- NAME: … -->` and `<!-- end -->`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import answer_tables
import batch_tables
import numpy as np
import robustness_tables
import search_tables
import speed_tables

sys.path.append(str(Path(__file__).parents[2]))
from tests.benchmarks import bench_signal, estimates, inference, recommended, search_quality, time_left

DOCS = Path(__file__).parents[1]
SHOWN = ("unhappy_users", "unfairness", "unfairness_jain", "completed_work")  # beside all default objectives
TWINS = {
    "refuse": "refuses a random fifth of the mandatory jobs",
    "hold": "holds a random fifth until after the end",
    "hold-few": "holds a random hundredth",
    "hold-last": "holds the last twentieth",
    "drop-widest": "refuses the widest tenth",
    "drop-longest": "refuses the longest tenth",
    "drop-class": "refuses the class with the least work",
    "never-make-15": "makes no job in the last 15 % of the run",
    "never-make-30": "makes no job in the last 30 %",
    "one-too-few": "submits n_min - 1 requests",
    "stop-harvesting": "stops harvesting halfway",
    "no-requeue": "never requeues killed best-effort jobs",
    "run-twice": "runs a fifth of the jobs twice, to raise utilisation",
}


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
    lines.append(_line("lose no more than baseline", *(f"{row['feasible']:.0%}" for row in rows.values())))
    lines.append(_line("configurations measured", *(str(row["configurations"]) for row in rows.values())))
    return "\n".join(lines)


def front_signal_table(data: dict[str, Any]) -> str:
    """Signal over noise on the fronts of the default sampler, the lowest and the highest."""
    lines = [_line("objective", "one run", "estimates"), "|---|---:|---:|"]
    fronts = [row for row in data["fronts"] if row["sampler"] == "auto"]
    for name in data["objectives"]:
        once, estimated = [], []
        for row in fronts:
            runs = np.array([one[name] for one in row["objectives"]])
            signal, noise = bench_signal.variances(runs)
            once.append(signal / noise)
            errors = np.array([one[name] for one in row["estimated"]]) - runs.mean(axis=1)
            # The means err, too.
            estimated.append(signal / (float(errors.var(ddof=1)) - noise / runs.shape[1]))
        ranges = (f"{min(found):.1f} to {max(found):.1f}" for found in (once, estimated))
        lines.append(_line(f"`{name}`", *ranges))
    return "\n".join(lines)


def saboteur_table(rows: dict[str, Any]) -> str:
    """How many runs of each twin the objectives, or only the constraint on lost work, exclude."""
    lines = [
        _line("twin", "what it does", "scenarios", "objectives", "constraint", "lost no more", "undominated"),
        f"|---|---|{'---:|' * 5}",
    ]
    for twin, said in TWINS.items():
        made = [row["twins"][twin] for row in rows.values() if twin in row["twins"]]
        counts = [sum(one.get(kind, 0) for one in made) for kind in ("objectives", "loss", "level", "")]
        lines.append(_line(f"`{twin}`", said, *map(str, (len(made), *counts))))
    return "\n".join(lines)


TABLES: dict[str, dict[str, Callable[[Any], str]]] = {
    "metrics.md": {"signal": signal_table, "saboteurs": saboteur_table},
    "validation.md": {
        "fuzz": robustness_tables.fuzz_table,
        "kills": robustness_tables.kills_table,
        "io_faults": robustness_tables.io_faults_table,
        "full_disk": robustness_tables.full_disk_table,
    },
    "method-details.md": {"inference": inference.table, "estimates": estimates.told},
    "samplers.md": {"search_quality": search_quality.table},
    "answers.md": {
        "answers held": answer_tables.held,
        "recommended": recommended.table,
    },
    "four-parameters.md": {"four_parameters": search_tables.four_parameters_table},
    "federation.md": {"federation volumes": search_tables.volumes_text},
    "federation-evidence.md": {
        "federation": search_tables.fronts_table,
        "federation fronts": front_signal_table,
        "federation_week": search_tables.fronts_table,
        **{
            f"federation_effects {name}": partial(search_tables.effect_table, effect=name)
            for name in search_tables.EFFECTS
        },
    },
    "calibrating.md": {"calibrated": batch_tables.calibrated_table},
    "systems/batch.md": {"held_out": batch_tables.held_out_table},
    "my-log.md": {"my_log": batch_tables.my_log_time, "my_log_slurm": batch_tables.my_log_time},
    "performance.md": {
        "peers": speed_tables.peers_table,
        "speed": speed_tables.speed_table,
        "time_left": time_left.table,
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
        made = (
            table(rows)
            if rows
            else f"Not measured yet: `python docs/making/evidence.py --run {of.split()[0]}.json`."
        )
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


def _ratio(known: dict[str, Any] | None) -> str:
    if known is None:
        return "–"
    return "∞" if known["ratio"] is None else f"{known['ratio']:.3g}"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    for page in TABLES:
        (DOCS / page).write_text(written(page), encoding="utf-8")
