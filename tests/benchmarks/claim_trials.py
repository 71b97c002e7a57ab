"""Trials of the papers' claims: what loses each of them, and whether other seeds say the same.

Both run experiments at reduced size with ten replications, keep what they find as they go, and do what is
missing when they are run again.
"""

from __future__ import annotations

import json
import time
from collections import Counter
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


def try_mutants(papers: Sequence[str], minutes: float) -> None:
    """For each mutant and experiment: the verdicts of its claims, without the change and with it.

    Kept as {CHANGE: {PAPER/EXPERIMENT/ID: [before, after]}}.
    """
    made, began = kept(MUTANTS_DATA), time.monotonic()
    unchanged: dict[str, dict[str, str]] = {}
    for mutant in MUTANTS:
        of_mutant: dict[str, list[str]] = made.get(mutant.change, {})
        made[mutant.change] = {claim: of_mutant[claim] for claim in mutant.claims if claim in of_mutant}
        for experiment in dict.fromkeys(claim.rpartition("/")[0] for claim in mutant.claims):
            claims = [claim for claim in mutant.claims if claim.rpartition("/")[0] == experiment]
            if experiment.partition("/")[0] not in papers or made[mutant.change].keys() >= {*claims}:
                continue
            if time.monotonic() - began > 60 * minutes:
                print("time is up; the rest is left for another call")
                return
            before = unchanged.get(experiment) or unchanged.setdefault(experiment, verdicts(experiment))
            try:
                after = verdicts(experiment, mutant)
            except Exception as error:  # a model that breaks down keeps no claim either
                after = dict.fromkeys(claims, f"breaks down: {type(error).__name__}")
            for claim in claims:
                made[mutant.change][claim] = [before.get(claim, "unknown"), after.get(claim, "unknown")]
                print(f"{claim}: {' -> '.join(made[mutant.change][claim])}: {mutant.change}", flush=True)
            write_json(MUTANTS_DATA, made)
    known = {mutant.change for mutant in MUTANTS}
    write_json(MUTANTS_DATA, {change: found for change, found in made.items() if change in known})


def try_seeds(papers: Sequence[str], minutes: float) -> None:
    """For each experiment and seed: the verdicts of its claims.

    Kept as {PAPER/EXPERIMENT: {"seeds": how many so far, "claims": {ID: {verdict: seeds}}}}.
    """
    made, began = kept(SEEDS_DATA), time.monotonic()
    for paper in papers:
        for experiment in load_paper(paper).experiments:
            name = f"{paper}/{experiment.name}"
            found = made.setdefault(name, {"seeds": 0, "claims": {}})
            for seed in SEEDS[found["seeds"] :]:
                if time.monotonic() - began > 60 * minutes:
                    print("time is up; the rest is left for another call")
                    return
                for claim, verdict in verdicts(name, seed=seed).items():
                    counts = Counter(found["claims"].get(claim.rpartition("/")[2], {}))
                    counts[verdict] += 1
                    found["claims"][claim.rpartition("/")[2]] = dict(counts)
                found["seeds"] = seed
                write_json(SEEDS_DATA, made)
            print(f"{name}: {found['seeds']} seeds", flush=True)
