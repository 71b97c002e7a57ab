"""Lets every write of a command fail, one after the other, and goes on afterwards.

    python -m tests.benchmarks.io_faults                        # all commands, errors and writes
    python -m tests.benchmarks.io_faults --cases journal,outputs --every 7
    python -m tests.benchmarks.io_faults --rows docs/data/io_faults.json --minutes 10   # goes on where it was

A small search in a journal and in SQLite, the same with pictures and page once everything is evaluated, and a
run with tables. In turn each call that opens, writes, syncs, cuts, links, renames or removes a file below the
folder fails: with ENOSPC from then on, once with EIO, once with EINTR. A full disk takes half of the first
write that it has no room for, and then only what needs none: overwriting, cutting, renaming and removing.

The command must end with exit code 2 and a line that says where, or, if it was only a picture, with a note.
EINTR must make no difference; syncs are left out there, as Linux does not interrupt them and SQLite would
give up. Nothing half-written may be left that has the name of a result. On a disk that works the same command
with `--resume` must give the front of an undisturbed search, or the same files of a run, and leave no
temporary file.

Calls are made to fail by a library that is loaded before libc (`io_faults.c`, compiled with `cc`).
"""

from __future__ import annotations

import argparse
import ctypes
import errno
import faulthandler
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from tests.benchmarks.fuzz import WAITING, waited
from tests.forked import command, warm_up

ERRORS = {"ENOSPC": (errno.ENOSPC, True), "EIO": (errno.EIO, False), "EINTR": (errno.EINTR, False)}
SEARCH = ("search", "diet/day-regular", "--set", "horizon=3", "--budget", "4", "--replications", "1",
          "--objective", "completed", "--objective", "unfairness", "--sampler", "random", "--jobs", "1",
          "--format", "json")  # fmt: skip
SOURCE = Path(__file__).with_suffix(".c")
TEMPORARY = re.compile(r"\.(part|new)(-journal)?$|-journal$")
LIBRARY = "GRIDTUNE_IO_FAULTS"  # names the compiled library in the process that has loaded it


@dataclass(frozen=True)
class Case:
    """A command whose writes fail.

    Attributes:
        words: of the command, with `{}` for the folder below which it writes.
        again: of the command that goes on.
        result: files that must be in the end as they are without faults.
        draw: whether pictures are drawn.
        finished: whether its search has been made before.
    """

    words: Sequence[str]
    again: Sequence[str]
    result: Sequence[str]
    draw: bool = False
    finished: bool = False


def _search(*place: str, draw: bool = False, finished: bool = False) -> Case:
    words = (*SEARCH, *place)
    return Case(
        [*words, "--resume"] if finished else words, (*words, "--resume"), ["out/front.json"], draw, finished
    )


RUN = ("run", "diet/day-regular", "--set", "horizon=3", "--events", "--out", "{}/out")
CASES = {
    "journal": _search("--out", "{}/out"),
    "sqlite": _search("--out", "{}/out", "--storage", "sqlite:///{}/studies.db"),
    "outputs": _search("--out", "{}/out", draw=True, finished=True),
    "run": Case(
        RUN, RUN, ["out/metrics.json", "out/manifest.json", "out/jobs.parquet", "out/events.parquet"]
    ),
}


def called(
    words: Sequence[str],
    folder: Path,
    before: Callable[[], object],
    *,
    draw: bool,
    beside: Path | None = None,
) -> tuple[int, str, int]:
    """Exit code of a command in a process of its own, what was said, and how many calls could have failed.

    Args:
        words: of the command, with `{}` for the folder.
        folder: below which it writes.
        before: what is done in that process first.
        draw: whether pictures are drawn.
        beside: folder for what it says and for temporary files; left out, that in which the folder lies.
    """
    beside = beside or folder.parent
    log, count = beside / f"{folder.name}.log", beside / f"{folder.name}.count"
    log.write_bytes(b"")
    child = os.fork()
    if not child:
        code = 99
        try:
            os.setsid()
            os.environ["TMPDIR"] = str(beside)
            tempfile.tempdir = None
            if not draw:
                from gridtune.optimize.report.pictures import draw as pictures

                pictures.save = lambda *_: None
            faulthandler.dump_traceback_later(WAITING - 5, file=log.open("a"))
            before()
            code = command([word.format(folder) for word in words], os.devnull, log)
            if LIBRARY in os.environ:
                count.write_text(str(library().io_faults_calls()))
        finally:
            os._exit(code)
    code, _ = waited(child)
    calls = int(count.read_text()) if count.exists() else 0
    return code, log.read_text(errors="replace"), calls


def library() -> ctypes.CDLL:
    """The loaded library."""
    found = ctypes.CDLL(os.environ[LIBRARY])
    found.io_faults_calls.restype = ctypes.c_long
    return found


def arming(folder: Path, number: int, error: str) -> Callable[[], object]:
    """What lets a call fail, to be called in the child."""
    code, always = ERRORS[error]
    return lambda: library().io_faults_arm(f"{folder}/".encode(), ctypes.c_long(number), code, int(always))


