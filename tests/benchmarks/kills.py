"""Kills searches at random times, goes on with them, and compares their fronts with an undisturbed one.

    python -m tests.benchmarks.kills --rows docs/data/kills.json --minutes 10    # does what is missing

A search of a few seconds on two worker processes, kept in a journal, in SQLite or on PostgreSQL (the server
that GRIDTUNE_TEST_POSTGRESQL names), is killed (SIGKILL, no chance to clear up) at a random moment of one of
its phases: while it starts, proposes configurations, runs them, validates some, confirms recommendations, or
writes and draws its results. Every run that had ended must be found after each kill. The same command with
`--resume`, which may be killed, too, ends what is left. Its `front.json` must be that of the search that
nobody has disturbed, and no worker may be left over. Each command is the whole of it in a process forked once
everything is imported. To save time pictures are drawn only where a kill comes while they are.
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import random
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from gridtune.optimize.studies.stored_study import read_study
from gridtune.optimize.studies.tables import Run
from tests.databases import VARIABLE, postgresql_database
from tests.forked import command, waited, warm_up

PHASES = ("start", "proposal", "runs", "validation", "confirmation", "results")
STORAGES = ("journal", "sqlite", "postgresql")
SEARCH = ("search", "diet/day-regular", "--set", "horizon=8", "--vary", "sed.speed=0.5:2.0",
          "--budget", "12", "--replications", "2",
          "--objective", "completed", "--objective", "unfairness", "--sampler", "nsga2", "--seed", "5",
          "--jobs", "2", "--format", "json")  # fmt: skip
PATIENCE = 300.0  # s until a search has ended or come to a phase
TWICE = 0.2  # of the searches are killed again when they are gone on with


class Clock:
    """What phase a process is in, how often a phase has begun, and a tally, as seen from another process.

    Args:
        phases: their names.
    """

    def __init__(self, phases: Sequence[str] = PHASES) -> None:
        self._phases, self._shared = phases, mmap.mmap(-1, 64)

    def enter(self, phase: str) -> None:
        """Begin a phase."""
        at = self._phases.index(phase)
        self._shared[0] = at
        self._shared[1 + at] = min(255, self._shared[1 + at] + 1)

    def reset(self) -> None:
        """Begin anew."""
        self._shared[:] = bytes(64)

    @property
    def phase(self) -> str:
        """The one that is on."""
        return self._phases[self._shared[0]]

    def count(self, phase: str) -> int:
        """How often a phase has begun."""
        return int(self._shared[1 + self._phases.index(phase)])

    @property
    def tally(self) -> int:
        """Runs that are in the table."""
        return int.from_bytes(self._shared[60:])

    @tally.setter
    def tally(self, count: int) -> None:
        self._shared[60:] = count.to_bytes(4)


def watched(clock: Clock, draw: bool) -> None:
    """In a child: let the search say what phase it is in, and perhaps draw nothing."""
    from gridtune.optimize.api import search_result
    from gridtune.optimize.recommend.recommender import Recommender
    from gridtune.optimize.report.pictures import draw as pictures
    from gridtune.optimize.runs.evaluator import Evaluator
    from gridtune.optimize.samplers import samplers
    from gridtune.optimize.studies.study import OpenStudy
    from gridtune.optimize.validation import Validation

    def during(owner: Any, name: str, phase: str) -> None:
        inner: Callable[..., Any] = getattr(owner, name)

        def outer(*args: Any, **kwargs: Any) -> Any:
            before = clock.phase
            clock.enter(phase)
            try:
                return inner(*args, **kwargs)
            finally:
                clock.enter(before)

        setattr(owner, name, outer)

    during(samplers()["nsga2"], "ask", "proposal")
    during(samplers()["nsga2"], "tell", "proposal")
    during(Evaluator, "evaluate", "runs")
    during(Validation, "validate", "validation")
    during(Recommender, "recommend", "confirmation")
    during(search_result.Study, "save", "results")
    if not draw:
        pictures.save = lambda *_: None  # type: ignore[assignment]
    append = OpenStudy.append

    def appended(self: OpenStudy, run: Run) -> None:
        append(self, run)
        clock.tally = max(clock.tally, len(self.rows)) + 1

    OpenStudy.append = appended  # type: ignore[method-assign]


def started(words: Sequence[str], clock: Clock, log: Path, *, draw: bool = True) -> int:
    """A command, in a process of its own; the number of the process."""
    clock.reset()
    log.write_bytes(b"")
    child = os.fork()
    if child:
        return child
    code = 99
    try:
        os.setsid()
        watched(clock, draw)
        code = command(words, log, log)
    finally:
        os._exit(code)


def ended(child: int) -> int:
    """Exit code of a command."""
    code = waited(child, PATIENCE)
    if code is not None:
        return code
    raise TimeoutError("a search does not end")


def killed(child: int, clock: Clock, phase: str, nth: int, delay: float) -> str:
    """Kill a search some time after a phase has begun; the phase it was in, or `ended` if it was faster."""
    end = time.monotonic() + PATIENCE
    while clock.count(phase) < nth and time.monotonic() < end and phase != "start":
        if os.waitpid(child, os.WNOHANG)[0]:
            return "ended"
        time.sleep(0.0005)
    time.sleep(delay)
    if os.waitpid(child, os.WNOHANG)[0]:
        return "ended"
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return clock.phase


def left_over(group: int) -> bool:
    """Whether worker processes of a killed search are still there after a while."""
    for _ in range(200):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.05)
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
    return True


@contextmanager
def place(storage: str, folder: Path) -> Iterator[list[str]]:
    """Options that let a new search be kept there."""
    out = ["--out", str(folder / "out")]
    if storage == "journal":
        yield out
    elif storage == "sqlite":
        yield [*out, "--storage", f"sqlite:///{folder / 'studies.db'}"]
    else:
        with postgresql_database() as url:
            yield [*out, "--storage", url]


def trial(number: int, folder: Path, clock: Clock, usual: dict[str, float], truth: bytes) -> dict[str, Any]:
    """Kill a search, go on with it, and say what came of it.

    Args:
        number: of the trial, which decides storage, phase and moment.
        folder: an empty one.
        clock: shared with the search.
        usual: s that a phase takes, and under `PHASE:count` how often it begins.
        truth: the front of a search that was not killed.
    """
    rng = random.Random(number)
    storage, phase = STORAGES[number % 3], PHASES[number // 3 % len(PHASES)]
    row: dict[str, Any] = {"number": number, "storage": storage, "killed_in": [], "missing": 0}
    drawn = False
    with place(storage, folder) as where:
        words, kept = [*SEARCH, *where], where[-1]
        for again in range(2 if rng.random() < TWICE else 1):
            if again:
                phase = rng.choice(PHASES)
            nth = rng.randint(1, max(1, int(usual[f"{phase}:count"])))
            delay = rng.uniform(0, usual[phase])
            drawn = drawn or phase == "results"
            child = started([*words, "--resume"] if again else words, clock, folder / "log", draw=drawn)
            found = killed(child, clock, phase, nth, delay)
            row["killed_in"].append(found)
            if clock.tally:
                row["missing"] += max(0, clock.tally - len(read_study(kept).runs))
            if found != "ended" and left_over(child):
                row["left_over"] = True
        code = ended(started([*words, "--resume"], clock, folder / "log", draw=drawn))
        row["code"] = code
        if code:
            row["said"] = (folder / "log").read_text()[-500:]
        front = folder / "out" / "front.json"
        row["same"] = front.exists() and front.read_bytes() == truth
        row["left"] = sorted(path.name for path in folder.rglob("*") if path.name.endswith((".part", ".new")))
    return row


def undisturbed(folder: Path, clock: Clock) -> tuple[dict[str, float], bytes]:
    """How long the phases of a search take, how often they begin, and its front."""
    begin = time.monotonic()
    child = started([*SEARCH, "--out", str(folder / "out")], clock, folder / "log")
    spent: Counter[str] = Counter()
    while not os.waitpid(child, os.WNOHANG)[0]:
        spent[clock.phase if clock.count("runs") else "start"] += 1
        time.sleep(0.002)
    total, ticks = time.monotonic() - begin, sum(spent.values())
    usual: dict[str, float] = {}
    for phase in PHASES:
        count = max(1, clock.count(phase)) if phase != "start" else 1
        usual[f"{phase}:count"] = count
        usual[phase] = total * spent[phase] / ticks / count
    return usual, (folder / "out" / "front.json").read_bytes()


def kills(rows: Sequence[dict[str, Any]]) -> int:
    """How often a search was killed before it had ended."""
    return sum(phase != "ended" for row in rows for phase in row["killed_in"])


def main(rows: Path, count: int, minutes: float, storages: Sequence[str]) -> int:
    """Do what is missing of so many kills; the number of faults."""
    known: list[dict[str, Any]] = json.loads(rows.read_text()) if rows.exists() else []
    warm_up()
    if VARIABLE not in os.environ and "postgresql" in storages:
        raise SystemExit(f"{VARIABLE} names no server; `.ci/postgresql start` starts one")
    clock, until = Clock(), time.time() + 60 * minutes
    with ExitStack() as stack:
        top = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (top / "truth").mkdir()
        usual, truth = undisturbed(top / "truth", clock)
        print({name: round(value, 3) for name, value in usual.items()}, flush=True)
        done = {row["number"] for row in known}
        for number in range(10 * count):
            if kills(known) >= count or time.time() > until:
                break
            if number in done or STORAGES[number % 3] not in storages:
                continue
            folder = top / str(number)
            folder.mkdir()
            row = trial(number, folder, clock, usual, truth)
            shutil.rmtree(folder)
            print(row, flush=True)
            if row["killed_in"] == ["ended"]:
                continue  # it was faster
            known.append(row)
            rows.write_text("[\n" + ",\n".join(map(json.dumps, known)) + "\n]\n")
    return sum(not row["same"] or bool(row["missing"] or row.get("left_over")) for row in known)


def asked() -> dict[str, Any]:
    """What the command line asks for: where rows are kept, how many kills, in how long, of which storages."""
    options = argparse.ArgumentParser()
    options.add_argument("--rows", type=Path, required=True)
    options.add_argument("--count", type=int, default=100)
    options.add_argument("--minutes", type=float, default=10.0)
    options.add_argument("--storages", type=lambda text: text.split(","), default=list(STORAGES))
    return vars(options.parse_args())


if __name__ == "__main__":
    raise SystemExit(min(1, main(**asked())))
