"""The page for administrators from its first command to its last, on a real log: how long each takes.

    python -m tests.benchmarks.my_log --work /tmp/my-log --rows docs/data/my_log.json
    python docs/making/tables.py                              # shows the times in docs/my-log.md

`--log` takes another trace than KTH-SP2. `--slurm 100000` makes Slurm's accounting of so many jobs of it. The
commands run one after the other, in the folder; where nothing is recommended, what is done with a
recommendation is left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.rows import placeless
from tests.benchmarks.sacct_rows import write_sacct

ROOT = Path(__file__).parents[2]
KTH = ROOT.parent / "shared/data/KTH-SP2-1996-2.1-cln.swf.gz"


def commands() -> list[list[str]]:
    """Those of the page after `sacct`."""
    spec = importlib.util.spec_from_file_location("pages", ROOT / "docs/making/pages.py")
    assert spec is not None
    assert spec.loader is not None
    pages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pages)
    found: list[list[str]] = pages.commands(ROOT / "docs/my-log.md")
    return found


def timed(words: list[str], folder: Path) -> dict[str, Any]:
    """A command's wall time and CPU time, s, and what it printed at 80 columns.

    Raises:
        CalledProcessError: it failed.
    """
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "gridtune", *words],
        cwd=folder,
        env=os.environ | {"COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "command": " ".join(["gridtune", *words]),
        "seconds": round(time.monotonic() - began, 1),
        "cpu": round(cpu, 1),
        "text": placeless(done.stdout),
    }


def main() -> None:
    """Run the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--log", type=Path, default=KTH, help="trace to put in the place of mine.txt")
    parser.add_argument("--slurm", type=int, metavar="JOBS", help="begin with Slurm's accounting of so many")
    parser.add_argument("--work", type=Path, required=True, help="empty folder for the results")
    parser.add_argument("--rows", type=Path, required=True, help="file of the measurements")
    asked = parser.parse_args()
    asked.work.mkdir(parents=True, exist_ok=True)
    name = "mine.txt"
    if asked.slurm:
        write_sacct(asked.log, asked.slurm, asked.work / name)
    else:
        name = f"mine{''.join(asked.log.suffixes[-2:])}"
        shutil.copy(asked.log, asked.work / name)
    rows: list[dict[str, Any]] = []
    recommended = True
    for words in commands():
        if not recommended:
            break
        rows.append(timed([name if word == "mine.txt" else word for word in words], asked.work))
        print(f"{rows[-1]['seconds']:7.1f} s  {rows[-1]['command']}", flush=True)
        if "--export" in words:
            (asked.work / "chosen.toml").write_text(rows[-1]["text"], encoding="utf-8")
        if words[0] == "front" and len(words) == 2:
            found = json.loads((asked.work / words[1] / "front.json").read_text(encoding="utf-8"))
            recommended = bool(found["recommendations"])
    asked.rows.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
