"""How many jobs of each part of a federation begin or end otherwise when another part is switched off.

python -m tests.benchmarks.federation_parts --rows docs/data/federation_parts.json  # measures what is missing
python docs/making/tables.py                                            # shows it in docs/federation.md

Counted are jobs that begin or end 1 s or more earlier or later, and those that are in one of two runs only.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from gridtune.scenarios.document.scenario import Scenario, load
from tests.benchmarks.rows import known_in
from tests.parts import KINDS, moments, moved

SEEDS = {"federation/small": range(1, 11), "federation/lcg-week": range(1, 4)}


def measure(scenario: Scenario, seed: int) -> dict[str, dict[str, list[int]]]:
    """Of each part switched off: of each other part the jobs that are moved, and all."""
    everything = moments(scenario, seed)
    found: dict[str, dict[str, list[int]]] = {}
    for off in KINDS:
        without = moments(scenario.override({f"parts.{off}": False}), seed)
        found[off] = {part: list(moved(without[part], everything[part])) for part in KINDS if part != off}
    return found


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=Path, required=True)
    rows = parser.parse_args().rows
    known: dict[str, Any] = known_in(rows, {})
    for name, seeds in SEEDS.items():
        scenario, done = load(name), known.setdefault(name, {})
        for seed in seeds:
            if str(seed) not in done:
                done[str(seed)] = measure(scenario, seed)
                rows.write_text(json.dumps(known) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
