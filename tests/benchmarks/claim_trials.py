"""Trials of the papers' claims: what loses each of them, and whether other seeds say the same.

Both run experiments at reduced size with ten replications, keep what they find as they go, and do what is
missing when they are run again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gridtune.scenarios.reproduction.catalogue import load_paper
from gridtune.scenarios.results.files import write_json
from tests.claim_mutants import MUTANTS, verdicts

MUTANTS_DATA = Path("docs/data/claim_mutants.json")
SEEDS_DATA = Path("docs/data/claim_seeds.json")
SEEDS = range(1, 21)


def kept(path: Path) -> Any:
    """What a file holds so far; an empty dictionary if there is none."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def named(names: Sequence[str]) -> list[str]:
    """Experiments as PAPER/EXPERIMENT, in the order of names that are that or PAPER alone."""
    return [
        f"{name.partition('/')[0]}/{experiment.name}"
        for name in names
        for experiment in load_paper(name.partition("/")[0]).experiments
        if name.partition("/")[2] in ("", experiment.name)
    ]


def try_mutants(names: Sequence[str], minutes: float) -> None:
    """For each experiment and mutant of its claims: the verdicts, without the change and with it.

    Kept as {CHANGE: {PAPER/EXPERIMENT/ID: [before, after]}}.
    """
    found, began = kept(MUTANTS_DATA), time.monotonic()
    made: dict[str, dict[str, list[str]]] = {
        mutant.change: {
            claim: known for claim, known in found.get(mutant.change, {}).items() if claim in mutant.claims
        }
        for mutant in MUTANTS
    }
    for experiment in named(names):
        before: dict[str, str] = {}
        for mutant in MUTANTS:
            claims = [claim for claim in mutant.claims if claim.rpartition("/")[0] == experiment]
            if made[mutant.change].keys() >= {*claims}:
                continue
            if time.monotonic() - began > 60 * minutes:
                print("time is up; the rest is left for another call")
                return
            start = time.process_time()
            before = before or verdicts(experiment)
            try:
                after = verdicts(experiment, mutant)
            except Exception as error:  # a model that breaks down keeps no claim either
                after = dict.fromkeys(claims, f"breaks down: {type(error).__name__}")
            for claim in claims:
                made[mutant.change][claim] = [before.get(claim, "unknown"), after.get(claim, "unknown")]
                print(f"{claim}: {' -> '.join(made[mutant.change][claim])}: {mutant.change}", flush=True)
            print(f"{experiment}: {time.process_time() - start:.0f} s of CPU", flush=True)
            write_json(MUTANTS_DATA, made)
    write_json(MUTANTS_DATA, made)


def try_seeds(names: Sequence[str], minutes: float) -> None:
    """For each experiment and seed: the verdicts of its claims.

    Kept as {PAPER/EXPERIMENT: {ID: verdicts under the seeds 1, 2, …}}.
    """
    made, began = kept(SEEDS_DATA), time.monotonic()
    for name in named(names):
        found: dict[str, list[str]] = made.setdefault(name, {})
        start = time.process_time()
        for seed in SEEDS[len(next(iter(found.values()), ())) :]:
            if time.monotonic() - began > 60 * minutes:
                print("time is up; the rest is left for another call")
                return
            for claim, verdict in verdicts(name, seed=seed).items():
                found.setdefault(claim.rpartition("/")[2], []).append(verdict)
            write_json(SEEDS_DATA, made)
        print(f"{name}: {time.process_time() - start:.0f} s of CPU", flush=True)
