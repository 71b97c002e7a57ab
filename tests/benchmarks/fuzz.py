"""Generates bad inputs and checks that each is refused in one way.

    python -m tests.benchmarks.fuzz 2000               # until so many were refused; valid ones count apart
    python -m tests.benchmarks.fuzz 500 --seed 70000   # others
    python -m tests.benchmarks.fuzz 2000 --rows docs/data/fuzz.json --minutes 10   # goes on where it was
    python -m tests.benchmarks.fuzz 500 --kind name    # of one kind
    python -m tests.benchmarks.fuzz --only 70123       # repeats one, and shows what it says

Each input meets the whole command in a process of its own, forked once everything is imported, with 4 GB of
address space. Nothing may end in a traceback, by a signal or in a crash report (exit code 3), nor take longer
than 10 s of a processor's time or be found waiting after 60 s. A refusal is exit code 2 with lines that start
with `gridtune: ` (after notes, and the progress of a search that had begun) and an empty standard output, and
leaves every file as it was, temporary ones included. No control character reaches standard output or standard
error, and no name is obeyed by a shell.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import resource
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from typer.main import get_command

from gridtune import cli
from gridtune.plain_text import escaped
from tests import strange_inputs as strange
from tests import strange_names
from tests.forked import MEMORY, command, warm_up

PATIENCE = 10.0  # s of a processor's time
WAITING = 60.0  # s in all, as the machine may be busy with something else
HARMLESS = ("note: ", "runs: ")  # what is said before, by a search that had begun
Case = Callable[[random.Random, strange.Ingredients, Path], list[str]]


def cases() -> dict[str, tuple[int, Case]]:
    """Kinds of inputs, with how often each comes."""
    app = get_command(cli.app)
    return {
        "text": (3, strange.text_case),
        "document": (4, strange.document_case),
        "manifest": (2, strange.manifest_case),
        "search table": (3, strange.search_case),
        "path": (3, strange.set_case),
        "trace": (4, strange.trace_case),
        "option": (6, strange.option_case(strange.commands_of(app))),
        "study": (4, strange.study_case),
        "run": (3, strange.run_case),
        "name": (4, strange_names.name_case),
    }


def of_kind(kind: str | None) -> dict[str, tuple[int, Case]]:
    """Only inputs of that kind; all if None."""
    return {name: case for name, case in cases().items() if kind in (None, name)}


@dataclass(frozen=True)
class Outcome:
    """What a command did with an input.

    Attributes:
        words: of the command.
        code: exit code; negative if a signal ended it.
        out, err: what it said.
        took: s of a processor's time; infinite if it had not ended after `WAITING`.
        changed: files that are others than before.
    """

    words: Sequence[str]
    code: int
    out: str
    err: str
    took: float
    changed: Sequence[str]

    def fault(self) -> str:
        """What it did wrong, in a few words; empty if nothing."""
        if self.took > PATIENCE:
            return f"took {self.took:.0f} s of a processor's time"
        if self.code not in (0, 1, 2) or (self.code == 1 and self.words[0] != "reproduce"):
            return f"exit code {self.code}"
        if "Traceback" in self.err:
            return "a traceback"
        if strange_names.OBEYED in self.changed:
            return "a name was obeyed"
        if escaped(self.out + self.err, "\n\t") != self.out + self.err:
            return "a control character"
        if self.code == 2:
            lines = self.err.splitlines()
            if not lines or not all(line.startswith(("gridtune: ", *HARMLESS)) for line in lines):
                return "no plain refusal"
            if self.out:
                return "a refusal with output"
            if max(map(len, lines)) > 5000:
                return "an endless line"
            if self.changed:
                return f"wrote {', '.join(self.changed)}"
        return ""


def met(words: Sequence[str], folder: Path) -> Outcome:
    """Let a command meet its input, in a process of its own that starts in a folder."""
    scratch = folder.with_name("scratch")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    before = _states(folder)
    out, err = folder.with_name("out"), folder.with_name("err")
    for path in (out, err):
        path.write_bytes(b"")
    child = os.fork()
    if not child:
        _command(words, folder, scratch, out, err)
    code, took = waited(child)
    after = _states(folder)
    changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    changed += [f"temporary {path.name}" for path in scratch.iterdir()]
    texts = [path.read_bytes().decode("utf-8", "replace") for path in (out, err)]
    return Outcome(words, code, *texts, took, changed)


def _command(words: Sequence[str], folder: Path, scratch: Path, out: Path, err: Path) -> None:
    """In the child: the command, to the end of the process."""
    code = 99
    try:
        os.setsid()
        os.chdir(folder)
        os.environ["TMPDIR"] = str(scratch)
        tempfile.tempdir = None
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (30, 31))
        code = command(words, out, err)
    finally:
        os._exit(code)


def waited(child: int) -> tuple[int, float]:
    """Exit code of a child and the processor's time that it took, s; it is killed if it does not end."""
    end = time.monotonic() + WAITING
    while time.monotonic() < end:
        done, status, used = os.wait4(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
        time.sleep(0.002)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -signal.SIGKILL, inf


def _states(folder: Path) -> dict[str, object]:
    """What is in a folder, and when each file was last written."""
    found: dict[str, object] = {}
    for path in folder.rglob("*"):
        state = path.lstat()
        content = path.read_bytes() if path.is_file() else None
        found[str(path.relative_to(folder))] = (state.st_mode, content)
    return found


def one(
    seed: int, made: strange.Ingredients, kinds: dict[str, tuple[int, Case]], folder: Path
) -> tuple[str, Outcome]:
    """The kind of the input with that number, and what became of it."""
    rng = random.Random(seed)
    kind = rng.choices(list(kinds), [weight for weight, _ in kinds.values()])[0]
    if folder.exists():
        (folder / "read-only").chmod(0o755)
        shutil.rmtree(folder)
    folder.mkdir()
    strange.furniture(folder)
    words = kinds[kind][1](rng, made, folder)
    return kind, met(words, folder)


def main(
    count: int, seed: int = 1, rows: Path | None = None, minutes: float = inf, kind: str | None = None
) -> int:
    """Generate and check; the number of faults.

    Args:
        count: inputs that are to be refused.
        seed: of the first input; each has a number of its own.
        rows: file of what was found so far, which is gone on with.
        minutes: after which to stop.
        kind: of all inputs; any if left out.
    """
    known: dict[str, Any] = {"first": seed, "next": seed, "inputs": {}, "faults": []}
    if rows is not None and rows.exists():
        known = json.loads(rows.read_text(encoding="utf-8"))
    kinds, end = of_kind(kind), time.monotonic() + 60 * minutes
    with workshop() as (made, folder):
        while refused(known) < count and time.monotonic() < end:
            met_kind, found = one(known["next"], made, kinds, folder)
            codes = known["inputs"].setdefault(met_kind, {})
            codes[str(found.code)] = codes.get(str(found.code), 0) + 1
            if fault := found.fault():
                words = f"{[word[:200] for word in found.words]!r:.600}"
                known["faults"].append(f"{known['next']}: {met_kind}: {fault}")
                print(f"{known['faults'][-1]}: {words}\n   {found.err.strip()[:600]}", flush=True)
            known["next"] += 1
            if rows is not None:
                rows.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    for name, codes in sorted(known["inputs"].items()):
        print(f"{name:14} {codes}")
    faults = len(known["faults"])
    print(f"{refused(known)} refused, {faults} faults; next is {known['next']}")
    return faults


def refused(known: dict[str, Any]) -> int:
    """Inputs that were refused so far."""
    return sum(codes.get("2", 0) for codes in known["inputs"].values())


@contextmanager
def workshop() -> Iterator[tuple[strange.Ingredients, Path]]:
    """What inputs are made from, and the folder in which each meets its command."""
    warm_up()
    with tempfile.TemporaryDirectory() as name:
        os.environ["XDG_CONFIG_HOME"] = f"{name}/settings"
        made = strange.ingredients(Path(name, "made"))
        gc.freeze()
        yield made, Path(name, "work")


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("count", type=int, nargs="?", default=2000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--rows", type=Path)
    options.add_argument("--minutes", type=float, default=inf)
    options.add_argument("--only", type=int)
    options.add_argument("--kind", choices=list(cases()))
    given = vars(options.parse_args())
    only = given.pop("only")
    if only is not None:
        with workshop() as (ingredients, place):
            print(one(only, ingredients, of_kind(given["kind"]), place))
    else:
        raise SystemExit(min(1, main(**given)))
