"""Kills writers of a study at random times, goes on, and looks for every run that had ended.

    python -m tests.benchmarks.study_kills --rows docs/data/study_kills.json --minutes 10   # what is missing

A process writes a study as a search does: runs to the table, configurations to Optuna, some attributes. It
keeps the study in a journal, in SQLite or on PostgreSQL (the server that GRIDTUNE_TEST_POSTGRESQL names). It
is killed (SIGKILL) at a random moment while it opens the study, adds runs, has Optuna write a configuration,
or closes. A third is killed again while it goes on. Every run whose `append` had returned must be found after
each kill, bit by bit. Whoever goes on at last must leave every run once and every configuration once, in a
study that Optuna opens by itself. Beside `kills`, which does that to whole searches.
"""

from __future__ import annotations

import json
import mmap
import os
import random
import shutil
import tempfile
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

from gridtune.model.streams import HELD_OUT
from gridtune.optimize.records.evaluations import Estimate, Evaluation, Objective
from gridtune.optimize.search_space.parameter import Parameter
from gridtune.optimize.search_space.settings import Settings
from gridtune.optimize.search_space.space import Space
from gridtune.optimize.studies.stored_study import read_study, stored_settings
from gridtune.optimize.studies.study import open_study
from gridtune.optimize.studies.tables import Run, identity
from gridtune.scenarios import load
from tests.benchmarks.kills import STORAGES, Clock, asked, ended, killed, place
from tests.databases import VARIABLE

PHASES = ("between", "opening", "runs", "trial", "closing")
CONFIGURATIONS, RUNS = 12, 4  # of a study; of a configuration
OBJECTIVES = (Objective("unfairness", "minimize"), Objective("completed", "maximize"))
SPACE = Space(tuple(Parameter(f"site.s{at}.share", (), 0.0, 1.0) for at in range(17)))
SETTINGS = Settings(load("diet/day-regular"), SPACE, OBJECTIVES, "a" * 5000, 1, 1, RUNS)
NAME, ATTRIBUTE = "killed", "progress"
AGAIN = 1 / 3  # of the writers are killed again when they go on
LEFT = (".part", ".new", ".lock", "-journal")  # ends of names that no writer leaves when it has closed


def configuration(number: int) -> dict[str, float]:
    """The values of a configuration; no two are equal."""
    return {name: (number * 0.618 + at * 0.377) % 1 for at, name in enumerate(SPACE.paths)}