def fault(case: Case, error: str, code: int, said: str, folder: Path) -> str:
    """What a command did wrong when a write failed; empty if nothing."""
    lines = [line for line in said.splitlines() if line.strip()]
    if "Traceback" in said or code not in (0, 2):
        return f"exit code {code}"
    if error == "EINTR" and code:
        return "interrupted system calls were not tried again"
    if code == 2 and not (lines and lines[-1].startswith("gridtune: ")):
        return "no line that says why"
    for path in folder.rglob("*.json"):
        try:
            json.loads(path.read_text())
        except ValueError:
            return f"{path.name} is half-written"
    return ""


def main(cases: Sequence[str], every: int, errors: Sequence[str], rows: Path | None, minutes: float) -> int:
    """Let writes fail; the number of faults.

    Args:
        cases: names of the commands.
        every: how many calls further the next is that fails.
        errors: by which.
        rows: file of what was found so far, which is gone on with.
        minutes: after which to stop.
    """
    known: dict[str, Any] = {"every": every, "rows": []}
    if rows is not None and rows.exists():
        known = json.loads(rows.read_text(encoding="utf-8"))
    until = time.monotonic() + 60 * minutes
    warm_up()
    with tempfile.TemporaryDirectory() as top:
        for name in cases:
            wanted = [row_of(known["rows"], name, error) for error in errors]
            if time.monotonic() > until or all(row["next"] >= row["calls"] for row in wanted):
                continue
            trials = Trials(Path(top), name)
            for row in wanted:
                row["calls"] = trials.calls[row["error"]]
                for number in range(row["next"], row["calls"], every):
                    if time.monotonic() > until:
                        break
                    code, problem = trials.one(row["error"], number)
                    row["codes"][str(code)] = row["codes"].get(str(code), 0) + 1
                    row["next"] = number + every
                    if problem:
                        row["faults"].append(f"{number}: {problem.splitlines()[0]}")
                        print(f"{name}: {row['error']} at call {number}: {problem}", flush=True)
                    if rows is not None:
                        rows.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    for row in known["rows"]:
        print(f"{row['command']}: {row['error']}: exit codes {row['codes']} in {row['calls']} calls")
    faults = sum(len(row["faults"]) for row in known["rows"])
    print(f"{faults} faults")
    return faults


def row_of(rows: list[dict[str, Any]], command: str, error: str) -> dict[str, Any]:
    """What is known of a command and an error; a new row if nothing is."""
    for row in rows:
        if (row["command"], row["error"]) == (command, error):
            return row
    rows.append({"command": command, "error": error, "calls": 1, "next": 0, "codes": {}, "faults": []})
    return rows[-1]


class Trials:
    """Trials of one command.

    Args:
        top: folder for them.
        name: of the command.
    """

    def __init__(self, top: Path, name: str) -> None:
        self.case, self._top, self._name = CASES[name], top, name
        self._start, truth = top / f"{name}-start", top / f"{name}-truth"
        self._start.mkdir()
        if self.case.finished:
            assert called(self.case.again, self._start, lambda: None, draw=False)[0] == 0
        found, self.calls = [], {}
        for error in ERRORS:
            shutil.rmtree(truth, ignore_errors=True)
            shutil.copytree(self._start, truth)
            code, said, self.calls[error] = called(
                self.case.words, truth, arming(truth, -1, error), draw=self.case.draw
            )
            assert code == 0, said
            found.append(contents(truth, self.case))
        assert found[0] == found[1] == found[2], "not always the same"
        self._truth = found[0]

    def one(self, error: str, number: int) -> tuple[int, str]:
        """Exit code of the command when the call of that number fails, and what it did wrong, if anything."""
        case, folder = self.case, self._top / f"{self._name}-{error}-{number}"
        shutil.copytree(self._start, folder)
        code, said, _ = called(case.words, folder, arming(folder, number, error), draw=case.draw)
        problem = fault(case, error, code, said, folder)
        if not problem and code == 0 and "note: " not in said and contents(folder, case) != self._truth:
            problem = "another result, and nothing said"
        if not problem:
            again, more, _ = called(case.again, folder, lambda: None, draw=False)
            if again:
                problem = f"cannot go on: {more}"
            elif contents(folder, case) != self._truth:
                problem = "another result"
            elif left := [path.name for path in folder.rglob("*") if TEMPORARY.search(path.name)]:
                problem = f"left {', '.join(left)}"
        shutil.rmtree(folder)
        return code, f"{problem}\n   {said[-400:]}" if problem else ""


def contents(folder: Path, case: Case) -> list[bytes]:
    """What results hold."""
    replaced = str(folder).encode()
    return [(folder / name).read_bytes().replace(replaced, b"") for name in case.result]


def compiled(folder: Path) -> Path:
    """The library, compiled."""
    path = folder / "io_faults.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", path, SOURCE, "-ldl"], check=True)
    return path


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--cases", type=lambda text: text.split(","), default=list(CASES))
    options.add_argument("--errors", type=lambda text: text.split(","), default=list(ERRORS))
    options.add_argument("--every", type=int, default=1)
    options.add_argument("--rows", type=Path)
    options.add_argument("--minutes", type=float, default=inf)
    given = vars(options.parse_args())
    if LIBRARY not in os.environ:
        with tempfile.TemporaryDirectory() as place:
            made = str(compiled(Path(place)))
            loaded = {**os.environ, LIBRARY: made, "LD_PRELOAD": made}
            raise SystemExit(
                subprocess.run(
                    [sys.executable, "-m", "tests.benchmarks.io_faults", *sys.argv[1:]], env=loaded
                ).returncode
            )
    raise SystemExit(min(1, main(**given)))
