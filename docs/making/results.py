"""Whether runs and searches still give what they gave: a line for each commit that changed some results.

    python docs/making/results.py          # five minutes; adds a line if anything differs from the last one

Every shipped scenario runs once, and some are searched for a short while, always with the same seed. What
they give is kept as digests in docs/data/results.jsonl. `evidence.py` compares: what was measured before a
line that changes results on which it rests is out of date. New metrics change no digest.
"""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ProcessPoolExecutor

import pandas as pd
from stamps import RESULTS, changes, git

import gridtune as gt
from gridtune.scenarios.document.scenario import shipped_names

SEED = 1
RUNS = {
    "search dirac/search": 80,
    "search diet/day-irregular": 120,
    "search batch/replay": 60,
    "search cigri/search": 100,
    "search federation/small": 60,
    "search long dirac/search": 300,  # as searches that are not limited by runs, it validates many
    "search long diet/day-irregular": 300,
}
JOBS = ["user", "site", "node", "submit", "start", "end", "processors", "state", "kills", "wasted"]
DIGITS = 9  # of numbers: sums may be rounded differently on another machine


def digest(*tables: pd.DataFrame) -> str:
    """Of tables, with numbers to some digits."""
    text = "".join(table.to_csv(float_format=f"%.{DIGITS}g") for table in tables)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def run(name: str) -> str:
    """What a scenario gives: when and where each job ran, and what became of it."""
    return digest(gt.load(name).run(seed=SEED, jobs=1).jobs[JOBS])


def search(name: str) -> str:
    """What a search gives, by its name here: its trials, its front, and what it recommends."""
    study = gt.search(name.split()[-1], runs=RUNS[name], seed=SEED, jobs=1)
    trials = study.trials_dataframe().filter(regex="^(number|state|params_|values_)")
    columns = ["on_front", "probability_non_dominated"]
    return digest(trials, study.front[columns], study.recommendations)


def results() -> dict[str, str]:
    """All digests, by scenario; those of searches by their names in `RUNS`."""
    names = sorted(shipped_names())
    with ProcessPoolExecutor() as pool:
        searched = pool.map(search, RUNS)
        ran = pool.map(run, names)
        return dict(zip((*names, *RUNS), (*ran, *searched), strict=True))


def main() -> None:
    """See the module."""
    before: dict[str, str] = {}
    for line in changes():
        before |= line["results"]
    changed = {name: text for name, text in results().items() if before.get(name) != text}
    if not changed:
        print("nothing has changed")
        return
    commit, day = git("log", "-1", "--format=%h %cs").split()
    with RESULTS.open("a") as file:
        file.write(json.dumps({"commit": commit, "day": day, "results": changed}) + "\n")
    print(f"changed: {', '.join(changed)}")


if __name__ == "__main__":
    main()