def runs_of(number: int) -> list[Run]:
    """The runs of a configuration; no two are equal."""
    made = []
    for at in range(RUNS):
        draw = random.Random(number * RUNS + at)
        metrics = {f"metric_{k}": draw.gauss(0, 10.0 ** draw.randint(-9, 9)) for k in range(40)}
        made.append(Run(configuration(number), "a case", at // 2 + HELD_OUT * (at % 2), metrics))
    return made


EVERY = [run for number in range(CONFIGURATIONS) for run in runs_of(number)]


class Tally:
    """How many runs have ended, as seen from another process."""

    def __init__(self) -> None:
        self._shared = mmap.mmap(-1, 4)

    @property
    def count(self) -> int:
        """How many."""
        return int.from_bytes(self._shared[:])

    @count.setter
    def count(self, count: int) -> None:
        self._shared[:] = count.to_bytes(4)


def write(where: str, clock: Clock, tally: Tally) -> None:
    """Write the study, or what is missing of it."""
    clock.enter("opening")
    resume = stored_settings(where, NAME) is not None
    study = open_study(where, NAME, SETTINGS, resume=resume)
    clock.enter("between")
    adding = study.study.add_trial

    def added(trial: optuna.trial.FrozenTrial) -> None:
        before = clock.phase
        clock.enter("trial")
        adding(trial)
        clock.enter(before)

    study.study.add_trial = added  # type: ignore[method-assign]
    known = {identity(run) for run in study.rows}
    for number in range(CONFIGURATIONS):
        begin = datetime.now()
        for run in runs_of(number):
            if identity(run) not in known:
                clock.enter("runs")
                study.append(run)
                clock.enter("between")
            tally.count = max(tally.count, EVERY.index(run) + 1)
        means = {"unfairness": float(number), "completed": -0.1 * number}
        objectives = {name: Estimate.of([mean]) for name, mean in means.items()}
        study.add_trial(Evaluation(number, configuration(number), objectives, {}), begin, datetime.now())
        study.set_attribute(ATTRIBUTE, number)
        time.sleep(0.003)
    clock.enter("closing")
    study.close()


def started(where: str, clock: Clock, tally: Tally, log: Path) -> int:
    """A writer, in a process of its own; the number of the process."""
    clock.reset()
    child = os.fork()
    if child:
        return child
    code = 99
    try:
        os.setsid()
        write(where, clock, tally)
        code = 0
    except BaseException as error:
        log.write_text(f"{type(error).__name__}: {error}", encoding="utf-8")
    finally:
        os._exit(code)


def missing(where: str, count: int) -> int:
    """How many of the first runs are not found as they were."""
    if not count:
        return 0
    found = {identity(run): run for run in read_study(where).runs}
    return sum(found.get(identity(run)) != run for run in EVERY[:count])


def faults(where: str, folder: Path) -> list[str]:
    """What is wrong with a study that is complete."""
    found, said = read_study(where), []
    if list(found.runs) != EVERY:
        said.append("other runs")
    if list(found.trials) != list(range(CONFIGURATIONS)):
        said.append("other configurations")
    storage: Any = where if "://" in where else JournalStorage(JournalFileBackend(where))
    if where.startswith("postgresql:"):
        storage = where.replace("postgresql:", "postgresql+psycopg:", 1)
    trials = optuna.load_study(study_name=NAME, storage=storage).trials
    if [trial.params for trial in trials] != [configuration(number) for number in range(CONFIGURATIONS)]:
        said.append("other trials")
    if found.attributes != {ATTRIBUTE: CONFIGURATIONS - 1}:
        said.append("other attributes")
    said += [f"left {path.name}" for path in folder.rglob("*") if path.name.endswith(LEFT)]
    return said


def trial(number: int, folder: Path, clock: Clock, usual: dict[str, float]) -> dict[str, Any]:
    """Kill a writer, go on, and say what came of it.

    Args:
        number: of the trial, which decides storage, phase and moment.
        folder: an empty one.
        clock: shared with the writer.
        usual: s that a phase takes, and under `PHASE:count` how often it begins, by storage.
    """
    rng, tally = random.Random(number), Tally()
    storage, phase = STORAGES[number % 3], PHASES[number // 3 % len(PHASES)]
    row: dict[str, Any] = {"number": number, "storage": storage, "killed_in": [], "ended": [], "missing": 0}
    with place(storage, folder) as options:
        where = options[3] if storage != "journal" else f"{options[1]}/study.journal"
        for again in range(2 if rng.random() < AGAIN else 1):
            phase = rng.choice(PHASES) if again else phase
            nth = rng.randint(1, max(1, int(usual[f"{storage}:{phase}:count"])))
            child = started(where, clock, tally, folder / "log")
            row["killed_in"].append(
                killed(child, clock, phase, nth, rng.uniform(0, usual[f"{storage}:{phase}"]))
            )
            row["ended"].append(tally.count)
            row["missing"] += missing(where, tally.count)
        row["code"] = ended(started(where, clock, tally, folder / "log"))
        row["faults"] = faults(where, folder) if not row["code"] else [(folder / "log").read_text()[-500:]]
    return row


def undisturbed(storage: str, folder: Path, clock: Clock) -> dict[str, float]:
    """How long the phases of a writer take, and how often they begin."""
    usual = {}
    with place(storage, folder) as options:
        where = options[3] if storage != "journal" else f"{options[1]}/study.journal"
        begin, spent = time.monotonic(), dict.fromkeys(PHASES, 0)
        child = started(where, clock, Tally(), folder / "log")
        while not os.waitpid(child, os.WNOHANG)[0]:
            spent[clock.phase] += 1
            time.sleep(0.0005)
        second = (time.monotonic() - begin) / sum(spent.values())
        found = faults(where, folder)
        assert not found, found
    for phase in PHASES:
        count = max(1, clock.count(phase))
        usual[f"{storage}:{phase}:count"] = float(count)
        usual[f"{storage}:{phase}"] = second * spent[phase] / count
    return usual


def bad(rows: Sequence[dict[str, Any]]) -> int:
    """How many trials have shown a fault."""
    return sum(bool(row["missing"] or row["faults"] or row["code"]) for row in rows)


def main(rows: Path, count: int, minutes: float, storages: Sequence[str]) -> int:
    """Do what is missing of so many kills; the number of trials with a fault."""
    known: list[dict[str, Any]] = json.loads(rows.read_text()) if rows.exists() else []
    if VARIABLE not in os.environ and "postgresql" in storages:
        raise SystemExit(f"{VARIABLE} names no server; `.ci/postgresql start` starts one")
    clock, until = Clock(PHASES), time.monotonic() + 60 * minutes
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        usual: dict[str, float] = {}
        for storage in storages:
            (top / storage).mkdir()
            usual |= undisturbed(storage, top / storage, clock)
        print({name: round(value, 4) for name, value in usual.items()}, flush=True)
        done = {row["number"] for row in known}
        for number in range(10 * count):
            kills = sum(phase != "ended" for row in known for phase in row["killed_in"])
            if kills >= count or time.monotonic() > until:
                break
            if number in done or STORAGES[number % 3] not in storages:
                continue
            (top / str(number)).mkdir()
            row = trial(number, top / str(number), clock, usual)
            shutil.rmtree(top / str(number))
            print(row, flush=True)
            if row["killed_in"] == ["ended"] and not bad([row]):
                continue  # it was faster
            known.append(row)
            rows.write_text("[\n" + ",\n".join(map(json.dumps, known)) + "\n]\n")
    return bad(known)


if __name__ == "__main__":
    raise SystemExit(min(1, main(**asked())))
