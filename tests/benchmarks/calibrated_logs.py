"""How well calibration fits real logs, on the weeks that it did not see.

    python -m tests.benchmarks.calibrated_logs --rows docs/data/calibrated.json    # measures what is missing
    python docs/making/tables.py                                  # shows them in docs/systems/batch.md

Each row is what `gridtune calibrate LOG --format json` prints, and the CPU time that it took in s. The ten
schedules of OAR are calibrated to together.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from gridtune.scenarios.calibration import calibrate
from gridtune.scenarios.calibration.report import as_json
from gridtune.scenarios.reproduction.oar.claims import SEEDS, schedule_path
from gridtune.scenarios.trace_files.find import find_trace

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


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=Path, required=True, help="JSON file of what was found")
    parser.add_argument("--logs", nargs="*", default=list(LOGS), help="names; all")
    chosen = parser.parse_args()
    known = json.loads(chosen.rows.read_text(encoding="utf-8")) if chosen.rows.exists() else {}
    for name in chosen.logs:
        if name in known:
            continue
        for trace in LOGS[name]:
            find_trace(trace)
        began = time.process_time()
        found = calibrate(*LOGS[name], say=lambda line: print(line, file=sys.stderr, flush=True))
        known[name] = shortened(as_json(found) | {"seconds": time.process_time() - began})
        chosen.rows.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
