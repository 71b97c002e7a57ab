"""The benchmarks of pytest, and how fast the parts of gridtune are by them.

python -m tests.benchmarks.speed --rows docs/data/speed.json     # four minutes
python docs/making/tables.py                                     # shows them in docs/performance.md
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def main() -> None:
    """Run all, and keep the shortest time of each, s, with what it told beside."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=Path, required=True, help="file of the measurements")
    asked = parser.parse_args()
    files = map(str, sorted(HERE.glob("bench_*.py")))
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "all.json"
        words = ["-n0", "--benchmark-only", f"--benchmark-json={found}", *files]
        subprocess.run([sys.executable, "-m", "pytest", *words], cwd=HERE.parents[1], check=False)
        benchmarks: list[dict[str, Any]] = json.loads(found.read_text(encoding="utf-8"))["benchmarks"]
    rows = {one["name"]: {"seconds": one["stats"]["min"], **one["extra_info"]} for one in benchmarks}
    asked.rows.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
