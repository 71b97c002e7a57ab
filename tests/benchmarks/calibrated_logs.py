"""How well calibration fits real logs, on the weeks that it did not see.

    python -m tests.benchmarks.calibrated_logs --work /tmp/cal --rows docs/data/calibrated.json
    python docs/making/tables.py     # shows them in docs/systems/batch.md

Each row is what `gridtune calibrate LOG --format json` prints, and the CPU time that it took in s, all of it
where it was interrupted: what replays gave is kept in `--work`. The ten schedules of OAR are calibrated to
together.
"""

from __future__ import annotations

import argparse
import json
import shelve
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from gridtune.scenarios.calibration import calibrate
from gridtune.scenarios.calibration.report import as_json
from gridtune.scenarios.reproduction.oar.claims import SEEDS, schedule_path
from gridtune.scenarios.trace_files.find import find_trace
from tests.benchmarks.rows import known_in

SPENT = "s of CPU time"
LOGS = {
    "KTH-SP2": ["KTH-SP2-1996-2.1-cln.swf.gz"],
    "UniLu-Gaia": ["UniLu-Gaia-2014-2.swf.gz"],
    "LPC-EGEE": ["LPC-EGEE-2004-1.2-cln.swf.gz"],
    "ten runs of OAR": [f"g5k_oar/{schedule_path(seed).name}" for seed in SEEDS],
}


def shortened(value: Any) -> Any:
    """Numbers with four digits."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        return {name: shortened(one) for name, one in value.items()}
    return [shortened(one) for one in value] if isinstance(value, list) else value


class Replays(shelve.DbfilenameShelf[Any]):
    """What replays gave, in a file; and the s of CPU time that have been spent on them."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        self._before = self.get(SPENT, 0.0)

    @property
    def seconds(self) -> float:
        """Of this process and of those before."""
        return float(self._before + time.process_time())

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, value)
        super().__setitem__(SPENT, self.seconds)
        self.sync()


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=Path, required=True, help="JSON file of what was found")
    parser.add_argument("--work", type=Path, required=True, help="folder where replays are kept")
    parser.add_argument("--logs", nargs="*", default=list(LOGS), help="names; all")
    chosen = parser.parse_args()
    chosen.work.mkdir(parents=True, exist_ok=True)
    known = known_in(chosen.rows, {})
    for name in chosen.logs:
        if name in known:
            continue
        for trace in LOGS[name]:
            find_trace(trace)
        with closing(Replays(chosen.work / name)) as kept:
            found = calibrate(
                *LOGS[name], say=lambda line: print(line, file=sys.stderr, flush=True), known=kept
            )
            known[name] = shortened(as_json(found) | {"seconds": kept.seconds})
        chosen.rows.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
