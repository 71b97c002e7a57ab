"""Trials of the papers' claims: what loses each of them, and whether other seeds say the same.

Both run experiments at reduced size with ten replications (or in full, for claims that are met only there),
keep what they find as they go, and do what is missing when they are run again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gridtune.scenarios.reproduction.catalogue import load_paper
from gridtune.scenarios.results.files import write_json
from tests.benchmarks.rows import known_in
from tests.claim_mutants import MUTANTS, Mutant, verdicts

CLAIMS = Path("docs/data/claims")
MUTANTS_DATA = Path("docs/data/claim_mutants.json")
SEEDS_DATA = Path("docs/data/claim_seeds.json")
SEEDS = range(1, 21)
REDUCED: dict[str, Any] = {"replications": 10, "quick": True}
FULL: dict[str, Any] = {"replications": 20, "quick": False}
REPLICATIONS = {"dirac/queue": 30, "egee/gptm3d": 20}  # under each seed, where ten say too little


def named(names: Sequence[str]) -> list[str]:
    """Experiments as PAPER/EXPERIMENT, in the order of names that are that or PAPER alone."""
    return [
        f"{name.partition('/')[0]}/{experiment.name}"
        for name in names
        for experiment in load_paper(name.partition("/")[0]).experiments
        if name.partition("/")[2] in ("", experiment.name)
    ]


def in_full(experiment: str) -> set[str]:
    """The claims of an experiment that are met in full, as PAPER/EXPERIMENT/ID."""
    paper, _, name = experiment.partition("/")
    claims = known_in(CLAIMS / f"{paper}.json", {})["claims"]
    return {
        f"{experiment}/{claim['id']}"
        for claim in claims
        if (claim["experiment"], claim["verdict"]) == (name, "met")
    }


def changed(
    experiment: str, mutant: Mutant, claims: Sequence[str], size: Mapping[str, Any]
) -> dict[str, str]:
    """What becomes of some claims of an experiment under a change of the model."""
    try:
        after = verdicts(experiment, mutant, **size)
    except Exception as error:  # a model that breaks down keeps no claim either
        return dict.fromkeys(claims, f"breaks down: {type(error).__name__}")
    return {claim: after.get(claim, "unknown") for claim in claims}


def try_mutants(names: Sequence[str], minutes: float) -> None:
    """For each experiment and mutant of its claims: the verdicts, without the change and with it.

    Kept as {CHANGE: {PAPER/EXPERIMENT/ID: [before, after]}}. Claims that are met in full, and not at reduced
    size, are tried in full, and kept as [before, after, "in full"].
    """
    found, began = known_in(MUTANTS_DATA, {}), time.monotonic()
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
            small = [
                claim for claim in claims if before.get(claim) == "met" or claim not in in_full(experiment)
            ]
            for some, size, mark in ((small, REDUCED, []), ([*{*claims} - {*small}], FULL, ["in full"])):
                for claim, after in (changed(experiment, mutant, some, size) if some else {}).items():
                    made[mutant.change][claim] = [
                        "met" if mark else before.get(claim, "unknown"),
                        after,
                        *mark,
                    ]
                    print(f"{claim}: {' -> '.join(made[mutant.change][claim])}: {mutant.change}", flush=True)
            print(f"{experiment}: {time.process_time() - start:.0f} s of CPU", flush=True)
            write_json(MUTANTS_DATA, made)
    write_json(MUTANTS_DATA, made)


def try_seeds(names: Sequence[str], minutes: float) -> None:
    """For each experiment and seed: the verdicts of its claims.

    Kept as {PAPER/EXPERIMENT: {ID: verdicts under the seeds 1, 2, …}}.
    """
    made, began = known_in(SEEDS_DATA, {}), time.monotonic()
    for name in named(names):
        found: dict[str, list[str]] = made.setdefault(name, {})
        start = time.process_time()
        for seed in SEEDS[len(next(iter(found.values()), ())) :]:
            if time.monotonic() - began > 60 * minutes:
                print("time is up; the rest is left for another call")
                return
            size = REDUCED | {"replications": REPLICATIONS.get(name, REDUCED["replications"])}
            for claim, verdict in verdicts(name, seed=seed, **size).items():
                found.setdefault(claim.rpartition("/")[2], []).append(verdict)
            write_json(SEEDS_DATA, made)
        print(f"{name}: {time.process_time() - start:.0f} s of CPU", flush=True)
