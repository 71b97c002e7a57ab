"""How right the time is that searches say is left.

    python -m tests.benchmarks.time_left --work WORK    # searches that docs/data/time_left.json lacks
    python docs/making/tables.py                        # shows them in docs/performance.md

What a search prints every ten seconds is compared with the time that it then still took.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.rows import known_in

DATA = Path(__file__).parents[2] / "docs/data/time_left.json"
SEARCHES = {
    "federation/small": ["--budget", "300"],
    "cigri/search": ["--budget", "200"],
    "egee/search": ["--budget", "200"],
    "dirac/search": ["--budget", "300"],
    "batch/replay": ["--runs", "300"],
}
SECONDS = {"h": 3600.0, "min": 60.0, "s": 1.0}
SHARES = (0.1, 0.25, 0.5, 0.75)


def measured(scenario: str, work: Path) -> dict[str, Any]:
    """The length of a search, s, and what it said was left: (s since its start, s left)."""
    words = ["search", scenario, *SEARCHES[scenario], "--out", str(work / scenario.replace("/", "-"))]
    began, said = time.monotonic(), []
    with subprocess.Popen(
        [sys.executable, "-m", "gridtune", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stderr is not None
        for line in running.stderr:
            if found := re.search(r", ([^,]*) left", line):
                parts = re.findall(r"([0-9.]+) (h|min|s)\b", found[1])
                said.append([time.monotonic() - began, sum(float(x) * SECONDS[unit] for x, unit in parts)])
    return {"seconds": time.monotonic() - began, "said": said}


def table(rows: dict[str, Any]) -> str:
    """Said over actual time left, by how much of the search is over."""
    titles = ["search", "lasts", *(f"after {share:.0%}" for share in SHARES)]
    lines = [f"| {' | '.join(titles)} |", "|---" + "|---:" * (len(titles) - 1) + "|"]
    for name, row in rows.items():
        cells = [f"`{name}`", f"{row['seconds']:.0f} s"]
        for share in SHARES:
            later = [(at, left) for at, left in row["said"] if at >= share * row["seconds"]]
            cells.append(f"{later[0][1] / (row['seconds'] - later[0][0]):.2f}" if later else "")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Measure what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    work = parser.parse_args().work
    rows = known_in(DATA, {})
    for name in SEARCHES:
        if name not in rows:
            rows[name] = measured(name, work)
            DATA.write_text(json.dumps(rows) + "\n", encoding="utf-8")
    print(table(rows))


if __name__ == "__main__":
    main()
