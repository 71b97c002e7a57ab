"""What an event costs a compiled simulator: the limit of all speed.

    python -m tests.benchmarks.event_price > docs/data/event_price.json
    python docs/making/tables.py            # shows it in docs/performance.md

Compiles `event_price.c`, a bare event loop with one binary heap, and takes the fastest of five runs.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import which

SOURCE = Path(__file__).with_name("event_price.c")
WAITING = 0.008695  # mean of M/M/50 at a load of 0.8 by Erlang's formula, in service times
NEAR = 0.05  # of it: what a run of so many tasks may be off by
RUNS = 5


def main() -> None:
    """See the module."""
    compiler = which("cc")
    if compiler is None:
        sys.exit("no C compiler (cc) is found")
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "event_price")
        subprocess.run([compiler, "-O2", "-o", program, str(SOURCE), "-lm"], check=True)
        runs = [
            subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
            for _ in range(RUNS)
        ]
    for _, _, waiting in runs:
        if abs(float(waiting) - WAITING) > NEAR * WAITING:
            sys.exit(f"mean waiting {waiting} service times, not {WAITING}: this is no M/M/50")
    seconds = min(float(run[1]) / int(run[0]) for run in runs)
    print(json.dumps({"seconds per event": float(f"{seconds:.3g}")}, indent=1))


if __name__ == "__main__":
    main()
