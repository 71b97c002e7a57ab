"""Searches and runs on a disk that really becomes full, and goes on afterwards.

    mount -t tmpfs -o size=2m none /mnt/small
    python -m tests.benchmarks.full_disk /mnt/small                             # all commands
    python -m tests.benchmarks.full_disk /mnt/small --rows docs/data/full_disk.json --minutes 10

As in `io_faults`, but calls fail by themselves: a file takes all room but some kB, from none to more than the
command needs. It must end with exit code 2 and a line that says where, or be done. When the file is gone, the
same command with `--resume` must give the results of an undisturbed one.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import time
from math import inf
from pathlib import Path
from typing import Any

from tests.benchmarks.io_faults import CASES, TEMPORARY, called, contents, fault
from tests.forked import warm_up

KILOBYTE = 1024
LARGEST = 16 << 20  # bytes of a disk that is filled
FOLDER, FILLER = "commands", "filler"
OURS = {FOLDER, FILLER, "lost+found"}


def main(disk: Path, cases: list[str], every: int, rows: Path | None, minutes: float) -> int:
    """Fill a disk; the number of faults.

    Args:
        disk: an empty file system of its own.
        cases: names of commands.
        every: kB between two amounts of room.
        rows: file of what was found so far, which is gone on with.
        minutes: after which to stop.
    """
    if not os.path.ismount(disk) or _room(disk) > LARGEST or {path.name for path in disk.iterdir()} - OURS:
        raise SystemExit(f"{disk}: no small, empty file system of its own; it is left as it is")
    known: dict[str, Any] = {}
    if rows is not None and rows.exists():
        known = json.loads(rows.read_text(encoding="utf-8"))
    until = time.monotonic() + 60 * minutes
    warm_up()
    with tempfile.TemporaryDirectory() as beside:
        for name in cases:
            needed, truth = _undisturbed(disk, name, Path(beside))
            row = known.setdefault(name, {"needed": needed, "codes": {}, "faults": []})
            for left in range(0, needed + 4 * every, every):
                if str(left) in row["codes"]:
                    continue
                if time.monotonic() > until:
                    break
                code, problem = _filled(disk, name, left, truth, Path(beside))
                row["codes"][str(left)] = code
                if problem:
                    row["faults"].append(f"{left} kB: {problem}")
                    print(f"{name} with {left} kB: {problem}", flush=True)
                if rows is not None:
                    rows.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
            print(f"{name}: needs {needed} kB; exit codes by kB: {row['codes']}", flush=True)
    return sum(len(row["faults"]) for row in known.values())


def _undisturbed(disk: Path, name: str, beside: Path) -> tuple[int, list[bytes]]:
    """How many kB a command needs, about, and what it gives."""
    case, folder = CASES[name], _emptied(disk)
    before = _room(disk)
    code, said, _ = called(case.words, folder, lambda: None, draw=False, beside=beside)
    assert code == 0, said
    return (before - _room(disk)) // KILOBYTE, contents(folder, case)


def _filled(disk: Path, name: str, left: int, truth: list[bytes], beside: Path) -> tuple[int, str]:
    """Exit code of a command with so many kB left, and what it did wrong, if anything."""
    case, folder = CASES[name], _emptied(disk)
    filler = disk / FILLER
    filler.write_bytes(bytes(max(0, _room(disk) - left * KILOBYTE)))
    code, said, _ = called(case.words, folder, lambda: None, draw=False, beside=beside)
    problem = fault(case, "ENOSPC", code, said, folder)
    filler.unlink()
    if not problem:
        again, more, _ = called(case.again, folder, lambda: None, draw=False, beside=beside)
        if again:
            problem = f"cannot go on: {more}"
        elif contents(folder, case) != truth:
            problem = "another result"
        elif names := [path.name for path in folder.rglob("*") if TEMPORARY.search(path.name)]:
            problem = f"left {', '.join(names)}"
    return code, problem


def _emptied(disk: Path) -> Path:
    """A new folder on a disk that has nothing else."""
    (disk / FILLER).unlink(missing_ok=True)
    folder = disk / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def _room(disk: Path) -> int:
    """Bytes that are free."""
    about = os.statvfs(disk)
    return about.f_bavail * about.f_frsize


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("disk", type=Path)
    options.add_argument(
        "--cases", type=lambda text: text.split(","), default=[name for name in CASES if name != "outputs"]
    )
    options.add_argument("--every", type=int, default=4)
    options.add_argument("--rows", type=Path)
    options.add_argument("--minutes", type=float, default=inf)
    raise SystemExit(min(1, main(**vars(options.parse_args()))))
